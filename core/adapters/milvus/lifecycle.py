"""The life of builds: create, publish behind the alias, look into, drop.

In: physical names. Out: descriptions, and an alias that points to one of them. Invariant: the alias
moves only to a build that answers through it; only a physical name that no alias points to is ever
dropped, because Milvus Lite takes the name of an alias for the collection behind it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.adapters.checks import check_build_name
from core.adapters.indexes import choose_index, search_parameters
from core.adapters.milvus import schema
from core.adapters.milvus.connection import LONG_SECONDS, MilvusConnection
from core.adapters.milvus.errors import translated
from core.adapters.milvus.local_file import segment_count
from core.adapters.milvus.probing import create_collection, drop_collection, probe_analyzer, probe_name
from core.adapters.milvus.stored import (
    StoredCollection,
    count_rows,
    describe_build,
    live_name,
    read_stored,
)
from core.errors import CollectionMismatch, CollectionMissing, StoreError
from core.model.builds import BuildDescription, Fingerprint
from core.ports import Vector

if TYPE_CHECKING:
    from pymilvus import MilvusClient

MAX_PAGE_ROWS = 16_384


class MilvusBuilds:
    """`BuildPort` over Milvus; metric, dimension and analyzer of a build come from its fingerprint."""

    def __init__(self, connection: MilvusConnection, collection: str, index: str = "auto") -> None:
        self._connection = connection
        self._collection = collection
        self._index = index
        self._probed: set[str] = set()

    def create(self, name: str, fingerprint: Fingerprint, *, expected_rows: int) -> None:
        """See `BuildPort`; tries the analyzer first, once."""
        check_build_name(self._collection, name)
        index = choose_index(self._index, expected_rows)
        names = self._names()
        self._check_alias_is_free(names)
        if name in names:
            raise StoreError(f"There is a build {name} already. Choose another name.")
        with self._connection.writing:
            if fingerprint.analyzer not in self._probed:
                if probe_name(self._collection) in names:
                    drop_collection(self._connection, probe_name(self._collection))
                probe_analyzer(self._connection, self._collection, fingerprint.analyzer)
                self._probed.add(fingerprint.analyzer)
            create_collection(self._connection, name, fingerprint, index, owner=self._collection)

    def builds(self) -> tuple[BuildDescription, ...]:
        """See `BuildPort`; a legacy collection that bears the configured name is among them."""
        live = self.live()
        own = self._own(self._names())
        return tuple(describe_build(self._connection, stored, live=stored.name == live) for stored in own)

    def live(self) -> str | None:
        """See `BuildPort`; a legacy collection that bears the configured name is live itself."""
        return live_name(self._connection, self._collection)

    def publish(self, name: str) -> None:
        """See `BuildPort`; goes back to the former build when the new one does not answer."""
        names = self._names()
        self._check_alias_is_free(names)
        if name not in names:
            raise CollectionMissing(f"There is no build {name}. Choose one of the list, or rebuild.")
        former = self.live()
        expected = count_rows(self._connection, name)
        self._point_at(name, former)
        answered = self.live()
        found = count_rows(self._connection, self._collection)
        if (answered, found) != (name, expected):
            if former is not None:
                self._point_at(former, name)
            raise StoreError(
                f"{self._collection} points to {answered} with {found} chunks after it was moved to {name} "
                f"with {expected}. It points to {former or name} now. Publish again."
            )

    def drop(self, name: str) -> None:
        """See `BuildPort`."""
        if name not in [stored.name for stored in self._own(self._names())]:
            raise StoreError(f"{name!r} is no build of {self._collection}; nothing was removed.")
        found: Any = self._connection.call(
            lambda client: client.list_aliases(name, timeout=self._connection.timeout_seconds),
            f"reading the aliases of {name}",
        )
        aliases = [str(alias) for alias in found["aliases"]]
        if aliases or name == self.live():
            raise StoreError(
                f"Build {name} is live as {', '.join(aliases) or name} and cannot be removed. "
                "Publish another build first."
            )
        with self._connection.writing:
            drop_collection(self._connection, name)

    def warm_up(self, name: str) -> None:
        """See `BuildPort`; the first BM25 query builds that index on Milvus Lite."""
        stored = read_stored(self._connection, name)
        vector = np.zeros(stored.dimension or 1, dtype=np.float32)
        vector[0] = 1.0
        tuning = search_parameters(stored.index_type, stored.lists, 1, filtered=False)

        def warm(client: "MilvusClient") -> None:
            client.load_collection(name, timeout=LONG_SECONDS)
            routes: list[tuple[str, object, str, Mapping[str, int]]] = [
                (schema.VECTOR, vector.tolist(), stored.metric, tuning)
            ]
            if not stored.missing_for_hybrid:
                routes.append((schema.SPARSE_VECTOR, "a", "BM25", {}))
            for field, query, metric, parameters in routes:
                client.search(
                    name,
                    data=[query],
                    anns_field=field,
                    search_params={"metric_type": metric, "params": dict(parameters)},
                    limit=1,
                    timeout=LONG_SECONDS,
                )

        self._connection.call(warm, f"warming up {name}")

    def chunk_counts(self, name: str) -> Mapping[str, int]:
        """See `BuildPort`.

        Raises:
            CollectionMismatch: a legacy collection without doc_id.
            StoreError: the pages hold another number of rows than the store counts.
        """
        if schema.DOC_ID not in read_stored(self._connection, name).fields:
            raise CollectionMismatch(
                f"Collection {name} has no doc_id to count by. Rebuild the collection."
            )
        counts = Counter(
            str(row[schema.DOC_ID]) for row in self._pages(name, [schema.DOC_ID], MAX_PAGE_ROWS)
        )
        expected = count_rows(self._connection, name)
        if counts.total() != expected:
            raise StoreError(
                f"Paging through {name} gave {counts.total()} rows; the store counts {expected}. "
                "Try again when nothing is being written; if it stays so, rebuild."
            )
        return counts

    def rows(self, name: str, *, batch: int = 1000) -> Iterator[tuple[str, Vector]]:
        """See `BuildPort`; `batch` lies between 1 and 16,384."""
        if not 1 <= batch <= MAX_PAGE_ROWS:
            raise StoreError(f"batch is {batch}; it must lie between 1 and {MAX_PAGE_ROWS:,}.")
        for row in self._pages(name, [schema.ID, schema.VECTOR], batch):
            yield str(row[schema.ID]), np.asarray(row[schema.VECTOR], dtype=np.float32)

    def fragmented(self, name: str) -> bool:
        """See `BuildPort`; a server keeps one statistic for all, so this concerns Milvus Lite only.

        Read from the folder of a local store; behind `milvus-lite server`, from the flushes that the
        writer noted.
        """
        if not self._connection.is_lite():
            return False
        path = self._connection.path
        segments = segment_count(path, name) if path is not None else None
        return (read_stored(self._connection, name).flushes if segments is None else segments) > 1

    def _pages(self, name: str, fields: list[str], batch: int) -> Iterator[Mapping[str, Any]]:
        def opened(client: "MilvusClient") -> Any:  # noqa: ANN401 - pymilvus exports no type for it
            return client.query_iterator(
                name, batch_size=batch, filter="", output_fields=fields, timeout=LONG_SECONDS
            )

        iterator = self._connection.call(opened, f"paging through {name}", collection=name)
        try:
            while True:
                with translated(f"paging through {name}", self._connection.place):
                    page = iterator.next()
                if not page:
                    return
                yield from page
        finally:
            iterator.close()

    def _names(self) -> tuple[str, ...]:
        timeout = self._connection.timeout_seconds
        found: Any = self._connection.call(
            lambda client: client.list_collections(timeout=timeout), "listing collections"
        )
        return tuple(sorted(found))

    def _own(self, names: Sequence[str]) -> tuple[StoredCollection, ...]:
        """Keep what was made for the configured name, and the legacy collection that bears it.

        The owner is noted in the build, because builds of `biz_hybrid` also start with `biz_`.
        """
        near = (name for name in names if name.startswith(self._collection))
        read = (read_stored(self._connection, name) for name in near)
        return tuple(s for s in read if self._collection in (s.name, s.owner))

    def _check_alias_is_free(self, names: Sequence[str]) -> None:
        if self._collection in names:
            raise CollectionMismatch(
                f"{self._collection} is the name of a collection at {self._connection.place}, so it cannot "
                "become an alias for builds. Set milvus.collection to another name, or rename the "
                "old collection."
            )

    def _point_at(self, name: str, former: str | None) -> None:
        def move(client: "MilvusClient") -> None:
            timeout = self._connection.timeout_seconds
            client.load_collection(name, timeout=LONG_SECONDS)
            if former is None:
                client.create_alias(name, self._collection, timeout=timeout)
            elif former != name:
                client.alter_alias(name, self._collection, timeout=timeout)

        self._connection.call(move, f"publishing {name}")
        self._connection.moves += 1
