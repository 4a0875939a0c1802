"""Retrieve under each filter policy, with every call to the store recorded."""

from dataclasses import replace

import pytest

from core.errors import StoreError, StoreUnavailable
from core.model.lookup import FilterPolicy, Level
from core.model.search import Route, RouteScore, SearchMode
from core.retrieval.levels import Thresholds
from core.retrieval.retriever import retrieve
from tests.builders import a_list
from tests.core.retrieval.scripted import VECTOR, ScriptedPort, a_configuration

ALL = None
DENSE_MODE = {"mode": SearchMode.DENSE, "category": "ops", "kb_scope": "base-a"}


def run(port, query="query", *, trace=False, **changes):
    return retrieve(port, query, VECTOR, a_configuration(**changes), trace=trace)


def dense_port(filtered, unfiltered, *, counts=None):
    return ScriptedPort(
        {
            (Route.DENSE, "ops"): a_list(Route.DENSE, filtered, category="ops"),
            (Route.DENSE, ALL): a_list(Route.DENSE, unfiltered, category="hr"),
        },
        counts=counts,
    )


def names(attempt):
    return [hit.doc_id for hit in attempt.hits]


def test_without_a_category_one_attempt_runs_and_the_background_costs_no_call():
    port = dense_port({}, {"x": 0.9, "y": 0.7})
    result = run(port, mode=SearchMode.DENSE)

    assert port.calls == [("dense", ALL)]
    assert port.counted == []
    assert (result.selected, result.filter_relaxed) == ("unfiltered", False)
    assert (result.background.count, result.background.best) == (2, 0.9)
    assert result.background.milliseconds == 0.0


@pytest.mark.parametrize(("trace", "calls"), [(False, 2), (True, 3)])
def test_without_a_category_hybrid_makes_no_call_for_the_background(trace, calls):
    port = ScriptedPort(
        {
            (Route.DENSE, ALL): a_list(Route.DENSE, {"x": 0.9}),
            (Route.FUSED, ALL): a_list(Route.FUSED, {"x": 1 / 61}),
        }
    )
    result = run(port, trace=trace)

    assert len(port.calls) == calls
    assert result.background.count == 1


def test_a_good_filtered_attempt_costs_one_unfiltered_dense_call_and_stays():
    port = dense_port({"a": 0.6}, {"x": 0.9, "a": 0.6})
    result = run(port, **DENSE_MODE)

    assert sorted(port.calls, key=str) == [("dense", "ops"), ("dense", None)]
    assert port.counted == []
    assert [attempt.name for attempt in result.attempts] == ["filtered"]
    assert (result.selected, result.filter_relaxed) == ("filtered", False)
    assert result.chosen.level is Level.RELATED
    assert result.background.best == 0.9
    assert result.background.milliseconds == 1.0
    assert result.reason.startswith("the filter holds good chunks (best kept hit a#chunk-0: cosine 0.600")


def test_a_weak_filtered_attempt_falls_back_without_another_dense_call():
    port = dense_port({"a": 0.3}, {"x": 0.9, "a": 0.3}, counts={"ops": 4})
    result = run(port, **DENSE_MODE)

    assert sorted(port.calls, key=str) == [("dense", "ops"), ("dense", None)]
    assert port.counted == [("ops", "base-a")]
    assert [(attempt.name, attempt.level) for attempt in result.attempts] == [
        ("filtered", Level.WEAK),
        ("unfiltered", Level.PRECISE),
    ]
    assert (result.selected, result.filter_relaxed) == ("unfiltered", True)
    assert result.attempts[0].category_chunks == 4
    weak = "the chunks of category 'ops' are not good enough (best kept hit a#chunk-0"
    assert result.reason.startswith(weak)


def test_an_empty_category_falls_back_and_says_so_ret_06():
    port = dense_port({}, {"x": 0.9}, counts={"ops": 0})
    result = run(port, **DENSE_MODE)

    assert (result.selected, result.filter_relaxed) == ("unfiltered", True)
    assert result.attempts[0].category_chunks == 0
    assert result.reason.startswith("category 'ops' holds no chunk, and without the filter")


def test_with_the_retry_off_a_weak_category_stays_and_an_empty_one_does_not_ret_06():
    weak = run(
        dense_port({"a": 0.3}, {"x": 0.9}, counts={"ops": 4}),
        **DENSE_MODE,
        retry_unfiltered_on_low_quality=False,
    )
    empty = run(dense_port({}, {"x": 0.9}), **DENSE_MODE, retry_unfiltered_on_low_quality=False)

    assert (weak.selected, len(weak.attempts)) == ("filtered", 1)
    assert weak.reason.startswith("retrying without the filter is switched off")
    assert (empty.selected, len(empty.attempts)) == ("unfiltered", 2)


def test_a_tie_of_levels_stays_filtered():
    result = run(dense_port({"a": 0.3}, {"x": 0.4}, counts={"ops": 1}), **DENSE_MODE)

    assert len(result.attempts) == 2
    assert (result.selected, result.filter_relaxed) == ("filtered", False)


def test_strict_never_leaves_the_category_but_counts_it():
    port = dense_port({"a": 0.3}, {"x": 0.9}, counts={"ops": 4})
    result = run(port, **DENSE_MODE, policy=FilterPolicy.STRICT)

    assert [attempt.name for attempt in result.attempts] == ["filtered"]
    assert result.attempts[0].category_chunks == 4
    assert result.filter_relaxed is False
    assert result.reason.startswith("the policy is strict, so the filter stays")


def test_parallel_merges_both_lists_and_shows_the_relaxed_filter():
    port = dense_port({"a": 0.9, "b": 0.6}, {"x": 0.95, "a": 0.9})
    result = run(port, **DENSE_MODE, policy=FilterPolicy.PARALLEL)

    assert sorted(port.calls, key=str) == [("dense", "ops"), ("dense", None)]
    assert [attempt.name for attempt in result.attempts] == ["filtered", "unfiltered", "merged"]
    assert (result.selected, result.filter_relaxed) == ("merged", True)
    assert [(hit.doc_id, hit.rank) for hit in result.chosen.hits] == [("a", 1), ("x", 2), ("b", 3)]
    assert set(result.chosen.judgements) == {"a#chunk-0", "x#chunk-0", "b#chunk-0"}


def test_a_merged_hit_is_judged_by_the_cosine_that_only_the_filtered_attempt_saw():
    port = ScriptedPort(
        {
            (Route.DENSE, "ops"): a_list(Route.DENSE, {"a": 0.85}),
            (Route.FUSED, "ops"): a_list(Route.FUSED, {"a": 1 / 61}),
            (Route.DENSE, ALL): a_list(Route.DENSE, {"x": 0.4}),
            (Route.FUSED, ALL): a_list(Route.FUSED, {"x": 1 / 61, "a": 1 / 61}),
        }
    )
    merged = run(port, category="ops", policy=FilterPolicy.PARALLEL).chosen

    assert merged.hits[0].dense == RouteScore(1, 0.85)
    assert merged.judgements["a#chunk-0"].level is Level.PRECISE
    assert merged.level is Level.PRECISE


@pytest.mark.parametrize("mode", SearchMode)
@pytest.mark.parametrize("policy", FilterPolicy)
@pytest.mark.parametrize("category", ["ops", None])
@pytest.mark.parametrize("filtered", [{}, {"a": 0.1}, {"a": 0.9}])
def test_the_knowledge_base_is_in_every_request_and_count(mode, policy, category, filtered):
    port = ScriptedPort(
        {
            (Route.DENSE, "ops"): a_list(Route.DENSE, filtered),
            (Route.FUSED, "ops"): a_list(Route.FUSED, filtered),
            (Route.DENSE, ALL): a_list(Route.DENSE, {"x": 0.9}),
            (Route.FUSED, ALL): a_list(Route.FUSED, {"x": 0.9}),
        }
    )
    run(port, trace=True, mode=mode, policy=policy, category=category, kb_scope="base-a")

    assert port.asked
    assert {request.kb_scope for _, request in port.asked} == {"base-a"}
    assert {scope for _, scope in port.counted} <= {"base-a"}
    assert {request.category_filter for _, request in port.asked} <= {category, None}


def test_the_margin_of_a_filtered_hit_is_taken_against_the_whole_base():
    # background 0.9, 0.7: mean 0.8, deviation 0.1; the filtered hit at 0.6 stands at -2.
    cuts = Thresholds("test", True, 0.5, 0.8, related_margin=-1.5, precise_margin=0.0)
    result = run(dense_port({"a": 0.6}, {"x": 0.9, "y": 0.7}), **DENSE_MODE, thresholds=cuts)

    judgement = result.attempts[0].judgements["a#chunk-0"]
    assert judgement.level is Level.WEAK
    assert judgement.margin == pytest.approx(-2.0, abs=1e-9)
    assert result.selected == "unfiltered"


def test_the_exact_terms_of_the_query_lift_a_hit_of_bm25():
    fused = a_list(Route.FUSED, {"E-1042": 1 / 61})  # its content is "Content of E-1042."
    result = run(ScriptedPort({(Route.FUSED, ALL): fused}), "what is E-1042")

    assert result.chosen.level is Level.RELATED
    assert result.chosen.judgements["E-1042#chunk-0"].lexically_complete


def test_a_failed_dense_probe_is_named_in_the_verdict_and_the_hits_stand():
    port = ScriptedPort(
        {
            (Route.DENSE, ALL): StoreError("the index is broken"),
            (Route.FUSED, ALL): a_list(Route.FUSED, {"x": 1 / 61}),
        }
    )
    result = run(port)

    assert names(result.chosen) == ["x"]
    assert result.chosen.level is Level.WEAK
    assert result.chosen.reason.startswith(
        "the dense route failed, so no similarity is known (the index is broken)"
    )
    assert result.background.count == 0


def test_a_store_that_does_not_answer_ends_the_retrieval():
    port = ScriptedPort({(Route.DENSE, ALL): StoreUnavailable("no answer")})

    with pytest.raises(StoreUnavailable, match="no answer"):
        run(port, **DENSE_MODE)


def test_an_attempt_without_hits_is_weak_and_says_so():
    result = run(ScriptedPort({}), mode=SearchMode.DENSE)

    assert result.chosen.level is Level.WEAK
    assert result.chosen.reason == "no hit: The store returned no chunk."


def test_the_verdict_of_an_attempt_names_its_best_hit_not_its_first():
    port = ScriptedPort(
        {
            (Route.DENSE, ALL): a_list(Route.DENSE, {"b": 0.9, "a": 0.6}),
            (Route.FUSED, ALL): a_list(Route.FUSED, {"a": 0.03, "b": 0.02}),
        }
    )
    result = run(port)

    assert result.chosen.level is Level.PRECISE
    assert result.chosen.reason.startswith("best kept hit b#chunk-0: cosine 0.900")


def test_of_two_copies_of_a_chunk_the_better_ranked_one_is_judged():
    made = a_list(Route.DENSE, {"a": 0.9, "b": 0.6})
    copy = replace(made.hits[0], rank=3, dense=RouteScore(3, 0.1))
    port = ScriptedPort({(Route.DENSE, ALL): replace(made, hits=(*made.hits, copy))})
    result = run(port, mode=SearchMode.DENSE)

    assert len(result.chosen.hits) == 3
    assert result.chosen.judgements["a#chunk-0"].similarity == 0.9
    assert result.chosen.level is Level.PRECISE


def test_a_filtered_attempt_whose_only_good_hit_is_not_kept_falls_back():
    filtered = {"a": 0.3, "b": 0.2, "good": 0.6}
    port = ScriptedPort(
        {
            (Route.DENSE, "ops"): a_list(Route.DENSE, dict(sorted(filtered.items(), key=lambda p: -p[1]))),
            (Route.FUSED, "ops"): a_list(Route.FUSED, {"a": 0.03, "b": 0.02, "good": 0.01}),
            (Route.DENSE, ALL): a_list(Route.DENSE, {"x": 0.9}),
            (Route.FUSED, ALL): a_list(Route.FUSED, {"x": 0.03}),
        }
    )
    result = run(port, category="ops", return_n=2)

    assert result.selected == "unfiltered"
