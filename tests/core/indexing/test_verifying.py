"""Verification counts, probes both routes and measures recall against exact search."""

from dataclasses import replace

import pytest

from core.adapters.memory import MemorySearcher
from core.indexing import verifying
from core.indexing.base import fingerprint
from core.indexing.verifying import SAMPLE_CHUNKS, verify
from core.model.search import RouteList, RouteState
from tests.builders import a_chunk

BUILD = "biz_hybrid_20260131T120000Z"


@pytest.fixture
def written(base):
    """Sixty chunks of twenty documents in a build."""
    chunks = {
        f"default/{n}.md": tuple(
            a_chunk(
                f"document {n} part {i} word{n}x{i}",
                doc_id=f"default/{n}.md",
                chunk_index=i,
                token_count=n + i,
            )
            for i in range(3)
        )
        for n in range(20)
    }
    base.builds.create(BUILD, fingerprint(base), expected_rows=60)
    for pieces in chunks.values():
        base.writer.upsert(BUILD, pieces, base.embedder.embed_passages([c.search_text for c in pieces]))
    return chunks


def with_searcher(base, searcher):
    return replace(base, searcher=lambda _build: searcher)


def test_a_whole_build_passes_with_recall_one_over_at_most_fifty_probes(base, written):
    found = verify(base, BUILD, written)
    assert found.passed
    assert (found.recall, found.probes) == (1.0, SAMPLE_CHUNKS)
    assert found.expected_chunks == found.stored_chunks == {f"default/{n}.md": 3 for n in range(20)}


def test_a_document_with_fewer_rows_and_a_ghost_differ(base, written):
    base.writer.delete_document(BUILD, "default/3.md")
    ghost = a_chunk("who is it", doc_id="default/ghost.md")
    base.writer.upsert(BUILD, [ghost], base.embedder.embed_passages([ghost.search_text]))
    assert verify(base, BUILD, written).differing == {"default/3.md": (3, 0), "default/ghost.md": (0, 1)}


def test_a_route_that_finds_nothing_is_a_failure_in_words(base, store, written):
    class WithoutBm25(MemorySearcher):
        def search_sparse(self, request):
            found = super().search_sparse(request)
            return RouteList(found.route, RouteState.EMPTY, limit=found.limit, reason="no term")

    failures = verify(with_searcher(base, WithoutBm25(store, build=BUILD)), BUILD, written).probe_failures
    assert len(failures) == 5
    assert failures[0] == (
        'BM25 does not find chunk 2 of "default/19.md" by its own text (limit 20, empty no term)'
    )


def test_vectors_in_the_wrong_rows_are_found_out(base, written):
    for number, pieces in enumerate(written.values()):
        others = written[f"default/{(number + 7) % 20}.md"]
        base.writer.upsert(BUILD, pieces, -base.embedder.embed_passages([c.search_text for c in others]))
    found = verify(base, BUILD, written)
    assert any(failure.startswith("the dense route") for failure in found.probe_failures)


def test_recall_is_the_share_of_the_exact_top_twenty(base, store, written):
    class Forgetful(MemorySearcher):
        def search_dense(self, request, vector):
            found = super().search_dense(request, vector)
            return replace(found, hits=found.hits[:5])

    found = verify(with_searcher(base, Forgetful(store, build=BUILD)), BUILD, written)
    assert found.recall == pytest.approx(5 / 20)


def test_hits_with_the_same_cosine_as_the_last_one_count(base, store):
    """Thirty equal chunks: any twenty of them are right."""
    chunks = tuple(a_chunk("the same text", chunk_index=i) for i in range(30))
    base.builds.create(BUILD, fingerprint(base), expected_rows=30)
    base.writer.upsert(BUILD, chunks, base.embedder.embed_passages([c.search_text for c in chunks]))

    class Reversed(MemorySearcher):
        def search_dense(self, request, vector):
            full = super().search_dense(replace(request, retrieve_k=1000), vector)
            return replace(full, hits=full.hits[::-1][: request.retrieve_k])

    found = verify(with_searcher(base, Reversed(store, build=BUILD)), BUILD, {"default/ops/a.md": chunks})
    assert found.passed
    assert found.recall == 1.0


def test_a_base_smaller_than_twenty_chunks_can_reach_recall_one(base):
    chunk = a_chunk("alone")
    base.builds.create(BUILD, fingerprint(base), expected_rows=1)
    base.writer.upsert(BUILD, [chunk], base.embedder.embed_passages([chunk.search_text]))
    assert verify(base, BUILD, {chunk.doc_id: (chunk,)}).recall == 1.0


def test_text_without_any_letter_or_digit_is_not_expected_from_bm25(base):
    chunk = a_chunk("--- !!! ---", title="")
    base.builds.create(BUILD, fingerprint(base), expected_rows=1)
    base.writer.upsert(BUILD, [chunk], base.embedder.embed_passages([chunk.search_text]))
    assert verify(base, BUILD, {chunk.doc_id: (chunk,)}).passed


def test_an_empty_build_has_nothing_to_measure(base):
    base.builds.create(BUILD, fingerprint(base), expected_rows=0)
    found = verify(base, BUILD, {})
    assert (found.passed, found.recall, found.probes) == (True, None, 0)


def test_the_exact_search_goes_over_several_pages(base, store, written, monkeypatch):
    whole = verifying._batches
    monkeypatch.setattr(verifying, "_batches", lambda base, build: whole(base, build, 7))
    assert verify(base, BUILD, written).recall == 1.0

    class Forgetful(MemorySearcher):
        def search_dense(self, request, vector):
            found = super().search_dense(request, vector)
            return replace(found, hits=found.hits[:5])

    found = verify(with_searcher(base, Forgetful(store, build=BUILD)), BUILD, written)
    assert found.recall == pytest.approx(5 / 20)
