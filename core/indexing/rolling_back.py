"""Points the alias back at an older build.

In: a build's name. Out: what that build lacks of the catalog. Invariants: documents that were deleted
since are removed from it before it answers; the others keep their rows, with the state that is true
for this build.
"""

from core.catalog.records import BuildRecord, BuildState
from core.errors import BuildInvalid, CollectionMissing
from core.indexing.base import WRITER_LOCK, KnowledgeBase
from core.indexing.checking import inconsistencies
from core.indexing.reports import Inconsistency


def roll_back(base: KnowledgeBase, name: str) -> tuple[Inconsistency, ...]:
    """Publish an older build; return the documents that it does not hold in their present version.

    Raises:
        CollectionMissing: there is no such build; says which there are.
        BuildInvalid: the build was never published, so nothing says that it is whole.
        StoreError: the store does not answer; the alias was not moved.
    """
    with WRITER_LOCK:
        names = [build.name for build in base.builds.builds()]
        if name not in names:
            raise CollectionMissing(
                f"There is no build {name}. Choose one of: {', '.join(names) or 'none is there'}."
            )
        if not _was_published(base.catalog.build_records(), name):
            raise BuildInvalid(
                f"The build {name} was never published, so it may be incomplete. Choose another or rebuild."
            )
        known = {document.doc_id for document in base.catalog.documents()}
        deleted_since = sorted(set(base.builds.chunk_counts(name)) - known)
        for doc_id in deleted_since:
            base.writer.delete_document(name, doc_id)
        if deleted_since:
            base.writer.flush(name)
            base.catalog.remove_contents(name, deleted_since)
        base.builds.warm_up(name)
        base.builds.publish(name)
        base.catalog.mark_live(name, base.clock())
        return inconsistencies(base)


def _was_published(records: tuple[BuildRecord, ...], name: str) -> bool:
    return any(record.name == name and record.state is BuildState.PUBLISHED for record in records)
