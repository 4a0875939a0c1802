"""The fields of a build and how it is created: the one place that knows their names.

In: a fingerprint and an index. Out: pymilvus' schema, index parameters and properties. Invariant: a
fingerprint that was stored is read back equal; a collection without one is foreign or legacy.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from core.adapters.checks import MAX_BYTES
from core.adapters.indexes import METRICS, DenseIndex
from core.adapters.scoring import BM25_B, BM25_K1
from core.errors import StoreError
from core.model.builds import Fingerprint

if TYPE_CHECKING:
    from pymilvus import CollectionSchema
    from pymilvus.milvus_client.index import IndexParams

SCHEMA_VERSION = 1

ID = "id"
DOC_ID = "doc_id"
CHUNK_INDEX = "chunk_index"
CONTENT = "content"
SEARCH_TEXT = "search_text"
TITLE = "title"
BREADCRUMB = "breadcrumb"
SOURCE = "source"
CATEGORY = "category"
KB_SCOPE = "kb_scope"
CONTENT_HASH = "content_hash"
VECTOR = "vector"
SPARSE_VECTOR = "sparse_vector"
METADATA = "metadata"

OUTPUT_FIELDS = (DOC_ID, CHUNK_INDEX, CONTENT, TITLE, BREADCRUMB, SOURCE, CATEGORY, KB_SCOPE, METADATA)
"""What a search returns: never a vector, which would double its time."""

NULLABLE = frozenset({TITLE, BREADCRUMB, SOURCE})
FILTERED = (DOC_ID, CATEGORY, KB_SCOPE)
SPARSE_FIELDS = (SEARCH_TEXT, SPARSE_VECTOR)
TEXT_FIELDS = (DOC_ID, CONTENT, TITLE, BREADCRUMB, SOURCE, CATEGORY, KB_SCOPE, CONTENT_HASH)
ALL_FIELDS = (ID, *TEXT_FIELDS, CHUNK_INDEX, SEARCH_TEXT, VECTOR, SPARSE_VECTOR, METADATA)

FINGERPRINT_PROPERTY = "ranklens.fingerprint"
FLUSHES_PROPERTY = "ranklens.flushes"
OWNER_PROPERTY = "ranklens.collection"


def create_schema(fingerprint: Fingerprint) -> "CollectionSchema":
    """Build the schema of a build.

    Raises:
        StoreError: the metric is unknown.
    """
    from pymilvus import DataType, Function, FunctionType, MilvusClient  # only a rebuild needs them

    if fingerprint.metric not in METRICS:
        raise StoreError(
            f"milvus.metric is {fingerprint.metric!r}; it must be one of {', '.join(METRICS)}."
        )
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field(ID, DataType.VARCHAR, is_primary=True, max_length=MAX_BYTES[ID])
    for name in TEXT_FIELDS:
        schema.add_field(name, DataType.VARCHAR, max_length=MAX_BYTES[name], nullable=name in NULLABLE)
    schema.add_field(CHUNK_INDEX, DataType.INT64)
    schema.add_field(
        SEARCH_TEXT,
        DataType.VARCHAR,
        max_length=MAX_BYTES[SEARCH_TEXT],
        enable_analyzer=True,
        analyzer_params=json.loads(fingerprint.analyzer),
    )
    schema.add_field(VECTOR, DataType.FLOAT_VECTOR, dim=fingerprint.dimension)
    schema.add_field(SPARSE_VECTOR, DataType.SPARSE_FLOAT_VECTOR)
    schema.add_field(METADATA, DataType.JSON)
    schema.add_function(
        Function(
            name="bm25",
            function_type=FunctionType.BM25,
            input_field_names=[SEARCH_TEXT],
            output_field_names=[SPARSE_VECTOR],
        )
    )
    return schema


def create_index_parameters(metric: str, index: DenseIndex) -> "IndexParams":
    """Build the parameters of all indexes.

    Why `params` inside `params`: pymilvus spreads the outer one, and Milvus Lite reads only a JSON
    value under the key `params`; a server takes both. Otherwise Lite uses its own k1 and lists.
    """
    from pymilvus import MilvusClient  # only a rebuild needs it

    parameters = MilvusClient.prepare_index_params()
    parameters.add_index(
        VECTOR, index_type=index.index_type, metric_type=metric, params=_nested(index.parameters)
    )
    parameters.add_index(
        SPARSE_VECTOR,
        index_type="SPARSE_INVERTED_INDEX",
        metric_type="BM25",
        params=_nested({"bm25_k1": BM25_K1, "bm25_b": BM25_B}),
    )
    for name in FILTERED:
        parameters.add_index(name, index_type="INVERTED")
    return parameters


def _nested(parameters: Mapping[str, float]) -> dict[str, object]:
    return {"params": dict(parameters)} if parameters else {}


def properties_of(fingerprint: Fingerprint, owner: str) -> dict[str, str]:
    """Return the collection properties that carry a fingerprint and the configured name it belongs to.

    Why properties and not the description: Milvus Lite forgets the description.
    """
    text = json.dumps(asdict(fingerprint), ensure_ascii=True, sort_keys=True)
    return {FINGERPRINT_PROPERTY: text, OWNER_PROPERTY: owner}


def fingerprint_of(name: str, properties: Mapping[str, Any]) -> Fingerprint | None:
    """Read the fingerprint of a collection; None when it carries none.

    Raises:
        StoreError: it carries one that cannot be read.
    """
    text = properties.get(FINGERPRINT_PROPERTY)
    if text is None:
        return None
    try:
        return Fingerprint(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"The fingerprint of collection {name} cannot be read ({error}). "
            "It was made by another version of RankLens: rebuild the collection."
        ) from error
