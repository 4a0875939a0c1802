"""One search: the calls to the store that it needs, put together into one response.

In: a request and the query's vector. Out: a `SearchResponse` whose hits carry the ranks and scores
of every route that was asked. Invariants: the order is the store's (fused in hybrid mode, dense
otherwise); every call has the same filters and the same k; a number that a route did not give is
None. The trace comes from the calls that made the result and is never rebuilt afterwards.
"""

from collections.abc import Callable
from dataclasses import replace

from core.errors import (
    CollectionMismatch,
    CollectionMissing,
    HybridUnsupported,
    StoreError,
    StoreUnavailable,
)
from core.model.identity import evidence_key, is_named
from core.model.search import (
    AuditVerdict,
    FusionAudit,
    Route,
    RouteList,
    RouteScore,
    RouteState,
    SearchHit,
    SearchMode,
    SearchRequest,
    SearchResponse,
)
from core.ports import KnowledgeSearchPort, Vector
from core.retrieval.fusion import audit_fusion

WHOLE_STORE = (StoreUnavailable, CollectionMissing, CollectionMismatch, HybridUnsupported)
"""Faults that no other route could survive; they end the search in place of marking one route."""


def search(
    port: KnowledgeSearchPort,
    request: SearchRequest,
    vector: Vector,
    *,
    trace: bool,
    dense: RouteList | None = None,
) -> SearchResponse:
    """Ask the store and join what it answers.

    Dense mode makes one call. Hybrid mode makes two (hybrid, and dense for the levels), with a trace
    three (BM25 alone as well). A probe beside the hybrid call that fails is marked as failed; the
    hybrid call itself failing ends the search.

    Args:
        port: the store.
        request: what to ask.
        vector: of the query.
        trace: ask BM25 on its own too, and audit the fusion.
        dense: the dense list of this very request when it is already there; saves the call.

    Raises:
        StoreError: see `KnowledgeSearchPort`.
    """
    if request.mode is SearchMode.DENSE:
        route = dense or port.search_dense(request, vector)
        sparse = _not_run(Route.SPARSE, "dense mode does not ask BM25")
        fused = _not_run(Route.FUSED, "dense mode fuses nothing")
        hits = tuple(replace(hit, rank=hit.dense.rank) for hit in route.hits if hit.dense)
        return SearchResponse(request, hits, route, sparse, fused, FusionAudit(AuditVerdict.NOT_CHECKED))
    fused = port.search_hybrid(request, vector)
    route = dense or _probe(Route.DENSE, request, lambda: port.search_dense(request, vector))
    sparse = (
        _probe(Route.SPARSE, request, lambda: port.search_sparse(request))
        if trace
        else _not_run(Route.SPARSE, "BM25 alone is only asked with a trace")
    )
    audit = FusionAudit(AuditVerdict.NOT_CHECKED)
    if trace:
        audit = audit_fusion(request, route, sparse, fused, metric=port.identify().metric)
    return _joined(request, route, sparse, fused, audit)


def _probe(route: Route, request: SearchRequest, call: Callable[[], RouteList]) -> RouteList:
    try:
        return call()
    except WHOLE_STORE:
        raise
    except StoreError as error:
        return RouteList(route, RouteState.FAILED, limit=request.retrieve_k, reason=str(error))


def _not_run(route: Route, reason: str) -> RouteList:
    return RouteList(route, RouteState.NOT_RUN, reason=reason)


def _joined(
    request: SearchRequest, dense: RouteList, sparse: RouteList, fused: RouteList, audit: FusionAudit
) -> SearchResponse:
    """Give every hit of every list the scores of the other lists; a hit without identity joins none."""
    scores = {
        "dense": _by_key(dense.hits, lambda hit: hit.dense),
        "sparse": _by_key(sparse.hits, lambda hit: hit.sparse),
        "fused": _by_key(fused.hits, lambda hit: hit.fused),
    }

    def whole(hit: SearchHit) -> SearchHit:
        if not is_named(hit):
            return hit
        key = evidence_key(hit)
        return replace(
            hit,
            dense=hit.dense or scores["dense"].get(key),
            sparse=hit.sparse or scores["sparse"].get(key),
            fused=hit.fused or scores["fused"].get(key),
        )

    lists = [replace(route, hits=tuple(map(whole, route.hits))) for route in (dense, sparse, fused)]
    hits = tuple(replace(hit, rank=hit.fused.rank) for hit in lists[2].hits if hit.fused)
    return SearchResponse(request, hits, lists[0], lists[1], lists[2], audit)


def _by_key(
    hits: tuple[SearchHit, ...], score: Callable[[SearchHit], RouteScore | None]
) -> dict[str, RouteScore]:
    """Map evidence keys to scores; of two copies the better-ranked one counts."""
    found: dict[str, RouteScore] = {}
    for hit in hits:
        value = score(hit)
        if value is not None:
            found.setdefault(evidence_key(hit), value)
    return found
