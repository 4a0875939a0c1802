"""Whether a store cuts text as BM25 needs it, tried before a build is made.

In: an analyzer. Out: nothing, or an error. Invariant: an analyzer that the store does not know, or
knows under the same name but applies otherwise, never gets into a build unnoticed. The trial uses a
small collection of its own and removes it.
"""

from typing import TYPE_CHECKING

import numpy as np

from core.adapters.indexes import DenseIndex
from core.adapters.milvus import schema
from core.adapters.milvus.connection import LONG_SECONDS, MilvusConnection
from core.adapters.milvus.writer import MilvusWriter
from core.errors import StoreError
from core.model.builds import Fingerprint
from core.model.documents import DEFAULT_KB_SCOPE, UNCATEGORIZED, Chunk

if TYPE_CHECKING:
    from pymilvus import MilvusClient

TEXTS = ("数据库连接池耗尽", "mysql timeout", "redis cache miss")
EXPECTED = (("数据库", 0), ("mysql", 1), ("MySQL", 1))
"""Queries, and the index of the one text each must find."""


def probe_name(collection: str) -> str:
    """Return the name of the collection that a trial uses."""
    return f"{collection}_probe"


def probe_analyzer(connection: MilvusConnection, collection: str, analyzer: str) -> None:
    """Try an analyzer.

    Args:
        connection: to the store that is tried.
        collection: the configured name; the trial's collection is named after it.
        analyzer: canonical JSON.

    Raises:
        StoreError: the store refuses the analyzer, or one of the probe queries finds something else.
    """
    name = probe_name(collection)
    fingerprint = Fingerprint(schema.SCHEMA_VERSION, "probe", "", "", "", 2, "COSINE", analyzer, "{}")
    create_collection(connection, name, fingerprint, DenseIndex("FLAT"), owner="")
    try:
        chunks = [
            Chunk("probe", index, text, "", "", "probe", UNCATEGORIZED, DEFAULT_KB_SCOPE, 1)
            for index, text in enumerate(TEXTS)
        ]
        vectors = np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(chunks), 1))
        MilvusWriter(connection).upsert(name, chunks, vectors)
        for query, wanted in EXPECTED:
            found = _found(connection, name, query)
            if found != (wanted,):
                texts = ", ".join(repr(TEXTS[index]) for index in found) or "nothing"
                raise StoreError(
                    f"The analyzer {analyzer} does not work on Milvus at {connection.place}: {query!r} "
                    f"must find {TEXTS[wanted]!r} and found {texts}. Use the default analyzer, or "
                    "another server."
                )
    finally:
        drop_collection(connection, name)


def create_collection(
    connection: MilvusConnection, name: str, fingerprint: Fingerprint, index: DenseIndex, *, owner: str
) -> None:
    """Create and load an empty collection that carries a fingerprint and its owner's name."""

    def create(client: "MilvusClient") -> None:
        client.create_collection(
            name,
            schema=schema.create_schema(fingerprint),
            properties=schema.properties_of(fingerprint, owner),
            consistency_level="Strong",
            timeout=connection.timeout_seconds,
        )
        parameters = schema.create_index_parameters(fingerprint.metric, index)
        # Waiting for the index of an empty collection costs half a second for each field.
        client.create_index(name, parameters, timeout=LONG_SECONDS, sync=False)
        client.load_collection(name, timeout=LONG_SECONDS)

    connection.call(create, f"creating {name} with analyzer {fingerprint.analyzer}")


def drop_collection(connection: MilvusConnection, name: str) -> None:
    """Drop a physical collection; whoever calls has made sure that no alias bears this name."""
    connection.call(lambda client: client.drop_collection(name, timeout=LONG_SECONDS), f"removing {name}")


def _found(connection: MilvusConnection, name: str, query: str) -> tuple[int, ...]:
    def search(client: "MilvusClient") -> tuple[int, ...]:
        rows = client.search(
            name,
            data=[query],
            anns_field=schema.SPARSE_VECTOR,
            search_params={"metric_type": "BM25", "params": {}},
            limit=len(TEXTS),
            output_fields=[schema.CHUNK_INDEX],
            timeout=connection.timeout_seconds,
        )
        return tuple(sorted(int(row["entity"][schema.CHUNK_INDEX]) for row in rows[0]))

    return connection.call(search, f"trying the analyzer in {name}", collection=name)
