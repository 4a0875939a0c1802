"""Isolating terms from a store that only answers for whole texts."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from core.adapters.terms import aligned, unit_scores
from core.model.token_lens import Term

PIECES = {
    "abc": ("ab", "bc", "abc"),
    "bcd": ("bc", "cd", "bcd"),
    "abcd": ("ab", "bc", "cd", "abc", "bcd", "abcd"),
    "made": ("ma", "de"),
    "xmade": ("made", "xmade"),
    "dull dull": ("dull", "dull"),
}
WORTH: Mapping[str, Mapping[str, float]] = {
    "1": {"ab": 0.5, "bc": 0.25, "cd": 0.125, "abc": 2.0, "bcd": 3.0, "abcd": 4.0},
    "2": {"ab": 0.5, "bc": 1.0, "abc": 1.5},
    "3": {"made": 1.0, "xmade": 1.0},
}


def cut(texts: Sequence[str]) -> list[tuple[str, ...]]:
    return [PIECES.get(text, (text,)) for text in texts]


def score(text: str) -> dict[str, float]:
    counts = Counter(PIECES.get(text, (text,)))
    sums = {row: sum(n * worth.get(t, 0.0) for t, n in counts.items()) for row, worth in WORTH.items()}
    return {row: value for row, value in sums.items() if value}


def test_a_term_is_worth_what_its_pieces_leave_of_its_text() -> None:
    # Row 1: the text abcd scores 0.5 + 0.25 + 0.125 + 2 + 3 + 4 = 9.875, and 5.875 of it are its pieces.
    found = unit_scores(["abcd", "ab", "abc"], cut, score)
    assert found == {"abcd": {"1": 4.0}, "ab": {"1": 0.5, "2": 0.5}, "abc": {"1": 2.0, "2": 1.5}}
    assert list(found) == ["abcd", "ab", "abc"]


def test_a_term_that_no_row_holds_has_no_rows_though_its_pieces_have() -> None:
    assert unit_scores(["bcd", "zz"], cut, score) == {"bcd": {"1": 3.0}, "zz": {}}


def test_rounding_of_32_bit_scores_makes_no_holder() -> None:
    def rounded(text: str) -> dict[str, float]:
        return {row: value * (1 + 1e-6 * len(text)) for row, value in score(text).items()}

    found = unit_scores(["abcd"], cut, rounded)["abcd"]
    assert found is not None
    assert list(found) == ["1"]


def test_a_term_that_the_analyzer_does_not_make_of_itself_is_unknown_and_so_is_what_holds_it() -> None:
    assert unit_scores(["made", "xmade", "ab"], cut, score) == {
        "made": None, "xmade": None, "ab": {"1": 0.5, "2": 0.5},
    }  # fmt: skip


def test_a_term_is_unknown_even_when_all_that_it_is_cut_into_is_known() -> None:
    found = unit_scores(["made", "ma", "de", "gone"], lambda texts: [() if t == "gone" else c for t, c in
                        zip(texts, cut(texts), strict=True)], score)  # fmt: skip
    assert found == {"made": None, "ma": {}, "de": {}, "gone": None}


def test_rows_that_were_cut_short_make_a_term_and_what_holds_it_unknown() -> None:
    found = unit_scores(["abc", "cd"], cut, lambda text: None if text == "ab" else score(text))
    assert found == {"abc": None, "cd": {"1": 0.125}}


@pytest.mark.parametrize(
    ("words", "kept", "expected"),
    [
        (("the", "disk", "the"), ("disk",), (Term("the", True), Term("disk"), Term("the", True))),
        ((), (), ()),
        (("the",), (), (Term("the", True),)),
        (("disks", "the"), ("disk",), (Term("disk"),)),
    ],
)
def test_words_that_an_analyzer_drops_are_told_unless_it_changed_the_others(words, kept, expected) -> None:
    assert aligned(words, kept) == expected
