"""Every end of an expected chunk and every kind of rescue, worked out by hand."""

import json
import math
from dataclasses import asdict, replace

import pytest

from core.errors import RequestInvalid, StoreError
from core.model.lookup import FilterPolicy
from core.model.search import Ranker, Route, RouteState, SearchMode
from core.model.why import End
from tests.core.retrieval.why.material import a_base, a_piece, by_setting, explained, key

DENSE = {"mode": SearchMode.DENSE}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def falling(count, start=0.99, step=0.01, **changes):
    """Documents a, b, c ... each a little further from the question."""
    return [a_piece(f"{LETTERS[i]}.md", start - step * i, **changes) for i in range(count)]


def test_a_kept_chunk_has_its_position_and_needs_no_rescue():
    found = explained(a_base(falling(6)), key("c.md"), **DENSE)

    assert (found.ending.end, found.ending.reached, found.ending.limit) == (End.KEPT, 3, 5)
    assert (found.rescues, found.nearest, found.outlook) == ((), None, "")
    assert found.sentence == f"{key('c.md')} is kept: piece 3 of 5."


def test_return_n_says_rank_and_number_and_one_more_keeps_it_pushing_nothing_out():
    found = explained(a_base(falling(8)), key("f.md"), **DENSE)

    ending = found.ending
    assert (ending.end, ending.list_rank, ending.reached, ending.limit) == (End.RETURN_N, 6, 6, 5)
    best = found.rescues[0]
    assert (best.setting, best.old, best.new, best.position) == ("return_n", 5, 6, 6)
    assert (best.pushed_out, best.brought_in) == ((), ())
    assert best.relative_change == pytest.approx(0.2)
    assert best.sentence == f"return_n 5 -> 6 keeps {key('f.md')} as piece 6 and pushes nothing out."


def test_a_lower_cap_can_keep_what_return_n_cut_off():
    base = a_base(
        [*(a_piece("a.md", 0.9 - i / 100, index=i) for i in range(2)), *falling(2, start=0.5)[1:]]
    )
    found = explained(base, key("b.md"), return_n=2, **DENSE)

    rescue = by_setting(found)["max_chunks_per_document"]
    assert (rescue.old, rescue.new, rescue.pushed_out) == (2, 1, (key("a.md", 1),))


def test_the_cap_says_which_chunk_of_its_document_it_is():
    base = a_base([a_piece("a.md", 0.9 - i / 100, index=i) for i in range(4)] + [a_piece("z.md", 0.1)])
    found = explained(base, key("a.md", 3), **DENSE)

    assert (found.ending.end, found.ending.reached, found.ending.limit) == (End.CAP, 4, 2)
    assert "chunk number 4 of its document" in found.sentence
    rescue = by_setting(found)["max_chunks_per_document"]
    assert (rescue.new, rescue.position, rescue.pushed_out) == (4, 4, ())
    assert rescue.brought_in == (key("a.md", 2),)


def test_packing_says_what_it_needs_and_what_was_left_and_the_budget_grows_by_what_it_lacks():
    pieces = [a_piece("a.md", 0.9, content="x" * 300), a_piece("b.md", 0.8, content="y" * 200)]
    found = explained(a_base(pieces), key("b.md"), context_budget_characters=350, **DENSE)

    assert (found.ending.end, found.ending.reached, found.ending.limit) == (End.PACK, 200, 50)
    rescue = by_setting(found)["context_budget_characters"]
    assert (rescue.old, rescue.new) == (350, 380)  # 300 for the first, 80 for the smallest excerpt


def test_outside_retrieve_k_its_real_rank_is_told_and_retrieve_k_alone_cannot_beat_return_n():
    found = explained(a_base(falling(20)), key("k.md"), retrieve_k=5, **DENSE)

    assert (found.ending.end, found.ending.reached, found.ending.limit) == (End.RETRIEVE, 11, 5)
    (dense,) = found.standings
    assert (dense.route, dense.rank, dense.looked) == (Route.DENSE, 11, 20)
    assert "rank 11 (0.890), outside retrieve_k 5" in found.sentence
    assert found.nearest is not None
    assert (found.nearest.setting, found.nearest.new) == ("retrieve_k", 11)
    assert (found.nearest.ending.end, found.nearest.ending.reached) == (End.RETURN_N, 11)


def test_a_larger_retrieve_k_lets_both_routes_agree_on_a_chunk():
    """x is 4th by cosine and 4th by BM25: with k 3 it is nowhere, with k 4 its two shares win."""
    pieces = [
        *(a_piece(f"d{i}.md", 0.9 - i / 100) for i in range(3)),
        *(a_piece(f"s{i}.md", 0.1 - i / 100, says=9 - i) for i in range(3)),
        a_piece("x.md", 0.5, says=3),
    ]
    found = explained(a_base(pieces), "x.md", retrieve_k=3, return_n=1)

    assert (found.ending.end, found.ending.reached) == (End.RETRIEVE, 4)
    assert [(place.rank, place.state) for place in found.standings] == [(4, RouteState.OK)] * 2
    rescue = by_setting(found)["retrieve_k"]
    assert (rescue.new, rescue.kept_key, rescue.position) == (4, key("x.md"), 1)
    assert rescue.pushed_out == (key("d0.md"),)


def test_a_chunk_that_shares_no_term_is_said_to_share_none_and_a_deep_one_is_looked_for_to_1000():
    pieces = [a_piece(f"{i:04}.md", 0.9 - i / 2000, says=1 if i < 3 else 0) for i in range(1005)]
    searcher = a_base(pieces)
    found = explained(searcher, key("1004.md"))

    assert found.ending.reached is None
    assert [place.sentence for place in found.standings] == [
        "Dense: not within the first 1,000.",
        "BM25: shares no term with the question.",
    ]
    assert max(searcher.depths) == 1000
    assert found.rescues == ()
    assert found.outlook.startswith("No single change of a setting keeps it")


def test_the_nearest_change_may_only_bring_a_chunk_into_a_route():
    """x is dense 3rd: with k 3 a, b stand on both routes and s on one, at a better rank than x."""
    pieces = [
        a_piece("a.md", 0.9, says=3), a_piece("b.md", 0.8, says=2), a_piece("x.md", 0.7),
        a_piece("s.md", 0.1, says=9),
    ]  # fmt: skip
    found = explained(a_base(pieces), key("x.md"), retrieve_k=2, return_n=2)

    assert found.ending.end is End.RETRIEVE
    assert (found.nearest.setting, found.nearest.new) == ("retrieve_k", 3)
    assert (found.nearest.ending.end, found.nearest.ending.reached) == (End.FUSE, 4)


def test_outside_the_fused_list_it_has_a_recomputed_rank_and_the_score_it_lacks():
    """k 2: dense a, b; BM25 c, a. a has two shares, c 1/61, b 1/62: the list of two ends with c."""
    pieces = [
        a_piece("a.md", 0.9, says=3), a_piece("b.md", 0.8), a_piece("c.md", 0.1, says=5),
    ]  # fmt: skip
    found = explained(a_base(pieces), key("b.md"), retrieve_k=2, return_n=2)

    assert (found.ending.end, found.ending.reached, found.ending.limit) == (End.FUSE, 3, 2)
    assert found.ending.lacking_score == pytest.approx(1 / 61 - 1 / 62, abs=1e-7)
    dense = by_setting(found)["mode"]
    assert (dense.new, dense.pushed_out) == (SearchMode.DENSE, (key("c.md"),))


def test_a_smaller_rrf_constant_keeps_a_chunk_that_only_one_route_ranks_first():
    """a is 1st by cosine alone; y is 4th by cosine and 3rd by BM25.

    a wins when 1/(k+1) > 1/(k+4) + 1/(k+3): k 1: 0.500 against 0.450; k 2: 0.333 against 0.367.
    """
    pieces = [
        a_piece("a.md", 0.9), a_piece("d2.md", 0.8), a_piece("d3.md", 0.7), a_piece("y.md", 0.6, says=4),
        a_piece("s1.md", 0.3, says=9), a_piece("s2.md", 0.2, says=8),
    ]  # fmt: skip
    searcher = a_base(pieces)
    found = explained(searcher, key("a.md"), retrieve_k=4, return_n=1)

    assert found.ending.end is End.RETURN_N
    rescue = by_setting(found)["rrf_k"]
    assert (rescue.old, rescue.new, rescue.pushed_out) == (60, 1, (key("y.md"),))

    fuse = searcher.search_hybrid
    searcher.search_hybrid = lambda request, vector: fuse(replace(request, rrf_k=60), vector)
    found = explained(searcher, key("a.md"), retrieve_k=4, return_n=1)

    assert "rrf_k" not in by_setting(found), "a change that does not hold when it is run is no rescue"


def test_weights_are_changed_in_steps_of_a_hundredth_to_the_first_that_holds():
    """a: 0.95 w_d; s: 0.55 w_d + w_s n(s). The order turns as w_s falls."""
    pieces = [a_piece("a.md", 0.9), a_piece("s.md", 0.1, says=9)]
    weights = {"ranker": Ranker.WEIGHTED, "weight_dense": 1.0, "weight_sparse": 1.0}
    found = explained(a_base(pieces), key("a.md"), return_n=1, **weights)

    standings = explained(a_base(pieces), key("s.md"), **weights).standings
    bm25 = next(place.score for place in standings if place.route is Route.SPARSE)
    turn = 0.4 / (2 * math.atan(bm25) / math.pi)
    rescue = by_setting(found)["weight_sparse"]
    assert rescue.new == pytest.approx(math.floor(turn * 100) / 100)
    assert rescue.pushed_out == (key("s.md"),)


def test_the_other_ranker_and_the_other_mode_are_tried():
    pieces = [a_piece("a.md", 0.9), a_piece("b.md", 0.89), a_piece("s.md", 0.1, says=9)]
    found = explained(a_base(pieces), key("s.md"), return_n=2, **DENSE)

    hybrid = by_setting(found)["mode"]
    assert (hybrid.old, hybrid.new) == (SearchMode.DENSE, SearchMode.HYBRID)


CATEGORIES = [
    a_piece("in.md", 0.7, category="hr"),
    a_piece("out.md", 0.9, category="ops"),
]


def test_a_filter_that_stays_excludes_it_and_taking_it_off_or_merging_keeps_it():
    found = explained(a_base(CATEGORIES), "out.md", category="hr", policy=FilterPolicy.STRICT, **DENSE)

    assert found.ending.end is End.OTHER_CATEGORY
    assert found.category_filter is None
    assert found.standings[0].rank == 1
    rescues = by_setting(found)
    assert (rescues["category"].old, rescues["category"].new) == ("hr", None)
    assert rescues["policy"].new is FilterPolicy.PARALLEL
    assert "another category than 'hr'" in found.sentence


def test_a_chunk_that_only_the_attempt_not_chosen_found_says_so():
    """The filtered attempt is weak (0.3), the other is no better (0.4): the filter stays."""
    pieces = [a_piece("in.md", 0.3, category="hr"), a_piece("out.md", 0.4, category="ops")]
    found = explained(a_base(pieces), "out.md", category="hr", **DENSE)

    assert (found.ending.end, found.ending.attempt) == (End.NOT_CHOSEN, "unfiltered")
    assert by_setting(found)["category"].new is None


def test_merged_attempts_rank_a_chunk_of_the_category_within_it():
    pieces = [
        *falling(6, category="ops"),
        a_piece("x.md", 0.5, category="hr"),
        a_piece("y.md", 0.6, category="hr"),
    ]
    found = explained(
        a_base(pieces), "x.md", category="hr", policy=FilterPolicy.PARALLEL, return_n=2, **DENSE
    )

    assert found.ending.end is End.RETURN_N
    assert (found.category_filter, found.standings[0].rank) == ("hr", 2)


def test_a_chunk_of_another_knowledge_base_is_told_but_its_base_is_not():
    pieces = [a_piece("a.md", 0.9), a_piece("b.md", 0.8, doc_id="secret/b.md", kb_scope="secret")]
    found = explained(a_base(pieces), "b.md", kb_scope="default", **DENSE)

    assert found.ending.end is End.OTHER_SCOPE
    assert (found.evidence_keys, found.document_chunks, found.rescues) == ((), 0, ())
    assert "secret" not in json.dumps(asdict(found))
    assert "but not in the knowledge base 'default'" in found.sentence


@pytest.mark.parametrize(
    ("expected", "known", "words"),
    [
        ("gone.md", None, "gone.md is not in build kb_1. Check the name"),
        ("gone.md", True, "although the catalog has the document"),
        ("gone.md#chunk-3", False, "neither in build kb_1 nor in the catalog"),
        ("default/a.md#chunk-7", True, "is not in build kb_1, which holds 1 chunk of default/a.md"),
    ],
)
def test_what_the_build_does_not_hold_is_an_answer_and_no_error(expected, known, words):
    asked = []

    def in_catalog(name):
        asked.append(name)
        return known

    found = explained(
        a_base(falling(2)), expected, in_catalog=None if known is None else in_catalog, **DENSE
    )

    assert found.ending.end is End.NOT_IN_BUILD
    assert words in found.sentence
    assert asked == ([] if known is None or "#chunk-7" in expected else ["gone.md"])
    assert found.outlook == "No setting of the lookup can bring it in."


def test_of_a_document_the_chunk_that_came_furthest_speaks_and_any_of_its_chunks_counts():
    pieces = [*falling(5), a_piece("x.md", 0.5, index=0), a_piece("x.md", 0.6, index=1)]
    found = explained(a_base(pieces), "default/x.md", **DENSE)

    assert found.evidence_keys == (key("x.md", 0), key("x.md", 1))
    assert (found.ending.evidence_key, found.ending.reached) == (key("x.md", 1), 6)
    assert found.rescues[0].kept_key == key("x.md", 1)


def test_a_document_whose_name_looks_like_a_key_is_found_when_no_chunk_has_that_key():
    found = explained(a_base([a_piece("no#chunk-1", 0.9)]), "default/no#chunk-1", **DENSE)

    assert found.ending.evidence_key == "default/no#chunk-1#chunk-0"


@pytest.mark.parametrize("expected", ["", "  ", "rank:3", "\ud800", "x" * 1101])
def test_what_can_name_nothing_is_refused(expected):
    with pytest.raises(RequestInvalid):
        explained(a_base(falling(1)), expected, **DENSE)


def test_a_failed_route_is_told_and_no_change_is_tried():
    searcher = a_base(falling(8))

    def broken(request):
        raise StoreError("The index is broken.")

    searcher.search_sparse = broken
    found = explained(searcher, key("f.md"))

    assert [place.state for place in found.standings] == [RouteState.OK, RouteState.FAILED]
    assert found.outlook == "A route failed, so no change could be tried."


def test_a_question_without_terms_says_that_bm25_was_not_asked():
    found = explained(a_base(falling(8)), key("f.md"), query="???")

    assert found.standings[1].state is RouteState.NOT_RUN
    assert found.standings[1].sentence.startswith("BM25: not asked (The query has no word")
    assert by_setting(found)["return_n"].new == 6


def test_rescues_are_ordered_by_what_they_push_out_then_by_how_much_they_change():
    found = explained(a_base(falling(8)), key("f.md"))

    costs = [(len(it.pushed_out), it.relative_change) for it in found.rescues]
    assert costs == sorted(costs)


def test_an_explanation_is_plain_json():
    found = explained(a_base(falling(8)), key("f.md"))

    assert json.loads(json.dumps(asdict(found), allow_nan=False))["ending"]["end"] == "return_n"
