"""The one client of a store, opened when it is first used.

In: an address, a token and a timeout. Out: `call`, which runs one operation with our errors.
Invariant: one client per connection; a lost one is opened anew once, a released collection is loaded
once, and then the error stands. It never falls back to another store.
"""

import logging
import os
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from core.adapters.analyzer import quieten_tokenizer
from core.adapters.milvus.errors import (
    NOT_LOADED,
    code_of,
    foreign_errors,
    is_lost,
    is_own_fault,
    masked,
    translate,
)
from core.adapters.milvus.local_file import (
    lock_holder,
    lock_is_held,
    locked_sentence,
    prepare,
    real_path,
)
from core.errors import StoreLocked

if TYPE_CHECKING:
    from pymilvus import MilvusClient

T = TypeVar("T")

LONG_SECONDS = 600.0
"""For loading, flushing and the first BM25 query of a large build."""

MEMTABLE_BYTES = 1 << 30
"""Rows that Milvus Lite gathers before it cuts a segment by itself."""

_LOCAL_CHANNEL = {"grpc.keepalive_time_ms": 2**31 - 1}
"""Never pings a server in this process: Milvus Lite takes three pings in a row for an attack, drops the
channel in the middle of a long call, and gRPC says so on standard error."""

_SCHEMES = ("http", "https", "tcp", "unix")
_open_files: Counter[str] = Counter()
_open_files_lock = threading.Lock()


class MilvusConnection:
    """A store at an address; safe to share between threads.

    Attributes:
        uri: a path that ends in `.db`, or `http(s)://host:port`.
        timeout_seconds: for each call that is not known to be long.
        writing: held by whoever writes; one writer at a time.
        moves: how often this connection moved an alias; readers ask for the alias again after each.
    """

    def __init__(self, uri: str, token: str, timeout_seconds: float) -> None:
        self.uri = uri
        self.timeout_seconds = timeout_seconds
        self.writing = threading.RLock()
        self.moves = 0
        self._token = token
        self._opening = threading.RLock()
        self._client: MilvusClient | None = None
        self._file: str | None = None
        self._version: str | None = None

    @property
    def place(self) -> str:
        """Address or path for people, without secrets."""
        return masked(self.uri)

    @property
    def is_local(self) -> bool:
        """Milvus Lite in this process."""
        return self.uri.partition("://")[0].partition(":")[0].lower() not in _SCHEMES

    @property
    def path(self) -> str | None:
        """The real path of a local store; None for a server."""
        return real_path(self.uri) if self.is_local else None

    def server_version(self) -> str:
        """Return what the server says of itself; it is asked once.

        Raises:
            StoreError: the server does not answer.
        """
        if self._version is None:
            self._version = str(
                self.call(lambda client: client.get_server_version(), "asking for the version")
            )
        return self._version

    def is_lite(self) -> bool:
        """Tell whether Milvus Lite answers, in this process or as a server."""
        return "lite" in self.server_version()

    def call(self, operation: Callable[["MilvusClient"], T], doing: str, *, collection: str = "") -> T:
        """Run one operation.

        Args:
            operation: gets the client; must be safe to run twice.
            doing: for the sentence of an error: `searching biz_hybrid_1`.
            collection: loaded, and the operation run once more, when the store says it is not.

        Raises:
            StoreError: or the subclass that fits; see `errors`.
        """
        client = self._opened()
        try:
            return operation(client)
        except foreign_errors() as error:
            if is_own_fault(error):
                raise
            first = error
        if is_lost(first):
            client = self._reopened(client)
        elif code_of(first) != NOT_LOADED or not collection:
            raise translate(first, doing, self.place, self._token) from first
        try:
            if collection:
                client.load_collection(collection, timeout=LONG_SECONDS)
            return operation(client)
        except foreign_errors() as error:
            raise translate(error, doing, self.place, self._token) from error

    def close(self) -> None:
        """Close the client; the last one of a local store frees its lock. A later call opens again."""
        with self._opening:
            client, file = self._client, self._file
            self._client = self._file = None
        if client is not None:
            with suppress(*foreign_errors()):
                client.close()
        if file is not None:
            _release(file)

    def _opened(self) -> "MilvusClient":
        with self._opening:
            if self._client is None:
                self._client = self._open()
            return self._client

    def _reopened(self, lost: "MilvusClient") -> "MilvusClient":
        with self._opening:
            if self._client is lost:
                self.close()
            return self._opened()

    def _open(self) -> "MilvusClient":
        path = self.path
        if path is not None:
            prepare(path)
            quieten_tokenizer()
            os.environ.setdefault("MILVUS_LITE_MEMTABLE_MEMORY_LIMIT_BYTES", str(MEMTABLE_BYTES))
        from pymilvus import MilvusClient  # loads grpc and pandas, which only a first call needs

        _quieten()
        try:
            client = MilvusClient(
                path or self.uri,
                token=self._token,
                timeout=self.timeout_seconds,
                dedicated=True,
                grpc_options=_LOCAL_CHANNEL if path is not None else {},
            )
        except foreign_errors() as error:
            if path is not None and lock_is_held(path):
                raise StoreLocked(locked_sentence(path, lock_holder(path))) from error
            raise translate(error, "opening it", self.place, self._token) from error
        if path is not None:
            with _open_files_lock:
                _open_files[path] += 1
            self._file = path
        return client


def _release(file: str) -> None:
    """Stop the in-process server of a local store after its last connection."""
    from milvus_lite.server_manager import (  # type: ignore[import-untyped] # no stubs; loaded by now
        server_manager_instance,
    )

    with _open_files_lock:
        _open_files[file] -= 1
        last = _open_files[file] <= 0
    if last:
        server_manager_instance.release_server(file)


def _quieten() -> None:
    """Silence the tracebacks that pymilvus and Lite log for each error, which become one sentence here."""
    for name in ("pymilvus", "milvus_lite.server_manager", "milvus_lite.adapter.grpc.servicer"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
