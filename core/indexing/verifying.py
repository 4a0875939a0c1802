"""Checks a finished build before the alias moves.

In: a build and the chunks that were written to it. Out: a `Verification`. Invariant: reads only;
the sample is seeded, so the same build is always asked the same questions.
"""

import random
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from core.errors import StoreError
from core.indexing.base import KnowledgeBase
from core.model.builds import Verification
from core.model.documents import Chunk
from core.model.search import MAX_QUERY_CHARACTERS, Route, RouteList, RouteState, SearchRequest
from core.ports import Vectors

SAMPLE_CHUNKS = 50
PROBE_CHUNKS = 5
RECALL_K = 20
SEED = 20
_EQUAL_COSINES = 1e-5


def verify(
    base: KnowledgeBase, build: str, chunks_by_document: Mapping[str, tuple[Chunk, ...]]
) -> Verification:
    """Compare a build with what was written to it, and ask it for a few chunks by their own text.

    Args:
        base: whose store holds the build.
        build: its physical name.
        chunks_by_document: everything that must be in it, and nothing else.

    Raises:
        StoreError: the store does not answer.
    """
    expected = {doc_id: len(chunks) for doc_id, chunks in chunks_by_document.items()}
    stored = dict(base.builds.chunk_counts(build))
    sample = _sample(chunks_by_document)
    if not sample:
        return Verification(expected, stored, (), None, 0)
    vectors = base.embedder.embed_passages([chunk.search_text for chunk in sample])
    lists = [_ask_dense(base, build, chunk, vector) for chunk, vector in zip(sample, vectors, strict=True)]
    return Verification(
        expected_chunks=expected,
        stored_chunks=stored,
        probe_failures=_probe(base, build, sample, lists),
        recall=_recall(base, build, vectors, lists),
        probes=len(sample),
    )


def _sample(chunks_by_document: Mapping[str, tuple[Chunk, ...]]) -> list[Chunk]:
    chunks = [chunk for doc_id in sorted(chunks_by_document) for chunk in chunks_by_document[doc_id]]
    chosen = random.Random(SEED).sample(chunks, min(SAMPLE_CHUNKS, len(chunks)))  # noqa: S311 - no secret
    # Longest first: those say enough about themselves to be found by their own words.
    return sorted(chosen, key=lambda chunk: (-chunk.token_count, chunk.id))


def _request(chunk: Chunk) -> SearchRequest:
    query = unicodedata.normalize("NFKC", chunk.search_text).strip()[:MAX_QUERY_CHARACTERS]
    return SearchRequest(query=query, retrieve_k=RECALL_K)


def _ask_dense(base: KnowledgeBase, build: str, chunk: Chunk, vector: npt.NDArray[np.float32]) -> RouteList:
    return base.searcher(build).search_dense(_request(chunk), vector)


def _probe(
    base: KnowledgeBase, build: str, sample: Sequence[Chunk], dense_lists: Sequence[RouteList]
) -> tuple[str, ...]:
    failures: list[str] = []
    for chunk, dense in zip(sample[:PROBE_CHUNKS], dense_lists, strict=False):
        try:
            sparse = base.searcher(build).search_sparse(_request(chunk))
        except StoreError as error:
            failures.append(f"BM25 failed for {_name(chunk)}: {error}")
            continue
        failures.extend(_failure(chunk, route) for route in (dense, sparse) if not _found(chunk, route))
    return tuple(failures)


def _found(chunk: Chunk, route: RouteList) -> bool:
    if route.state is RouteState.NOT_RUN:
        # Text of signs alone has no term for BM25; anything else must have one.
        return not any(character.isalnum() for character in chunk.search_text)
    # Equal text in more than 20 places: any of them is as good as the chunk itself.
    return any(hit.id == chunk.id or hit.content == chunk.content for hit in route.hits)


def _failure(chunk: Chunk, route: RouteList) -> str:
    name = "BM25" if route.route is Route.SPARSE else "the dense route"
    said = f"{len(route.hits)} hits" if route.hits else f"{route.state.value} {route.reason}".strip()
    return f"{name} does not find {_name(chunk)} by its own text (limit {RECALL_K}, {said})"


def _name(chunk: Chunk) -> str:
    return f'chunk {chunk.chunk_index} of "{chunk.doc_id}"'


def _recall(base: KnowledgeBase, build: str, queries: Vectors, lists: Sequence[RouteList]) -> float:
    """Return the mean share of the exact top 20 that the index found, in [0, 1].

    A hit counts when its exact cosine reaches the twentieth best one, so equal cosines in another
    order cost nothing. Source of the definition: recall@k against exact search, as in the
    ANN-Benchmarks of Aumüller, Bernhardsson and Faithfull, 2018 (with their tolerance for ties).
    """
    returned = [{hit.id for hit in route.hits} for route in lists]
    wanted = set().union(*returned)
    best = np.full((len(queries), 0), -np.inf, dtype=np.float32)
    cosines: dict[str, npt.NDArray[np.float32]] = {}
    for ids, vectors in _batches(base, build):
        scores = queries @ vectors.T
        cosines.update({key: scores[:, column] for column, key in enumerate(ids) if key in wanted})
        joined = np.concatenate([best, scores], axis=1)
        keep = min(RECALL_K, joined.shape[1])
        best = -np.partition(-joined, keep - 1, axis=1)[:, :keep]
    if best.shape[1] == 0:
        return 0.0
    cuts = best.min(axis=1) - _EQUAL_COSINES
    found = [
        sum(bool(cosines[key][row] >= cuts[row]) for key in keys if key in cosines)
        for row, keys in enumerate(returned)
    ]
    return float(np.mean(np.minimum(found, best.shape[1]) / best.shape[1]))


def _batches(base: KnowledgeBase, build: str, size: int = 1000) -> Iterator[tuple[list[str], Vectors]]:
    ids: list[str] = []
    vectors: list[npt.NDArray[np.float32]] = []
    for key, vector in base.builds.rows(build, batch=size):
        ids.append(key)
        vectors.append(vector)
        if len(ids) == size:
            yield ids, np.stack(vectors)
            ids, vectors = [], []
    if ids:
        yield ids, np.stack(vectors)
