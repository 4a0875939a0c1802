"""Searches one build: the live one, or one by name.

In: requests and query vectors. Out: route lists. Invariant: before a build answers, its fingerprint
was compared with the settings; every route of every call carries the same filter, and every row that
comes back is checked against it.

Why the fused list is asked for twice its length: equal fused scores are ordered by evidence key, and
only the whole union of both routes has every tie that touches the limit.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from core.adapters.analyzer import has_terms
from core.adapters.checks import NO_TERMS, NOTHING_FOUND, check_fingerprint
from core.adapters.milvus import schema
from core.adapters.milvus import terms as term_queries
from core.adapters.milvus.connection import LONG_SECONDS, MilvusConnection
from core.adapters.milvus.expressions import scope_filter
from core.adapters.milvus.hits import hits_of, rows_in_order
from core.adapters.milvus.requests import (
    dense_request,
    output_fields,
    ranker_of,
    require_hybrid,
    sparse_request,
)
from core.adapters.milvus.stored import (
    StoredCollection,
    count_rows,
    describe_build,
    live_name,
    read_stored,
    rows_of_document,
)
from core.adapters.scoring import tie_order
from core.errors import CollectionMismatch, CollectionMissing
from core.model.builds import BuildDescription, BuildIdentity, Fingerprint
from core.model.identity import evidence_key
from core.model.search import Route, RouteList, RouteState, SearchHit, SearchRequest
from core.model.token_lens import Term, TermMatch
from core.ports import Vector

if TYPE_CHECKING:
    from pymilvus import AnnSearchRequest, MilvusClient

T = TypeVar("T")

ALIAS_TRUSTED_SECONDS = 1.0
"""How long a looked-up alias is believed; one that this connection moved is looked up at once."""


class MilvusSearcher:
    """`KnowledgeSearchPort` over Milvus.

    `expected` None skips the comparison of fingerprints; `build` None reads the live build.
    """

    def __init__(
        self,
        connection: MilvusConnection,
        collection: str,
        expected: Fingerprint | None = None,
        build: str | None = None,
        *,
        alias_trusted_seconds: float = ALIAS_TRUSTED_SECONDS,
    ) -> None:
        self._connection = connection
        self._collection = collection
        self._expected = expected
        self._build = build
        self._trusted_seconds = alias_trusted_seconds
        self._alias: tuple[str, float, int] | None = None
        self._attached: dict[str, StoredCollection] = {}

    def search_dense(self, request: SearchRequest, vector: Vector) -> RouteList:
        """See `KnowledgeSearchPort`."""

        def ask(client: "MilvusClient", stored: StoredCollection) -> list[Any]:
            dense = dense_request(stored, request, vector)
            return self._search(client, stored, dense)

        return self._listed(Route.DENSE, request, ask)

    def search_sparse(self, request: SearchRequest) -> RouteList:
        """See `KnowledgeSearchPort`."""
        require_hybrid(self._attach())
        if not has_terms(request.query):
            return RouteList(Route.SPARSE, RouteState.NOT_RUN, limit=request.retrieve_k, reason=NO_TERMS)

        def ask(client: "MilvusClient", stored: StoredCollection) -> list[Any]:
            return self._search(client, stored, sparse_request(stored, request))

        return self._listed(Route.SPARSE, request, ask)

    def search_hybrid(self, request: SearchRequest, vector: Vector) -> RouteList:
        """See `KnowledgeSearchPort`."""

        def ask(client: "MilvusClient", stored: StoredCollection) -> list[Any]:
            routes = [dense_request(stored, request, vector)]
            if has_terms(request.query):
                routes.append(sparse_request(stored, request))
            found = client.hybrid_search(
                stored.name,
                routes,
                ranker_of(request, len(routes)),
                limit=len(routes) * request.retrieve_k,
                output_fields=output_fields(stored),
                timeout=self._connection.timeout_seconds,
            )
            return list(found[0])

        return self._listed(Route.FUSED, request, ask)

    def count(self, *, category: str | None = None, kb_scope: str | None = None) -> int:
        """See `KnowledgeSearchPort`."""
        stored = self._attach()
        _require_fields(stored, category, kb_scope)
        return count_rows(self._connection, stored.name, scope_filter(category, kb_scope))

    def find(self, name: str) -> tuple[SearchHit, ...]:
        """See `KnowledgeSearchPort`."""
        return rows_in_order(rows_of_document(self._connection, self._attach(), name))

    def identify(self) -> BuildIdentity:
        """See `KnowledgeSearchPort`."""
        stored = self._attach()
        return BuildIdentity(stored.name, stored.metric)

    def describe(self) -> BuildDescription:
        """See `KnowledgeSearchPort`."""
        stored = self._attach()
        live = live_name(self._connection, self._collection)
        return describe_build(self._connection, stored, live=stored.name == live)

    def terms(self, text: str) -> tuple[Term, ...]:
        """See `KnowledgeSearchPort`."""
        return term_queries.terms_of_text(self._connection, self._attach_hybrid(), text)

    def document_frequencies(self, terms: Sequence[str]) -> Mapping[str, int | None]:
        """See `KnowledgeSearchPort`."""
        return term_queries.document_frequencies(self._connection, self._attach_hybrid(), terms)

    def match_terms(self, query: str, chunk_id: str) -> TermMatch | None:
        """See `KnowledgeSearchPort`."""
        return term_queries.match_terms(self._connection, self._attach_hybrid(), query, chunk_id)

    def _attach_hybrid(self) -> StoredCollection:
        stored = self._attach()
        require_hybrid(stored)
        return stored

    def _search(
        self, client: "MilvusClient", stored: StoredCollection, route: "AnnSearchRequest"
    ) -> list[Any]:
        found = client.search(
            stored.name,
            data=route.data,
            anns_field=route.anns_field,
            search_params=route.param,
            limit=route.limit,
            filter=route.expr or "",
            output_fields=output_fields(stored),
            timeout=self._connection.timeout_seconds,
        )
        return list(found[0])

    def _listed(
        self,
        route: Route,
        request: SearchRequest,
        ask: Callable[["MilvusClient", StoredCollection], list[Any]],
    ) -> RouteList:
        """Run one search and turn it into a route list; a build that has just gone is looked up again."""
        stored = self._attach()
        _require_fields(stored, request.category_filter, request.kb_scope)
        if route is not Route.DENSE:
            require_hybrid(stored)
        started = time.perf_counter()
        try:
            rows = self._run(ask, stored)
        except CollectionMissing:
            if self._build is not None:
                raise
            self._alias = None
            stored = self._attach()
            rows = self._run(ask, stored)
        spent = (time.perf_counter() - started) * 1000
        if route is Route.FUSED:
            rows = _in_order(rows, stored, request)
        hits = hits_of(rows, route, stored.metric, request)
        state = RouteState.OK if hits else RouteState.EMPTY
        return RouteList(route, state, hits, request.retrieve_k, spent, "" if hits else NOTHING_FOUND)

    def _run(self, ask: Callable[["MilvusClient", StoredCollection], T], stored: StoredCollection) -> T:
        return self._connection.call(
            lambda client: ask(client, stored), f"searching {stored.name}", collection=stored.name
        )

    def _name(self) -> str:
        if self._build is not None:
            return self._build
        moves = self._connection.moves
        if self._alias is not None:
            name, looked_up, seen_moves = self._alias
            if seen_moves == moves and time.monotonic() - looked_up < self._trusted_seconds:
                return name
        found = live_name(self._connection, self._collection)
        if found is None:
            raise CollectionMissing(
                f"No build is published under {self._collection} at {self._connection.place}. "
                "Index files, or rebuild the collection."
            )
        self._alias = (found, time.monotonic(), moves)
        return found

    def _attach(self) -> StoredCollection:
        """Read, check and load the build once; later calls take what was found."""
        name = self._name()
        if name not in self._attached:
            stored = read_stored(self._connection, name)
            _check_fits(stored, self._expected)
            self._connection.call(
                lambda client: client.load_collection(name, timeout=LONG_SECONDS), f"loading {name}"
            )
            self._attached = {name: stored}
        return self._attached[name]


def _check_fits(stored: StoredCollection, expected: Fingerprint | None) -> None:
    """Refuse a build without dense field, of other settings, or (without a fingerprint) of other size."""
    if schema.VECTOR not in stored.fields or schema.CONTENT not in stored.fields:
        raise CollectionMismatch(
            f"Collection {stored.name} was not made by RankLens and lacks "
            f"{', '.join(stored.missing_fields)}. Rename it or set milvus.collection to "
            "another name, then rebuild."
        )
    if expected is None:
        return
    if stored.fingerprint is not None:
        check_fingerprint(stored.name, stored.fingerprint, expected)
    elif stored.dimension != expected.dimension:
        raise CollectionMismatch(
            f"Collection {stored.name} holds vectors of {stored.dimension} numbers; the embedding model "
            f"{expected.model} makes {expected.dimension}. Rebuild, or set the model it was made with."
        )


def _require_fields(stored: StoredCollection, category: str | None, kb_scope: str | None) -> None:
    asked = ((schema.CATEGORY, category), (schema.KB_SCOPE, kb_scope))
    missing = [name for name, value in asked if value is not None and name not in stored.fields]
    if missing:
        raise CollectionMismatch(
            f"Collection {stored.name} cannot be filtered: it lacks {', '.join(missing)}. "
            "Rebuild the collection, or search without this filter."
        )


def _in_order(rows: list[Any], stored: StoredCollection, request: SearchRequest) -> list[Any]:
    """Order by fused score, equal ones by evidence key, and cut at the limit."""
    hits = hits_of(rows, Route.FUSED, stored.metric, request)
    scores = [float(row["distance"]) for row in rows]
    order = tie_order(scores, [evidence_key(hit) for hit in hits], request.ranker)
    return [rows[position] for position in order[: request.retrieve_k]]
