"""A knowledge base made of values: given scores, builds in memory, jobs that end at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from core.catalog.catalog import Catalog, open_catalog
from core.catalog.records import CatalogDocument, DocumentState, JobState
from core.errors import RankLensError
from core.jobs import Job
from core.model.builds import BuildDescription, BuildIdentity, Fingerprint
from core.model.documents import Chunk
from core.model.identity import chunk_key
from core.model.lookup import LookupResult
from core.model.search import Route, RouteList, RouteScore, RouteState, SearchHit, SearchMode, SearchRequest
from core.model.token_lens import Term, TermMatch
from core.ports import StageProgress, Vector
from core.retrieval.configuration import Configuration
from core.retrieval.levels import Thresholds
from core.retrieval.lookup import lookup_knowledge
from core.settings import ConsoleSettings, Settings
from tests.builders import a_chunk
from tests.console.word_counter import WordCounter

BUILD = "biz_hybrid_20260131T120000Z"
MOMENT = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
THRESHOLDS = Thresholds("fake", True, 0.5, 0.9, -9.0, 1.0)
PRINT = Fingerprint(1, "fake-model", "r1", "", "", 3, "COSINE", "{}", "{}")


def a_catalog_document(
    name: str = "ops/a.md",
    *,
    category: str = "ops",
    title: str = "Title",
    chunk_count: int | None = 2,
    original_hash: str = "0" * 64,
) -> CatalogDocument:
    return CatalogDocument(
        doc_id=f"default/{name}",
        name=name,
        title=title,
        category=category,
        kb_scope="default",
        original_hash=original_hash,
        content_hash="1" * 64,
        byte_count=1234,
        version=1,
        uploaded_at=MOMENT,
        changed_at=MOMENT,
        state=DocumentState.INDEXED,
        chunk_count=chunk_count,
        build=BUILD,
        indexed_at=MOMENT,
    )


@dataclass(frozen=True)
class Scored:
    """A chunk with what each route thinks of it; None is not found."""

    chunk: Chunk
    dense: float | None = None
    sparse: float | None = None


@dataclass
class FakeSearcher:
    rows: tuple[Scored, ...]
    calls: list[str] = field(default_factory=list)

    def search_dense(self, request: SearchRequest, vector: Vector) -> RouteList:
        self.calls.append("dense")
        return self._list(Route.DENSE, request, lambda row: row.dense)

    def search_sparse(self, request: SearchRequest) -> RouteList:
        self.calls.append("sparse")
        return self._list(Route.SPARSE, request, lambda row: row.sparse)

    def search_hybrid(self, request: SearchRequest, vector: Vector) -> RouteList:
        self.calls.append("hybrid")
        ranks: dict[str, float] = {}
        for route, pick in ((Route.DENSE, lambda row: row.dense), (Route.SPARSE, lambda row: row.sparse)):
            for hit in self._list(route, request, pick).hits:
                ranks[hit.id] = ranks.get(hit.id, 0.0) + 1 / (request.rrf_k + hit.rank)
        return self._list(Route.FUSED, request, lambda row: ranks.get(row.chunk.id))

    def count(self, *, category: str | None = None, kb_scope: str | None = None) -> int:
        return sum(category in (None, row.chunk.category) for row in self.rows)

    def find(self, name: str) -> tuple[SearchHit, ...]:
        chunks = sorted(
            (row.chunk for row in self.rows if name in (row.chunk.doc_id, row.chunk.source)),
            key=lambda chunk: (chunk.doc_id, chunk.chunk_index),
        )
        hits = [_hit(chunk, rank, Route.DENSE, 0.0) for rank, chunk in enumerate(chunks, start=1)]
        return tuple(replace(hit, dense=None) for hit in hits)

    def identify(self) -> BuildIdentity:
        return BuildIdentity(a_build().name, "COSINE")

    def describe(self) -> BuildDescription:
        return a_build(chunks=len(self.rows))

    def terms(self, text: str) -> tuple[Term, ...]:
        return tuple(Term(word.lower()) for word in text.split())

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int | None]:
        held = [{term.text for term in self.terms(row.chunk.search_text)} for row in self.rows]
        return {term: sum(term in words for words in held) for term in terms}

    def match_terms(self, query: str, chunk_id: str) -> TermMatch | None:
        """Each shared term is worth 1.0."""
        text = next((row.chunk.search_text for row in self.rows if row.chunk.id == chunk_id), None)
        if text is None:
            return None
        held = {term.text for term in self.terms(text)}
        shared = [term.text for term in self.terms(query) if term.text in held]
        return TermMatch(text, float(len(shared)), dict.fromkeys(shared, 1.0))

    def _list(
        self, route: Route, request: SearchRequest, pick: Callable[[Scored], float | None]
    ) -> RouteList:
        found = [
            (score, row.chunk)
            for row in self.rows
            if (score := pick(row)) is not None and request.category_filter in (None, row.chunk.category)
        ]
        found.sort(key=lambda pair: (-pair[0], chunk_key(pair[1].doc_id, pair[1].chunk_index)))
        hits = tuple(
            _hit(chunk, rank, route, score)
            for rank, (score, chunk) in enumerate(found[: request.retrieve_k], start=1)
        )
        state = RouteState.OK if hits else RouteState.EMPTY
        reason = "" if hits else "no chunk passes the filter"
        return RouteList(route, state, hits, request.retrieve_k, 1.5, reason)


def _hit(chunk: Chunk, rank: int, route: Route, score: float) -> SearchHit:
    hit = SearchHit(
        id=chunk.id,
        doc_id=chunk.doc_id,
        chunk_index=chunk.chunk_index,
        content=chunk.content,
        title=chunk.title,
        breadcrumb=chunk.breadcrumb,
        source=chunk.source,
        category=chunk.category,
        kb_scope=chunk.kb_scope,
        rank=rank,
        metadata=chunk.metadata,
    )
    return replace(hit, **{str(route): RouteScore(rank, score)})


def a_build(
    *, chunks: int = 3, live: bool = True, hybrid_ready: bool = True, name: str = BUILD
) -> BuildDescription:
    return BuildDescription(name, live, PRINT, hybrid_ready, chunks, "FLAT", "COSINE", 3)


@dataclass
class FakeBuilds:
    described: tuple[BuildDescription, ...] = ()
    error: RankLensError | None = None
    in_pieces: bool = False

    def builds(self) -> tuple[BuildDescription, ...]:
        return self.described

    def live(self) -> str | None:
        if self.error is not None:
            raise self.error
        return next((build.name for build in self.described if build.live), None)

    def fragmented(self, name: str) -> bool:
        return self.in_pieces

    def chunk_counts(self, name: str) -> dict[str, int]:
        return {}


@dataclass
class FakeJobs:
    """Runs work at once; `active` stands for a job that goes on."""

    active: Job | None = None
    past: list[Job] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)

    def start(self, kind: str, title: str, work: Callable[[StageProgress], object]) -> str:
        result = work(lambda stage, done, total: None)
        job = Job(
            f"job-{len(self.past)}", kind, title, JobState.DONE, MOMENT, finished_at=MOMENT, result=result
        )
        self.past.insert(0, job)
        return job.id

    def current(self) -> Job | None:
        return self.active

    def get(self, job_id: str) -> Job | None:
        return self.active

    def latest(self, limit: int = 20) -> tuple[Job, ...]:
        return tuple(self.past[:limit])

    def cancel(self, job_id: str) -> bool:
        self.cancelled.append(job_id)
        return True

    def recover(self) -> int:
        return 0


@dataclass
class FakeEmbedder:
    name: str = "fake-model"

    def embed_query(self, text: str) -> Vector:
        return np.array([1.0, 0.0, 0.0], dtype=np.float32)


@dataclass
class FakeBase:
    settings: Settings
    catalog: Catalog
    builds: FakeBuilds
    originals: dict[str, bytes] = field(default_factory=dict)
    token_counter: WordCounter = field(default_factory=WordCounter)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)


@dataclass
class FakeServices:
    base: FakeBase
    jobs: FakeJobs
    search: FakeSearcher
    lookups: list[tuple[str, str]] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        return self.base.settings

    @property
    def catalog(self) -> Catalog:
        return self.base.catalog

    @property
    def configuration(self) -> Configuration:
        return Configuration(thresholds=THRESHOLDS, mode=SearchMode.HYBRID)

    def warm_up(self) -> None:
        """Nothing to load."""

    def categories(self, *, kb_scope: str | None = None) -> tuple[str, ...]:
        return tuple(sorted({document.category for document in self.catalog.documents()}))

    def lookup(self, query: str, configuration: Configuration, *, trace: bool = True) -> LookupResult:
        self.lookups.append((query, configuration.hash))
        return lookup_knowledge(self.search, self.base.embedder, query, configuration, trace=trace)


def fake_services(
    folder: Path,
    rows: tuple[Scored, ...] = (),
    *,
    documents: tuple[CatalogDocument, ...] = (),
    live: bool = True,
    read_only: bool = False,
) -> FakeServices:
    catalog = open_catalog(f"sqlite:///{folder / 'catalog.db'}")
    for document in documents:
        catalog.save_document(document)
    settings = Settings(data_dir=folder, console=ConsoleSettings(read_only=read_only))
    described = (a_build(chunks=len(rows)),) if live else ()
    return FakeServices(FakeBase(settings, catalog, FakeBuilds(described)), FakeJobs(), FakeSearcher(rows))


def a_lookup(
    rows: tuple[Scored, ...],
    mode: SearchMode = SearchMode.HYBRID,
    *,
    query: str = "E-1043 pool",
    category: str | None = None,
    retrieve_k: int = 20,
    return_n: int = 5,
    cap: int = 2,
    budget: int = 6000,
) -> LookupResult:
    configuration = Configuration(
        thresholds=THRESHOLDS,
        mode=mode,
        category=category,
        retrieve_k=retrieve_k,
        return_n=return_n,
        max_chunks_per_document=cap,
        context_budget_characters=budget,
    )
    return lookup_knowledge(FakeSearcher(rows), FakeEmbedder(), query, configuration)


def a_scored(
    name: str,
    *,
    dense: float | None = None,
    sparse: float | None = None,
    index: int = 0,
    content: str | None = None,
    category: str = "ops",
    title: str | None = None,
) -> Scored:
    chunk = a_chunk(
        content or f"Text of {name}, part {index}.",
        doc_id=f"default/{name}.md",
        chunk_index=index,
        title=title or f"Title {name}",
        source=f"{name}.md",
        category=category,
    )
    return Scored(chunk, dense, sparse)
