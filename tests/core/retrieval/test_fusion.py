"""The fusion audit, against fusions written out by hand."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.model.search import (
    AuditVerdict,
    Ranker,
    Route,
    RouteList,
    RouteScore,
    RouteState,
    SearchRequest,
)
from core.retrieval.fusion import audit_fusion, normalised_bm25, normalised_cosine, reciprocal_rank
from tests.builders import a_hit, a_list

TWENTY = SearchRequest("query")
NAMES = st.permutations("abcdefgh").flatmap(lambda names: st.integers(0, 8).map(lambda n: tuple(names[:n])))


def dense(scores, limit=20):
    return a_list(Route.DENSE, scores, limit=limit)


def sparse(scores, limit=20):
    return a_list(Route.SPARSE, scores, limit=limit)


def fused(scores, limit=20):
    return a_list(Route.FUSED, scores, limit=limit)


def descending(names, start):
    """Scores without ties for names in order."""
    return {name: start - position / 100 for position, name in enumerate(names)}


def by_rank(*routes):
    """RRF with k 60 by plain addition; equal scores by name."""
    totals = {}
    for route in routes:
        for rank, name in enumerate(route, start=1):
            totals[name] = totals.get(name, 0.0) + 1 / (60 + rank)
    return dict(sorted(totals.items(), key=lambda pair: (-pair[1], pair[0])))


def audit(request, *lists, metric="COSINE"):
    return audit_fusion(request, *lists, metric=metric)


def test_the_reciprocal_rank_counts_from_one():
    assert reciprocal_rank(1, 60) == 1 / 61
    assert reciprocal_rank(3, 1) == 1 / 4


@pytest.mark.parametrize(
    ("cosine", "metric", "expected"),
    [
        (1.0, "COSINE", 1.0), (0.0, "COSINE", 0.5), (-1.0, "COSINE", 0.0),
        (1.0, "IP", 0.75), (0.0, "IP", 0.5), (-1.0, "IP", 0.25),
        (1.0, "L2", 1.0), (0.5, "L2", 0.5), (1 - math.sqrt(3) / 2, "L2", 1 / 3),
    ],
)  # fmt: skip
def test_a_cosine_is_normalised_as_the_metric_asks(cosine, metric, expected):
    assert normalised_cosine(cosine, metric) == pytest.approx(expected, abs=1e-12)


def test_bm25_is_normalised_below_one():
    assert normalised_bm25(0.0) == 0.0
    assert normalised_bm25(1.0) == pytest.approx(0.5, abs=1e-12)
    assert normalised_bm25(1e6) < 1.0


def test_reciprocal_rank_fusion_is_recomputed():
    result = audit(
        TWENTY,
        dense({"a": 0.9, "b": 0.8}),
        sparse({"b": 7.0, "c": 3.0}),
        fused({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62}),
    )

    assert result.verdict is AuditVerdict.EQUAL
    assert result.compared == 3
    assert result.first_difference == ""
    assert result.recomputed == {
        "b#chunk-0": RouteScore(1, 1 / 62 + 1 / 61),
        "a#chunk-0": RouteScore(2, 1 / 61),
        "c#chunk-0": RouteScore(3, 1 / 62),
    }


def test_candidates_outside_the_servers_list_are_recomputed_too():
    request = SearchRequest("query", retrieve_k=2)
    result = audit(
        request, dense({"a": 0.9, "b": 0.8}, 2), sparse({"a": 7.0, "c": 3.0}, 2),
        fused({"a": 2 / 61, "b": 1 / 62}, 2),
    )  # fmt: skip

    assert result.verdict is AuditVerdict.EQUAL
    assert result.recomputed["c#chunk-0"] == RouteScore(3, 1 / 62)


def test_the_weighted_fusion_is_recomputed_from_normalised_scores():
    request = SearchRequest("query", ranker=Ranker.WEIGHTED, weight_dense=1.0, weight_sparse=0.8)
    # dense (1 + c) / 2: a 0.9, b 0.8. BM25 2 atan(s) / pi: b 1/2, c 2/3.
    result = audit(
        request,
        dense({"a": 0.8, "b": 0.6}),
        sparse({"c": math.sqrt(3), "b": 1.0}),
        fused({"b": 0.8 + 0.8 * 1 / 2, "a": 0.9, "c": 0.8 * 2 / 3}),
    )

    assert result.verdict is AuditVerdict.EQUAL
    assert result.recomputed["b#chunk-0"].score == pytest.approx(1.2, abs=1e-12)


def test_another_weight_at_the_server_is_a_difference():
    request = SearchRequest("query", ranker=Ranker.WEIGHTED, weight_dense=0.5)
    result = audit(request, dense({"a": 0.8}), sparse({}), fused({"a": 0.9}))

    assert result.verdict is AuditVerdict.DIFFERENT
    assert result.first_difference == (
        "rank 1: the server has a#chunk-0 (0.900000), recomputed a#chunk-0 (0.450000)"
    )


def test_equal_fused_scores_are_ordered_by_evidence_key():
    result = audit(TWENTY, dense({"z": 0.9}), sparse({"a": 3.0}), fused({"a": 1 / 61, "z": 1 / 61}))

    assert result.verdict is AuditVerdict.EQUAL
    assert list(result.recomputed) == ["a#chunk-0", "z#chunk-0"]


def test_a_tie_inside_a_route_that_the_server_broke_otherwise_is_equal_up_to_ties():
    result = audit(TWENTY, dense({"a": 0.9, "b": 0.9}), sparse({}), fused({"b": 1 / 61, "a": 1 / 62}))

    assert result.verdict is AuditVerdict.EQUAL_UP_TO_TIES
    assert result.first_difference == (
        "rank 1: the server has b#chunk-0 (0.016393), recomputed a#chunk-0 (0.016393)"
    )


def test_the_same_order_without_a_tie_is_different():
    result = audit(TWENTY, dense({"a": 0.9, "b": 0.8}), sparse({}), fused({"b": 1 / 61, "a": 1 / 62}))

    assert result.verdict is AuditVerdict.DIFFERENT


def test_a_tie_that_goes_on_beyond_the_limit_of_a_route_is_equal_up_to_ties():
    request = SearchRequest("query", retrieve_k=3)
    result = audit(
        request, dense({"a": 0.9, "b": 0.5, "c": 0.5}, 3), sparse({}, 3),
        fused({"a": 1 / 61, "c": 1 / 62, "x": 1 / 63}, 3),
    )  # fmt: skip

    assert result.verdict is AuditVerdict.EQUAL_UP_TO_TIES


def test_an_unlisted_chunk_is_different_when_the_route_was_not_full():
    result = audit(TWENTY, dense({"a": 0.9, "b": 0.5}), sparse({}), fused({"a": 1 / 61, "x": 1 / 62}))

    assert result.verdict is AuditVerdict.DIFFERENT


def test_an_unlisted_chunk_above_the_tail_of_a_full_route_is_different():
    request = SearchRequest("query", retrieve_k=2)
    result = audit(
        request, dense({"a": 0.9, "b": 0.5}, 2), sparse({}, 2), fused({"x": 1 / 61, "a": 1 / 62}, 2)
    )

    assert result.verdict is AuditVerdict.DIFFERENT


def test_a_tie_at_the_end_of_the_fused_list_is_equal_up_to_ties():
    request = SearchRequest("query", retrieve_k=3)
    result = audit(
        request, dense({"a": 0.9, "b": 0.8}, 3), sparse({"c": 7.0, "d": 6.0}, 3),
        fused({"a": 1 / 61, "c": 1 / 61, "d": 1 / 62}, 3),
    )  # fmt: skip

    assert result.verdict is AuditVerdict.EQUAL_UP_TO_TIES


def test_a_better_candidate_left_out_of_a_full_list_is_different():
    request = SearchRequest("query", retrieve_k=2)
    result = audit(request, dense({"a": 0.9}, 2), sparse({"a": 7.0, "d": 6.0}, 2), fused({"d": 1 / 62}, 2))

    assert result.verdict is AuditVerdict.DIFFERENT


def test_right_scores_in_the_wrong_order_are_different():
    result = audit(TWENTY, dense({"a": 0.9, "b": 0.8}), sparse({}), fused({"b": 1 / 62, "a": 1 / 61}))

    assert result.verdict is AuditVerdict.DIFFERENT
    assert result.first_difference == (
        "rank 1: the server has b#chunk-0 (0.016129), recomputed a#chunk-0 (0.016393)"
    )


def test_a_list_that_ends_too_early_is_different():
    result = audit(TWENTY, dense({"a": 0.9, "b": 0.8}), sparse({}), fused({"a": 1 / 61}))

    assert result.verdict is AuditVerdict.DIFFERENT
    assert result.first_difference == "rank 2: the server has none, recomputed b#chunk-0 (0.016129)"


def test_a_hit_that_no_route_lists_is_different():
    result = audit(TWENTY, dense({"a": 0.9}), sparse({}), fused({"a": 1 / 61, "x": 1 / 62}))

    assert result.verdict is AuditVerdict.DIFFERENT
    assert result.first_difference == "rank 2: the server has x#chunk-0 (0.016129), recomputed none"


def test_neighbours_swapped_at_a_deep_rank_are_different():
    names = [f"n{number:03}" for number in range(300)]
    scores = {name: 1 / (61 + position) for position, name in enumerate(names)}
    names[297], names[298] = names[298], names[297]
    swapped = dict(zip(names, scores.values(), strict=True))
    route = {name: 0.9 - position / 1000 for position, name in enumerate(scores)}
    request = SearchRequest("query", retrieve_k=1000)

    result = audit(request, dense(route, 1000), sparse({}, 1000), fused(swapped, 1000))

    assert result.verdict is AuditVerdict.DIFFERENT


@pytest.mark.parametrize("state", [RouteState.FAILED, RouteState.NOT_RUN])
@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_missing_list_leaves_the_fusion_unchecked(state, missing):
    lists = [dense({"a": 0.9}), sparse({"a": 2.0}), fused({"a": 2 / 61})]
    lists[missing] = RouteList(lists[missing].route, state, reason="gone")

    result = audit(TWENTY, *lists)

    assert result.verdict is AuditVerdict.NOT_CHECKED
    assert result.compared == 0


def test_a_route_skipped_for_want_of_terms_counts_as_empty():
    skipped = RouteList(Route.SPARSE, RouteState.NOT_RUN, limit=20, reason="no terms")

    assert audit(TWENTY, dense({"a": 0.9}), skipped, fused({"a": 1 / 61})).verdict is AuditVerdict.EQUAL


def test_empty_routes_and_an_empty_list_are_equal():
    assert audit(TWENTY, dense({}), sparse({}), fused({})).verdict is AuditVerdict.EQUAL


def test_hits_without_identity_leave_the_fusion_unchecked():
    nameless = a_hit(None, None, hit_id="", dense=(1, 0.9))
    route = RouteList(Route.DENSE, RouteState.OK, (nameless,), 20, 1.0)

    assert audit(TWENTY, route, sparse({}), fused({"a": 1 / 61})).verdict is AuditVerdict.NOT_CHECKED


@settings(deadline=None, max_examples=60)
@given(NAMES, NAMES)
def test_a_server_that_fuses_the_two_lists_is_always_equal(first, second):
    result = audit(
        TWENTY, dense(descending(first, 0.9)), sparse(descending(second, 9.0)),
        fused(by_rank(first, second)),
    )  # fmt: skip

    assert result.verdict is AuditVerdict.EQUAL
    assert result.compared == len({*first, *second})


@settings(deadline=None, max_examples=60)
@given(NAMES, st.permutations("abcdefg"), st.data())
def test_adding_a_hit_to_a_route_never_lowers_its_fused_score(first, second, data):
    place = data.draw(st.integers(0, len(second)))
    with_h = [*second[:place], "h", *second[place:]]
    nothing = fused({})
    before = audit(TWENTY, dense(descending(first, 0.9)), sparse(descending(second, 9.0)), nothing)
    after = audit(TWENTY, dense(descending(first, 0.9)), sparse(descending(with_h, 9.0)), nothing)

    earlier = before.recomputed.get("h#chunk-0", RouteScore(99, 0.0))
    assert after.recomputed["h#chunk-0"].score == pytest.approx(earlier.score + 1 / (61 + place), abs=1e-12)
    assert after.recomputed["h#chunk-0"].score > earlier.score
