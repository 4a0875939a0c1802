"""A change of one field writes the whole row again, so no store has to know partial updates."""

from dataclasses import replace

import numpy as np
import pytest
from pymilvus import MilvusClient

from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.schema import ALL_FIELDS, SPARSE_VECTOR
from tests.core.adapters.store_material import StorePorts, ask, contents, texts, vector_of, vectors_of

pytestmark = pytest.mark.milvus


def test_a_new_category_keeps_key_text_vector_and_both_routes(
    file_connection: MilvusConnection, file_store: StorePorts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mil-14: by whole rows, where the case also allows a partial update."""
    real, sent = MilvusClient.upsert, set()

    def recorded(self, name, rows, **kwargs):
        sent.add((frozenset(rows[0]), kwargs.get("partial_update", False)))
        return real(self, name, rows, **kwargs)

    monkeypatch.setattr(MilvusClient, "upsert", recorded)
    chunks = texts("mysql timeout", "redis 缓存", category="ops")
    vectors = vectors_of(chunks)
    searcher = file_store.filled("1", chunks, vectors)
    name = file_store.name("1")
    before = dict(file_store.builds.rows(name))
    moved = [replace(chunk, category="hr") for chunk in chunks]
    file_store.writer.upsert(name, moved, vectors)
    file_store.writer.flush(name)

    assert sent == {(frozenset(ALL_FIELDS) - {SPARSE_VECTOR}, False)}
    after = dict(file_store.builds.rows(name))
    assert after.keys() == before.keys() == {chunk.id for chunk in chunks}
    assert all(np.array_equal(after[key], before[key]) for key in after)
    assert (searcher.count(category="ops"), searcher.count(category="hr")) == (0, 2)
    request = ask("缓存", category_filter="hr")
    assert contents(searcher.search_sparse(request)) == ["redis 缓存"]
    assert contents(searcher.search_dense(request, vector_of("redis 缓存"))) == [
        "redis 缓存",
        "mysql timeout",
    ]
