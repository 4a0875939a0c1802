import socket
import threading
from pathlib import Path

import pytest

from core.adapters.milvus.connection import MilvusConnection
from core.errors import StoreError, StoreUnavailable
from tests.core.adapters.conftest import LiteServer, free_port, ports_on
from tests.core.adapters.store_material import (
    StorePorts,
    a_fingerprint,
    ask,
    contents,
    texts,
    vector_of,
    vectors_of,
)

pytestmark = pytest.mark.milvus


def test_nothing_is_opened_before_the_first_call(tmp_path: Path) -> None:
    connection = MilvusConnection(str(tmp_path / "new" / "milvus.db"), "", 5)
    assert connection.is_local
    connection.close()
    assert list(tmp_path.iterdir()) == []


def test_a_closed_port_is_named_at_once_without_secrets() -> None:
    """mil-24: refused; the sentence has the address and what to check, no fallback to a local store."""
    port = free_port()
    connection = MilvusConnection(f"http://root:pw@127.0.0.1:{port}", "tok3n", 2)
    with pytest.raises(StoreUnavailable) as raised:
        connection.call(lambda client: client.list_collections(), "listing collections")
    assert f"Milvus at http://***@127.0.0.1:{port} failed while opening it" in str(raised.value)
    assert "milvus.uri" in str(raised.value)
    assert "pw@" not in str(raised.value)
    assert "tok3n" not in str(raised.value)


def test_a_silent_address_ends_with_the_timeout() -> None:
    """mil-24: a socket that listens and never answers."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(1)
        connection = MilvusConnection(f"http://127.0.0.1:{silent.getsockname()[1]}", "", 1)
        with pytest.raises(StoreUnavailable, match="opening it"):
            connection.call(lambda client: client.list_collections(), "listing")


def test_a_released_collection_is_loaded_and_the_search_runs(
    file_connection: MilvusConnection, file_store: StorePorts
) -> None:
    """mil-20: code 101 is never seen."""
    searcher = file_store.filled("1", texts("alpha"))
    vector = vector_of("alpha")
    assert contents(searcher.search_hybrid(ask("alpha"), vector)) == ["alpha"]
    name = file_store.name("1")
    for search in (
        lambda: searcher.search_dense(ask("alpha"), vector),
        lambda: searcher.search_sparse(ask("alpha")),
        lambda: searcher.search_hybrid(ask("alpha"), vector),
    ):
        file_connection.call(lambda client: client.release_collection(name), "releasing")
        assert contents(search()) == ["alpha"]
    file_connection.call(lambda client: client.release_collection(name), "releasing")
    assert file_store.builds.chunk_counts(name) == {"default/a.md": 1}


def test_a_reopened_store_answers_with_its_fingerprint(own_connection: MilvusConnection) -> None:
    """mil-20: after a restart nothing is loaded; the fingerprint is still there."""
    store = ports_on(own_connection, "kb")
    store.filled("1", texts("alpha"))
    before = store.builds.builds()
    own_connection.close()
    reopened = ports_on(own_connection, "kb")
    assert reopened.builds.builds() == before
    assert reopened.builds.live() == "kb_1"
    assert contents(reopened.searcher(expected=a_fingerprint()).search_sparse(ask("alpha"))) == ["alpha"]


def test_threads_share_one_client(file_store: StorePorts) -> None:
    """mil-23: 8 threads writing and searching, no error, every row there."""
    file_store.filled("1", texts("seed"))
    name, errors = file_store.name("1"), []

    def work(number: int) -> None:
        try:
            for step in range(4):
                chunks = texts(f"thread {number} step {step}", doc_id=f"d/{number}-{step}")
                file_store.writer.upsert(name, chunks, vectors_of(chunks))
                file_store.searcher().search_hybrid(ask("thread"), vector_of("seed"))
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert file_store.searcher().count() == 33


def test_a_client_closed_elsewhere_is_opened_again(own_connection: MilvusConnection) -> None:
    """mil-23: close() in one place does not kill the others."""
    searcher = ports_on(own_connection, "kb").filled("1", texts("alpha"))
    own_connection.call(lambda client: client.close(), "closing behind its back")
    assert contents(searcher.search_dense(ask("alpha"), vector_of("alpha"))) == ["alpha"]


def test_a_restarted_server_is_found_again(tmp_path: Path) -> None:
    """mil-23: the dropped channel is opened anew; while the server is away the sentence says so."""
    server = LiteServer(tmp_path / "data.db")
    server.start()
    connection = MilvusConnection(server.uri, "", 3)
    try:
        searcher = ports_on(connection, "kb").filled("1", texts("alpha"))
        server.stop()
        with pytest.raises(StoreUnavailable, match="Check that the server runs"):
            searcher.search_dense(ask("alpha"), vector_of("alpha"))
        server.start()
        assert contents(searcher.search_dense(ask("alpha"), vector_of("alpha"))) == ["alpha"]
        assert not connection.is_local
        assert connection.is_lite()
    finally:
        connection.close()
        server.stop()
