"""Rows to aligned lines."""

import pytest

from core.cli.tables import printable, table, width_of


def test_columns_line_up_by_places_on_the_screen():
    text = table(("name", "n", "what"), [("日志", "7", "two"), ("a", "1,204", "")], numbers=frozenset({1}))

    assert text.splitlines() == [
        "name      n  what",
        "----  -----  ----",
        "日志      7  two",
        "a     1,204",
    ]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("abc", 3),
        ("数据库", 6),
        ("é", 1),
        ("e\N{COMBINING ACUTE ACCENT}", 1),
        ("ｆ", 2),
        ("a\u200bb", 2),
        ("", 0),
    ],
)
def test_a_chinese_character_takes_two_places_and_a_mark_none(text, places):
    assert width_of(text) == places


def test_the_last_column_is_cut_to_the_screen_and_the_others_stay_whole():
    rows = [("default/a.md#chunk-0", "数据库连接池耗尽怎么办"), ("default/b.md#chunk-0", "short")]

    lines = table(("evidence", "section"), rows, width=40).splitlines()

    # 20 places, 2 between, so 18 are left: 8 characters of two places and the sign of the cut.
    assert lines == [
        "evidence              section",
        f"{'-' * 20}  {'-' * 18}",
        "default/a.md#chunk-0  数据库连接池耗尽…",
        "default/b.md#chunk-0  short",
    ]


def test_a_last_column_with_hardly_any_room_is_left_out():
    rows = [("default/a.md#chunk-0", "a long section name")]

    lines = table(("evidence", "section"), rows, width=37).splitlines()

    assert lines == ["evidence", "-" * 20, "default/a.md#chunk-0"]


def test_a_short_last_column_that_fits_stays_on_a_narrow_screen():
    assert table(("a", "b"), [("x", "yz")], width=5).splitlines() == ["a  b", "-  --", "x  yz"]


def test_nothing_in_a_cell_can_act_on_the_terminal():
    text = table(("a",), [("red \x1b[31m\nline\u202e",)])

    assert text.splitlines()[2] == "red \ufffd[31m\ufffdline\ufffd"


def test_line_breaks_stay_where_they_are_asked_for_and_emoji_stay_whole():
    assert printable("a\tb\r\n\x9b", kept="\n\t") == "a\tb\ufffd\n\ufffd"
    assert printable("👩\u200d🔧") == "👩\u200d🔧"
