from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from pymilvus import MilvusClient
from pymilvus.exceptions import MilvusException

from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.writer import batches
from core.errors import StoreError
from core.model.search import RouteList
from tests.core.adapters.store_material import (
    StorePorts,
    a_fingerprint,
    ask,
    contents,
    ids,
    texts,
    vector_of,
    vectors_of,
)

pytestmark = pytest.mark.milvus


def a_row(text: str) -> dict[str, object]:
    return {"content": text, "vector": np.zeros(4, dtype=np.float32), "metadata": {}}


def sparse_scores(listed: RouteList) -> dict[str, float]:
    return {hit.id: hit.sparse.score for hit in listed.hits if hit.sparse}


def test_a_batch_holds_at_most_500_rows() -> None:
    """mil-16: by rows."""
    assert [len(batch) for batch in batches([a_row("x")] * 1201)] == [500, 500, 201]
    assert list(batches([])) == []


def test_a_batch_holds_at_most_sixteen_mebibytes_and_loses_nothing() -> None:
    """mil-16: by bytes of UTF-8; 60,000 bytes each, 72 MB together."""
    rows = [a_row("数" * 20_000) for _ in range(1200)]
    cut = list(batches(rows))
    assert sum(len(batch) for batch in cut) == 1200
    # One row takes 60,000 + 16 + 2 + 64 = 60,082 bytes, and 279 of them 16,762,878 of 16,777,216.
    assert [len(batch) for batch in cut] == [279, 279, 279, 279, 84]
    assert [len(batch) for batch in batches([a_row("x" * 17_000_000), a_row("y")])] == [1, 1]


@pytest.mark.parametrize("status", ["RESOURCE_EXHAUSTED"])
def test_a_batch_that_is_too_large_goes_in_halves(
    file_store: StorePorts, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    """mil-16: nothing lost, nothing doubled."""
    real, sizes = MilvusClient.upsert, []

    def limited(self, name, rows, **kwargs):
        sizes.append(len(rows))
        if len(rows) > 2:
            raise MilvusException(1, f"StatusCode.{status}: message larger than max")
        return real(self, name, rows, **kwargs)

    name = file_store.name("1")
    file_store.builds.create(name, a_fingerprint(), expected_rows=1)
    monkeypatch.setattr(MilvusClient, "upsert", limited)
    chunks = texts(*(f"text {n}" for n in range(7)))
    assert file_store.writer.upsert(name, chunks, vectors_of(chunks)) == 7
    assert sizes == [7, 3, 1, 2, 4, 2, 2]
    assert file_store.builds.chunk_counts(name) == {"default/a.md": 7}


def test_a_document_whose_second_batch_fails_is_not_there_at_all(
    file_store: StorePorts, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = MilvusClient.upsert, Counter()

    def failing(self, name, rows, **kwargs):
        calls["upsert"] += 1
        if calls["upsert"] == 2:
            raise MilvusException(1, "disk full")
        return real(self, name, rows, **kwargs)

    name = file_store.name("1")
    file_store.builds.create(name, a_fingerprint(), expected_rows=1)
    monkeypatch.setattr(MilvusClient, "upsert", failing)
    chunks = texts(*(f"text {n}" for n in range(501)))
    with pytest.raises(StoreError, match="disk full"):
        file_store.writer.upsert(name, chunks, vectors_of(chunks))
    assert file_store.builds.chunk_counts(name) == {}


def test_a_document_of_two_batches_is_whole(file_store: StorePorts) -> None:
    chunks = texts(*(f"text {n}" for n in range(501)))
    searcher = file_store.filled("1", chunks)
    assert searcher.count() == 501


def test_no_row_has_a_null_category_so_both_ways_of_excluding_agree(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    """mil-06: != and not in differ only over NULL."""
    file_store.filled("1", [*texts("a", category="a"), *texts("b", category="uncategorized", doc_id="d")])

    def excluded(expression: str) -> list[str]:
        return sorted(
            row["doc_id"]
            for row in file_connection.call(
                lambda client: client.query(
                    file_store.name("1"), filter=expression, output_fields=["doc_id"]
                ),
                "asking",
            )
        )

    assert excluded('category != "a"') == excluded('category not in ["a"]') == ["d"]


def test_keys_are_ascii_whatever_the_document_is_called(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    """mil-04, mil-14: keys are derived, never given by the store or by user text."""
    file_store.filled("1", texts("x", doc_id='kb/it\'s "final" v2.md'))
    ((key, _),) = file_store.builds.rows(file_store.name("1"))
    assert key.isascii()
    assert key.isalnum()
    described = file_connection.call(
        lambda client: client.describe_collection(file_store.name("1")), "reading"
    )
    assert described["auto_id"] is False


@pytest.mark.parametrize("back_end", ["file", "lite-server"])
def test_several_flushes_are_fragmented_and_a_copy_in_one_flush_scores_as_a_rebuild(
    back_end: str,
    connections: Callable[[str], MilvusConnection],
    ports_of: Callable[..., StorePorts],
) -> None:
    """Statistics are per segment on Milvus Lite: three uploads score otherwise than one rebuild does."""
    store = ports_of(connections(back_end))
    documents = [
        texts("mysql timeout", "disk full", doc_id="d/1"),
        texts("mysql mysql replica lag", doc_id="d/2"),
        texts("redis", "kafka", "mysql and much more text to read", doc_id="d/3"),
    ]
    together = [chunk for document in documents for chunk in document]
    store.builds.create(store.name("pieces"), a_fingerprint(), expected_rows=6)
    for document in documents:
        store.writer.upsert(store.name("pieces"), document, vectors_of(document))
        store.writer.flush(store.name("pieces"))
    whole = store.filled("whole", together)
    assert store.builds.fragmented(store.name("pieces")) is True
    assert store.builds.fragmented(store.name("whole")) is False
    pieces = store.searcher(build=store.name("pieces")).search_sparse(ask("mysql"))
    rebuilt = sparse_scores(whole.search_sparse(ask("mysql")))
    assert set(ids(pieces)) == set(rebuilt)
    assert sparse_scores(pieces) != pytest.approx(rebuilt, abs=1e-3)
    vectors = dict(store.builds.rows(store.name("pieces")))
    copied = store.filled("copy", together, np.array([vectors[chunk.id] for chunk in together]))
    assert store.builds.fragmented(store.name("copy")) is False
    assert sparse_scores(copied.search_sparse(ask("mysql"))) == pytest.approx(rebuilt, abs=1e-5)


def test_a_flush_without_new_rows_cuts_no_segment(file_store: StorePorts) -> None:
    file_store.filled("1", texts("a"))
    for _ in range(2):
        file_store.writer.flush(file_store.name("1"))
    assert file_store.builds.fragmented(file_store.name("1")) is False


def test_two_versions_from_the_shared_cases_leave_only_the_second(shared, file_store: StorePorts) -> None:
    """mil-13: same_name_v1 and same_name_v2."""
    folder = shared / "cases" / "files"
    first, second = (
        (folder / f"same_name_v{n}" / "政策.md").read_text(encoding="utf-8").split("\n\n") for n in (1, 2)
    )
    searcher = file_store.filled("1", texts(*first, doc_id="kb/政策.md"))
    new = texts(*second, doc_id="kb/政策.md")
    file_store.writer.upsert(file_store.name("1"), new, vectors_of(new))
    assert sorted(contents(searcher.search_dense(ask("q"), vector_of("q")))) == sorted(second)
