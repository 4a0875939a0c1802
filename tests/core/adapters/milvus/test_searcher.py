import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from pymilvus import DataType, MilvusClient

from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.hits import hits_of
from core.adapters.milvus.searcher import MilvusSearcher
from core.errors import CollectionMismatch, HybridUnsupported, StoreError
from core.model.documents import UNCATEGORIZED
from core.model.identity import evidence_key
from core.model.search import Route, RouteState
from tests.builders import a_chunk
from tests.core.adapters.store_material import (
    DIMENSION,
    StorePorts,
    a_fingerprint,
    ask,
    contents,
    texts,
    vector_of,
)

pytestmark = pytest.mark.milvus


def row(distance: float = 0.5, **entity: object) -> dict[str, object]:
    return {"id": "i", "distance": distance, "entity": {"category": "a", "kb_scope": "x", **entity}}


def test_a_row_outside_the_filter_is_an_error_and_never_shown() -> None:
    """mil-29: whatever the store does with the filter, a leak does not get through."""
    for asked in ({"category_filter": "b"}, {"kb_scope": "y"}, {"category_filter": "a", "kb_scope": "y"}):
        with pytest.raises(StoreError, match=r"returned row i of .* only '[by]' was asked for"):
            hits_of([row()], Route.FUSED, "COSINE", ask("q", **asked))
    assert len(hits_of([row()], Route.FUSED, "COSINE", ask("q", category_filter="a", kb_scope="x"))) == 1


def test_a_score_that_is_no_number_is_an_error() -> None:
    """emb-03: Milvus Lite returns nan for a vector without length."""
    with pytest.raises(StoreError, match="score nan"):
        hits_of([row(math.nan)], Route.DENSE, "COSINE", ask("q"))


def test_a_rounding_error_does_not_push_a_cosine_past_one() -> None:
    (hit,) = hits_of([row(1.0000002)], Route.DENSE, "COSINE", ask("q"))
    assert hit.dense is not None
    assert hit.dense.score == 1.0


def test_a_leak_of_the_store_reaches_the_caller_as_an_error(
    file_connection: MilvusConnection, file_store: StorePorts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mil-29: the filter is taken out on the way, as `hybrid_search(filter=...)` would."""
    searcher = file_store.filled(
        "1", [*texts("one", category="a"), *texts("two", category="b", doc_id="d")]
    )
    real = MilvusClient.hybrid_search

    def without_filter(self, name, reqs, *args, **kwargs):
        for request in reqs:
            request._expr = None
        return real(self, name, reqs, *args, **kwargs)

    monkeypatch.setattr(MilvusClient, "hybrid_search", without_filter)
    with pytest.raises(StoreError, match="category 'b' although only 'a'"):
        searcher.search_hybrid(ask("two", category_filter="a"), vector_of("two"))


@pytest.fixture
def legacy(file_connection: MilvusConnection, file_store: StorePorts) -> Iterator[str]:
    """A dense-only collection that bears the configured name: id, vector, content, metadata."""
    name = file_store.collection

    def make(client: MilvusClient) -> None:
        schema = MilvusClient.create_schema(auto_id=False)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("content", DataType.VARCHAR, max_length=1000)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=DIMENSION)
        schema.add_field("metadata", DataType.JSON)
        client.create_collection(name, schema=schema)
        indexes = MilvusClient.prepare_index_params()
        indexes.add_index("vector", index_type="FLAT", metric_type="L2")
        client.create_index(name, indexes, sync=False)
        client.load_collection(name)
        rows = [
            {"id": key, "content": text, "vector": vector_of(text), "metadata": metadata}
            for key, text, metadata in (("1", "old", {"docId": "d/1", "chunkIndex": 2}), ("2", "older", {}))
        ]
        client.upsert(name, rows)

    file_connection.call(make, "making a legacy collection")
    return name


def test_a_dense_only_collection_is_searched_with_what_is_there(
    legacy: str, file_store: StorePorts
) -> None:
    """mil-37: an older layout is recognised, not mistaken."""
    found = file_store.searcher(expected=a_fingerprint()).search_dense(ask("q"), vector_of("old"))
    first, second = found.hits
    assert (first.content, first.doc_id, first.chunk_index) == ("old", "d/1", 2)
    assert first.dense is not None
    assert first.dense.score == pytest.approx(1.0, abs=1e-5)
    assert (first.category, first.title) == (UNCATEGORIZED, None)
    assert [evidence_key(hit) for hit in (first, second)] == ["d/1#chunk-2", "vector:2"]


def test_hybrid_on_a_dense_only_collection_says_what_is_missing(
    legacy: str, file_store: StorePorts
) -> None:
    searcher = file_store.searcher()
    for search in (
        lambda: searcher.search_sparse(ask("old")),
        lambda: searcher.search_hybrid(ask("old"), vector_of("old")),
    ):
        with pytest.raises(HybridUnsupported, match="search_text, sparse_vector, the BM25 function"):
            search()


def test_a_filter_on_a_field_that_is_missing_is_refused(legacy: str, file_store: StorePorts) -> None:
    with pytest.raises(CollectionMismatch, match="lacks kb_scope"):
        file_store.searcher().search_dense(ask("q", kb_scope="x"), vector_of("q"))
    with pytest.raises(CollectionMismatch, match="lacks category"):
        file_store.searcher().count(category="x")


def test_a_legacy_collection_of_another_dimension_is_refused(legacy: str, file_store: StorePorts) -> None:
    searcher = file_store.searcher(expected=a_fingerprint(dimension=384))
    with pytest.raises(CollectionMismatch, match=r"16 numbers.*384"):
        searcher.search_dense(ask("q"), vector_of("q", 384))


def test_a_legacy_collection_is_described_as_it_is_and_stands_in_the_way_of_the_alias(
    legacy: str, file_store: StorePorts
) -> None:
    """mil-09: a plain collection under the name of the alias is reported with the way out."""
    (build,) = file_store.builds.builds()
    assert (build.name, build.live, build.fingerprint, build.hybrid_ready) == (legacy, True, None, False)
    assert (build.metric, build.dimension, build.chunks) == ("L2", DIMENSION, 2)
    assert {"doc_id", "category", "sparse_vector"} <= set(build.missing_fields)
    for action in (
        lambda: file_store.builds.create(file_store.name("1"), a_fingerprint(), expected_rows=1),
        lambda: file_store.builds.publish(file_store.name("1")),
    ):
        with pytest.raises(CollectionMismatch, match=r"cannot become an alias.*milvus\.collection"):
            action()
    with pytest.raises(StoreError, match="live"):
        file_store.builds.drop(legacy)
    with pytest.raises(CollectionMismatch, match=r"no doc_id"):
        file_store.builds.chunk_counts(legacy)
    with pytest.raises(CollectionMismatch, match="cannot be written to"):
        file_store.writer.upsert(legacy, texts("a"), np.array([vector_of("a")]))
    file_store.builds.warm_up(legacy)


def test_the_metric_is_that_of_the_index_not_of_the_settings(file_store: StorePorts) -> None:
    """mil-34: an index of squared distances read as cosines would turn the order round."""
    file_store.filled("1", texts("near", "far"), fingerprint=a_fingerprint(metric="L2"))
    found = file_store.searcher().search_dense(ask("q"), vector_of("near"))
    assert contents(found) == ["near", "far"]
    with pytest.raises(CollectionMismatch, match="metric 'L2', now 'COSINE'"):
        file_store.searcher(expected=a_fingerprint()).search_dense(ask("q"), vector_of("near"))


@pytest.mark.parametrize("index", ["IVF_FLAT", "HNSW", "AUTOINDEX", "FLAT"])
def test_every_row_behind_a_rare_category_is_found(
    file_connection: MilvusConnection, ports_of: Callable[..., StorePorts], index: str
) -> None:
    """mil-35: 5 of 3,000, for every query."""
    store = ports_of(file_connection, index)
    drawn = np.random.default_rng(1).normal(size=(3000, DIMENSION))
    vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    chunks = [
        a_chunk("x", doc_id=f"d/{n}", title="", category="rare" if n % 600 == 0 else "common")
        for n in range(3000)
    ]
    searcher = store.filled("1", chunks, vectors)
    assert searcher.describe().index_type == index
    for number in range(20):
        request = ask("q", retrieve_k=10, category_filter="rare")
        assert len(searcher.search_dense(request, vector_of(f"query {number}")).hits) == 5


def test_an_alias_moved_by_another_process_is_followed(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    name = file_store.collection
    searcher = MilvusSearcher(file_connection, name, alias_trusted_seconds=0)
    file_store.filled("1", texts("old"))
    assert contents(searcher.search_dense(ask("q"), vector_of("q"))) == ["old"]
    file_store.builds.create(file_store.name("2"), a_fingerprint(model="other"), expected_rows=1)
    file_connection.call(lambda client: client.alter_alias(file_store.name("2"), name), "moving")
    assert searcher.search_dense(ask("q"), vector_of("q")).state is RouteState.EMPTY
    checked = MilvusSearcher(file_connection, name, a_fingerprint(), alias_trusted_seconds=0)
    with pytest.raises(CollectionMismatch, match="'other'"):
        checked.count()


def test_a_believed_alias_of_a_dropped_build_is_asked_for_again(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    """mil-09: another process moved the alias and dropped the old build within the trusted second."""
    searcher = MilvusSearcher(file_connection, file_store.collection, alias_trusted_seconds=3600)
    file_store.filled("1", texts("old"))
    assert contents(searcher.search_dense(ask("q"), vector_of("q"))) == ["old"]
    file_store.builds.create(file_store.name("2"), a_fingerprint(), expected_rows=1)
    name, old, new = file_store.collection, file_store.name("1"), file_store.name("2")
    file_connection.call(lambda client: client.alter_alias(new, name), "moving without telling")
    file_connection.call(lambda client: client.drop_collection(old), "dropping")
    assert searcher.search_dense(ask("q"), vector_of("q")).state is RouteState.EMPTY
