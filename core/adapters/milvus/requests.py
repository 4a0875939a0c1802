"""Requests as pymilvus takes them, made from ours.

In: a collection and a request. Out: one route of a search, and how the routes are fused. Invariant:
both routes of a request carry the same filter and the same limit.
"""

from typing import TYPE_CHECKING

from core.adapters.checks import check_query_vector
from core.adapters.indexes import search_parameters
from core.adapters.milvus import schema
from core.adapters.milvus.expressions import scope_filter
from core.adapters.milvus.stored import StoredCollection
from core.errors import HybridUnsupported
from core.model.search import Ranker, SearchRequest
from core.ports import Vector

if TYPE_CHECKING:
    from pymilvus import AnnSearchRequest, RRFRanker, WeightedRanker


def require_hybrid(stored: StoredCollection) -> None:
    """Refuse a collection without BM25, and say what it lacks.

    Raises:
        HybridUnsupported: it cannot be searched by BM25.
    """
    if stored.missing_for_hybrid:
        raise HybridUnsupported(
            f"Collection {stored.name} has no BM25 search: it lacks "
            f"{', '.join(stored.missing_for_hybrid)}. Rebuild the collection, or search in dense mode "
            "(retrieval.search.mode = dense)."
        )


def output_fields(stored: StoredCollection) -> list[str]:
    """Name what a search returns of each row, as far as the collection has it."""
    return [name for name in schema.OUTPUT_FIELDS if name in stored.fields]


def dense_request(stored: StoredCollection, request: SearchRequest, vector: Vector) -> "AnnSearchRequest":
    """Make the dense route of a request.

    Raises:
        CollectionMismatch: the vector has another dimension than the build.
        EmbeddingFailed: the vector is not finite or has no length.
    """
    from pymilvus import AnnSearchRequest  # loaded by the connection already

    check_query_vector(stored.name, vector, stored.dimension)
    expression = scope_filter(request.category_filter, request.kb_scope)
    tuning = search_parameters(
        stored.index_type, stored.lists, request.retrieve_k, filtered=bool(expression)
    )
    return AnnSearchRequest(
        [vector.tolist()],
        schema.VECTOR,
        {"metric_type": stored.metric, "params": tuning},
        request.retrieve_k,
        expr=expression or None,
    )


def sparse_request(stored: StoredCollection, request: SearchRequest) -> "AnnSearchRequest":
    """Make the BM25 route of a request.

    Raises:
        HybridUnsupported: the collection has no BM25 field.
    """
    from pymilvus import AnnSearchRequest  # loaded by the connection already

    require_hybrid(stored)
    return AnnSearchRequest(
        [request.query],
        schema.SPARSE_VECTOR,
        {"metric_type": "BM25", "params": {}},
        request.retrieve_k,
        expr=scope_filter(request.category_filter, request.kb_scope) or None,
    )


def ranker_of(request: SearchRequest, routes: int) -> "RRFRanker | WeightedRanker":
    """Make the fusion of a request over its first `routes` routes."""
    from pymilvus import RRFRanker, WeightedRanker  # loaded by the connection already

    if request.ranker is Ranker.RRF:
        return RRFRanker(request.rrf_k)
    return WeightedRanker(*(request.weight_dense, request.weight_sparse)[:routes], norm_score=True)
