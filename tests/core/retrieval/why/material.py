"""A small base for the tests of *where is my chunk?*: vectors by hand, words by hand.

A chunk's cosine with the question is given; its BM25 rank follows from how often the content says
`port` (all contents are padded to the same number of words).
"""

import math
from collections.abc import Sequence

import numpy as np

from core.adapters.analyzer import ANALYZER
from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.model.builds import Fingerprint
from core.model.documents import Chunk
from core.retrieval.configuration import Configuration
from core.retrieval.levels import Thresholds
from core.retrieval.why.explaining import explain_absence
from tests.builders import a_chunk

CUTS = Thresholds("test", True, 0.5, 0.8, related_margin=-100.0, precise_margin=-100.0)
WORDS = 10


class FixedEmbedder:
    """Every query is the first axis, so that a chunk's first number is its cosine."""

    name, revision, dimension, query_prompt, passage_prompt = "test", "1", 2, "", ""

    def embed_query(self, text):
        return np.array([1.0, 0.0], dtype=np.float32)

    def embed_passages(self, texts, *, progress=None):
        raise NotImplementedError


class CountingSearcher(MemorySearcher):
    """Counts the calls and how deep each went."""

    def __init__(self, store):
        super().__init__(store)
        self.depths = []

    def search_dense(self, request, vector):
        self.depths.append(request.retrieve_k)
        return super().search_dense(request, vector)

    def search_sparse(self, request):
        self.depths.append(request.retrieve_k)
        return super().search_sparse(request)


def vector(cosine):
    return [cosine, math.sqrt(max(0.0, 1.0 - cosine * cosine))]


def said(times: int, of: str = "port", words: int = WORDS) -> str:
    return " ".join([of] * times + ["filler"] * (words - times))


def a_piece(name: str, cosine: float, says: int = 0, index: int = 0, **changes) -> tuple[Chunk, float]:
    given = {
        "content": said(says), "doc_id": f"default/{name}", "source": name, "chunk_index": index,
        "title": "", **changes,
    }  # fmt: skip
    return a_chunk(given.pop("content"), **given), cosine


def a_base(pieces: Sequence[tuple[Chunk, float]]) -> CountingSearcher:
    store = MemoryStore("kb")
    fingerprint = Fingerprint(1, "test", "1", "", "", 2, "COSINE", ANALYZER, "{}")
    MemoryBuilds(store).create("kb_1", fingerprint, expected_rows=len(pieces))
    vectors = np.array([vector(cosine) for _, cosine in pieces], dtype=np.float32)
    MemoryWriter(store).upsert("kb_1", [chunk for chunk, _ in pieces], vectors)
    MemoryBuilds(store).publish("kb_1")
    return CountingSearcher(store)


def explained(searcher, expected, *, query="port", in_catalog=None, **changes):
    configuration = Configuration(**{"thresholds": CUTS, **changes})
    return explain_absence(searcher, FixedEmbedder(), query, expected, configuration, in_catalog=in_catalog)


def key(name: str, index: int = 0) -> str:
    return f"default/{name}#chunk-{index}"


def by_setting(explanation):
    return {found.setting: found for found in explanation.rescues}
