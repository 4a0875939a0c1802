"""Material for the tests of the stores: ports under one name, chunks, seeded vectors, requests.

Each text has a vector drawn from its own bytes, so a test can ask for exactly one chunk.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from core.adapters.analyzer import ANALYZER
from core.model.builds import Fingerprint
from core.model.documents import Chunk
from core.model.search import RouteList, SearchRequest
from core.ports import BuildPort, KnowledgeSearchPort, KnowledgeWritePort, Vector, Vectors
from tests.builders import a_chunk

DIMENSION = 16

HOSTILE = (
    'a" or category != "a', '" or 1==1', "it's \"final\" v2.md", "C:\\temp\\new", "back\\", "two\nlines",
    "tab\tcr\r", "数据库", "{v}", "%", "😀", "\\u0041", "a'b", "\x01bell\x07", "no#chunk-1",
)  # fmt: skip


class MakeSearcher(Protocol):
    def __call__(
        self, expected: Fingerprint | None = None, build: str | None = None
    ) -> KnowledgeSearchPort: ...


@dataclass(frozen=True, slots=True)
class StorePorts:
    collection: str
    builds: BuildPort
    writer: KnowledgeWritePort
    searcher: MakeSearcher

    def name(self, suffix: str) -> str:
        return f"{self.collection}_{suffix}"

    def filled(
        self,
        suffix: str,
        chunks: Sequence[Chunk],
        vectors: Vectors | None = None,
        fingerprint: Fingerprint | None = None,
    ) -> KnowledgeSearchPort:
        """Make, fill, flush and publish a build; return its searcher."""
        name = self.name(suffix)
        self.builds.create(name, fingerprint or a_fingerprint(), expected_rows=len(chunks))
        self.writer.upsert(name, chunks, vectors_of(chunks) if vectors is None else vectors)
        self.writer.flush(name)
        self.builds.publish(name)
        return self.searcher()


def a_fingerprint(**changes: object) -> Fingerprint:
    made = Fingerprint(1, "model", "r1", "query: ", "passage: ", DIMENSION, "COSINE", ANALYZER, "{}")
    return replace(made, **changes)


def vector_of(text: str, dimension: int = DIMENSION) -> Vector:
    drawn = np.random.default_rng(zlib.crc32(text.encode())).normal(size=dimension)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def vectors_of(chunks: Sequence[Chunk]) -> Vectors:
    return np.array([vector_of(chunk.content) for chunk in chunks], dtype=np.float32).reshape(-1, DIMENSION)


def texts(*contents: str, category: str = "ops", kb_scope: str = "default", doc_id: str = "default/a.md"
          ) -> list[Chunk]:  # fmt: skip
    return [
        a_chunk(text, doc_id=doc_id, chunk_index=index, title="", category=category, kb_scope=kb_scope)
        for index, text in enumerate(contents)
    ]


def ids(listed: RouteList) -> list[str]:
    return [hit.id for hit in listed.hits]


def contents(listed: RouteList) -> list[str]:
    return [hit.content for hit in listed.hits]


def ask(query: str, **changes: object) -> SearchRequest:
    return SearchRequest(query, **changes)  # type: ignore[arg-type] # values of any field
