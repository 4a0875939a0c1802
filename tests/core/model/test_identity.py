"""One key for a chunk, whatever its document is called."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.model.identity import chunk_key, evidence_key, is_named
from tests.builders import a_hit


@pytest.mark.parametrize(
    ("hit", "key", "named"),
    [
        (a_hit("kb/a.md", 3), "kb/a.md#chunk-3", True),
        (a_hit("kb/a.md", 0), "kb/a.md#chunk-0", True),
        (a_hit("kb/政策.md", 12), "kb/政策.md#chunk-12", True),
        (a_hit("kb/a.md", None, hit_id="77"), "vector:77", True),
        (a_hit(None, 3, hit_id="77"), "vector:77", True),
        (a_hit(None, None, hit_id="77"), "vector:77", True),
        (a_hit(None, None, hit_id="", rank=4), "rank:4", False),
        (a_hit(None, 0, hit_id="", rank=4), "rank:4", False),
    ],
)
def test_a_key_is_the_chunk_else_the_primary_key_else_the_rank(hit, key, named):
    assert evidence_key(hit) == key
    assert is_named(hit) is named


def test_the_rank_changes_no_key_of_a_known_chunk():
    assert evidence_key(a_hit("a", 0, rank=1)) == evidence_key(a_hit("a", 0, rank=9))


def test_a_document_whose_name_holds_the_mark_shares_no_key():
    assert chunk_key("a#chunk-1", 2) == "a#chunk-1#chunk-2"
    assert chunk_key("a", 1) != chunk_key("a#chunk-1", 2)


@settings(deadline=None, max_examples=60)
@given(*[st.tuples(st.text(alphabet="a#chunk-12/", max_size=14), st.integers(0, 120))] * 2)
def test_two_chunks_share_a_key_only_when_they_are_the_same(first, second):
    assert (chunk_key(*first) == chunk_key(*second)) is (first == second)
