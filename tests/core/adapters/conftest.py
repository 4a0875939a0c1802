"""The Milvus back ends of the adapter tests: one of each for the whole session.

`file`: Milvus Lite in this process. `lite-server`: `milvus-lite server` in its own process, over
TCP. `server`: whatever RANKLENS_TEST_MILVUS_URI names; skipped when it is not set.
"""

import itertools
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.lifecycle import MilvusBuilds
from core.adapters.milvus.searcher import MilvusSearcher
from core.adapters.milvus.writer import MilvusWriter
from tests.core.adapters.store_material import StorePorts

SERVER_VARIABLE = "RANKLENS_TEST_MILVUS_URI"
BACK_ENDS = ("file", "lite-server", "server")

_numbers = itertools.count(1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class LiteServer:
    """A `milvus-lite server` on a free port; `start` returns when the port accepts connections."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self.uri = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [str(Path(sys.executable).with_name("milvus-lite")), "server", "--data-dir",
                   str(self.data_dir), "--host", "127.0.0.1", "--port", str(self.port)]  # fmt: skip
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not self._accepts():
            assert self.process.poll() is None, "milvus-lite server ended"
            assert time.monotonic() < deadline, "milvus-lite server did not open its port"

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()

    def _accepts(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=0.2):
                return True
        except OSError:
            return False


@pytest.fixture(scope="session")
def lite_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiteServer]:
    server = LiteServer(tmp_path_factory.mktemp("lite-server") / "data.db")
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def file_connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusConnection]:
    connection = MilvusConnection(str(tmp_path_factory.mktemp("lite") / "milvus.db"), "", 20)
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def connections(request: pytest.FixtureRequest) -> Iterator[Callable[[str], MilvusConnection]]:
    """Return the connection of a back end, opened when first asked for."""
    opened: dict[str, MilvusConnection] = {}

    def connection_to(back_end: str) -> MilvusConnection:
        if back_end == "file":
            return request.getfixturevalue("file_connection")  # type: ignore[no-any-return] # pytest's
        if back_end not in opened:
            uri = os.environ.get(SERVER_VARIABLE, "")
            if back_end == "lite-server":
                uri = request.getfixturevalue("lite_server").uri
            if not uri:
                pytest.skip(f"skipped: {SERVER_VARIABLE} is not set")
            opened[back_end] = MilvusConnection(uri, "", 20)
        return opened[back_end]

    yield connection_to
    for connection in opened.values():
        connection.close()


def ports_on(connection: MilvusConnection, name: str, index: str = "auto") -> StorePorts:
    return StorePorts(
        name,
        MilvusBuilds(connection, name, index),
        MilvusWriter(connection),
        lambda expected=None, build=None: MilvusSearcher(connection, name, expected, build),
    )


@pytest.fixture
def own_connection(tmp_path: Path) -> Iterator[MilvusConnection]:
    """A store for one test alone."""
    connection = MilvusConnection(str(tmp_path / "milvus.db"), "", 10)
    yield connection
    connection.close()


@pytest.fixture
def ports_of() -> Iterator[Callable[[MilvusConnection], StorePorts]]:
    """Return ports under a fresh collection name; everything made under it is removed afterwards."""
    made: list[tuple[MilvusConnection, str]] = []

    def ports(connection: MilvusConnection, index: str = "auto") -> StorePorts:
        name = f"t{os.getpid()}_{next(_numbers)}"
        made.append((connection, name))
        return ports_on(connection, name, index)

    yield ports
    for connection, name in made:
        connection.call(lambda client, name=name: remove(client, name), "cleaning up after a test")


def remove(client, name: str) -> None:
    names = client.list_collections()
    if name not in names and client.has_collection(name):
        client.drop_alias(name)
    for found in names:
        if found == name or found.startswith(f"{name}_"):
            client.drop_collection(found)


@pytest.fixture
def file_store(file_connection: MilvusConnection, ports_of: Callable[..., StorePorts]) -> StorePorts:
    return ports_of(file_connection)
