"""From catalog rows to chunks and vectors: the steps that uploading and rebuilding share.

In: rows of the catalog, or loaded documents. Out: chunks in groups, and their vectors. Invariant:
nothing here writes; a document that cannot be read again is returned with the reason, never skipped.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from core.catalog.records import CatalogDocument
from core.errors import EmbeddingFailed, FileRefused, StoreError, StoreLocked, StoreUnavailable
from core.indexing.base import RETRY_PAUSES_SECONDS, KnowledgeBase, chunk_rules, upload_limit_bytes
from core.intake.chunking import chunk
from core.intake.loading import load
from core.model.documents import Chunk, Document
from core.ports import Progress, StageProgress, Vectors

# Enough texts for the model to fill its batches with texts of like length; about 2 MB of text.
GROUP_CHUNKS = 1024

T = TypeVar("T")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A version of a document with its chunks, ready to embed and write."""

    row: CatalogDocument
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A document of the catalog that cannot become chunks again."""

    row: CatalogDocument
    reason: str


def prepare(
    base: KnowledgeBase, rows: Sequence[CatalogDocument], progress: StageProgress
) -> tuple[tuple[Prepared, ...], tuple[Unreadable, ...]]:
    """Load and chunk documents of the catalog, in the order given.

    A row that is no longer in the catalog in this version is left out of both results: it was
    deleted or replaced since the rows were read.

    Raises:
        StoreUnavailable: the originals or the catalog cannot be reached.
    """
    loaded: list[tuple[CatalogDocument, Document]] = []
    prepared: list[Prepared] = []
    unreadable: list[Unreadable] = []
    for position, row in enumerate(rows, start=1):
        result = _read(base, row)
        if isinstance(result, Document):
            loaded.append((row, result))
        elif result is not None:
            unreadable.append(result)
        progress("load", position, len(rows))
    for position, (row, document) in enumerate(loaded, start=1):
        prepared.append(Prepared(row, chunk_document(base, document)))
        progress("chunk", position, len(loaded))
    return tuple(prepared), tuple(unreadable)


def _read(base: KnowledgeBase, row: CatalogDocument) -> Document | Unreadable | None:
    try:
        data = base.originals.get(row.original_hash)
        # It was accepted once; a limit that was lowered since must not shut it out.
        limit_bytes = max(upload_limit_bytes(base), len(data))
        return load(
            row.name,
            data,
            category=row.category,
            kb_scope=row.kb_scope,
            limit_bytes=limit_bytes,
            encoding=row.encoding,
        )
    except StoreUnavailable:
        raise
    except (FileRefused, StoreError) as error:
        now = base.catalog.find_document(row.doc_id)
        if now is None or now.content_key != row.content_key:
            return None
        return Unreadable(row, str(error))


def chunk_document(base: KnowledgeBase, document: Document) -> tuple[Chunk, ...]:
    """Cut a document into at least one chunk by the rules of the settings.

    Raises:
        SettingsInvalid: the rules leave no room for text in the model's window.
    """
    return chunk(document, chunk_rules(base), base.token_counter)


def groups(prepared: Sequence[Prepared]) -> Iterator[tuple[Prepared, ...]]:
    """Yield whole documents together, up to `GROUP_CHUNKS` chunks; a longer document stands alone."""
    group: list[Prepared] = []
    size = 0
    for item in prepared:
        if group and size + len(item.chunks) > GROUP_CHUNKS:
            yield tuple(group)
            group, size = [], 0
        group.append(item)
        size += len(item.chunks)
    if group:
        yield tuple(group)


def embed(base: KnowledgeBase, group: Sequence[Prepared], progress: Progress) -> Vectors:
    """Embed the chunks of a group in order; tries again when the model fails once.

    Raises:
        EmbeddingFailed: it failed three times.
    """
    texts = [piece.search_text for item in group for piece in item.chunks]
    return retrying(base, lambda: base.embedder.embed_passages(texts, progress=progress))


def within(progress: StageProgress, verb: str, offset: int, total: int) -> Progress:
    """Report the progress of one group as a part of the whole stage."""
    return lambda done, _group_total: progress(verb, offset + done, total)


def retrying(base: KnowledgeBase, action: Callable[[], T]) -> T:
    """Do it; after a fault that may pass, wait and do it again, two times at most.

    A locked file and a refused row do not pass by waiting and are raised at once.
    """
    for seconds in RETRY_PAUSES_SECONDS:
        try:
            return action()
        except StoreLocked:
            raise
        except (EmbeddingFailed, StoreUnavailable) as error:
            _LOG.warning("Trying again in %s s: %s", seconds, error)
            base.pause(seconds)
    return action()
