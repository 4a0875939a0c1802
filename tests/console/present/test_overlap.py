import pytest

from console.present.overlap import jaccard, rank_biased_overlap


def test_equal_lists_have_overlap_one_and_disjoint_lists_zero():
    assert jaccard("abc", "abc") == 1.0
    assert rank_biased_overlap("abc", "abc") == pytest.approx(1.0)
    assert jaccard("ab", "cd") == 0.0
    assert rank_biased_overlap("ab", "cd") == pytest.approx(0.0)


def test_jaccard_counts_shared_keys_among_all():
    assert jaccard("abcd", "cdef") == pytest.approx(2 / 6)


def test_swapping_the_first_two_of_five_costs_only_the_first_depth():
    # agreement is 0 at depth 1 and 1 from depth 2 on: 1 - (1 - p) = 0.9
    assert rank_biased_overlap("abcde", "bacde") == pytest.approx(0.9)


def test_a_swap_at_the_end_costs_less_than_one_at_the_top():
    # depth 4 agrees in 3 of 4: (1 - p) * p^3 / 4 is lost
    assert rank_biased_overlap("abcde", "abced") == pytest.approx(1 - 0.1 * 0.9**3 / 4)


def test_a_list_and_its_beginning_agree_as_far_as_anyone_can_know():
    assert rank_biased_overlap("ab", "abcd") == pytest.approx(1.0)


def test_lists_of_unequal_length_follow_the_published_formula():
    # short "ab", long "bca": X = 0, 1, 2; p = 0.5
    p = 0.5  # agreements, the extrapolated third depth of the short list, then the tail
    expected = 1.0 * (0.5 * p**2 + 2 / 3 * p**3 + 1 / 6 * p**3) + (1 / 3 + 1 / 2) * p**3
    assert rank_biased_overlap("ab", "bca", p) == pytest.approx(expected)
    assert rank_biased_overlap("bca", "ab", p) == pytest.approx(expected)


def test_an_empty_list_has_no_overlap_to_measure():
    assert jaccard("", "") is None
    assert rank_biased_overlap("", "a") is None
