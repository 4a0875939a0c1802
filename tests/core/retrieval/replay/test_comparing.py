"""Differences between two results, each made by hand with one change."""

from dataclasses import replace

import pytest

from core.errors import StoreError
from core.model.lookup import FilterPolicy, Level, MatchedDomain, Navigation, Stage
from core.model.search import Route, RouteList, RouteState, SearchMode
from core.retrieval.lookup import lookup_knowledge
from core.retrieval.replay.comparing import build_values, changes, differences, named_copies, places
from core.retrieval.replay.comparison import (
    AttemptChange,
    Change,
    ContentChange,
    EndChange,
    LevelChange,
    ListChange,
    PlaceChange,
    ProjectionChange,
    Ran,
    ScoreChange,
)
from tests.builders import a_list
from tests.core.retrieval.replay.material import DESCRIPTION, EMBEDDER, a_base, looked_up, saved
from tests.core.retrieval.scripted import ScriptedEmbedder, ScriptedPort, a_configuration

DENSE = {"a": 0.9, "b": 0.7, "c": 0.6}
SPARSE = {"b": 5.0, "a": 4.0}
FUSED = {"a": 0.0325, "b": 0.0325, "c": 0.0159}
SAME_PROJECTION = ProjectionChange(True, (), (), (), (), ())


def base_result(**changes):
    return looked_up(DENSE, SPARSE, FUSED, **changes)


def key(name):
    return f"{name}#chunk-0"


def the_attempt(found):
    (attempt,) = found.attempts
    return attempt


def test_a_result_has_no_difference_from_itself_or_from_a_run_that_took_longer():
    result = base_result()
    slower = replace(result, milliseconds={"total": 9999.0})

    assert differences(result, result).none
    assert differences(result, slower).none
    assert differences(result, base_result()).none


def test_a_score_that_differs_in_its_last_digits_is_the_same():
    nearly = looked_up({**DENSE, "b": 0.700009}, SPARSE, FUSED)

    assert the_change_of(nearly) is None


def test_another_score_is_listed_with_both():
    found = differences(base_result(), looked_up({**DENSE, "b": 0.70002}, SPARSE, FUSED))

    assert the_attempt(found) == AttemptChange(
        "unfiltered",
        Ran.BOTH,
        lists=(ListChange("dense", None, (), (), (), (ScoreChange(key("b"), 0.7, 0.70002),)),),
    )
    assert (found.ends, found.contents, found.decision) == ((), (), ())
    assert found.projection == SAME_PROJECTION


def the_change_of(other):
    found = differences(base_result(), other)
    return the_attempt(found) if found.attempts else None


def test_chunks_that_came_went_and_moved_are_listed_with_their_ranks():
    change = the_change_of(looked_up(DENSE, {"a": 4.0, "d": 3.0}, FUSED))

    assert change.lists == (
        ListChange(
            "sparse",
            None,
            added=(PlaceChange(key("d"), None, 2),),
            removed=(PlaceChange(key("b"), 1, None),),
            moved=(PlaceChange(key("a"), 2, 1),),
            rescored=(),
        ),
    )


def test_a_route_that_failed_is_another_state_with_its_reason():
    change = the_change_of(looked_up(DENSE, StoreError("the index is gone"), FUSED))

    (sparse,) = change.lists
    assert sparse.state == Change("state", "ok", "failed (the index is gone)")
    assert [item.evidence_key for item in sparse.removed] == [key("b"), key("a")]
    assert change.verdict == (Change("fusion audit", "different", "not checked"),)


def test_an_empty_route_is_told_from_one_that_did_not_run():
    skipped = RouteList(Route.SPARSE, RouteState.NOT_RUN, limit=20, reason="no terms")

    found = differences(looked_up(DENSE, {}, DENSE), looked_up(DENSE, skipped, DENSE))

    (sparse,) = the_attempt(found).lists
    assert sparse.state == Change("state", "empty", "not_run (no terms)")


def test_another_level_is_a_change_of_the_chunk_and_of_the_verdict():
    change = the_change_of(looked_up({"a": 0.75, "b": 0.7, "c": 0.6}, SPARSE, FUSED))

    assert change.levels == (LevelChange(key("a"), Level.PRECISE, Level.RELATED),)
    assert change.verdict == (Change("level", "precise", "related"),)


def test_the_agent_sees_another_level_order_and_evidence():
    other = looked_up({"b": 0.7, "c": 0.6, "d": 0.55}, SPARSE, {"b": 0.0325, "d": 0.02, "c": 0.0159})
    projection = differences(base_result(), other).projection

    assert projection == ProjectionChange(
        same=False,
        fields=(Change("relevance_level", "precise", "related"),),
        gone=(PlaceChange(key("a"), 1, None),),
        new=(PlaceChange(key("d"), None, 2),),
        moved=(PlaceChange(key("b"), 2, 1),),
        rewritten=(),
    )


def test_an_end_that_changed_has_both_ends_and_reasons():
    then, now = base_result(return_n=3), base_result(return_n=2)

    assert differences(then, now).ends == (
        EndChange(
            key("c"), Stage.KEPT, Stage.RETURN_N, "kept whole, 18 characters",
            "rank 3, and 2 better pieces are already kept (return_n 2)",
        ),
    )  # fmt: skip


def test_a_candidate_of_one_lookup_only_has_no_end_in_the_other():
    now = looked_up({**DENSE, "d": 0.55}, SPARSE, FUSED)

    (change,) = differences(base_result(), now).ends
    assert (change.evidence_key, change.before, change.after) == (key("d"), None, Stage.FUSE)
    assert change.reason_before == ""
    (back,) = differences(now, base_result()).ends
    assert (back.before, back.after, back.reason_after) == (Stage.FUSE, None, "")


def test_a_chunk_with_other_text_is_named_with_its_document_and_fields():
    before = base_result()
    lists = [a_list(route, given) for route, given in zip(Route, (DENSE, SPARSE, FUSED), strict=True)]
    lists = [
        replace(
            each,
            hits=tuple(
                replace(hit, content="Rewritten.", category="hr") if hit.doc_id == "b" else hit
                for hit in each.hits
            ),
        )
        for each in lists
    ]
    found = differences(before, looked_up_lists(lists))

    assert found.contents == (ContentChange(key("b"), "b", ("content", "category")),)
    assert found.projection.rewritten == (key("b"),)
    assert (found.projection.gone, found.projection.new, found.projection.moved) == ((), (), ())
    assert (found.projection.same, found.attempts) == (False, ())


def looked_up_lists(lists):
    answers = {(each.route, None): each for each in lists}
    return lookup_knowledge(ScriptedPort(answers), ScriptedEmbedder(), "query", a_configuration())


def with_category(filtered_score, policy=FilterPolicy.FALLBACK, outside=0.9):
    """A dense lookup in category ops, whose one chunk has the given cosine."""
    answers = {
        (Route.DENSE, "ops"): a_list(Route.DENSE, {"a": filtered_score}),
        (Route.DENSE, None): a_list(Route.DENSE, {"x": outside, "a": filtered_score}, category="hr"),
    }
    configuration = a_configuration(mode=SearchMode.DENSE, category="ops", policy=policy)
    port = ScriptedPort(answers, counts={"ops": 7})
    return lookup_knowledge(port, ScriptedEmbedder(), "query", configuration)


def test_a_filter_that_was_relaxed_shows_in_attempts_decision_and_projection():
    found = differences(with_category(0.6), with_category(0.4))

    filtered, unfiltered = found.attempts
    assert filtered.verdict == (Change("level", "related", "weak"), Change("category_chunks", None, 7))
    assert unfiltered == AttemptChange("unfiltered", Ran.ONLY_NOW)
    assert found.decision == (
        Change("selected", "filtered", "unfiltered"),
        Change("filter_relaxed", False, True),
        Change("outside_category", 0, 2),
    )
    assert found.projection.fields == (
        Change("relevance_level", "related", "precise"),
        Change("selected_attempt", "filtered", "unfiltered"),
        Change("filter_relaxed", False, True),
    )


def test_an_attempt_that_no_longer_runs_is_listed():
    assert (
        AttemptChange("unfiltered", Ran.ONLY_THEN)
        in differences(with_category(0.4), with_category(0.6)).attempts
    )


def test_of_a_merged_attempt_the_merge_is_compared():
    then, now = (with_category(0.6, FilterPolicy.PARALLEL, outside) for outside in (0.9, 0.85))
    changed = differences(then, now).attempts
    moved = replace(now, retrieval=swapped_merge(now.retrieval))

    assert [attempt.name for attempt in changed] == ["unfiltered"]
    merged = differences(now, moved).attempts[0]
    assert merged.name == "merged"
    assert merged.lists == (
        ListChange("merged", None, (), (), (PlaceChange(key("a"), 1, 2), PlaceChange(key("x"), 2, 1)), ()),
    )


def swapped_merge(retrieval):
    *others, merged = retrieval.attempts
    response = replace(merged.response, hits=merged.response.hits[::-1])
    return replace(retrieval, attempts=(*others, replace(merged, response=response)))


def test_what_navigation_said_is_compared():
    result = base_result()
    ops = Navigation((MatchedDomain("ops", ("port",)),), "ops", "one domain matches")
    then, now = replace(result, navigation=ops), replace(result, navigation=replace(ops, matched=()))

    assert differences(then, now).navigation == (Change("matched", "ops", ""),)
    assert differences(result, then).navigation == (
        Change("matched", None, "ops"),
        Change("category", None, "ops"),
    )


def test_a_second_copy_of_a_chunk_is_a_candidate_of_its_own():
    twice = a_list(Route.DENSE, {"a": 0.9, "b": 0.7})
    copy = replace(twice.hits[0], rank=3, dense=replace(twice.hits[0].dense, rank=3))
    dense = replace(twice, hits=(*twice.hits, copy))
    answers = {(Route.DENSE, None): dense}
    once = {(Route.DENSE, None): twice}
    then, now = (
        lookup_knowledge(
            ScriptedPort(each), ScriptedEmbedder(), "q", a_configuration(mode=SearchMode.DENSE)
        )
        for each in (once, answers)
    )
    found = differences(then, now)

    assert the_attempt(found).lists[0].added == (PlaceChange("a#chunk-0 (copy 2)", None, 3),)
    (end,) = found.ends
    assert (end.evidence_key, end.before, end.after) == ("a#chunk-0 (copy 2)", None, Stage.DEDUP)


def test_a_copy_of_a_capped_chunk_does_not_take_its_place():
    (hit,) = a_list(Route.DENSE, {"a": 0.9}).hits
    chunks = [
        replace(hit, chunk_index=min(place, 2), rank=place + 1, dense=replace(hit.dense, rank=place + 1))
        for place in range(4)
    ]
    then, now = (
        lookup_knowledge(
            ScriptedPort({(Route.DENSE, None): replace(a_list(Route.DENSE, {"a": 0.9}), hits=tuple(hits))}),
            ScriptedEmbedder(), "q", a_configuration(mode=SearchMode.DENSE),
        )
        for hits in (chunks[:3], chunks)
    )  # fmt: skip

    assert [entry.end for entry in now.ledger[2:]] == [Stage.DEDUP, Stage.CAP]
    assert [(end.evidence_key, end.before, end.after) for end in differences(then, now).ends] == [
        ("a#chunk-2 (copy 2)", None, Stage.DEDUP)
    ]


def test_other_evidence_for_the_agent_alone_is_a_difference():
    result = base_result()
    shorter = replace(result.projection, evidence=result.projection.evidence[:2])

    found = differences(result, replace(result, projection=shorter))

    assert not found.none
    assert found.projection == ProjectionChange(False, (), (PlaceChange(key("c"), 3, None),), (), (), ())


def test_swapping_the_two_swaps_what_came_and_what_went():
    then, now = base_result(), looked_up(DENSE, {"d": 5.0}, FUSED)
    there, back = differences(then, now), differences(now, then)

    for one, other in zip(the_attempt(there).lists, the_attempt(back).lists, strict=True):
        assert [(item.evidence_key, item.after) for item in one.added] == [
            (item.evidence_key, item.before) for item in other.removed
        ]


def test_what_is_only_in_one_mapping_differs_from_nothing():
    assert changes({"a": 1, "b": None, "c": 2}, {"c": 3, "b": None, "d": "x"}) == (
        Change("c", 2, 3),
        Change("d", None, "x"),
        Change("a", 1, None),
    )


def test_ranks_count_from_1_and_copies_from_2():
    assert named_copies(["a", "b", "a", "a"]) == ("a", "b", "a (copy 2)", "a (copy 3)")
    assert places(("a", "b", "c"), ("c", "b", "d")) == (
        (PlaceChange("a", 1, None),),
        (PlaceChange("d", None, 3),),
        (PlaceChange("c", 3, 1),),
    )


def test_a_build_is_compared_by_its_fingerprint_rows_and_index_but_not_by_being_live():
    other = replace(
        DESCRIPTION,
        live=False,
        chunks=101,
        fingerprint=replace(DESCRIPTION.fingerprint, model="other", dimension=8),
    )

    assert changes(build_values(DESCRIPTION), build_values(other)) == (
        Change("chunks", 100, 101),
        Change("fingerprint.model", "hashing", "other"),
        Change("fingerprint.dimension", EMBEDDER.dimension, 8),
    )
    foreign = changes(build_values(DESCRIPTION), build_values(replace(DESCRIPTION, fingerprint=None)))
    assert Change("fingerprint.model", "hashing", None) in foreign


@pytest.mark.parametrize("query", ["port E-1042", "连接池"])
def test_the_reference_store_gives_the_same_twice(query):
    assert differences(saved(a_base(), query).result, saved(a_base(), query).result).none
