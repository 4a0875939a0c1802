"""The optional fine order: off by default, bounded, and told in the ledger."""

from hypothesis import given, settings
from hypothesis import strategies as st

from core.model.lookup import LedgerEntry, Stage
from core.retrieval.fine_order import fine_order, with_moves
from tests.builders import a_hit
from tests.core.retrieval.scripted import a_configuration


def hits_of(titles):
    return [
        a_hit(f"default/{place}.md", 0, rank=place + 1, title=title) for place, title in enumerate(titles)
    ]


def order_of(titles, *, places, terms=("E-1042",)):
    return [hit.rank for hit in fine_order(hits_of(titles), terms, places=places).hits]


def test_it_is_off_by_default():
    assert a_configuration().fine_order_places == 0
    assert order_of(["other", "E-1042"], places=0) == [1, 2]


def test_a_title_with_a_term_of_the_query_moves_up_by_the_places_given():
    assert order_of(["a", "b", "c", "Error E-1042"], places=2) == [1, 4, 2, 3]


def test_matching_hits_keep_their_order_among_themselves():
    assert order_of(["a", "e-1042 x", "b", "E-1042 y"], places=1) == [2, 1, 4, 3]


def test_a_breadcrumb_counts_and_a_longer_code_does_not():
    hits = [
        a_hit("default/a.md", 0, rank=1, title="a"),
        a_hit("default/b.md", 0, rank=2, title="b", breadcrumb="Codes > E-1042"),
        a_hit("default/c.md", 0, rank=3, title="E-10422"),
    ]
    assert [hit.rank for hit in fine_order(hits, ("E-1042",), places=5).hits] == [2, 1, 3]


def test_without_exact_terms_nothing_moves():
    assert order_of(["a", "E-1042"], places=3, terms=()) == [1, 2]


def test_the_ledger_says_from_where_to_where_and_by_which_word():
    hits = hits_of(["a", "E-1042"])
    order = fine_order(hits, ("E-1042",), places=1)
    entries = [
        LedgerEntry(f"default/{i}.md#chunk-0", hit, Stage.KEPT, "kept") for i, hit in enumerate(hits)
    ]
    assert [entry.reason for entry in with_moves(entries, order)] == [
        "kept; fine order: down from rank 1 to 2, others moved past it",
        "kept; fine order: up from rank 2 to 1, its title or breadcrumb holds 'E-1042'",
    ]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.booleans(), max_size=15), st.integers(0, 6))
def test_no_hit_moves_further_than_allowed_and_equals_keep_their_order(matching, places):
    found = order_of(["E-1042" if match else "x" for match in matching], places=places)
    assert sorted(found) == list(range(1, len(matching) + 1))
    assert all(abs(rank - place) <= places for place, rank in enumerate(found, start=1))
    for kind in (True, False):
        same = [rank for rank in found if matching[rank - 1] is kind]
        assert same == sorted(same)
