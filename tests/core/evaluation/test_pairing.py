"""Two evaluations query by query."""

import pytest

from core.errors import RequestInvalid
from core.evaluation.pairing import pair, sign_test
from core.evaluation.query_sets import Judgment, Query, QuerySet
from core.evaluation.running import evaluate

QUERIES = tuple(Query(f"q{i}", "t", kind="term" if i < 3 else "semantic") for i in range(5))
SET = QuerySet("ops", QUERIES, tuple(Judgment(f"q{i}", "right.md", 1) for i in range(4)))


def run(found):
    return evaluate(SET, lambda query: ["right.md"] if query.query_id in found else ["x.md", "right.md"], 2)


def test_wins_losses_and_ties_add_up_to_the_queries_that_both_could_score():
    pairing = pair(run({"q0"}), run({"q1", "q2"}))

    assert (pairing.wins, pairing.losses, pairing.ties) == (2, 1, 1)
    assert pairing.p_value == 1


def test_the_greatest_difference_stands_first_then_the_query_id():
    pairing = pair(run({"q0"}), run({"q3", "q1"}))

    assert [d.query.query_id for d in pairing.differences] == ["q0", "q1", "q3", "q2"]
    assert [d.gain < 0 for d in pairing.differences] == [True, False, False, False]
    assert pairing.differences[-1].gain == 0


def test_one_kind_can_be_paired_alone():
    pairing = pair(run(set()), run({"q1", "q3"}), kind="semantic")

    assert (pairing.wins, pairing.losses, pairing.ties) == (1, 0, 0)


@pytest.mark.parametrize(
    ("wins", "losses", "expected"),
    [(0, 0, None), (1, 0, 1.0), (5, 0, 2 / 32), (8, 1, 2 * (1 + 9) / 512), (1, 8, 20 / 512), (3, 3, 1.0)],
)
def test_the_sign_test_counts_splits_at_least_this_uneven(wins, losses, expected):
    assert sign_test(wins, losses) == expected


def test_the_sign_test_holds_for_many_queries():
    assert 0 < sign_test(3000, 2000) < 1e-40


def test_runs_of_different_queries_are_not_paired():
    other = evaluate(QuerySet("ops", QUERIES, SET.judgments[1:]), lambda query: [], 2)

    with pytest.raises(RequestInvalid, match="Run both with the same set"):
        pair(run(set()), other)
