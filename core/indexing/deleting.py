"""Deletes documents: from the live build at once, then from the catalog, then their originals.

Invariant: a row leaves the catalog only after the store counted no chunk of its document, so what
a kill leaves behind is a document that still shows and can be deleted again.
"""

from collections.abc import Sequence

from core.catalog.records import CatalogDocument
from core.errors import StoreError
from core.indexing.base import WRITER_LOCK, KnowledgeBase
from core.indexing.reports import DeletionReport


def delete_documents(base: KnowledgeBase, doc_ids: Sequence[str]) -> DeletionReport:
    """Delete documents with their chunks and, where no other document needs them, their originals.

    A rebuild that runs meanwhile leaves them out too.

    Raises:
        DocumentMissing: the catalog has no such document; nothing was deleted.
        StoreError: the store still counts chunks afterwards, or does not answer; the documents are
            still in the catalog.
    """
    with WRITER_LOCK:
        documents = [base.catalog.document(doc_id) for doc_id in dict.fromkeys(doc_ids)]
        chunks = _delete_from_live(base, documents)
        for document in documents:
            base.catalog.remove_document(document.doc_id)
        originals = sum(remove_unused_original(base, document) for document in documents)
    return DeletionReport(len(documents), chunks, originals)


def remove_unused_original(base: KnowledgeBase, document: CatalogDocument) -> bool:
    """Remove the original of a version that is gone; False when another document needs it."""
    if base.catalog.original_in_use(document.original_hash):
        return False
    return base.originals.remove(document.original_hash)


def _delete_from_live(base: KnowledgeBase, documents: Sequence[CatalogDocument]) -> int:
    live = base.builds.live()
    if live is None or not documents:
        return 0
    ids = [document.doc_id for document in documents]
    deleted = sum(base.writer.delete_document(live, doc_id) for doc_id in ids)
    base.writer.flush(live)
    counts = base.builds.chunk_counts(live)
    left = {doc_id: counts[doc_id] for doc_id in ids if counts.get(doc_id)}
    if left:
        listed = ", ".join(f"{doc_id} ({count})" for doc_id, count in sorted(left.items()))
        raise StoreError(
            f"The build {live} still counts chunks of deleted documents: {listed}. Delete them again; if "
            "that does not help, start a rebuild."
        )
    base.catalog.remove_contents(live, ids)
    return deleted
