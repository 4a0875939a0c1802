"""Remembers vectors, so that a text is embedded once per model.

In: an `Embedder`. Out: the same vectors, from a file where they are known. Invariant: a vector
is used only for the very text, model, revision and prompt it was made with, and only if it is whole;
anything else is computed again. The file holds nothing that cannot be computed again: it may be deleted.

Passages are kept in one SQLite file under the SHA-256 of their text; queries in memory, the latest ones.
"""

import hashlib
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from core.adapters.embedders.sentence import longest_first
from core.adapters.embedders.texts import refuse_unusable
from core.errors import EmbeddingFailed
from core.ports import Embedder, Progress, Vector, Vectors

DEFAULT_BATCH_SIZE = 32
DEFAULT_QUERY_LIMIT = 1024
BUSY_TIMEOUT_SECONDS = 30.0
DIGESTS_PER_SELECT = 500
UNIT_TOLERANCE = 1e-3

CREATE = """
CREATE TABLE IF NOT EXISTS vectors (
    model BLOB NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text)
)
"""


class CachingEmbedder:
    """`Embedder` that asks another one only for what it does not know; safe for several threads.

    Args:
        embedder: the model.
        file: of the cache; made on first use with its folder.
        batch_size: passages that are embedded, stored and reported together.
        query_limit: most queries kept in memory; the one unused longest goes first.
    """

    def __init__(
        self,
        embedder: Embedder,
        file: Path,
        *,
        batch_size: int = DEFAULT_BATCH_SIZE,
        query_limit: int = DEFAULT_QUERY_LIMIT,
    ) -> None:
        self._embedder = embedder
        self._file = file
        self._batch_size = batch_size
        self._query_limit = query_limit
        self._connection: sqlite3.Connection | None = None
        self._file_lock = threading.Lock()
        self._queries: OrderedDict[str, Vector] = OrderedDict()
        self._query_lock = threading.Lock()

    @property
    def name(self) -> str:
        """Of the model."""
        return self._embedder.name

    @property
    def revision(self) -> str:
        """Of the model."""
        return self._embedder.revision

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self._embedder.dimension

    @property
    def query_prompt(self) -> str:
        """Put before a query; "" when the model wants none."""
        return self._embedder.query_prompt

    @property
    def passage_prompt(self) -> str:
        """Put before a passage; "" when the model wants none."""
        return self._embedder.passage_prompt

    def embed_query(self, text: str) -> Vector:
        """Embed a query, or return the vector of the same query asked before; read-only.

        Raises:
            EmbeddingFailed: as the model does.
        """
        with self._query_lock:
            known = self._queries.get(text)
            if known is not None:
                self._queries.move_to_end(text)
                return known
        vector = np.array(self._embedder.embed_query(text), dtype=np.float32)
        vector.flags.writeable = False
        with self._query_lock:
            self._queries[text] = vector
            while len(self._queries) > self._query_limit:
                self._queries.popitem(last=False)
        return vector

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Embed passages; row i belongs to text i; `(0, dimension)` for none.

        Each batch is stored before it is reported, so work that is stopped is not lost. `progress`
        counts texts with a known vector: the first call has those that need no work.

        Raises:
            EmbeddingFailed: as the model does, or the cache file cannot be used.
        """
        refuse_unusable(texts, what="passage")
        rows_by_digest = _rows_by_digest(texts)
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        done = 0
        for digest, vector in self._read(list(rows_by_digest)).items():
            rows = rows_by_digest.pop(digest)
            vectors[rows] = vector
            done += len(rows)
        if progress is not None and done:
            progress(done, len(texts))
        for digests, batch in self._missing_batches(texts, rows_by_digest):
            made = self._embedder.embed_passages(batch)
            self._write(digests, made)
            for digest, vector in zip(digests, made, strict=True):
                vectors[rows_by_digest[digest]] = vector
                done += len(rows_by_digest[digest])
            if progress is not None:
                progress(done, len(texts))
        return vectors

    def close(self) -> None:
        """Close the cache file; the next use opens it again."""
        with self._file_lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _missing_batches(
        self, texts: Sequence[str], rows_by_digest: Mapping[bytes, list[int]]
    ) -> Iterator[tuple[list[bytes], list[str]]]:
        """Yield (digests, texts) of what is to be embedded: each text once, the longest first."""
        digests = list(rows_by_digest)
        missing = [texts[rows_by_digest[digest][0]] for digest in digests]
        order = longest_first(missing)
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            yield [digests[place] for place in batch], [missing[place] for place in batch]

    def _model_digest(self) -> bytes:
        parts = (self.name, self.revision, self.passage_prompt, str(self.dimension))
        return hashlib.sha256("\0".join(parts).encode("utf-8")).digest()

    def _read(self, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the whole vectors among those asked for; a damaged one counts as unknown."""
        model, dimension = self._model_digest(), self.dimension
        known: dict[bytes, Vector] = {}
        with self._open() as connection:
            for start in range(0, len(digests), DIGESTS_PER_SELECT):
                asked = digests[start : start + DIGESTS_PER_SELECT]
                places = ",".join("?" * len(asked))
                select = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({places})"  # noqa: S608 - places are question marks
                for digest, stored in connection.execute(select, (model, *asked)):
                    vector = _whole_vector(stored, dimension)
                    if vector is not None:
                        known[digest] = vector
        return known

    def _write(self, digests: Sequence[bytes], vectors: Vectors) -> None:
        model = self._model_digest()
        rows = [
            (model, digest, vector.astype("<f4").tobytes())
            for digest, vector in zip(digests, vectors, strict=True)
        ]
        with self._open() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Lend the one connection, made on first use, to one thread at a time."""
        with self._file_lock:
            try:
                if self._connection is None:
                    self._connection = _connect(self._file)
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise EmbeddingFailed(
                    f"The vector cache {self._file} cannot be used: {error}. Free disk space or stop what "
                    "holds the file; it is only a cache and may be deleted."
                ) from error


def _connect(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file, timeout=BUSY_TIMEOUT_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(CREATE)
        connection.commit()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _rows_by_digest(texts: Sequence[str]) -> dict[bytes, list[int]]:
    rows: dict[bytes, list[int]] = {}
    for row, text in enumerate(texts):
        rows.setdefault(hashlib.sha256(text.encode("utf-8")).digest(), []).append(row)
    return rows


def _whole_vector(stored: object, dimension: int) -> Vector | None:
    """Read a stored vector; None when its length, type or norm says that it is damaged."""
    if not isinstance(stored, bytes) or len(stored) != 4 * dimension:
        return None
    vector = np.frombuffer(stored, dtype="<f4").astype(np.float32)
    norm = float(np.linalg.norm(vector))
    return vector if abs(norm - 1.0) <= UNIT_TOLERANCE else None
