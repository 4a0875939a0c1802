from console.palette import Move
from console.present.compare import Change, Listing, cards, changes, compare, headline, overlap
from core.model.search import SearchMode
from tests.console.fakes import a_lookup, a_scored

# Dense finds a, b, c, e in this order; BM25 finds d alone and lifts c. RRF order: c, a, d, b, e.
ROWS = (
    a_scored("a", dense=0.9),
    a_scored("b", dense=0.8),
    a_scored("c", dense=0.7, sparse=2.0),
    a_scored("d", sparse=9.0),
    a_scored("e", dense=0.6),
)


def both(rows=ROWS, *, listing=Listing.FOUND, return_n=5):
    left = a_lookup(rows, SearchMode.DENSE, return_n=return_n)
    right = a_lookup(rows, SearchMode.HYBRID, return_n=return_n)
    return left, right, compare(left, right, listing, left_name="dense", right_name="hybrid")


def test_every_chunk_of_either_list_has_exactly_one_move():
    found = changes("abc", "cad")
    assert found == {
        "a": Change(Move.DOWN, 1, 2),
        "b": Change(Move.LOST, 2, None),
        "c": Change(Move.UP, 3, 1),
        "d": Change(Move.NEW, None, 3),
    }


def test_the_headline_counts_what_is_found_that_the_other_does_not_find():
    _, _, comparison = both()
    assert (
        headline(comparison) == "Hybrid brings 1 chunk that dense does not find; 1 moved up; 3 moved down."
    )


def test_the_headline_for_the_agent_says_when_the_other_never_found_the_chunk():
    _, _, comparison = both(listing=Listing.AGENT, return_n=3)
    assert headline(comparison) == (
        "Hybrid brings the agent 1 chunk that dense does not give it: dense does not find it at all; "
        "1 moved up; 1 moved down; 1 is lost."
    )


def test_equal_lists_are_said_to_change_nothing():
    rows = (a_scored("a", dense=0.9, sparse=3.0), a_scored("b", dense=0.8, sparse=2.0))
    _, _, comparison = both(rows)
    assert headline(comparison) == "Hybrid changes nothing here: the same 2 chunks in the same order."
    assert overlap(comparison) == "2 chunks in both lists · Jaccard 1.00 · RBO 1.00"


def test_another_order_of_the_same_chunks_is_a_change_without_new_chunks():
    rows = (a_scored("a", dense=0.9), a_scored("b", dense=0.8, sparse=2.0))
    _, _, comparison = both(rows)
    assert headline(comparison) == "Hybrid brings no new chunk: 1 moved up; 1 moved down."


def test_two_empty_lists_are_neither_a_gain_nor_a_loss():
    _, _, comparison = both(())
    assert headline(comparison) == "Neither dense nor hybrid finds a chunk for this query."
    assert overlap(comparison) == "No overlap to measure: a list is empty."


def test_a_card_tells_its_move_from_its_own_column():
    left, right, comparison = both()
    by_title = {card.title: card for card in cards(right, comparison, right=True, category=None)}
    assert by_title["Title c"].change_label == "▲ from #3"
    assert by_title["Title d"].change_label == "+ new, not in dense"
    on_the_left = {card.title: card for card in cards(left, comparison, right=False, category=None)}
    assert on_the_left["Title c"].change_label == "▲ to #1"


def test_a_route_without_the_hit_says_so_and_has_no_number():
    left, right, comparison = both()
    new = next(
        card for card in cards(right, comparison, right=True, category=None) if card.title == "Title d"
    )
    assert [badge.label for badge in new.badges] == [
        "dense: not found by this route (limit 20)",
        "BM25 #1 9.0",
        "fused #3",
    ]
    first = cards(left, comparison, right=False, category=None)[0]
    assert [badge.label for badge in first.badges] == ["dense #1 0.90", "BM25: not asked"]


def test_a_hit_outside_the_category_is_marked():
    rows = (a_scored("a", dense=0.9, category="ops"),)
    left, _, comparison = both(rows)
    assert cards(left, comparison, right=False, category="net")[0].outside
    assert not cards(left, comparison, right=False, category="ops")[0].outside
    assert not cards(left, comparison, right=False, category=None)[0].outside


def test_a_card_says_where_its_chunk_ended():
    rows = tuple(a_scored("a", dense=0.9 - index / 10, index=index) for index in range(3))
    left, _, comparison = both(rows)
    ends = [(card.kept, card.end) for card in cards(left, comparison, right=False, category=None)]
    assert ends[:2] == [(True, "reaches the agent")] * 2
    assert ends[2][0] is False
    assert "the cap is 2" in ends[2][1]
