"""A small base on the reference store, lookups in it, and hand-made results."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core.adapters.analyzer import ANALYZER
from core.adapters.embedders.hashing import HashingEmbedder
from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.model.builds import BuildDescription, Fingerprint
from core.model.lookup import LookupResult
from core.model.search import Route, RouteList
from core.retrieval.levels import Thresholds
from core.retrieval.lookup import lookup_knowledge
from core.retrieval.replay.bundles import Bundle, Surroundings, bundle_of
from tests.builders import a_chunk, a_list
from tests.core.retrieval.scripted import ScriptedEmbedder, ScriptedPort, a_configuration

NOW = datetime(2026, 1, 31, 12, 0, 30, 999, tzinfo=UTC)
EMBEDDER = HashingEmbedder()
CUTS = Thresholds("hashing", True, 0.3, 0.6, related_margin=-100.0, precise_margin=-100.0)
FINGERPRINT = Fingerprint(1, "hashing", "1", "", "", EMBEDDER.dimension, "COSINE", ANALYZER, "{}")
SETTINGS = {
    "milvus.collection": "kb",
    "milvus.index": "auto",
    "rag.return_n": 5,
    "embedding.query_prompt": None,
}
VERSIONS = {"python": "3.11.1", "milvus": "2.6", "jieba": None}

TEXTS = {
    "default/ports.md": ("Milvus listens on port 19530 for clients.", "Metrics are served on port 9091."),
    "default/errors.md": ("错误码E-1042说明：连接池已满 👩🏽‍🔧，请增大 max_connections。",),
    "default/disk.md": ("Error E-104 means that the disk of a port is full.",),
}


def a_base(texts: Mapping[str, Sequence[str]] = TEXTS, build: str = "kb_1") -> MemoryStore:
    """A store with one published build."""
    store = MemoryStore("kb")
    MemoryBuilds(store).create(build, FINGERPRINT, expected_rows=20)
    for doc_id, contents in texts.items():
        index(store, doc_id, contents)
    MemoryBuilds(store).publish(build)
    return store


def index(store: MemoryStore, doc_id: str, contents: Sequence[str]) -> None:
    """Write a document into the one build, in place of what was there of it."""
    (build,) = store.builds
    chunks = [
        a_chunk(content, doc_id=doc_id, chunk_index=number, title=doc_id, source=doc_id)
        for number, content in enumerate(contents)
    ]
    vectors = EMBEDDER.embed_passages([chunk.search_text for chunk in chunks])
    MemoryWriter(store).upsert(build, chunks, vectors)


def around(store: MemoryStore, **changes) -> Surroundings:
    return replace(Surroundings(MemorySearcher(store).describe(), SETTINGS, VERSIONS), **changes)


def saved(store: MemoryStore, query: str = "port E-1042", **changes) -> Bundle:
    """Look up in the live build and save."""
    configuration = a_configuration(**{"thresholds": CUTS, **changes})
    result = lookup_knowledge(MemorySearcher(store), EMBEDDER, query, configuration)
    return bundle_of(result, configuration, around(store), now=NOW)


DESCRIPTION = BuildDescription("build", True, FINGERPRINT, True, 100, "FLAT", "COSINE", 384)


def looked_up(
    dense: Mapping[str, float] | RouteList | Exception,
    sparse: Mapping[str, float] | RouteList | Exception,
    fused: Mapping[str, float],
    **changes,
) -> LookupResult:
    """A hybrid lookup over lists of documents with scores; every document has one chunk, chunk 0."""
    lists = {Route.DENSE: dense, Route.SPARSE: sparse, Route.FUSED: fused}
    answers = {
        (route, None): a_list(route, given) if isinstance(given, Mapping) else given
        for route, given in lists.items()
    }
    return lookup_knowledge(ScriptedPort(answers), ScriptedEmbedder(), "query", a_configuration(**changes))
