"""The reference store: exact search, BM25 with global statistics and the server's fusions, in dicts.

In: chunks with vectors, and search requests. Out: route lists. Invariant: what Milvus answers for
the same rows and the same request is what this store answers, up to the order of equal scores.
Several builds live side by side; the alias is a name that points to one of them.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from core.adapters.analyzer import analyze, has_terms, terms_of
from core.adapters.checks import (
    NO_TERMS,
    check_build_name,
    check_fingerprint,
    check_query_vector,
    check_rows,
)
from core.adapters.indexes import choose_index
from core.adapters.memory_rows import (
    MemoryBuild,
    StoredRow,
    best,
    filtered,
    hit_of,
    listed,
    passes,
    ranked_by_bm25,
    route_of,
)
from core.adapters.scoring import (
    bm25,
    corpus_statistics,
    dense_distance,
    fuse_ranks,
    fuse_weighted,
    normalised,
    tie_order,
)
from core.errors import CollectionMissing, StoreError
from core.model.builds import BuildDescription, BuildIdentity, Fingerprint
from core.model.documents import Chunk
from core.model.identity import evidence_key
from core.model.search import Ranker, Route, RouteList, RouteState, SearchHit, SearchRequest
from core.model.token_lens import Term, TermMatch
from core.ports import Vector, Vectors


class MemoryStore:
    """The builds of one collection name and its alias."""

    def __init__(self, collection: str) -> None:
        self.collection = collection
        self.builds: dict[str, MemoryBuild] = {}
        self.live: str | None = None

    def get(self, name: str) -> MemoryBuild:
        """Return a build by its physical name.

        Raises:
            CollectionMissing: there is none.
        """
        if name not in self.builds:
            raise CollectionMissing(f"There is no build {name}. Choose one of the list, or rebuild.")
        return self.builds[name]

    def describe(self, name: str) -> BuildDescription:
        """Describe a build."""
        build = self.get(name)
        fingerprint = build.fingerprint
        return BuildDescription(
            name=name, live=name == self.live, fingerprint=fingerprint, hybrid_ready=True,
            chunks=len(build.rows), index_type=build.index_type, metric=fingerprint.metric,
            dimension=fingerprint.dimension,
        )  # fmt: skip


class MemorySearcher:
    """`KnowledgeSearchPort` over a `MemoryStore`.

    `expected` None skips the comparison of fingerprints; `build` None reads the live build.
    """

    def __init__(
        self, store: MemoryStore, expected: Fingerprint | None = None, build: str | None = None
    ) -> None:
        self._store = store
        self._expected = expected
        self._build = build

    def search_dense(self, request: SearchRequest, vector: Vector) -> RouteList:
        """See `KnowledgeSearchPort`."""
        started = time.perf_counter()
        return listed(Route.DENSE, route_of(Route.DENSE, self._dense(request, vector)), request, started)

    def search_sparse(self, request: SearchRequest) -> RouteList:
        """See `KnowledgeSearchPort`."""
        build = self._attached()
        if not has_terms(request.query):
            return RouteList(Route.SPARSE, RouteState.NOT_RUN, limit=request.retrieve_k, reason=NO_TERMS)
        started = time.perf_counter()
        hits = route_of(Route.SPARSE, ranked_by_bm25(build, request))
        return listed(Route.SPARSE, hits, request, started)

    def search_hybrid(self, request: SearchRequest, vector: Vector) -> RouteList:
        """See `KnowledgeSearchPort`."""
        started = time.perf_counter()
        build = self._attached()
        dense = self._dense(request, vector)
        sparse = ranked_by_bm25(build, request) if has_terms(request.query) else []
        if request.ranker is Ranker.RRF:
            routes = [[row.chunk.id for row, _ in route] for route in (dense, sparse)]
            fused = fuse_ranks(routes, request.rrf_k)
        else:
            metric = build.fingerprint.metric
            near = {row.chunk.id: normalised(dense_distance(score, metric), metric) for row, score in dense}
            matching = {row.chunk.id: normalised(score, "BM25") for row, score in sparse}
            fused = fuse_weighted([(near, request.weight_dense), (matching, request.weight_sparse)])
        scored = [(build.rows[key], float(np.float32(score))) for key, score in fused.items()]
        keys = [evidence_key(hit_of(row, 1)) for row, _ in scored]
        order = tie_order([score for _, score in scored], keys, request.ranker)
        kept = [scored[position] for position in order[: request.retrieve_k]]
        return listed(Route.FUSED, route_of(Route.FUSED, kept), request, started)

    def count(self, *, category: str | None = None, kb_scope: str | None = None) -> int:
        """See `KnowledgeSearchPort`."""
        return sum(passes(row.chunk, category, kb_scope) for row in self._attached().rows.values())

    def find(self, name: str) -> tuple[SearchHit, ...]:
        """See `KnowledgeSearchPort`."""
        rows = self._attached().rows.values()
        named = [row for row in rows if name in (row.chunk.doc_id, row.chunk.source)]
        named.sort(key=lambda row: (row.chunk.doc_id, row.chunk.chunk_index))
        return tuple(hit_of(row, rank) for rank, row in enumerate(named, start=1))

    def identify(self) -> BuildIdentity:
        """See `KnowledgeSearchPort`."""
        return BuildIdentity(self._name(), self._attached().fingerprint.metric)

    def describe(self) -> BuildDescription:
        """See `KnowledgeSearchPort`."""
        self._attached()
        return self._store.describe(self._name())

    def terms(self, text: str) -> tuple[Term, ...]:
        """See `KnowledgeSearchPort`; every build of this store is cut by the one analyzer."""
        self._attached()
        return terms_of(text)

    def document_frequencies(self, terms: Sequence[str]) -> Mapping[str, int | None]:
        """See `KnowledgeSearchPort`; always known here."""
        rows = self._attached().rows.values()
        return {term: sum(term in row.terms for row in rows) for term in terms}

    def match_terms(self, query: str, chunk_id: str) -> TermMatch | None:
        """See `KnowledgeSearchPort`; the formula gives every share."""
        rows = self._attached().rows
        if chunk_id not in rows:
            return None
        statistics = corpus_statistics([row.terms for row in rows.values()])
        row, asked = rows[chunk_id], Counter(analyze(query) if has_terms(query) else ())
        units: dict[str, float | None] = {
            term: bm25(Counter([term]), row.terms, statistics) for term in asked if term in row.terms
        }
        return TermMatch(row.chunk.search_text, bm25(asked, row.terms, statistics), units)

    def _name(self) -> str:
        name = self._build or self._store.live
        if name is None:
            raise CollectionMissing(
                f"No build is published under {self._store.collection}. "
                "Index files, or rebuild the collection."
            )
        return name

    def _attached(self) -> MemoryBuild:
        build = self._store.get(self._name())
        if self._expected is not None:
            check_fingerprint(self._name(), build.fingerprint, self._expected)
        return build

    def _dense(self, request: SearchRequest, vector: Vector) -> list[tuple[StoredRow, float]]:
        build = self._attached()
        check_query_vector(self._name(), vector, build.fingerprint.dimension)
        rows = filtered(build, request)
        cosines = [float(np.float32(np.dot(row.vector.astype(np.float64), vector))) for row in rows]
        return best(rows, cosines, request.retrieve_k)


class MemoryWriter:
    """`KnowledgeWritePort` over a `MemoryStore`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def upsert(self, build: str, chunks: Sequence[Chunk], vectors: Vectors) -> int:
        """See `KnowledgeWritePort`; of two chunks with one key the last counts."""
        target = self._store.get(build)
        check_rows(chunks, vectors, target.fingerprint.dimension)
        for doc_id in dict.fromkeys(chunk.doc_id for chunk in chunks):
            self.delete_document(build, doc_id)
        rows = {
            chunk.id: StoredRow(
                chunk, np.array(vector, dtype=np.float32), Counter(analyze(chunk.search_text))
            )
            for chunk, vector in zip(chunks, vectors, strict=True)
        }
        target.rows.update(rows)
        return len(rows)

    def delete_document(self, build: str, doc_id: str) -> int:
        """See `KnowledgeWritePort`."""
        rows = self._store.get(build).rows
        gone = [key for key, row in rows.items() if row.chunk.doc_id == doc_id]
        for key in gone:
            del rows[key]
        return len(gone)

    def flush(self, build: str) -> None:
        """See `KnowledgeWritePort`; nothing waits here."""
        self._store.get(build)


class MemoryBuilds:
    """`BuildPort` over a `MemoryStore`; `index` as in the settings, only described, never used."""

    def __init__(self, store: MemoryStore, index: str = "auto") -> None:
        self._store = store
        self._index = index

    def create(self, name: str, fingerprint: Fingerprint, *, expected_rows: int) -> None:
        """See `BuildPort`."""
        check_build_name(self._store.collection, name)
        if name in self._store.builds:
            raise StoreError(f"There is a build {name} already. Choose another name.")
        index_type = choose_index(self._index, expected_rows).index_type
        self._store.builds[name] = MemoryBuild(fingerprint, index_type)

    def builds(self) -> tuple[BuildDescription, ...]:
        """See `BuildPort`."""
        return tuple(self._store.describe(name) for name in sorted(self._store.builds))

    def live(self) -> str | None:
        """See `BuildPort`."""
        return self._store.live

    def publish(self, name: str) -> None:
        """See `BuildPort`."""
        self._store.get(name)
        self._store.live = name

    def drop(self, name: str) -> None:
        """See `BuildPort`."""
        if name == self._store.live:
            raise StoreError(f"Build {name} is live and cannot be removed. Publish another build first.")
        if name not in self._store.builds:
            raise StoreError(f"{name!r} is no build of {self._store.collection}; nothing was removed.")
        del self._store.builds[name]

    def warm_up(self, name: str) -> None:
        """See `BuildPort`; nothing is cold here."""
        self._store.get(name)

    def chunk_counts(self, name: str) -> Mapping[str, int]:
        """See `BuildPort`."""
        return Counter(row.chunk.doc_id for row in self._store.get(name).rows.values())

    def rows(self, name: str, *, batch: int = 1000) -> Iterator[tuple[str, Vector]]:  # noqa: ARG002 - the port names it
        """See `BuildPort`."""
        for key, row in self._store.get(name).rows.items():
            yield key, row.vector

    def fragmented(self, name: str) -> bool:
        """See `BuildPort`; statistics are always whole here."""
        self._store.get(name)
        return False
