"""Refining: dedup by evidence key, the cap per document, return_n."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.model.identity import evidence_key
from core.model.lookup import Evidence, Level, Stage
from core.retrieval.evidence import refine
from tests.builders import a_hit, a_judgement

LIMITS = {"return_n": st.integers(1, 8), "cap": st.integers(1, 4)}


@st.composite
def hit_lists(draw):
    """Lists with duplicates, several chunks of a document, and rows of foreign collections."""
    pairs = draw(
        st.lists(
            st.tuples(st.sampled_from(["a", "b", "c", None]), st.sampled_from([0, 1, 2, None])),
            max_size=14,
        )
    )
    return tuple(
        a_hit(doc_id, index, rank=rank, content=f"copy {rank}", source="one.md", title="One")
        for rank, (doc_id, index) in enumerate(pairs, start=1)
    )


def refined(hits, *, return_n=5, cap=2):
    judgements = {evidence_key(hit): a_judgement() for hit in hits}
    return refine(hits, judgements, return_n=return_n, max_chunks_per_document=cap)


def numbered(*chunks):
    return tuple(a_hit(doc_id, index, rank=rank) for rank, (doc_id, index) in enumerate(chunks, start=1))


def keys(entries):
    return [entry.evidence_key for entry in entries]


def test_two_far_apart_chunks_of_one_document_are_both_kept_ret_01():
    hits = (
        a_hit("base/ports.md", 0, rank=1, content="port 19530", source="ports.md", title="Ports"),
        a_hit("base/ports.md", 4, rank=2, content="port 9091", source="ports.md", title="Ports"),
    )
    result = refined(hits)

    assert keys(result.kept) == ["base/ports.md#chunk-0", "base/ports.md#chunk-4"]
    assert result.dropped == ()


def test_documents_with_one_source_and_title_are_not_duplicates():
    hits = tuple(a_hit(doc, 0, rank=rank, source="a.md", title="A") for rank, doc in enumerate("xyz", 1))

    assert len(refined(hits).kept) == 3


def test_of_two_copies_the_better_ranked_one_stays_with_its_content():
    hits = (
        a_hit("a", 0, rank=1, content="better", fused=(1, 0.01)),
        a_hit("b", 0, rank=2),
        a_hit("a", 0, rank=3, content="a longer copy", fused=(3, 0.99)),
    )
    result = refined(hits)

    assert [item.hit.content for item in result.kept] == ["better", "Some text."]
    (duplicate,) = result.dropped
    assert (duplicate.evidence_key, duplicate.end, duplicate.duplicate_of_rank) == (
        "a#chunk-0", Stage.DEDUP, 1,
    )  # fmt: skip
    assert duplicate.hit.content == "a longer copy"
    assert duplicate.reason == "the same chunk stands at rank 1; the better-ranked copy stays"


def test_a_duplicate_does_not_use_up_the_cap():
    result = refined(numbered(("a", 0), ("a", 0), ("a", 1)), cap=2)

    assert keys(result.kept) == ["a#chunk-0", "a#chunk-1"]


def test_the_cap_drops_the_lower_ranked_chunks_and_counts_them():
    result = refined(numbered(("a", 0), ("a", 1), ("a", 2), ("b", 0), ("a", 3)), cap=2)

    assert keys(result.kept) == ["a#chunk-0", "a#chunk-1", "b#chunk-0"]
    assert [(entry.evidence_key, entry.end) for entry in result.dropped] == [
        ("a#chunk-2", Stage.CAP),
        ("a#chunk-3", Stage.CAP),
    ]
    assert result.dropped[0].reason == "chunk number 3 of its document in this list, the cap is 2"
    assert result.dropped[1].reason == "chunk number 4 of its document in this list, the cap is 2"


def test_the_cap_comes_before_return_n():
    result = refined(numbered(("a", 0), ("b", 0), ("a", 1)), return_n=2, cap=1)

    assert keys(result.kept) == ["a#chunk-0", "b#chunk-0"]
    assert [entry.end for entry in result.dropped] == [Stage.CAP]


def test_return_n_drops_what_comes_after_and_says_so():
    result = refined(numbered(("a", 0), ("b", 0), ("c", 0)), return_n=2)

    assert keys(result.kept) == ["a#chunk-0", "b#chunk-0"]
    (entry,) = result.dropped
    assert (entry.evidence_key, entry.end) == ("c#chunk-0", Stage.RETURN_N)
    assert entry.reason == "rank 3, and 2 better pieces are already kept (return_n 2)"


def test_a_hit_without_a_document_is_a_document_of_its_own():
    hits = (
        a_hit(None, None, hit_id="7", rank=1),
        a_hit(None, None, hit_id="8", rank=2),
        a_hit(None, None, hit_id="", rank=3),
        a_hit(None, None, hit_id="", rank=4),
    )

    assert keys(refined(hits, cap=1).kept) == ["vector:7", "vector:8", "rank:3", "rank:4"]


def test_a_hit_with_a_document_but_no_index_counts_for_the_cap_of_its_document():
    hits = (a_hit("a", None, hit_id="7", rank=1), a_hit("a", None, hit_id="8", rank=2))

    assert keys(refined(hits, cap=1).kept) == ["vector:7"]


def test_the_order_of_the_list_decides_and_not_the_scores_or_levels():
    hits = (a_hit("a", 0, rank=1, dense=(2, 0.1)), a_hit("b", 0, rank=2, dense=(1, 0.9)))
    judgements = {"a#chunk-0": a_judgement(Level.WEAK), "b#chunk-0": a_judgement(Level.PRECISE)}
    result = refine(hits, judgements, return_n=1, max_chunks_per_document=1)

    assert result.kept == (Evidence("a#chunk-0", hits[0], judgements["a#chunk-0"]),)
    assert result.dropped[0].judgement is judgements["b#chunk-0"]


def test_nothing_in_gives_nothing_out():
    assert refined(()).kept == ()
    assert refined(()).dropped == ()


@pytest.mark.parametrize("k", [1, 3, 5, 10, 50])
def test_a_small_return_n_gives_a_prefix_of_a_larger_one_ret_08(k):
    hits = numbered(*((doc, index) for index in range(3) for doc in "abcdefgh"))
    everything = refined(hits, return_n=1000)

    assert refined(hits, return_n=k).kept == everything.kept[:k]
    assert len(everything.kept) == 16


@settings(deadline=None, max_examples=60)
@given(hit_lists(), LIMITS["return_n"], LIMITS["cap"])
def test_every_hit_has_exactly_one_end(hits, return_n, cap):
    result = refined(hits, return_n=return_n, cap=cap)
    ends = [item.hit.rank for item in result.kept] + [entry.hit.rank for entry in result.dropped]

    assert sorted(ends) == [hit.rank for hit in hits]


@settings(deadline=None, max_examples=60)
@given(hit_lists(), LIMITS["return_n"], LIMITS["cap"])
def test_the_limits_hold_and_no_key_is_kept_twice(hits, return_n, cap):
    kept = refined(hits, return_n=return_n, cap=cap).kept
    documents = Counter(item.hit.doc_id for item in kept if item.hit.doc_id)

    assert len(kept) <= return_n
    assert max(Counter(keys(kept)).values(), default=0) <= 1
    assert max(documents.values(), default=0) <= cap
    assert [item.hit.rank for item in kept] == sorted(item.hit.rank for item in kept)


@settings(deadline=None, max_examples=60)
@given(hit_lists(), LIMITS["return_n"], LIMITS["cap"])
def test_refining_what_was_kept_changes_nothing(hits, return_n, cap):
    first = refined(hits, return_n=return_n, cap=cap)
    again = refined(tuple(item.hit for item in first.kept), return_n=return_n, cap=cap)

    assert again.kept == first.kept
    assert again.dropped == ()


@settings(deadline=None, max_examples=60)
@given(hit_lists(), LIMITS["return_n"], LIMITS["cap"])
def test_the_steps_one_after_another_keep_the_same(hits, return_n, cap):
    unique = list({evidence_key(hit): hit for hit in reversed(hits)}.values())[::-1]
    seen, capped = Counter(), []
    for hit in sorted(unique, key=lambda hit: hit.rank):
        document = hit.doc_id or evidence_key(hit)
        seen[document] += 1
        if seen[document] <= cap:
            capped.append(hit)

    assert [item.hit for item in refined(hits, return_n=return_n, cap=cap).kept] == capped[:return_n]


@settings(deadline=None, max_examples=60)
@given(hit_lists())
def test_titles_and_sources_decide_nothing(hits):
    renamed = tuple(replace(hit, title=str(hit.rank), source=str(hit.rank)) for hit in hits)

    assert keys(refined(hits).kept) == keys(refined(renamed).kept)
