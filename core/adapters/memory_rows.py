"""The rows of the reference store: what is kept of a chunk, how rows are ranked, and the hits of them.

In: a build's rows and a request. Out: scored rows, hits and route lists. Invariant: a list carries its
own score only, with ranks from 1.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from core.adapters.analyzer import analyze
from core.adapters.checks import NOTHING_FOUND
from core.adapters.scoring import bm25, corpus_statistics
from core.model.builds import Fingerprint
from core.model.documents import Chunk
from core.model.search import Route, RouteList, RouteScore, RouteState, SearchHit, SearchRequest
from core.ports import Vector


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A chunk as it is kept: with its vector and its counted terms."""

    chunk: Chunk
    vector: Vector
    terms: Counter[str]


@dataclass(slots=True)
class MemoryBuild:
    """One build; `rows` by primary key, in the order they were written."""

    fingerprint: Fingerprint
    index_type: str
    rows: dict[str, StoredRow] = field(default_factory=dict)


def ranked_by_bm25(build: MemoryBuild, request: SearchRequest) -> list[tuple[StoredRow, float]]:
    """Score the rows that pass the filter and hold a term of the query; the statistics are the build's."""
    statistics = corpus_statistics([row.terms for row in build.rows.values()])
    query = Counter(analyze(request.query))
    scored = [(row, bm25(query, row.terms, statistics)) for row in filtered(build, request)]
    found = [(row, float(np.float32(score))) for row, score in scored if score > 0]
    return best([row for row, _ in found], [score for _, score in found], request.retrieve_k)


def best(rows: Sequence[StoredRow], scores: Sequence[float], limit: int) -> list[tuple[StoredRow, float]]:
    """Order by score, highest first; equal scores keep the order of writing."""
    return sorted(zip(rows, scores, strict=True), key=lambda pair: -pair[1])[:limit]


def filtered(build: MemoryBuild, request: SearchRequest) -> list[StoredRow]:
    """Return the rows that pass a request's filter, in the order of writing."""
    rows = build.rows.values()
    return [row for row in rows if passes(row.chunk, request.category_filter, request.kb_scope)]


def passes(chunk: Chunk, category: str | None, kb_scope: str | None) -> bool:
    """Tell whether a chunk passes a filter; None asks all."""
    return category in (None, chunk.category) and kb_scope in (None, chunk.kb_scope)


def hit_of(row: StoredRow, rank: int, **score: RouteScore) -> SearchHit:
    """Make a hit; `score` by the name of its route."""
    chunk = row.chunk
    return SearchHit(
        id=chunk.id, doc_id=chunk.doc_id, chunk_index=chunk.chunk_index, content=chunk.content,
        title=chunk.title or None, breadcrumb=chunk.breadcrumb or None, source=chunk.source or None,
        category=chunk.category, kb_scope=chunk.kb_scope, rank=rank, metadata=dict(chunk.metadata),
        dense=score.get("dense"), sparse=score.get("sparse"), fused=score.get("fused"),
    )  # fmt: skip


def route_of(route: Route, scored: Sequence[tuple[StoredRow, float]]) -> tuple[SearchHit, ...]:
    """Make hits of scored rows, in the order given."""
    return tuple(
        hit_of(row, rank, **{route.value: RouteScore(rank, score)})
        for rank, (row, score) in enumerate(scored, start=1)
    )


def listed(route: Route, hits: tuple[SearchHit, ...], request: SearchRequest, started: float) -> RouteList:
    """Make the answer of a call that began at `started` of the performance counter."""
    state = RouteState.OK if hits else RouteState.EMPTY
    spent = (time.perf_counter() - started) * 1000
    return RouteList(route, state, hits, request.retrieve_k, spent, "" if hits else NOTHING_FOUND)
