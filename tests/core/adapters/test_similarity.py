"""One cosine for every metric, and no answer from a build of another model: reference and Milvus Lite."""

from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pytest

from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.adapters.milvus.connection import MilvusConnection
from core.errors import CollectionMismatch
from core.model.builds import Fingerprint
from core.settings import EmbeddingSettings, MilvusSettings
from tests.core.adapters.store_material import (
    DIMENSION,
    StorePorts,
    a_fingerprint,
    ask,
    contents,
    texts,
    vector_of,
)

FIRST, SECOND = np.eye(DIMENSION, dtype=np.float32)[:2]
CLOSE = (np.float32(0.99) * FIRST + np.float32(np.sqrt(1 - 0.99**2)) * SECOND).astype(np.float32)

CHANGES = {
    "schema": 2, "model": "other", "revision": "r2", "query_prompt": "", "passage_prompt": "query: ",
    "dimension": 768, "metric": "L2", "analyzer": '{"tokenizer":"standard"}', "chunk_rules": '{"size":100}',
}  # fmt: skip


@pytest.fixture(params=["memory", pytest.param("file", marks=pytest.mark.milvus)])
def store(request: pytest.FixtureRequest, ports_of: Callable[[MilvusConnection], StorePorts]) -> StorePorts:
    if request.param == "file":
        return ports_of(request.getfixturevalue("file_connection"))
    memory = MemoryStore("kb")
    return StorePorts(
        "kb",
        MemoryBuilds(memory),
        MemoryWriter(memory),
        lambda expected=None, build=None: MemorySearcher(memory, expected, build),
    )


@pytest.mark.parametrize("metric", ["COSINE", "IP", "L2"])
def test_an_exact_a_close_an_orthogonal_and_an_opposite_vector_have_their_cosine(
    store: StorePorts, metric: str
) -> None:
    """emb-05: no metric turns the order round, and a negative cosine stays negative."""
    chunks = texts("opposite", "orthogonal", "close", "exact")
    vectors = np.stack([-FIRST, SECOND, CLOSE, FIRST])
    found = store.filled("1", chunks, vectors, a_fingerprint(metric=metric)).search_dense(ask("q"), FIRST)
    assert contents(found) == ["exact", "close", "orthogonal", "opposite"]
    scores = [hit.dense.score for hit in found.hits if hit.dense]
    assert scores == pytest.approx([1.0, 0.99, 0.0, -1.0], abs=1e-5)
    assert all(-1.0 <= score <= 1.0 for score in scores)


def test_every_part_of_a_fingerprint_is_changed_here() -> None:
    assert set(CHANGES) == {field.name for field in fields(Fingerprint)}


@pytest.mark.parametrize("changed", CHANGES)
def test_a_build_of_another_model_or_other_settings_answers_nothing(
    store: StorePorts, changed: str
) -> None:
    """emb-04, emb-01: also where the dimension is the same, and for either prompt."""
    store.filled("1", texts("alpha"))
    searcher = store.searcher(expected=a_fingerprint(**{changed: CHANGES[changed]}))
    vector = vector_of("alpha")
    for question in (
        lambda: searcher.search_dense(ask("alpha"), vector),
        lambda: searcher.search_sparse(ask("alpha")),
        lambda: searcher.search_hybrid(ask("alpha"), vector),
        searcher.count,
        lambda: searcher.find("default/a.md"),
        searcher.identify,
        searcher.describe,
    ):
        with pytest.raises(CollectionMismatch, match="Rebuild the collection, or set the old values again"):
            question()


def test_the_dimension_is_no_setting() -> None:
    """emb-04: it comes from the model."""
    names = {*EmbeddingSettings.model_fields, *MilvusSettings.model_fields}
    assert not [name for name in names if "dim" in name]
