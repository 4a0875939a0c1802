import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.intake.cutting import (
    MAX_CONTENT_BYTES,
    TokenRuler,
    first_border,
    fits_bytes,
    furthest_in_bytes,
    is_border,
    last_cut,
    measure,
    next_text,
)

# "ab cd ef": a tokenizer that gives a word the blank before it.
RULER = TokenRuler(starts=[0, 2, 5], ends=[2, 5, 8])


def test_a_token_counts_where_it_ends() -> None:
    assert RULER.tokens(0, 8) == 3
    assert RULER.tokens(3, 8) == 2
    assert RULER.tokens(0, 3) == 1
    assert RULER.tokens(0, 2) == 1


def test_reach_is_where_the_next_token_would_begin() -> None:
    assert RULER.reach(0, 1, 8) == 2
    assert RULER.reach(3, 1, 8) == 5
    assert RULER.reach(0, 3, 8) == 8
    assert RULER.reach(0, 2, 4) == 4


def test_back_is_the_first_place_from_which_so_many_tokens_remain() -> None:
    assert RULER.back(8, 1, 0) == 5
    assert RULER.back(8, 2, 0) == 2
    assert RULER.back(8, 3, 0) == 0
    assert RULER.back(8, 3, 4) == 4


def test_a_huge_text_is_measured_window_by_window_with_offsets_of_the_whole(characters) -> None:
    text = "ab c\n" * 30_000
    ruler = measure(text, 5, len(text), characters)
    assert characters.calls == 3
    assert ruler.tokens(5, len(text)) == 3 * 29_999
    assert list(ruler.starts[:3]) == [5, 6, 8]
    assert ruler.ends[-1] == len(text) - 1


@pytest.mark.parametrize(
    ("text", "limit", "by_lines", "expected"),
    [
        ("One two. Three four. Five", 22, False, "One two. Three four."),
        ("甲乙丙。丁戊己！庚辛", 9, False, "甲乙丙。丁戊己！"),
        ("他说：“走。”然后离开了这里。完", 12, False, "他说：“走。”"),
        ("v1.2.3 and 10.0.0.1 are up", 18, False, "v1.2.3 and"),
        ("One. two three four five", 22, False, "One."),
        ("One. two\nthree four five", 22, False, "One."),
        ("One. two\nthree", 12, True, "One. two"),
        ("one two three", 9, False, "one two"),
        ("abcdefgh", 5, False, "abcde"),
        ("a👨\u200d👩\u200d👧b", 3, False, "a"),
        ("👨\u200d👩\u200d👧b", 2, False, "👨\u200d👩\u200d👧"),
        ("好。\u0301吗", 2, False, "好"),
    ],
)
def test_the_best_cut_is_a_sentence_then_a_line_then_a_blank_then_a_character(
    text: str, limit: int, by_lines: bool, expected: str
) -> None:
    assert text[: last_cut(text, 0, limit, len(text), by_lines=by_lines)] == expected


def test_a_cluster_without_end_is_cut_all_the_same() -> None:
    assert last_cut("a" + "\u0301" * 500, 0, 100, 501, by_lines=False) == 100


def test_the_cut_lies_behind_the_start_even_when_nothing_fits() -> None:
    """Case chk-13."""
    assert last_cut("🚀", 0, 0, 1, by_lines=False) == 1
    assert last_cut("㐂" * 50, 10, 10, 50, by_lines=False) == 11


def test_the_next_text_keeps_the_indent_of_its_line() -> None:
    assert next_text("a\n \n    b", 1, 9) == 4
    assert next_text("a   b", 1, 5) == 4
    assert next_text("    b", 0, 5) == 0
    assert next_text("a \u0301b", 1, 4) == 1
    assert next_text("a  ", 1, 3) == 3


def test_the_first_border_is_the_start_of_a_sentence_or_line() -> None:
    text = "One. Two three. Four\nfive."
    assert first_border(text, 1, len(text)) == text.index("Two")
    assert first_border(text, 6, len(text)) == text.index("Four")
    assert first_border(text, 17, len(text)) == text.index("five")
    assert first_border(text, 22, len(text)) is None


def test_a_border_is_the_end_of_a_sentence_a_line_or_all() -> None:
    text = "v1.2 is up. 好。了\nx"
    borders = [place for place in range(1, len(text) + 1) if is_border(text, place, len(text))]
    assert borders == [text.index(" 好"), text.index("了"), text.index("\n"), len(text)]


def test_bytes_are_counted_in_utf8() -> None:
    assert MAX_CONTENT_BYTES == 60_000
    text = "长" * 20_001
    assert fits_bytes(text, 0, 20_000)
    assert not fits_bytes(text, 0, 20_001)
    assert not fits_bytes(text, 0, 20_000, "|")
    assert furthest_in_bytes(text, 0, 20_001) == 20_000
    assert furthest_in_bytes(text, 1, 20_001, "|\n") == 1 + 19_999


@given(st.text("a .。\n\u0301👨\u200d", min_size=1, max_size=40), st.data(), st.booleans())
@settings(deadline=None)
def test_a_cut_always_lies_between_its_start_and_the_end(text: str, data, by_lines: bool) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    limit = data.draw(st.integers(start, len(text)))
    assert start < last_cut(text, start, limit, len(text), by_lines=by_lines) <= len(text)
