"""Running a query set: per query, means by kind, and what is left out."""

import pytest

from core.errors import JobCancelled, RequestInvalid
from core.evaluation.metrics import Scores
from core.evaluation.query_sets import Judgment, Query, QuerySet
from core.evaluation.running import NOT_IN_BASE, NOT_JUDGED, ComparisonRow, compare, evaluate

TERM = Query("t1", "KubeletDown", kind="term")
SEMANTIC = Query("s1", "node is gone", kind="semantic")
OTHER_SEMANTIC = Query("s2", "disk is full", kind="semantic")
FILTER = Query("f1", "etcdNoLeader", kind="filter", category="node", right_category="etcd")
SET = QuerySet(
    "ops",
    (TERM, SEMANTIC, OTHER_SEMANTIC, FILTER),
    (
        Judgment("t1", "kubelet.md", 2),
        Judgment("s1", "node.md", 1),
        Judgment("s2", "disk.md", 1),
        Judgment("f1", "etcd.md", 2),
    ),
)
LISTS = {
    "t1": ["kubelet.md", "kubelet.md", "node.md"],
    "s1": ["disk.md", "node.md"],
    "s2": ["disk.md"],
    "f1": [],
}


def ranked(query):
    return LISTS[query.query_id]


def ticking(*milliseconds):
    """A clock under which the calls take these times."""
    readings = iter([second for ms in milliseconds for second in (0.0, ms / 1000)])
    return lambda: next(readings)


def test_every_query_has_its_list_its_scores_and_its_time():
    evaluation = evaluate(SET, ranked, 2, clock=ticking(4, 8, 16, 32))

    first = evaluation.results[0]
    assert [result.query for result in evaluation.results] == list(SET.queries)
    assert first.ranking == ("kubelet.md", "node.md")
    assert first.repeated == 1
    assert first.scores == Scores(ndcg=1, recall=1, mrr=1, precision=0.5)
    assert [result.milliseconds for result in evaluation.results] == [4, 8, 16, 32]
    assert (evaluation.query_set, evaluation.query_set_hash, evaluation.k) == ("ops", SET.hash, 2)


def test_means_are_given_by_kind_and_wrong_categories_stay_out_of_the_overall_one():
    evaluation = evaluate(SET, ranked, 1, clock=ticking(4, 8, 16, 32))

    assert [(row.kind, row.count, row.scores.recall) for row in evaluation.by_kind] == [
        ("filter", 1, 0),
        ("semantic", 2, (0 + 1) / 2),
        ("term", 1, 1),
    ]
    assert (evaluation.overall.kind, evaluation.overall.count) == ("all", 3)
    assert evaluation.overall.scores.mrr == pytest.approx((1 + 0 + 1) / 3)


def test_percentiles_are_times_that_were_measured():
    evaluation = evaluate(SET, ranked, 1, clock=ticking(4, 16, 8, 32))
    semantic = evaluation.by_kind[1]

    assert (evaluation.overall.p50_milliseconds, evaluation.overall.p95_milliseconds) == (8, 16)
    assert (semantic.p50_milliseconds, semantic.p95_milliseconds) == (8, 16)


def test_a_query_without_relevant_documents_is_reported_and_in_no_mean():
    query_set = QuerySet(
        "ops",
        (TERM, SEMANTIC, OTHER_SEMANTIC),
        (Judgment("t1", "kubelet.md", 1), Judgment("s1", "node.md", 0)),
    )

    evaluation = evaluate(query_set, ranked, 5)

    assert [(r.query.query_id, r.left_out) for r in evaluation.left_out] == [
        ("s1", NOT_JUDGED),
        ("s2", NOT_JUDGED),
    ]
    assert (evaluation.overall.count, evaluation.overall.left_out) == (1, 2)
    assert evaluation.overall.scores.recall == 1
    assert evaluation.by_kind[0].scores is None
    assert evaluation.by_kind[0].p50_milliseconds is not None


def test_judged_documents_that_left_the_base_are_reported_and_not_a_zero_evl_06():
    query_set = QuerySet(
        "ops",
        (TERM, SEMANTIC),
        (Judgment("t1", "kubelet.md", 1), Judgment("t1", "gone.md", 1), Judgment("s1", "gone.md", 1)),
    )

    evaluation = evaluate(query_set, ranked, 5, documents=["kubelet.md", "node.md", "disk.md"])

    assert evaluation.stale == (Judgment("t1", "gone.md", 1), Judgment("s1", "gone.md", 1))
    assert evaluation.results[0].scores.recall == 1 / 2
    assert (evaluation.results[1].scores, evaluation.results[1].left_out) == (None, NOT_IN_BASE)
    assert evaluation.overall.scores.recall == 1 / 2


def test_without_the_names_of_the_base_nothing_counts_as_stale():
    evaluation = evaluate(SET, lambda query: [], 5)

    assert evaluation.stale == ()
    assert evaluation.left_out == ()
    assert evaluation.overall.scores == Scores(0, 0, 0, 0)


def test_names_are_compared_in_one_normal_form():
    query_set = QuerySet("ops", (TERM,), (Judgment("t1", "caf\u00e9.md", 1),))

    evaluation = evaluate(query_set, lambda query: ["cafe\u0301.md", "caf\u00e9.md"], 5)

    assert evaluation.results[0].ranking == ("caf\u00e9.md",)
    assert evaluation.overall.scores.recall == 1


def test_a_set_of_wrong_categories_alone_has_no_overall_mean():
    evaluation = evaluate(QuerySet("f", (FILTER,), (Judgment("f1", "etcd.md", 2),)), ranked, 5)

    assert (evaluation.overall.count, evaluation.overall.scores) == (0, None)
    assert evaluation.overall.p50_milliseconds is None
    assert evaluation.by_kind[0].count == 1


def test_progress_is_told_after_each_query_and_can_stop_the_run():
    seen = []

    def stop_at_two(done, total):
        seen.append((done, total))
        if done == 2:
            raise JobCancelled("stopped")

    with pytest.raises(JobCancelled):
        evaluate(SET, ranked, 5, progress=stop_at_two)

    assert seen == [(1, 4), (2, 4)]


def test_a_set_without_queries_and_k_below_one_are_refused():
    with pytest.raises(RequestInvalid, match="The query set 'empty' holds no query"):
        evaluate(QuerySet("empty", (), ()), ranked, 5)
    with pytest.raises(RequestInvalid, match="k is 0"):
        evaluate(SET, ranked, 0)


def test_configurations_stand_side_by_side_under_each_kind():
    dense = evaluate(SET, ranked, 1, clock=ticking(1, 2, 3, 4))
    hybrid = evaluate(SET, lambda query: ["etcd.md"], 1, clock=ticking(5, 6, 7, 8))

    rows = compare({"dense": dense, "hybrid": hybrid})

    assert [(row.kind, row.configuration, row.count) for row in rows] == [
        ("all", "dense", 3), ("all", "hybrid", 3), ("filter", "dense", 1), ("filter", "hybrid", 1),
        ("semantic", "dense", 2), ("semantic", "hybrid", 2), ("term", "dense", 1), ("term", "hybrid", 1),
    ]  # fmt: skip
    assert rows[4] == ComparisonRow("dense", "semantic", 2, 0.5, 0.5, 0.5, 0.5, 2)
    assert rows[3] == ComparisonRow("hybrid", "filter", 1, 1, 1, 1, 1, 8)


def test_a_set_in_another_order_is_compared_kind_by_kind():
    turned = QuerySet("turned", SET.queries[::-1], SET.judgments)

    rows = compare({"a": evaluate(SET, ranked, 1), "b": evaluate(turned, ranked, 1)})

    assert all(
        a.kind == b.kind and a.recall == b.recall for a, b in zip(rows[::2], rows[1::2], strict=True)
    )


def test_what_cannot_be_scored_is_missing_and_not_zero():
    row = compare({"a": evaluate(QuerySet("ops", (TERM,), ()), ranked, 1, clock=ticking(1))})[0]

    assert row == ComparisonRow("a", "all", 0, None, None, None, None, 1)


def test_runs_that_asked_differently_are_not_compared():
    other = QuerySet("ops", SET.queries, SET.judgments[1:])

    with pytest.raises(RequestInvalid, match=f"{SET.hash[:12]}.*{other.hash[:12]}"):
        compare({"a": evaluate(SET, ranked, 1), "b": evaluate(other, ranked, 1)})
    with pytest.raises(RequestInvalid, match="'a' was measured at k = 1 and 'b' at k = 2"):
        compare({"a": evaluate(SET, ranked, 1), "b": evaluate(SET, ranked, 2)})
    assert compare({}) == ()
