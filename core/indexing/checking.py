"""Compares the live build with the catalog, document by document.

In: the catalog's rows and the store's counts. Out: what differs, each with a way out. Invariant:
reads only.
"""

from core.catalog.records import CatalogDocument, DocumentState
from core.indexing.base import KnowledgeBase
from core.indexing.reports import Inconsistency, InconsistencyKind


def inconsistencies(base: KnowledgeBase) -> tuple[Inconsistency, ...]:
    """Return what differs, by doc_id; empty when the live build holds exactly the catalog.

    Raises:
        StoreError: the store does not answer.
    """
    live = base.builds.live()
    counts = base.builds.chunk_counts(live) if live is not None else {}
    documents = {document.doc_id: document for document in base.catalog.documents()}
    found: list[Inconsistency] = []
    for doc_id in sorted({*documents, *counts}):
        document, stored = documents.get(doc_id), counts.get(doc_id, 0)
        if document is None:
            found.append(_ghost(doc_id, stored, live))
        elif document.state is DocumentState.STORED:
            found.append(_not_indexed(document, stored, live))
        elif document.chunk_count != stored:
            found.append(_count_differs(document, stored, live))
    return tuple(found)


def _ghost(doc_id: str, stored: int, live: str | None) -> Inconsistency:
    sentence = (
        f'The live build {live} has {stored} chunks of "{doc_id}", which is not in the catalog. '
        "Start a rebuild to be rid of them."
    )
    return Inconsistency(doc_id, InconsistencyKind.GHOST, 0, stored, sentence)


def _not_indexed(document: CatalogDocument, stored: int, live: str | None) -> Inconsistency:
    where = "no build is published yet" if live is None else f"the live build {live} lacks this version"
    sentence = f'"{document.doc_id}" is kept but {where}. Upload it again or start a rebuild.'
    return Inconsistency(document.doc_id, InconsistencyKind.NOT_INDEXED, None, stored, sentence)


def _count_differs(document: CatalogDocument, stored: int, live: str | None) -> Inconsistency:
    where = "there is no live build" if live is None else f"the live build {live} has {stored}"
    sentence = (
        f'"{document.doc_id}" was indexed with {document.chunk_count} chunks, but {where}. Upload it '
        "again or start a rebuild."
    )
    return Inconsistency(
        document.doc_id, InconsistencyKind.COUNT_DIFFERS, document.chunk_count, stored, sentence
    )
