"""What the three examples promise, looked up with the bundled model exactly as the console does."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.adapters.analyzer import ANALYZER
from core.adapters.embedders import open_embedder
from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.intake.chunking import ChunkRules, chunk, chunk_rules_key
from core.intake.loading import load
from core.model.builds import Fingerprint
from core.model.lookup import Level, LookupResult
from core.model.search import SearchMode
from core.retrieval.calibration import thresholds_for
from core.retrieval.configuration import Configuration
from core.retrieval.lookup import lookup_knowledge
from core.sample import EXAMPLE_QUERIES, ExampleQuery, sample_files
from core.settings import EmbeddingSettings

pytestmark = pytest.mark.model

BUILD = "biz_hybrid_20260101T000000Z"


@pytest.fixture(scope="module")
def ask(model_folder: Path):
    """Index the sample base once; return a function from (example, mode) to the lookup's result."""
    embedder, counter = open_embedder(EmbeddingSettings(threads=1), model_folder)
    rules = ChunkRules()
    chunks = [
        piece
        for file in sample_files()
        for piece in chunk(
            load(file.name, file.data, category=file.category, kb_scope="default", limit_bytes=1_000_000),
            rules,
            counter,
        )
    ]
    store = MemoryStore("biz_hybrid")
    fingerprint = Fingerprint(
        1, embedder.name, embedder.revision, embedder.query_prompt, embedder.passage_prompt,
        embedder.dimension, "COSINE", ANALYZER, chunk_rules_key(rules),
    )  # fmt: skip
    MemoryBuilds(store).create(BUILD, fingerprint, expected_rows=len(chunks))
    vectors = embedder.embed_passages([piece.search_text for piece in chunks])
    MemoryWriter(store).upsert(BUILD, chunks, vectors)
    MemoryBuilds(store).publish(BUILD)
    configuration = Configuration(thresholds=thresholds_for(embedder.name))

    def look_up(example: ExampleQuery, mode: SearchMode) -> LookupResult:
        asked = replace(configuration, mode=mode, category=example.category)
        return lookup_knowledge(MemorySearcher(store), embedder, example.query, asked)

    yield look_up
    embedder.close()


def sources(result: LookupResult) -> list[str | None]:
    return [evidence.source for evidence in result.projection.evidence]


def keys(result: LookupResult) -> list[str]:
    return [evidence.document_id for evidence in result.projection.evidence]


def test_the_gain_is_missed_by_dense_search_and_first_in_hybrid_search(ask):
    gain = EXAMPLE_QUERIES[0]
    assert "network/http-502-bad-gateway.md" not in sources(ask(gain, SearchMode.DENSE))
    assert sources(ask(gain, SearchMode.HYBRID))[0] == "network/http-502-bad-gateway.md"


def test_the_example_without_a_change_returns_the_same_list_in_both_modes(ask):
    unchanged = EXAMPLE_QUERIES[1]
    dense, hybrid = ask(unchanged, SearchMode.DENSE), ask(unchanged, SearchMode.HYBRID)
    assert keys(dense) == keys(hybrid)
    assert sources(hybrid)[0] == "kubernetes/pod-crash-looping.md"


@pytest.mark.parametrize("mode", list(SearchMode))
def test_the_wrong_filter_is_relaxed_and_the_answer_comes_from_network(ask, mode):
    result = ask(EXAMPLE_QUERIES[2], mode)
    filtered, unfiltered = result.retrieval.attempts
    assert (filtered.name, filtered.level) == ("filtered", Level.WEAK)
    assert (unfiltered.name, unfiltered.level) == ("unfiltered", Level.PRECISE)
    assert result.projection.filter_relaxed
    assert sources(result)[0] == "network/dns-resolution-failures.md"
    assert result.outside_category >= 2
