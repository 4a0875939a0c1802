"""Which calls one search makes, and how their answers are joined."""

from dataclasses import fields, replace

import pytest

from core.errors import (
    CollectionMismatch,
    CollectionMissing,
    HybridUnsupported,
    StoreError,
    StoreLocked,
    StoreUnavailable,
)
from core.model.search import (
    AuditVerdict,
    Route,
    RouteList,
    RouteScore,
    RouteState,
    SearchMode,
    SearchRequest,
)
from core.retrieval.searching import search
from tests.builders import a_hit, a_list
from tests.core.retrieval.scripted import VECTOR, ScriptedPort

HYBRID = SearchRequest("query", category_filter="ops", kb_scope="base-a", retrieve_k=7)
DENSE = replace(HYBRID, mode=SearchMode.DENSE)
ANSWERS = {
    (Route.DENSE, "ops"): a_list(Route.DENSE, {"a": 0.9, "b": 0.8}, limit=7),
    (Route.SPARSE, "ops"): a_list(Route.SPARSE, {"b": 7.0, "c": 3.0}, limit=7),
    (Route.FUSED, "ops"): a_list(Route.FUSED, {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62}, limit=7),
}


def answers(**changes):
    return {**ANSWERS, **{(Route(route), "ops"): answer for route, answer in changes.items()}}


@pytest.mark.parametrize(
    ("request_", "trace", "calls"),
    [
        (DENSE, False, ["dense"]),
        (DENSE, True, ["dense"]),
        (HYBRID, False, ["dense", "fused"]),
        (HYBRID, True, ["dense", "fused", "sparse"]),
    ],
)
def test_a_search_makes_only_the_calls_it_needs_with_one_filter_and_one_k(request_, trace, calls):
    port = ScriptedPort(ANSWERS)

    search(port, request_, VECTOR, trace=trace)

    assert sorted(route.value for route, _ in port.asked) == calls
    assert {asked for _, asked in port.asked} == {request_}


def test_a_dense_list_that_is_already_there_saves_the_call():
    for request, calls in ((DENSE, []), (HYBRID, ["fused"])):
        port = ScriptedPort(ANSWERS)
        response = search(port, request, VECTOR, trace=False, dense=ANSWERS[Route.DENSE, "ops"])

        assert [route.value for route, _ in port.asked] == calls
        assert [hit.doc_id for hit in response.dense.hits] == ["a", "b"]


def test_dense_mode_has_no_number_of_another_route():
    response = search(ScriptedPort(ANSWERS), DENSE, VECTOR, trace=True)

    assert [(hit.doc_id, hit.rank, hit.dense) for hit in response.hits] == [
        ("a", 1, RouteScore(1, 0.9)),
        ("b", 2, RouteScore(2, 0.8)),
    ]
    assert {(hit.sparse, hit.fused) for hit in response.hits} == {(None, None)}
    assert (response.sparse.state, response.fused.state) == (RouteState.NOT_RUN, RouteState.NOT_RUN)
    assert response.audit.verdict is AuditVerdict.NOT_CHECKED


def test_every_hit_of_a_traced_search_carries_the_numbers_of_every_route():
    response = search(ScriptedPort(ANSWERS), HYBRID, VECTOR, trace=True)

    assert [(hit.doc_id, hit.rank, hit.dense, hit.sparse, hit.fused) for hit in response.hits] == [
        ("b", 1, RouteScore(2, 0.8), RouteScore(1, 7.0), RouteScore(1, 1 / 62 + 1 / 61)),
        ("a", 2, RouteScore(1, 0.9), None, RouteScore(2, 1 / 61)),
        ("c", 3, None, RouteScore(2, 3.0), RouteScore(3, 1 / 62)),
    ]
    assert [(hit.doc_id, hit.sparse, hit.fused) for hit in response.dense.hits] == [
        ("a", None, RouteScore(2, 1 / 61)),
        ("b", RouteScore(1, 7.0), RouteScore(1, 1 / 62 + 1 / 61)),
    ]
    assert response.audit.verdict is AuditVerdict.EQUAL


def test_the_order_is_the_servers_even_when_the_audit_disagrees():
    reverse = a_list(Route.FUSED, {"c": 0.03, "b": 0.02}, limit=7)
    response = search(ScriptedPort(answers(fused=reverse)), HYBRID, VECTOR, trace=True)

    assert [hit.doc_id for hit in response.hits] == ["c", "b"]
    assert response.audit.verdict is AuditVerdict.DIFFERENT


def test_without_a_trace_bm25_was_not_run_and_gives_no_number():
    response = search(ScriptedPort(ANSWERS), HYBRID, VECTOR, trace=False)

    assert response.sparse.state is RouteState.NOT_RUN
    assert response.sparse.reason
    assert response.audit.verdict is AuditVerdict.NOT_CHECKED
    assert {hit.sparse for hit in response.hits} == {None}
    assert response.hits[0].dense == RouteScore(2, 0.8)


def test_the_trace_changes_no_hit_and_no_order():
    traced = search(ScriptedPort(ANSWERS), HYBRID, VECTOR, trace=True)
    plain = search(ScriptedPort(ANSWERS), HYBRID, VECTOR, trace=False)

    assert tuple(replace(hit, sparse=None) for hit in traced.hits) == plain.hits


@pytest.mark.parametrize("route", ["dense", "sparse"])
def test_a_failed_probe_says_why_and_the_result_stands(route):
    port = ScriptedPort(answers(**{route: StoreError("the segment is broken")}))
    response = search(port, HYBRID, VECTOR, trace=True)

    failed = getattr(response, route)
    assert (failed.state, failed.reason, failed.hits) == (RouteState.FAILED, "the segment is broken", ())
    assert failed.milliseconds is None
    assert [hit.doc_id for hit in response.hits] == ["b", "a", "c"]
    assert {getattr(hit, route) for hit in response.hits} == {None}
    assert response.audit.verdict is AuditVerdict.NOT_CHECKED


def test_empty_failed_and_not_run_are_three_different_states():
    empty = search(ScriptedPort({}), HYBRID, VECTOR, trace=True).sparse
    failed = search(ScriptedPort(answers(sparse=StoreError("x"))), HYBRID, VECTOR, trace=True).sparse
    not_run = search(ScriptedPort(ANSWERS), HYBRID, VECTOR, trace=False).sparse

    states = [empty.state, failed.state, not_run.state]
    assert states == [RouteState.EMPTY, RouteState.FAILED, RouteState.NOT_RUN]
    assert all(each.reason for each in (empty, failed, not_run))


@pytest.mark.parametrize(
    "error", [StoreUnavailable, StoreLocked, CollectionMissing, CollectionMismatch, HybridUnsupported]
)
@pytest.mark.parametrize("route", ["dense", "sparse", "fused"])
def test_a_fault_of_the_whole_store_ends_the_search(error, route):
    with pytest.raises(error, match="gone"):
        search(ScriptedPort(answers(**{route: error("gone")})), HYBRID, VECTOR, trace=True)


def test_a_hybrid_call_that_fails_ends_the_search():
    with pytest.raises(StoreError, match="broken"):
        search(ScriptedPort(answers(fused=StoreError("broken"))), HYBRID, VECTOR, trace=True)


def test_a_dense_call_that_fails_in_dense_mode_ends_the_search():
    with pytest.raises(StoreError, match="broken"):
        search(ScriptedPort(answers(dense=StoreError("broken"))), DENSE, VECTOR, trace=True)


def test_scores_are_joined_by_evidence_key_and_not_by_source_or_title():
    first, second = a_hit("a", 0, fused=(1, 0.03)), a_hit("a", 1, rank=2, fused=(2, 0.02))
    dense = a_hit("a", 1, dense=(1, 0.7))
    port = ScriptedPort(
        {
            (Route.FUSED, "ops"): RouteList(Route.FUSED, RouteState.OK, (first, second), 7, 1.0),
            (Route.DENSE, "ops"): RouteList(Route.DENSE, RouteState.OK, (dense,), 7, 1.0),
        }
    )
    response = search(port, HYBRID, VECTOR, trace=False)

    assert [hit.dense for hit in response.hits] == [None, RouteScore(1, 0.7)]


def test_hits_without_identity_share_no_score_because_of_an_equal_rank():
    fused = a_hit(None, None, hit_id="", content="one", fused=(1, 0.03))
    dense = a_hit(None, None, hit_id="", content="other", dense=(1, 0.7))
    port = ScriptedPort(
        {
            (Route.FUSED, "ops"): RouteList(Route.FUSED, RouteState.OK, (fused,), 7, 1.0),
            (Route.DENSE, "ops"): RouteList(Route.DENSE, RouteState.OK, (dense,), 7, 1.0),
        }
    )
    response = search(port, HYBRID, VECTOR, trace=True)

    assert response.hits == (fused,)
    assert response.dense.hits == (dense,)


def test_joining_changes_nothing_of_a_hit_but_its_scores():
    whole = {"dense", "sparse", "fused", "rank"}
    names = [field.name for field in fields(a_hit()) if field.name not in whole]
    asked = ANSWERS[Route.FUSED, "ops"].hits

    for before, after in zip(
        asked, search(ScriptedPort(ANSWERS), HYBRID, VECTOR, trace=True).hits, strict=True
    ):
        assert [getattr(before, name) for name in names] == [getattr(after, name) for name in names]
