"""Query sets as values."""

from dataclasses import replace

from core.evaluation.query_sets import Judgment, Query, QuerySet, stale_judgments

QUERIES = (Query("q1", "kubelet down"), Query("q2", "磁盘满了", kind="semantic", language="zh"))
JUDGMENTS = (Judgment("q1", "a.md", 2), Judgment("q1", "b.md", 1), Judgment("q2", "c.md", 1))
SET = QuerySet("ops", QUERIES, JUDGMENTS)


def test_the_hash_does_not_depend_on_order_name_notes_or_warnings():
    other = QuerySet(
        "renamed",
        (QUERIES[1], replace(QUERIES[0], notes="asked often")),
        JUDGMENTS[::-1],
        warnings=("A key was ignored.",),
    )

    assert len(SET.hash) == 64
    assert other.hash == SET.hash


def test_the_hash_changes_with_whatever_can_change_a_number():
    changed = [
        replace(SET, queries=(replace(QUERIES[0], text="kubelet is down"), QUERIES[1])),
        replace(SET, queries=(replace(QUERIES[0], category="ops"), QUERIES[1])),
        replace(SET, queries=(replace(QUERIES[0], kind="term"), QUERIES[1])),
        replace(SET, judgments=(replace(JUDGMENTS[0], grade=1), *JUDGMENTS[1:])),
        replace(SET, judgments=(replace(JUDGMENTS[0], heading="Mitigation"), *JUDGMENTS[1:])),
        replace(SET, judgments=JUDGMENTS[1:]),
    ]

    assert len({SET.hash, *(query_set.hash for query_set in changed)}) == 7


def test_grades_hold_every_query_and_the_highest_grade_over_headings():
    judgments = (
        Judgment("q1", "a.md", 1, "Impact"),
        Judgment("q1", "a.md", 2, "Mitigation"),
        Judgment("q1", "a.md", 0, "Meaning"),
    )

    assert QuerySet("ops", QUERIES, judgments).grades() == {"q1": {"a.md": 2}, "q2": {}}


def test_relevant_documents_that_left_the_base_are_reported_evl_06():
    judgments = (Judgment("q1", "c1", 1), Judgment("q1", "c404", 1), Judgment("q1", "c405", 0))

    assert stale_judgments(QuerySet("ops", QUERIES, judgments), ["c1", "c2"]) == (judgments[1],)


def test_names_are_compared_in_one_normal_form():
    judged = QuerySet("ops", QUERIES, (Judgment("q1", "caf\u00e9.md", 1),))

    assert stale_judgments(judged, ["cafe\u0301.md"]) == ()


def test_a_category_is_wrong_only_when_the_right_one_is_known_to_differ():
    assert Query("q", "t", category="etcd", right_category="node").wrong_category
    assert not Query("q", "t", category="node", right_category="node").wrong_category
    assert not Query("q", "t", category="node").wrong_category
    assert not Query("q", "t", right_category="node").wrong_category
