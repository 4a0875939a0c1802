"""Writes whole documents into one build.

In: chunks and their vectors. Out: rows in a build. Invariants: every row is checked before the first
is sent; a document is there whole or not at all; one writer at a time.

Why delete and then upsert: a new version of a document may have fewer chunks, and the rest of the
old one would stay. Why the writer remembers a build that was empty: counting unflushed rows before
each document would make a rebuild slow.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from core.adapters.checks import check_rows, scalars
from core.adapters.milvus import schema
from core.adapters.milvus.connection import LONG_SECONDS, MilvusConnection
from core.adapters.milvus.errors import foreign_errors, is_too_large
from core.adapters.milvus.expressions import any_of, equals
from core.adapters.milvus.stored import StoredCollection, count_rows, read_stored
from core.errors import CollectionMismatch, StoreError
from core.model.documents import Chunk
from core.ports import Vector, Vectors

if TYPE_CHECKING:
    from pymilvus import MilvusClient

MAX_BATCH_ROWS = 500
MAX_BATCH_BYTES = 16 * 1024 * 1024
DOCUMENTS_PER_FILTER = 100

Row = dict[str, Any]


class MilvusWriter:
    """`KnowledgeWritePort` over Milvus; whoever writes through one connection waits in line."""

    def __init__(self, connection: MilvusConnection) -> None:
        self._connection = connection
        self._stored: dict[str, StoredCollection] = {}
        self._written_since_empty: dict[str, set[str]] = {}
        self._unflushed: set[str] = set()

    def upsert(self, build: str, chunks: Sequence[Chunk], vectors: Vectors) -> int:
        """See `KnowledgeWritePort`; of two chunks with one key the last counts."""
        with self._connection.writing:
            stored = self._target(build)
            check_rows(chunks, vectors, stored.dimension or 0)
            rows = {chunk.id: _row(chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)}
            documents = tuple(dict.fromkeys(chunk.doc_id for chunk in chunks))
            self._remove_old(build, documents)
            try:
                for batch in batches(tuple(rows.values())):
                    self._send(build, batch)
            except StoreError:
                with suppress(StoreError):
                    self._delete(build, documents)
                raise
            self._unflushed.add(build)
            return len(rows)

    def delete_document(self, build: str, doc_id: str) -> int:
        """See `KnowledgeWritePort`; what the store says it deleted is not believed but counted."""
        with self._connection.writing:
            self._target(build)
            return self._delete(build, (doc_id,))

    def flush(self, build: str) -> None:
        """See `KnowledgeWritePort`; notes on Milvus Lite that one more segment was cut."""
        with self._connection.writing:
            self._connection.call(
                lambda client: client.flush(build, timeout=LONG_SECONDS), f"flushing {build}"
            )
            self._written_since_empty.pop(build, None)
            if build in self._unflushed and self._connection.is_lite():
                count = read_stored(self._connection, build).flushes + 1
                properties = {schema.FLUSHES_PROPERTY: str(count)}
                self._connection.call(
                    lambda client: client.alter_collection_properties(build, properties),
                    f"noting a flush of {build}",
                )
            self._unflushed.discard(build)

    def _target(self, build: str) -> StoredCollection:
        if build not in self._stored:
            stored = read_stored(self._connection, build)
            if stored.missing_fields:
                raise CollectionMismatch(
                    f"Collection {build} cannot be written to: it lacks "
                    f"{', '.join(stored.missing_fields)}. Rebuild the collection."
                )
            self._stored[build] = stored
        return self._stored[build]

    def _remove_old(self, build: str, documents: Sequence[str]) -> None:
        """Delete earlier versions; a build that was empty holds only what this writer put there."""
        if build not in self._written_since_empty and count_rows(self._connection, build) == 0:
            self._written_since_empty[build] = set()
        known = self._written_since_empty.get(build)
        if known is not None:
            again = [doc_id for doc_id in documents if doc_id in known]
            known.update(documents)
            documents = again
        for start in range(0, len(documents), DOCUMENTS_PER_FILTER):
            self._delete(build, documents[start : start + DOCUMENTS_PER_FILTER])

    def _delete(self, build: str, documents: Sequence[str]) -> int:
        one = len(documents) == 1
        expression = equals(schema.DOC_ID, documents[0]) if one else any_of(schema.DOC_ID, documents)
        before = count_rows(self._connection, build, expression)
        if before == 0:
            return 0
        self._connection.call(
            lambda client: client.delete(
                build, filter=expression, timeout=self._connection.timeout_seconds
            ),
            f"deleting from {build}",
            collection=build,
        )
        left = count_rows(self._connection, build, expression)
        if left:
            raise StoreError(
                f"{left} of {before} chunks of {', '.join(documents[:3])} are still in {build} after "
                "deleting them. Delete the document again."
            )
        return before

    def _send(self, build: str, rows: Sequence[Row]) -> None:
        """Send a batch; one that is too large for the server goes in halves."""

        def send(client: "MilvusClient") -> bool:
            try:
                client.upsert(build, list(rows), timeout=LONG_SECONDS)
            except foreign_errors() as error:
                if len(rows) == 1 or not is_too_large(error):
                    raise
                return False
            return True

        if not self._connection.call(send, f"writing {len(rows)} rows into {build}", collection=build):
            middle = len(rows) // 2
            self._send(build, rows[:middle])
            self._send(build, rows[middle:])


def batches(rows: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
    """Cut rows into batches of at most 500 rows and 16 MiB; a row alone may be larger than that."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        bytes_ = _bytes_of(row)
        if batch and (len(batch) == MAX_BATCH_ROWS or size + bytes_ > MAX_BATCH_BYTES):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(row)
        size += bytes_
    if batch:
        yield tuple(batch)


def _row(chunk: Chunk, vector: Vector) -> Row:
    return {**scalars(chunk), schema.VECTOR: vector, schema.METADATA: dict(chunk.metadata)}


def _bytes_of(row: Row) -> int:
    """Estimate what a row takes in a message."""
    texts = sum(len(value.encode("utf-8")) for value in row.values() if isinstance(value, str))
    return texts + int(row[schema.VECTOR].nbytes) + len(json.dumps(row[schema.METADATA])) + 64
