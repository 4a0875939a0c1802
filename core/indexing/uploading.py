"""Uploaded files into the live build.

    files -> load -> compare with the catalog -> chunk -> keep (original, row) -> embed -> write

In: files as a person gave them. Out: a report for each. Invariants: a refused file leaves nothing
behind and stops no other; an original and its row are kept before anything is written to the store;
two uploads of one file at once give one document with one set of chunks.
"""

import time
from collections.abc import Mapping, Sequence

from core.errors import FileRefused, JobCancelled, RankLensError
from core.indexing.base import KnowledgeBase, one_rebuild, require_fitting_live_build, upload_limit_bytes
from core.indexing.bringing_in import bring_in
from core.indexing.building import rebuild
from core.indexing.keeping import Kept, Loaded, keep, unchanged
from core.indexing.preparing import chunk_document
from core.indexing.reports import FileOutcome, FileReport, IndexReport, Preview, UploadedFile
from core.intake.loading import load
from core.model.documents import Document
from core.ports import StageProgress

Reports = dict[int, FileReport]
"""By position of the file in the upload."""


def index_files(base: KnowledgeBase, files: Sequence[UploadedFile], progress: StageProgress) -> IndexReport:
    """Index files; those that cannot be read are refused one by one.

    Without a live build the first one is made of everything in the catalog and published. With one
    whose BM25 statistics are in pieces afterwards, a rebuild makes them whole.

    Args:
        base: the knowledge base.
        files: a later file of the same name takes the place of an earlier one.
        progress: stages `load`, `chunk`, `embed`, `write`, and those of a rebuild.

    Raises:
        CollectionMismatch: the live build was made with other settings; nothing was kept.
        JobCancelled: stopped; files that were kept but not written are STORED in the catalog.
        EmbeddingFailed: the model failed three times on one group; as for cancelled.
        StoreError: the store or the catalog does not answer; as for cancelled.
    """
    started = time.perf_counter()
    require_fitting_live_build(base)
    loaded, reports = _load(base, files, progress)
    kept, settled = _chunk_and_keep(base, loaded, progress)
    reports |= settled
    written, rebuilt, warnings = _into_live_build(base, kept, progress)
    reports |= written
    return IndexReport(
        files=tuple(reports[position] for position in range(len(files))),
        build=base.builds.live(),
        milliseconds=(time.perf_counter() - started) * 1000,
        rebuilt=rebuilt,
        warnings=warnings,
    )


def preview(base: KnowledgeBase, file: UploadedFile) -> Preview:
    """Load and chunk a file as an upload would, and store nothing.

    Raises:
        FileRefused: says why it cannot become a document.
    """
    document = _load_one(base, file)
    return Preview(document, chunk_document(base, document))


def _load_one(base: KnowledgeBase, file: UploadedFile) -> Document:
    return load(
        file.name,
        file.data,
        category=file.category,
        kb_scope=file.kb_scope,
        limit_bytes=upload_limit_bytes(base),
        encoding=file.encoding,
    )


def _load(
    base: KnowledgeBase, files: Sequence[UploadedFile], progress: StageProgress
) -> tuple[list[Loaded], Reports]:
    by_id: dict[str, Loaded] = {}
    reports: Reports = {}
    for position, file in enumerate(files):
        try:
            document = _load_one(base, file)
        except FileRefused as error:
            reports[position] = FileReport(file.name, FileOutcome.REFUSED, str(error))
        else:
            earlier = by_id.pop(document.doc_id, None)
            if earlier is not None:
                reports[earlier.position] = _taken_over(earlier)
            by_id[document.doc_id] = Loaded(position, file, document)
        progress("load", position + 1, len(files))
    return list(by_id.values()), reports


def _taken_over(earlier: Loaded) -> FileReport:
    reason = (
        f"A later file of this upload has the same identity {earlier.document.doc_id} and was taken in its "
        "place. Rename one of them to keep both."
    )
    return FileReport(earlier.file.name, FileOutcome.REFUSED, reason)


def _chunk_and_keep(
    base: KnowledgeBase, loaded: Sequence[Loaded], progress: StageProgress
) -> tuple[list[Kept], Reports]:
    live = base.builds.live()
    stored: Mapping[str, int] = base.builds.chunk_counts(live) if live is not None and loaded else {}
    kept: list[Kept] = []
    reports: Reports = {}
    for done, item in enumerate(loaded, start=1):
        result = unchanged(base, item, stored) or keep(base, item, chunk_document(base, item.document))
        if isinstance(result, Kept):
            kept.append(result)
        else:
            reports[item.position] = result
        progress("chunk", done, len(loaded))
    return kept, reports


def _into_live_build(
    base: KnowledgeBase, kept: Sequence[Kept], progress: StageProgress
) -> tuple[Reports, bool, tuple[str, ...]]:
    if not kept:
        return {}, False, ()
    rebuilt = False
    if base.builds.live() is None:
        with one_rebuild(progress):
            # Another upload may have made the first build while this one waited.
            if base.builds.live() is None:
                rebuild(base, progress)
                rebuilt = True
    reports = bring_in(base, kept, progress, by_first_build=rebuilt)
    made_whole, warnings = _make_whole(base, progress)
    return reports, rebuilt or made_whole, warnings


def _make_whole(base: KnowledgeBase, progress: StageProgress) -> tuple[bool, tuple[str, ...]]:
    # Asked before the lock too: an upload into a whole build has no reason to wait for a rebuild.
    if not _in_pieces(base):
        return False, ()
    with one_rebuild(progress):
        if not _in_pieces(base):
            return False, ()
        try:
            rebuild(base, progress)
        except JobCancelled:
            raise
        except RankLensError as error:
            warning = (
                f"The files are in the live build {base.builds.live()}, but its BM25 statistics are in "
                "pieces, so BM25 scores do not compare well until a rebuild succeeds. This one did not: "
                f"{error}"
            )
            return False, (warning,)
    return True, ()


def _in_pieces(base: KnowledgeBase) -> bool:
    live = base.builds.live()
    return live is not None and base.builds.fragmented(live)
