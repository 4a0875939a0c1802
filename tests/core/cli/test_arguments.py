"""Arguments and names as text."""

import pytest

from core.cli.arguments import as_text, text_argument
from core.errors import RequestInvalid


def test_text_that_the_locale_could_read_stays_as_it_is():
    assert as_text("数据库 é 👩") == "数据库 é 👩"


def test_bytes_that_the_locale_could_not_read_are_read_as_utf8():
    unread = "池 pool".encode().decode("ascii", "surrogateescape")

    assert as_text(unread) == "池 pool"


def test_bytes_that_are_no_utf8_are_no_text():
    latin = "café".encode("latin-1").decode("utf-8", "surrogateescape")

    assert as_text(latin) is None
    with pytest.raises(
        RequestInvalid, match=r"^The query 'caf\\udce9' is not valid UTF-8\. Type it again\.$"
    ):
        text_argument("query", latin)
