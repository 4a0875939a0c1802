"""Normalising a query, and the terms in it that name one thing."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.errors import RequestInvalid
from core.model.search import SearchRequest
from core.retrieval.query import identifier_terms, is_lexically_complete, normalise_query


def test_full_width_letters_become_plain_ones():
    assert normalise_query("\u3000Ｅ－１０４２　报错 \n") == "E-1042 报错"


def test_white_space_that_a_compatibility_form_leaves_is_trimmed():
    assert normalise_query("\u00a0disk full\u2003") == "disk full"


@settings(deadline=None, max_examples=60)
@given(st.text())
@example("\u00a8")
@example(" \u3000ﬁ ")
def test_normalising_twice_changes_nothing(text):
    once = normalise_query(text)

    assert normalise_query(once) == once
    assert unicodedata.is_normalized("NFKC", once)


def test_a_query_of_two_thousand_characters_is_allowed_after_trimming():
    text = normalise_query("  " + "a" * 2000 + "  ")

    assert SearchRequest(text).query == "a" * 2000


def test_a_ligature_can_push_a_query_over_the_limit():
    text = normalise_query("a" * 1999 + "ﬁ")

    with pytest.raises(RequestInvalid, match=r"2,001 characters; at most 2,000"):
        SearchRequest(text)


@pytest.mark.parametrize("text", ["", "   ", "\u3000\n\t"])
def test_an_empty_query_is_refused(text):
    with pytest.raises(RequestInvalid, match="empty"):
        SearchRequest(normalise_query(text))


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("错误码E-1042说明", ("E-1042",)),
        ("How do I fix KubePodCrashLooping?", ("KubePodCrashLooping",)),
        ("what does KubeletDown mean", ("KubeletDown",)),
        ("set max_connections and HTTPServer", ("max_connections", "HTTPServer")),
        ("milvus.db on port 19530", ("milvus.db", "19530")),
        ("lag of __consumer_offsets", ("__consumer_offsets",)),
        ("is milvus__uri set", ("milvus__uri",)),
        ("a 3 step plan for 42 nodes", ()),
        ("E-1042 or E-1042", ("E-1042",)),
        ("the disk is full. What now", ()),
        ("TCP and/or UDP", ()),
        ("磁盘满了怎么办", ()),
        ("release 10.5", ("10.5",)),
        ("v2/pods fails.", ("v2/pods",)),
        ("___ --- ...", ()),
        ("", ()),
    ],
)
def test_only_words_that_name_one_thing_are_terms(query, terms):
    assert identifier_terms(query) == terms


@pytest.mark.parametrize(
    ("term", "text", "complete"),
    [
        ("E-104", "Error E-1042 means", False),
        ("E-1042", "错误码E-1042说明", True),
        ("E-1042", "see e-1042.", True),
        ("E-1042", "错误码Ｅ－１０４２", True),
        ("E-1042", "XE-1042", False),
        ("E-1042", "_E-1042", False),
        ("milvus.db", "milvusxdb", False),
        ("__consumer_offsets", "the topic __consumer_offsets grows", True),
        ("consumer_offsets", "the topic __consumer_offsets grows", False),
    ],
)
def test_a_term_stands_in_a_text_only_as_a_whole(term, text, complete):
    assert is_lexically_complete((term,), text) is complete


def test_every_term_must_stand_in_the_text():
    assert is_lexically_complete(("E-1", "E-2"), "E-2 after E-1")
    assert not is_lexically_complete(("E-1", "E-2"), "E-1 alone")


def test_a_query_without_terms_is_never_complete():
    assert not is_lexically_complete((), "anything")


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="aB1_-./ 错", max_size=30))
def test_a_query_holds_each_of_its_own_terms(query):
    terms = identifier_terms(query)

    assert is_lexically_complete(terms, query) is bool(terms)
