"""What a physical collection is: its fields, indexes and fingerprint, read from the store.

In: a connection and a name. Out: frozen values. Invariant: nothing is assumed about a collection
that the store does not say, so foreign and legacy ones are described as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.adapters.milvus import schema
from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.expressions import either, equals
from core.errors import CollectionMismatch
from core.model.builds import BuildDescription, Fingerprint

if TYPE_CHECKING:
    from pymilvus import MilvusClient


MAX_QUERY_ROWS = 16_384
"""The most that a server returns in one query."""


@dataclass(frozen=True, slots=True)
class StoredCollection:
    """A collection as the store describes it.

    Attributes:
        dimension: of the dense vectors; None without a dense field.
        metric: of the dense index; "" without one.
        lists: of an IVF_FLAT index, else 0.
        owner: the configured name that the build was made for; "" for a foreign one.
        flushes: how often rows were flushed into it, as the writer noted; 0 when it did not.
    """

    name: str
    fields: frozenset[str]
    has_bm25: bool
    dimension: int | None
    metric: str
    index_type: str
    lists: int
    fingerprint: Fingerprint | None
    owner: str
    flushes: int

    @property
    def missing_fields(self) -> tuple[str, ...]:
        """Fields of our schema that it lacks, in the order of the schema."""
        return tuple(name for name in schema.ALL_FIELDS if name not in self.fields)

    @property
    def missing_for_hybrid(self) -> tuple[str, ...]:
        """What a BM25 search needs and it lacks; empty when it is ready."""
        missing = tuple(name for name in schema.SPARSE_FIELDS if name not in self.fields)
        return missing if self.has_bm25 else (*missing, "the BM25 function")


def read_stored(connection: MilvusConnection, name: str) -> StoredCollection:
    """Read what a collection is.

    Raises:
        CollectionMissing: there is none of that name.
    """
    return connection.call(
        lambda client: _read(client, name, connection.timeout_seconds), f"reading {name}"
    )


def _read(client: "MilvusClient", name: str, timeout: float) -> StoredCollection:
    described = client.describe_collection(name, timeout=timeout)
    fields = {field["name"]: field for field in described["fields"]}
    properties = dict(described.get("properties") or {})
    functions = described.get("functions") or []
    index = _dense_index(client, name, timeout) if schema.VECTOR in fields else {}
    dimension = fields.get(schema.VECTOR, {}).get("params", {}).get("dim")
    inner = index.get("params")
    lists = (inner if isinstance(inner, dict) else index).get("nlist", 0)
    return StoredCollection(
        name=name,
        fields=frozenset(fields),
        has_bm25=any(schema.SPARSE_VECTOR in function["output_field_names"] for function in functions),
        dimension=int(dimension) if dimension is not None else None,
        metric=str(index.get("metric_type", "")),
        index_type=str(index.get("index_type", "")),
        lists=int(lists),
        fingerprint=schema.fingerprint_of(name, properties),
        owner=str(properties.get(schema.OWNER_PROPERTY, "")),
        flushes=int(properties.get(schema.FLUSHES_PROPERTY, 0)),
    )


def _dense_index(client: "MilvusClient", name: str, timeout: float) -> dict[str, Any]:
    names = client.list_indexes(name, field_name=schema.VECTOR)
    if not names:
        return {}
    return dict(client.describe_index(name, names[0], timeout=timeout) or {})


def live_name(connection: MilvusConnection, collection: str) -> str | None:
    """Return the physical name that answers under a collection's name; None when nothing does.

    A legacy collection that bears the name itself is returned as it is.
    """
    timeout = connection.timeout_seconds

    def ask(client: "MilvusClient") -> str | None:
        if not client.has_collection(collection, timeout=timeout):
            return None
        if collection in client.list_collections(timeout=timeout):
            return collection
        return str(client.describe_alias(collection, timeout=timeout)["collection_name"])

    return connection.call(ask, f"looking up {collection}")


def count_rows(connection: MilvusConnection, name: str, expression: str = "") -> int:
    """Count the rows that pass an expression, everything written included."""

    def ask(client: "MilvusClient") -> int:
        rows = client.query(
            name,
            filter=expression,
            output_fields=["count(*)"],
            consistency_level="Strong",
            timeout=connection.timeout_seconds,
        )
        return int(rows[0]["count(*)"])

    return connection.call(ask, f"counting rows of {name}", collection=name)


def rows_of_document(
    connection: MilvusConnection, stored: StoredCollection, name: str
) -> list[Mapping[str, Any]]:
    """Return the rows whose doc_id or source is the name, in no order, at most 16,384.

    Raises:
        CollectionMismatch: the collection has neither field.
    """
    known = [field for field in (schema.DOC_ID, schema.SOURCE) if field in stored.fields]
    if not known:
        raise CollectionMismatch(
            f"Collection {stored.name} cannot be asked for a document: it lacks "
            f"{schema.DOC_ID} and {schema.SOURCE}. Rebuild the collection."
        )
    expression = either(*(equals(field, name) for field in known))
    fields = [schema.ID, *(field for field in schema.OUTPUT_FIELDS if field in stored.fields)]

    def ask(client: "MilvusClient") -> list[Mapping[str, Any]]:
        return list(
            client.query(
                stored.name,
                filter=expression,
                output_fields=fields,
                limit=MAX_QUERY_ROWS,
                consistency_level="Strong",
                timeout=connection.timeout_seconds,
            )
        )

    return connection.call(ask, f"finding a document in {stored.name}", collection=stored.name)


def describe_build(
    connection: MilvusConnection, stored: StoredCollection, *, live: bool
) -> BuildDescription:
    """Describe a collection for people, with its rows counted now."""
    return BuildDescription(
        name=stored.name,
        live=live,
        fingerprint=stored.fingerprint,
        hybrid_ready=not stored.missing_for_hybrid,
        chunks=count_rows(connection, stored.name),
        index_type=stored.index_type,
        metric=stored.metric,
        dimension=stored.dimension,
        missing_fields=stored.missing_fields,
    )
