import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pymilvus import DataType, MilvusClient

from core.adapters.milvus import lifecycle
from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.schema import ALL_FIELDS, OUTPUT_FIELDS, SPARSE_VECTOR, VECTOR, fingerprint_of
from core.errors import CollectionMismatch, StoreError
from tests.core.adapters.conftest import ports_on
from tests.core.adapters.store_material import (
    StorePorts,
    a_fingerprint,
    ask,
    contents,
    texts,
    vector_of,
)

pytestmark = pytest.mark.milvus

ROOT = Path(__file__).resolve().parents[4]

WRITE_AND_HANG = """
import sys, time
from core.adapters.milvus.connection import MilvusConnection
from tests.core.adapters.conftest import ports_on
from tests.core.adapters.store_material import a_fingerprint, texts, vectors_of
store = ports_on(MilvusConnection(sys.argv[1], "", 10), "kb")
store.filled("1", texts("one", "two", doc_id="d/flushed"))
late = texts("three", doc_id="d/late")
store.writer.upsert("kb_1", late, vectors_of(late))
print("written", flush=True)
time.sleep(600)
"""


def test_a_process_killed_while_writing_loses_no_flushed_row(own_connection: MilvusConnection) -> None:
    """mil-21: kill -9, reopen, compare the counts by document."""
    command = [sys.executable, "-c", WRITE_AND_HANG, own_connection.uri]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "written\n"
        child.send_signal(signal.SIGKILL)
        child.wait()
    store = ports_on(own_connection, "kb")
    assert store.builds.chunk_counts("kb_1")["d/flushed"] == 2
    assert store.builds.live() == "kb_1"
    assert "one" in contents(store.searcher().search_hybrid(ask("one"), vector_of("one")))


def test_builds_of_a_longer_name_are_not_ours(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    """mil-10: `kb` and `kb_x` side by side; neither lists nor drops the other's builds."""
    longer = ports_on(file_connection, file_store.name("x"))
    longer.filled("1", texts("theirs"))
    file_store.filled("1", texts("ours"))
    assert [build.name for build in file_store.builds.builds()] == [file_store.name("1")]
    assert [build.name for build in longer.builds.builds()] == [longer.name("1")]
    with pytest.raises(StoreError, match="no build"):
        file_store.builds.drop(longer.name("1"))
    assert contents(longer.searcher().search_dense(ask("q"), vector_of("q"))) == ["theirs"]
    file_connection.call(lambda client: client.drop_alias(longer.collection), "cleaning up")


def test_a_build_that_another_alias_points_to_is_not_dropped(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    """mil-09: on Milvus Lite the drop would succeed."""
    file_store.builds.create(file_store.name("1"), a_fingerprint(), expected_rows=1)
    other = f"other_{file_store.collection}"
    file_connection.call(lambda client: client.create_alias(file_store.name("1"), other), "naming")
    with pytest.raises(StoreError, match=f"live as {other}"):
        file_store.builds.drop(file_store.name("1"))
    file_connection.call(lambda client: client.drop_alias(other), "cleaning up")
    file_store.builds.drop(file_store.name("1"))
    assert file_store.builds.builds() == ()


def test_a_build_that_does_not_answer_through_the_alias_is_not_left_live(
    file_store: StorePorts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mil-09: a query through the alias decides, and the former build comes back."""
    file_store.filled("1", texts("old"))
    file_store.builds.create(file_store.name("2"), a_fingerprint(), expected_rows=1)
    real = lifecycle.count_rows

    def miscounting(connection, name, expression=""):
        return 7 if name == file_store.collection else real(connection, name, expression)

    monkeypatch.setattr(lifecycle, "count_rows", miscounting)
    with pytest.raises(StoreError, match=r"with 7 chunks .* with 0\."):
        file_store.builds.publish(file_store.name("2"))
    assert file_store.builds.live() == file_store.name("1")
    assert contents(file_store.searcher().search_dense(ask("q"), vector_of("q"))) == ["old"]


def test_pages_that_do_not_add_up_are_an_error(
    file_store: StorePorts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mil-08: fewer rows than count(*) is reported, not believed."""
    file_store.filled("1", texts("a", "b"))
    monkeypatch.setattr(lifecycle, "count_rows", lambda *_: 3)
    with pytest.raises(StoreError, match="gave 2 rows; the store counts 3"):
        file_store.builds.chunk_counts(file_store.name("1"))


def test_a_page_larger_than_a_server_allows_is_refused(file_store: StorePorts) -> None:
    file_store.filled("1", texts("a"))
    for batch in (0, 16_385):
        with pytest.raises(StoreError, match=f"batch is {batch}"):
            list(file_store.builds.rows(file_store.name("1"), batch=batch))


def test_two_and_a_half_thousand_rows_are_paged_whole(file_store: StorePorts) -> None:
    """mil-08."""
    chunks = [c for n in range(25) for c in texts(*(f"t{i}" for i in range(100)), doc_id=f"d/{n}")]
    searcher = file_store.filled("1", chunks)
    file_store.writer.delete_document(file_store.name("1"), "d/3")
    keys = [key for key, _ in file_store.builds.rows(file_store.name("1"), batch=100)]
    assert len(keys) == len(set(keys)) == searcher.count() == 2400


def test_a_collection_of_another_layout_is_refused_and_not_touched(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    """mil-37: schema drift is named; nothing is dropped by itself."""
    name = file_store.name("foreign")

    def make(client: MilvusClient) -> None:
        schema = MilvusClient.create_schema(auto_id=False)
        schema.add_field("pk", DataType.INT64, is_primary=True)
        schema.add_field("embedding", DataType.FLOAT_VECTOR, dim=4)
        client.create_collection(name, schema=schema)

    file_connection.call(make, "making a foreign collection")
    with pytest.raises(CollectionMismatch, match="was not made by RankLens and lacks id, doc_id"):
        file_store.searcher(build=name).search_dense(ask("q"), vector_of("q"))
    assert file_store.builds.builds() == ()
    with pytest.raises(StoreError, match="no build"):
        file_store.builds.drop(name)
    assert file_connection.call(lambda client: client.has_collection(name), "asking")


def test_the_schema_is_the_one_of_the_design(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    file_store.builds.create(file_store.name("1"), a_fingerprint(), expected_rows=1)
    described = file_connection.call(
        lambda client: client.describe_collection(file_store.name("1")), "reading"
    )
    fields = {field["name"]: field for field in described["fields"]}
    assert set(fields) == set(ALL_FIELDS)
    limits = {name: field["params"]["max_length"] for name, field in fields.items()
              if field["type"] == DataType.VARCHAR}  # fmt: skip
    assert limits == {
        "id": 64, "doc_id": 255, "content": 65535, "search_text": 65535, "title": 1024, "breadcrumb": 4096,
        "source": 1024, "category": 255, "kb_scope": 255, "content_hash": 64,
    }  # fmt: skip
    assert {name for name, field in fields.items() if field.get("nullable")} == {
        "title", "breadcrumb", "source",
    }  # fmt: skip
    assert not {VECTOR, SPARSE_VECTOR} & set(OUTPUT_FIELDS)


def test_bm25_constants_and_lists_reach_milvus_lite(file_connection: MilvusConnection, ports_of) -> None:
    """pymilvus spreads index parameters in a way that Milvus Lite passes over."""
    store = ports_of(file_connection, "IVF_FLAT")
    store.builds.create(store.name("1"), a_fingerprint(), expected_rows=10_000)
    read = {
        field: file_connection.call(
            lambda client, field=field: client.describe_index(store.name("1"), field), "reading"
        )["params"]
        for field in (VECTOR, SPARSE_VECTOR)
    }
    assert read == {VECTOR: {"nlist": 400}, SPARSE_VECTOR: {"bm25_k1": 1.2, "bm25_b": 0.75}}


def test_a_fingerprint_that_cannot_be_read_is_named() -> None:
    assert fingerprint_of("x", {}) is None
    for text in ("no json", "[]", '{"schema": 1}', '{"unknown": 1}'):
        with pytest.raises(StoreError, match="fingerprint of collection x cannot be read"):
            fingerprint_of("x", {"ranklens.fingerprint": text})


@pytest.mark.parametrize("metric", ["cosine", "HAMMING", ""])
def test_an_unknown_metric_is_refused(file_store: StorePorts, metric: str) -> None:
    with pytest.raises(StoreError, match=r"milvus\.metric is"):
        file_store.builds.create(file_store.name("1"), a_fingerprint(metric=metric), expected_rows=1)
