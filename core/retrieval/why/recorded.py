"""A store that answers from lists which were fetched before, so that a change costs no call.

In: the lists of one lookup, and deeper ones fetched when they are first needed. Out: the answers the
store would give for any `retrieve_k`, ranker, constant or weight. Invariant: a list is a beginning of
the deepest one that was fetched for its route and filter; the fused list of a request that the lookup
made itself is the server's own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.model.builds import BuildDescription, BuildIdentity
from core.model.identity import evidence_key
from core.model.lookup import Attempt
from core.model.search import (
    MAX_RETRIEVE_K,
    Ranker,
    Route,
    RouteList,
    RouteScore,
    RouteState,
    SearchHit,
    SearchMode,
    SearchRequest,
)
from core.model.token_lens import Term, TermMatch
from core.ports import Embedder, KnowledgeSearchPort, Progress, Vector, Vectors
from core.retrieval.filters import MERGED
from core.retrieval.fusion import normalised_bm25, normalised_cosine, reciprocal_rank

WEIGHTED_TOLERANCE = 5e-7
"""Weighted scores that differ by less are one score; cosines of equal vectors differ in the last bit."""


class RecordedSearcher:
    """`KnowledgeSearchPort` over recorded lists; for one query, whose vector it keeps, and one kb_scope."""

    def __init__(
        self,
        searcher: KnowledgeSearchPort,
        vector: Vector,
        lists: dict[tuple[Route, str | None], RouteList],
        fused: Mapping[SearchRequest, RouteList],
        metric: str,
    ) -> None:
        self._searcher = searcher
        self.vector = vector
        self._lists = lists
        self._fused = fused
        self._metric = metric

    def listed(self, route: Route, request: SearchRequest) -> RouteList:
        """Return the list of the dense or the sparse route for a request.

        A list that is too short and may go on is fetched again: twice as deep until it is deep enough,
        at most 1,000.

        Raises:
            StoreError: see `KnowledgeSearchPort`.
        """
        place = (route, request.category_filter)
        known = self._lists.get(place)
        if known is None or not _reaches(known, request.retrieve_k):
            depth = request.retrieve_k if known is None else max(request.retrieve_k, 2 * known.limit)
            deeper = replace(request, retrieve_k=min(depth, MAX_RETRIEVE_K))
            known = self._lists[place] = self._asked(route, deeper)
        hits = known.hits[: request.retrieve_k]
        return replace(known, hits=hits, limit=request.retrieve_k)

    def exhausted(self, route: Route, category_filter: str | None) -> bool:
        """Tell whether the deepest list of a route holds all that the route has."""
        known = self._lists[route, category_filter]
        return known.state is RouteState.NOT_RUN or len(known.hits) < known.limit

    def ordered(self, request: SearchRequest) -> Sequence[SearchHit]:
        """Return the hits that count, best first; their ranks are those of some other list."""
        if request.mode is SearchMode.DENSE:
            return self.listed(Route.DENSE, request).hits
        if request in self._fused:
            return self._fused[request].hits
        return [hit for hit, _ in self._fuse(request)[: request.retrieve_k]]

    def search_dense(self, request: SearchRequest, vector: Vector) -> RouteList:  # noqa: ARG002 - one query
        """See `KnowledgeSearchPort`."""
        return self.listed(Route.DENSE, request)

    def search_sparse(self, request: SearchRequest) -> RouteList:
        """See `KnowledgeSearchPort`."""
        return self.listed(Route.SPARSE, request)

    def search_hybrid(self, request: SearchRequest, vector: Vector) -> RouteList:  # noqa: ARG002 - one query
        """See `KnowledgeSearchPort`; fused here with the server's formulas."""
        if request in self._fused:
            return self._fused[request]
        hits = tuple(
            replace(hit, rank=rank, dense=None, sparse=None, fused=RouteScore(rank, score))
            for rank, (hit, score) in enumerate(self._fuse(request)[: request.retrieve_k], start=1)
        )
        state = RouteState.OK if hits else RouteState.EMPTY
        return RouteList(Route.FUSED, state, hits, request.retrieve_k)

    def count(self, *, category: str | None = None, kb_scope: str | None = None) -> int:
        """See `KnowledgeSearchPort`."""
        return self._searcher.count(category=category, kb_scope=kb_scope)

    def find(self, name: str) -> tuple[SearchHit, ...]:
        """See `KnowledgeSearchPort`."""
        return self._searcher.find(name)

    def identify(self) -> BuildIdentity:
        """See `KnowledgeSearchPort`."""
        return self._searcher.identify()

    def describe(self) -> BuildDescription:
        """See `KnowledgeSearchPort`."""
        return self._searcher.describe()

    def terms(self, text: str) -> tuple[Term, ...]:
        """See `KnowledgeSearchPort`."""
        return self._searcher.terms(text)

    def document_frequencies(self, terms: Sequence[str]) -> Mapping[str, int | None]:
        """See `KnowledgeSearchPort`."""
        return self._searcher.document_frequencies(terms)

    def match_terms(self, query: str, chunk_id: str) -> TermMatch | None:
        """See `KnowledgeSearchPort`."""
        return self._searcher.match_terms(query, chunk_id)

    def _asked(self, route: Route, request: SearchRequest) -> RouteList:
        if route is Route.DENSE:
            return self._searcher.search_dense(request, self.vector)
        return self._searcher.search_sparse(request)

    def _fuse(self, request: SearchRequest) -> list[tuple[SearchHit, float]]:
        routes = (self.listed(Route.DENSE, request), self.listed(Route.SPARSE, request))
        return fused(request, routes, self._metric)


class KnownVector:
    """`Embedder` for one query whose vector is known; everything else is the model's."""

    def __init__(self, embedder: Embedder, vector: Vector) -> None:
        self._embedder = embedder
        self._vector = vector

    @property
    def name(self) -> str:
        """See `Embedder`."""
        return self._embedder.name

    @property
    def revision(self) -> str:
        """See `Embedder`."""
        return self._embedder.revision

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        return self._embedder.dimension

    @property
    def query_prompt(self) -> str:
        """See `Embedder`."""
        return self._embedder.query_prompt

    @property
    def passage_prompt(self) -> str:
        """See `Embedder`."""
        return self._embedder.passage_prompt

    def embed_query(self, text: str) -> Vector:  # noqa: ARG002 - one query
        """Return the vector."""
        return self._vector

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """See `Embedder`."""
        return self._embedder.embed_passages(texts, progress=progress)


def record(
    searcher: KnowledgeSearchPort, vector: Vector, attempts: Sequence[Attempt], metric: str
) -> RecordedSearcher:
    """Keep the lists of a traced lookup; a list that failed is asked again when it is needed."""
    lists: dict[tuple[Route, str | None], RouteList] = {}
    fused_lists: dict[SearchRequest, RouteList] = {}
    for attempt in attempts:
        response = attempt.response
        if attempt.name == MERGED:
            continue
        for route in (response.dense, response.sparse):
            if route.limit and route.state is not RouteState.FAILED:
                lists[route.route, attempt.category_filter] = _own(route)
        if response.request.mode is SearchMode.HYBRID:
            fused_lists[response.request] = _own(response.fused)
    return RecordedSearcher(searcher, vector, lists, fused_lists, metric)


def fused(
    request: SearchRequest, routes: tuple[RouteList, RouteList], metric: str
) -> list[tuple[SearchHit, float]]:
    """Fuse the dense and the sparse list with the server's formula, best first.

    Equal scores are ordered by evidence key, after rounding to 32-bit floats as the server does. Of
    two copies of a key in one list the first counts.
    """
    totals: dict[str, float] = {}
    hits: dict[str, SearchHit] = {}
    for route in routes:
        seen: set[str] = set()
        for rank, hit in enumerate(route.hits, start=1):
            key = evidence_key(hit)
            if key not in seen:
                seen.add(key)
                hits.setdefault(key, hit)
                totals[key] = totals.get(key, 0.0) + _share(request, hit, rank, metric)
    rounded = {key: float(np.float32(total)) for key, total in totals.items()}
    tolerance = WEIGHTED_TOLERANCE if request.ranker is Ranker.WEIGHTED else 0.0
    return [(hits[key], rounded[key]) for key in _tie_order(rounded, tolerance)]


def _share(request: SearchRequest, hit: SearchHit, rank: int, metric: str) -> float:
    if request.ranker is Ranker.RRF:
        return reciprocal_rank(rank, request.rrf_k)
    if hit.dense is not None:
        return request.weight_dense * normalised_cosine(hit.dense.score, metric)
    return request.weight_sparse * normalised_bm25(hit.sparse.score) if hit.sparse is not None else 0.0


def _tie_order(scores: Mapping[str, float], tolerance: float) -> list[str]:
    """Order keys by score; those within the tolerance of the highest of their group by name."""
    ordered: list[str] = []
    group: list[str] = []
    for key in sorted(scores, key=lambda key: -scores[key]):
        if group and scores[group[0]] - scores[key] > tolerance:
            ordered += sorted(group)
            group = []
        group.append(key)
    return ordered + sorted(group)


def _reaches(known: RouteList, depth: int) -> bool:
    return known.limit >= depth or known.state is RouteState.NOT_RUN or len(known.hits) < known.limit


def _own(route: RouteList) -> RouteList:
    """Take away what other lists said of the hits, which a shorter list would not know."""
    hits = tuple(
        replace(hit, dense=hit.dense if route.route is Route.DENSE else None,
                sparse=hit.sparse if route.route is Route.SPARSE else None,
                fused=hit.fused if route.route is Route.FUSED else None)
        for hit in route.hits
    )  # fmt: skip
    return replace(route, hits=hits)
