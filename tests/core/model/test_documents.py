"""Identity of chunks and what of them is searched."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.model.documents import chunk_id, content_hash, search_text
from tests.builders import a_chunk


def test_a_chunk_id_is_forty_hex_digits_of_document_and_index():
    expected = hashlib.sha256(b"kb/\xe6\x94\xbf.md\x0011").hexdigest()[:40]

    assert chunk_id("kb/政.md", 11) == expected
    assert a_chunk(doc_id="kb/政.md", chunk_index=11).id == expected


def test_a_chunk_id_does_not_depend_on_the_content():
    assert a_chunk("one").id == a_chunk("two").id


def test_a_digit_at_the_end_of_a_name_does_not_slip_into_the_index():
    assert chunk_id("a", 11) != chunk_id("a1", 1)


@settings(deadline=None, max_examples=60)
@given(*[st.tuples(st.text(alphabet="a1\"'\\é政", max_size=6), st.integers(0, 200))] * 2)
def test_two_chunks_have_two_plain_keys(first, second):
    keys = [chunk_id(*first), chunk_id(*second)]

    assert (keys[0] == keys[1]) is (first == second)
    assert all(set(key) <= set("0123456789abcdef") and len(key) == 40 for key in keys)


def test_the_content_hash_is_sha_256_of_utf_8():
    assert content_hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert content_hash("政策") == hashlib.sha256("政策".encode()).hexdigest()


@pytest.mark.parametrize(
    ("title", "breadcrumb", "expected"),
    [
        ("Title", "A > B", "Title\nA > B\nText."),
        ("Title", "", "Title\nText."),
        (None, None, "Text."),
        ("", "A", "A\nText."),
    ],
)
def test_a_missing_part_takes_no_line_of_the_search_text(title, breadcrumb, expected):
    assert search_text(title, breadcrumb, "Text.") == expected


def test_a_chunk_is_searched_by_title_breadcrumb_and_content():
    assert a_chunk("Text.", title="T", breadcrumb="B").search_text == "T\nB\nText."
