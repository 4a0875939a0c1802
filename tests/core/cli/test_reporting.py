"""Evaluations as plain text."""

from core.cli.reporting import comparison_table, report
from core.evaluation.query_sets import Judgment, Query, QuerySet
from core.evaluation.running import ComparisonRow, evaluate


def test_columns_line_up_also_under_chinese_names_and_missing_is_a_dash():
    rows = [
        ComparisonRow("dense", "term", 74, 0.5, 0.25, 1.0, 0.1, 12.345),
        ComparisonRow("混合", "all", 0, None, None, None, None, None),
    ]

    assert comparison_table(rows, 10).splitlines() == [
        "configuration  kind   n  nDCG@10  Recall@10  MRR@10   P@10  p50 ms",
        "-------------  ----  --  -------  ---------  ------  -----  ------",
        "dense          term  74    0.500      0.250   1.000  0.100    12.3",
        "混合           all    0        -          -       -      -       -",
    ]


def test_what_is_in_no_mean_and_what_left_the_base_is_said():
    queries = (Query("q1", "t"), Query("q2", "t"), Query("q3", "t"))
    query_set = QuerySet("ops", queries, (Judgment("q1", "a.md", 1), Judgment("q2", "gone.md", 1)))

    text = report({"dense": evaluate(query_set, lambda query: ["a.md"], 5, documents=["a.md"])})

    lines = text.splitlines()
    assert lines[0] == f"Query set ops ({query_set.hash[:12]}), judged by document"
    assert lines[-3:] == [
        "dense: q2 is in no mean: none of its relevant documents is in the base.",
        "dense: q3 is in no mean: no relevant document is judged.",
        "dense: judged documents that are not in the base: 1 (gone.md).",
    ]


def test_many_missing_documents_are_cut_and_counted():
    judgments = tuple(Judgment("q1", f"{i:02}.md", 1) for i in range(12))
    query_set = QuerySet("ops", (Query("q1", "t"),), judgments)

    text = report({"dense": evaluate(query_set, lambda query: [], 5, documents=[])})

    shown = ", ".join(f"{i:02}.md" for i in range(10))
    assert text.endswith(f"judged documents that are not in the base: 12 ({shown} and 2 more).")


def test_nothing_to_report_is_empty():
    assert report({}) == ""
