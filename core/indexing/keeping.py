"""Keeps uploaded files: the original first, then its row in the catalog.

In: a loaded file and its chunks. Out: what was kept, with what it takes the place of. Invariant: a
row never points to an original that is not there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.catalog.originals import original_key
from core.catalog.records import CatalogDocument, DocumentState
from core.indexing.base import WRITER_LOCK, KnowledgeBase
from core.indexing.deleting import remove_unused_original
from core.indexing.preparing import Prepared
from core.indexing.reports import FileOutcome, FileReport, UploadedFile
from core.model.documents import Chunk, Document


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file that became a document; `position` in the upload, from 0."""

    position: int
    file: UploadedFile
    document: Document


@dataclass(frozen=True, slots=True)
class Kept:
    """A file whose original and row are kept.

    Attributes:
        previous: the row as it was before; None for a new document.
        prepared: the row as it is now, STORED, and its chunks.
    """

    loaded: Loaded
    previous: CatalogDocument | None
    prepared: Prepared

    @property
    def replaces(self) -> bool:
        """The document was there before in another version."""
        return self.previous is not None and self.previous.content_key != self.prepared.row.content_key

    def report(self, outcome: FileOutcome, reason: str = "") -> FileReport:
        """Say what became of the file."""
        refused = outcome is FileOutcome.REFUSED
        return FileReport(
            self.loaded.file.name,
            outcome,
            reason,
            None if refused else self.prepared.row.doc_id,
            0 if refused else len(self.prepared.chunks),
            self.loaded.document.warnings,
        )


def unchanged(base: KnowledgeBase, loaded: Loaded, stored: Mapping[str, int]) -> FileReport | None:
    """Return a report when the very same file is whole in the live build, else None.

    Args:
        base: the knowledge base.
        loaded: the file.
        stored: chunks of the live build by doc_id.
    """
    document = loaded.document
    row = base.catalog.find_document(document.doc_id)
    if row is None or row.state is not DocumentState.INDEXED or row.chunk_count is None:
        return None
    if row.content_key != _row(base, loaded, row).content_key or row.chunk_count != stored.get(row.doc_id):
        return None
    reason = f"The same file is in the live build since {row.indexed_at:%Y-%m-%d %H:%M} UTC."
    return FileReport(
        loaded.file.name, FileOutcome.UNCHANGED, reason, row.doc_id, row.chunk_count, document.warnings
    )


def keep(base: KnowledgeBase, loaded: Loaded, chunks: tuple[Chunk, ...]) -> Kept | FileReport:
    """Keep the original and the row; the live build still holds what it held.

    Returns:
        What was kept, or the report of `unchanged` when another upload indexed the same file since
        that was last asked.

    Raises:
        StoreUnavailable: the originals or the catalog cannot be written.
    """
    with WRITER_LOCK:
        previous = base.catalog.find_document(loaded.document.doc_id)
        if previous is not None and previous.state is DocumentState.INDEXED:
            live = base.builds.live()
            same = unchanged(base, loaded, base.builds.chunk_counts(live)) if live is not None else None
            if same is not None:
                return same
        row = _row(base, loaded, previous)
        base.originals.put(loaded.file.data)
        base.catalog.save_document(row)
    return Kept(loaded, previous, Prepared(row, chunks))


def withdraw(base: KnowledgeBase, kept: Kept) -> None:
    """Undo `keep` for a document that the store refused: as if the file had not come."""
    row = kept.prepared.row
    if kept.previous is None:
        base.catalog.remove_document(row.doc_id)
    else:
        base.catalog.save_document(kept.previous)
    remove_unused_original(base, row)


def _row(base: KnowledgeBase, loaded: Loaded, previous: CatalogDocument | None) -> CatalogDocument:
    document, now = loaded.document, base.clock()
    row = CatalogDocument(
        doc_id=document.doc_id,
        name=document.name,
        title=document.title,
        category=document.category,
        kb_scope=document.kb_scope,
        original_hash=original_key(loaded.file.data),
        content_hash=document.content_hash,
        byte_count=len(loaded.file.data),
        version=1,
        uploaded_at=now,
        changed_at=now,
        encoding=loaded.file.encoding,
    )
    if previous is None:
        return row
    if previous.content_key == row.content_key:
        return replace(
            row,
            version=previous.version,
            uploaded_at=previous.uploaded_at,
            changed_at=previous.changed_at,
        )
    return replace(row, version=previous.version + 1, uploaded_at=previous.uploaded_at)
