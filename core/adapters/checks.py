"""What every store refuses: rows that do not fit, names that are not ours, builds made otherwise.

In: rows, names and fingerprints. Out: nothing, or an error of `core.errors` with both numbers or
names. Invariant: the limits are those of the strictest back end (a server counts bytes, Milvus Lite
counts characters and enforces little), so what one accepts the other does too.
"""

import json
import re
from collections.abc import Mapping, Sequence

import numpy as np

from core.errors import CollectionMismatch, EmbeddingFailed, StoreError, WriteRejected
from core.model.builds import Fingerprint
from core.model.documents import Chunk, content_hash
from core.ports import Vector, Vectors

MAX_BYTES: Mapping[str, int] = {
    "id": 64,
    "doc_id": 255,
    "content": 65_535,
    "search_text": 65_535,
    "title": 1_024,
    "breadcrumb": 4_096,
    "source": 1_024,
    "category": 255,
    "kb_scope": 255,
    "content_hash": 64,
}
"""Bytes of UTF-8 that each text field holds."""

CHECKED_TEXTS = (
    "doc_id",
    "content",
    "search_text",
    "title",
    "breadcrumb",
    "source",
    "category",
    "kb_scope",
)
MAX_METADATA_BYTES = 65_536
NAME_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
LENGTH_TOLERANCE = 1e-3

NO_TERMS = "The query has no word or number that BM25 could look for."
NOTHING_FOUND = "The store returned no chunk."


def scalars(chunk: Chunk) -> dict[str, str | int | None]:
    """Return the fields of a row without vector and metadata; "" is NULL where that is allowed."""
    return {
        "id": chunk.id,
        "doc_id": chunk.doc_id,
        "chunk_index": chunk.chunk_index,
        "content": chunk.content,
        "search_text": chunk.search_text,
        "title": chunk.title or None,
        "breadcrumb": chunk.breadcrumb or None,
        "source": chunk.source or None,
        "category": chunk.category,
        "kb_scope": chunk.kb_scope,
        "content_hash": content_hash(chunk.content),
    }


def check_rows(chunks: Sequence[Chunk], vectors: Vectors, dimension: int) -> None:
    """Check every row before the first is sent.

    Args:
        chunks: of whole documents.
        vectors: shape `(len(chunks), dimension)`.
        dimension: of the build.

    Raises:
        WriteRejected: names the first chunk and field that does not fit.
    """
    if len(chunks) != len(vectors):
        raise WriteRejected(
            f"{len(chunks)} chunks came with {len(vectors)} vectors; each chunk needs one. "
            "Nothing was written."
        )
    if not chunks:
        return
    if vectors.ndim != 2 or vectors.shape[1] != dimension:  # noqa: PLR2004 - a matrix
        raise WriteRejected(
            f"The vectors have shape {vectors.shape}; the build holds vectors of {dimension} numbers. "
            "Nothing was written. Rebuild with the present embedding model."
        )
    for chunk in chunks:
        _check_texts(chunk)
    _check_vectors(chunks, vectors)


def _check_texts(chunk: Chunk) -> None:
    where = f"Chunk {chunk.chunk_index} of {chunk.doc_id!r}"
    for name in CHECKED_TEXTS:
        try:
            size = len(str(getattr(chunk, name)).encode("utf-8"))
        except UnicodeEncodeError as error:
            raise WriteRejected(f"{where}: {name} is not valid Unicode ({error.reason}).") from error
        if size > MAX_BYTES[name]:
            raise WriteRejected(
                f"{where}: {name} takes {size:,} bytes in UTF-8; at most {MAX_BYTES[name]:,} fit. "
                "Nothing was written. Shorten it, or choose smaller chunks."
            )
    if not chunk.doc_id or not chunk.category or not chunk.kb_scope:
        raise WriteRejected(
            f"{where}: doc_id, category and kb_scope must not be empty. Nothing was written."
        )
    size = len(json.dumps(dict(chunk.metadata), ensure_ascii=False).encode("utf-8"))
    if size > MAX_METADATA_BYTES:
        raise WriteRejected(
            f"{where}: metadata takes {size:,} bytes; at most {MAX_METADATA_BYTES:,} fit. "
            "Nothing was written."
        )


def _check_vectors(chunks: Sequence[Chunk], vectors: Vectors) -> None:
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    bad = np.flatnonzero(~(np.abs(lengths - 1.0) <= LENGTH_TOLERANCE))
    if bad.size:
        chunk, length = chunks[int(bad[0])], float(lengths[int(bad[0])])
        fault = f"has length {length:.4f} instead of 1" if np.isfinite(length) else "is not finite"
        raise WriteRejected(
            f"The vector of chunk {chunk.chunk_index} of {chunk.doc_id!r} {fault}. Nothing was written. "
            "Check the embedding model."
        )


def check_query_vector(build: str, vector: Vector, dimension: int | None) -> None:
    """Check a query vector against a build.

    Raises:
        CollectionMismatch: it has another dimension.
        EmbeddingFailed: it is not finite or has no length.
    """
    if vector.shape != (dimension,):
        raise CollectionMismatch(
            f"The query vector has shape {vector.shape}; build {build} holds vectors of "
            f"{dimension} numbers. Rebuild with the present embedding model, or set the old model again."
        )
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length == 0.0:
        raise EmbeddingFailed(
            "The query's vector is not finite or has no length. Check the embedding model."
        )


def check_build_name(collection: str, name: str) -> None:
    """Check the name of a new build.

    Raises:
        StoreError: it does not start with the collection's name and `_`, or a server would refuse it.
    """
    if not name.startswith(f"{collection}_") or not NAME_PATTERN.fullmatch(name):
        raise StoreError(
            f"{name!r} cannot be the name of a build: it must start with {collection + '_'!r} and hold "
            "at most 255 ASCII letters, digits and underscores, with no digit first."
        )


def check_fingerprint(build: str, found: Fingerprint, expected: Fingerprint) -> None:
    """Compare what a build was made with with what the settings say.

    Raises:
        CollectionMismatch: lists each differing setting with both values, and the way out.
    """
    differences = found.differences(expected)
    if differences:
        listed = "; ".join(differences)
        raise CollectionMismatch(
            f"Build {build} was made with other settings ({listed}). "
            "Rebuild the collection, or set the old values again."
        )
