"""From the store's rows to hits, and the check that none of them breaks the filter.

In: rows of one search with the store's distances. Out: hits with ranks and scores. Invariant: no
row outside the asked category or kb_scope and no score that is not a number gets through.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from core.adapters.milvus import schema
from core.adapters.scoring import cosine_of_distance
from core.errors import StoreError
from core.model.documents import UNCATEGORIZED
from core.model.search import Route, RouteScore, SearchHit, SearchRequest


def hits_of(
    rows: Iterable[Mapping[str, Any]], route: Route, metric: str, request: SearchRequest
) -> tuple[SearchHit, ...]:
    """Turn rows into hits, in the order given, ranks from 1.

    Raises:
        StoreError: a row breaks the filter, or its score is not a number.
    """
    return tuple(_hit(row, rank, route, metric, request) for rank, row in enumerate(rows, start=1))


def rows_in_order(rows: Iterable[Mapping[str, Any]]) -> tuple[SearchHit, ...]:
    """Turn rows of a query into hits by doc_id and chunk_index, ranks from 1, without scores."""
    found = [_bare(str(row[schema.ID]), row, 1) for row in rows]
    found.sort(key=lambda hit: (hit.doc_id or "", hit.chunk_index or 0, hit.id))
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(found, start=1))


def score_of(distance: float, route: Route, metric: str) -> float:
    """Turn the server's value into a score, higher is closer; BM25 comes back negative on Milvus Lite."""
    if route is Route.DENSE:
        return cosine_of_distance(distance, metric)
    return abs(distance) if route is Route.SPARSE else distance


def _hit(row: Mapping[str, Any], rank: int, route: Route, metric: str, request: SearchRequest) -> SearchHit:
    entity = row["entity"]
    identifier = str(row["id"])
    _check_filter(identifier, entity, request)
    distance = float(row["distance"])
    if not math.isfinite(distance):
        raise StoreError(
            f"The store gave row {identifier} the score {distance}: its vector is unusable. "
            "Index its document again, or rebuild the collection."
        )
    score = RouteScore(rank, score_of(distance, route, metric))
    return replace(
        _bare(identifier, entity, rank),
        dense=score if route is Route.DENSE else None,
        sparse=score if route is Route.SPARSE else None,
        fused=score if route is Route.FUSED else None,
    )


def _bare(identifier: str, entity: Mapping[str, Any], rank: int) -> SearchHit:
    metadata = entity.get(schema.METADATA)
    known = metadata if isinstance(metadata, dict) else {}
    index = entity.get(schema.CHUNK_INDEX, known.get("chunkIndex"))
    return SearchHit(
        id=identifier,
        doc_id=entity.get(schema.DOC_ID) or known.get("docId"),
        chunk_index=int(index) if index is not None else None,
        content=entity.get(schema.CONTENT) or "",
        title=entity.get(schema.TITLE),
        breadcrumb=entity.get(schema.BREADCRUMB),
        source=entity.get(schema.SOURCE),
        category=entity.get(schema.CATEGORY) or UNCATEGORIZED,
        kb_scope=entity.get(schema.KB_SCOPE) or "",
        rank=rank,
        metadata=known,
    )


def _check_filter(identifier: str, entity: Mapping[str, Any], request: SearchRequest) -> None:
    asked = ((schema.CATEGORY, request.category_filter), (schema.KB_SCOPE, request.kb_scope))
    for name, value in asked:
        if value is not None and entity.get(name) != value:
            raise StoreError(
                f"The store returned row {identifier} of {name} {entity.get(name)!r} although only "
                f"{value!r} was asked for. Nothing is shown. Check the version of the Milvus server."
            )
