"""AUC, cuts and confusions, worked out by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import RequestInvalid
from core.evaluation.separation import Confusion, percentile, separate

NUMBERS = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=12)


def test_groups_that_do_not_overlap_have_an_auc_of_one_and_are_cut_in_the_middle_of_the_gap():
    found = separate("q", [0.9, 0.7], [0.1, 0.5])
    assert found.auc == 1.0
    assert found.best_cut == pytest.approx(0.6)
    assert found.confusion(found.best_cut) == Confusion(2, 0, 0, 2)


def test_ties_count_half():
    # pairs: (2 vs 1) wins, (2 vs 2) ties, (1 vs 1) ties, (1 vs 2) loses -> (1 + 1/2 + 1/2 + 0) / 4
    assert separate("q", [1.0, 2.0], [1.0, 2.0]).auc == 2 / 4


def test_the_cut_has_the_highest_rate_of_hits_less_false_alarms():
    # at 2.5: 3/4 of the positives, 0/3 of the negatives; at 0.5: 4/4 less 2/3
    found = separate("q", [1.0, 3.0, 4.0, 5.0], [0.0, 1.5, 2.0])
    assert found.best_cut == 2.5
    assert found.confusion(2.5) == Confusion(3, 1, 0, 3)


def test_a_number_at_the_cut_counts_as_positive():
    assert separate("q", [1.0], [1.0]).confusion(1.0) == Confusion(1, 0, 1, 0)


def test_of_equally_good_cuts_the_widest_gap_is_taken():
    # 0|1 and 2|9 both give 1/2: (1 - 1/2) and (1/2 - 0)
    found = separate("q", [1.0, 9.0], [0.0, 2.0])
    assert found.best_cut == 5.5


def test_one_value_for_all_is_its_own_cut():
    assert separate("q", [3.0], [3.0]).best_cut == 3.0


@pytest.mark.parametrize(("positives", "negatives"), [([], [1.0]), ([1.0], [])])
def test_an_empty_group_is_refused_by_name(positives, negatives):
    with pytest.raises(RequestInvalid, match=r"no (positive|negative) example"):
        separate("q", positives, negatives)


@settings(deadline=None, max_examples=100)
@given(NUMBERS, NUMBERS)
def test_the_auc_is_the_share_of_pairs_in_the_right_order(positives, negatives):
    pairs = [(p > n) + (p == n) / 2 for p in positives for n in negatives]
    assert separate("q", positives, negatives).auc == pytest.approx(sum(pairs) / len(pairs))


@settings(deadline=None, max_examples=100)
@given(NUMBERS, NUMBERS)
def test_no_cut_at_a_value_is_better_than_the_best(positives, negatives):
    found = separate("q", positives, negatives)

    def youden(cut):
        c = found.confusion(cut)
        return c.true_positive / len(positives) - c.false_positive / len(negatives)

    inner = sorted({*positives, *negatives})[1:]
    assert all(youden(found.best_cut) >= youden(value) - 1e-9 for value in inner)


@pytest.mark.parametrize(
    ("share", "value"), [(0.25, 1.0), (0.5, 2.0), (0.51, 3.0), (0.95, 4.0), (1.0, 4.0)]
)
def test_a_percentile_is_one_of_the_values(share, value):
    assert percentile((1.0, 2.0, 3.0, 4.0), share) == value
