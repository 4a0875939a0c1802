"""What the core needs from the outside, in its own types.

`Embedder` and `TokenCounter` come from a model, the three `Knowledge...Port`s from a store. No
pymilvus, torch or pandas value crosses them. Invariants: vectors are float32 of unit length;
higher scores are closer; a filter that was asked is obeyed by every returned row.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from core.model.builds import BuildDescription, BuildIdentity, Fingerprint
from core.model.documents import Chunk
from core.model.search import RouteList, SearchHit, SearchRequest
from core.model.token_lens import Term, TermMatch

Vector: TypeAlias = npt.NDArray[np.float32]
"""Shape `(dimension,)`, float32, unit length."""

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Shape `(n, dimension)`, float32, every row of unit length."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (done, total) after each batch; may raise `JobCancelled` to stop the work."""

StageProgress: TypeAlias = Callable[[str, int, int], None]
"""Called with (the stage's verb, done, total); total 0 means unknown; may raise `JobCancelled`."""


class TokenCounter(Protocol):
    """The tokenizer of the embedding model; never loads the model's weights."""

    @property
    def max_tokens(self) -> int:
        """The model's window, special tokens and prompt included."""
        ...

    @property
    def overhead_tokens(self) -> int:
        """Tokens that every passage costs beside its text: special tokens and the passage prompt."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count tokens of each text alone, without special tokens and prompt."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span `[start, end)` of each token, in order, without special tokens."""
        ...


class Embedder(Protocol):
    """A sentence embedding model with its prompts."""

    @property
    def name(self) -> str:
        """For example `intfloat/multilingual-e5-small`."""
        ...

    @property
    def revision(self) -> str:
        """Changes whenever the vectors would."""
        ...

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        ...

    @property
    def query_prompt(self) -> str:
        """Put before a query; "" when the model wants none."""
        ...

    @property
    def passage_prompt(self) -> str:
        """Put before a passage; "" when the model wants none."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Embed a query with the query prompt.

        Raises:
            EmbeddingFailed: the model cannot be loaded, or the vector is not finite or has no length.
        """
        ...

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Embed passages with the passage prompt; row i belongs to text i; `(0, dimension)` for none.

        Raises:
            EmbeddingFailed: as above, or a text is blank.
        """
        ...


class KnowledgeSearchPort(Protocol):
    """One call to the store per verb; reads the build behind the alias, or one named build.

    Every method raises `CollectionMissing` when nothing is published, `CollectionMismatch` when the
    build does not fit the settings, `StoreUnavailable` when the store does not answer, and
    `StoreError` for the rest.
    """

    def search_dense(self, request: SearchRequest, vector: Vector) -> RouteList:
        """Find the `retrieve_k` closest chunks by cosine that pass the request's filters.

        OK or EMPTY; scores are cosines in [-1, 1] whatever the metric of the index.
        """
        ...

    def search_sparse(self, request: SearchRequest) -> RouteList:
        """Find the `retrieve_k` best chunks by BM25 that pass the request's filters.

        OK, EMPTY, or NOT_RUN with a reason when the analyzer leaves no term of the query.
        Scores are >= 0.

        Raises:
            HybridUnsupported: the collection has no BM25 field; says what is missing.
        """
        ...

    def search_hybrid(self, request: SearchRequest, vector: Vector) -> RouteList:
        """Let the server fuse both routes, each with limit `retrieve_k` and the same filters.

        OK or EMPTY. Equal fused scores are ordered by evidence key. A query without terms is
        fused from the dense route alone.

        Raises:
            HybridUnsupported: as above.
        """
        ...

    def count(self, *, category: str | None = None, kb_scope: str | None = None) -> int:
        """Count the chunks that pass the filters; None asks all."""
        ...

    def find(self, name: str) -> tuple[SearchHit, ...]:
        """Return the chunks whose doc_id or source is exactly the name, in any category and kb_scope.

        By doc_id and chunk_index, ranks from 1 in that order, without any score; () when the build
        holds none. At most the first 16,384 that the store gives.

        Raises:
            CollectionMismatch: the collection says of no row which document it is from.
        """
        ...

    def identify(self) -> BuildIdentity:
        """Name the build that answers; counts nothing, so that a lookup can afford it."""
        ...

    def describe(self) -> BuildDescription:
        """Describe the build that answers, with its rows counted now."""
        ...

    def terms(self, text: str) -> tuple[Term, ...]:
        """Cut a text as the build's own analyzer does; in order, with repetitions.

        Stop words and punctuation are there as dropped, where the store lets them be told.

        Raises:
            HybridUnsupported: the collection has no BM25 field; says what is missing.
        """
        ...

    def document_frequencies(self, terms: Sequence[str]) -> Mapping[str, int | None]:
        """Count the chunks of the whole build that hold each term, as `terms` makes them.

        Filters and knowledge bases play no part, because they play none in BM25's statistics. None
        for a term that the store cannot count.

        Raises:
            HybridUnsupported: as above.
        """
        ...

    def match_terms(self, query: str, chunk_id: str) -> TermMatch | None:
        """Say what a query and one chunk share; None when the build holds no chunk of that key.

        Raises:
            HybridUnsupported: as above.
        """
        ...


class KnowledgeWritePort(Protocol):
    """Writes chunks into one named build; one writer at a time."""

    def upsert(self, build: str, chunks: Sequence[Chunk], vectors: Vectors) -> int:
        """Write the chunks of whole documents, in batches by rows and bytes; return rows written.

        All rows are checked before the first is sent. What the build holds of these documents is
        replaced, so no tail of a longer version stays.

        Raises:
            WriteRejected: a value does not fit its field (bytes of UTF-8), a vector is not finite,
                has no length or the wrong dimension, or the two lengths differ. Nothing was written.
        """
        ...

    def delete_document(self, build: str, doc_id: str) -> int:
        """Delete every chunk of a document; return how many there were; 0 when there were none."""
        ...

    def flush(self, build: str) -> None:
        """Make everything written searchable at full speed."""
        ...


class BuildPort(Protocol):
    """The life of builds behind the alias."""

    def create(self, name: str, fingerprint: Fingerprint, *, expected_rows: int) -> None:
        """Create an empty build; `expected_rows` chooses the dense index when its type is `auto`."""
        ...

    def builds(self) -> tuple[BuildDescription, ...]:
        """List every physical collection that belongs to the configured name, oldest first."""
        ...

    def live(self) -> str | None:
        """Return the physical name behind the alias; None when nothing is published."""
        ...

    def publish(self, name: str) -> None:
        """Point the alias at a build and verify that it answers through it.

        Raises:
            CollectionMissing: there is no such build.
            CollectionMismatch: the alias' name is taken by a collection.
        """
        ...

    def drop(self, name: str) -> None:
        """Drop a physical build that the alias does not point to.

        Raises:
            StoreError: the build is live, or the name is not a physical build of ours.
        """
        ...

    def warm_up(self, name: str) -> None:
        """Load the build and run both routes once, so that the first query is not the slow one."""
        ...

    def chunk_counts(self, name: str) -> Mapping[str, int]:
        """Count rows by doc_id."""
        ...

    def rows(self, name: str, *, batch: int = 1000) -> Iterator[tuple[str, Vector]]:
        """Yield (chunk id, vector) of every row, in no particular order."""
        ...

    def fragmented(self, name: str) -> bool:
        """BM25 statistics are spread over more than one segment, so scores are not comparable."""
        ...
