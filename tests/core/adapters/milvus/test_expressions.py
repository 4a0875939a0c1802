import json

import pytest

from core.adapters.milvus.expressions import any_of, equals, every, quoted, scope_filter
from core.errors import RequestInvalid


def test_text_without_control_characters_is_quoted_as_json_is() -> None:
    """mil-02: quotes, backslashes, Chinese and line ends."""
    for value in ('a"b', "C:\\temp\\new", "tail\\", "two\nlines", "cr\rtab\t", "数据库", "it's", "", "😀"):
        assert quoted(value) == json.dumps(value, ensure_ascii=False)


def test_other_control_characters_stay_as_they_are() -> None:
    assert quoted("a\x00b\x08") == '"a\x00b\x08"'


def test_an_injected_condition_stays_inside_the_literal() -> None:
    """mil-03."""
    assert equals("category", 'a" or category != "a') == 'category == "a\\" or category != \\"a"'


def test_an_empty_list_matches_nothing_and_a_list_quotes_each_value() -> None:
    assert any_of("doc_id", []) == "doc_id in []"
    assert any_of("doc_id", ["a", 'b"']) == 'doc_id in ["a", "b\\""]'


def test_missing_filters_ask_everything_and_an_empty_value_does_not() -> None:
    assert scope_filter(None, None) == ""
    assert scope_filter("", None) == 'category == ""'
    assert scope_filter("c", "k") == 'kb_scope == "k" and category == "c"'
    assert every("", "a == 1", "") == "a == 1"


def test_a_value_that_no_field_can_hold_is_refused() -> None:
    assert len(quoted("x" * 65_535)) == 65_537
    with pytest.raises(RequestInvalid, match=r"65,538 bytes.*65,535"):
        quoted("数" * 21_846)
    with pytest.raises(RequestInvalid, match="not valid Unicode"):
        quoted("\udc80")
