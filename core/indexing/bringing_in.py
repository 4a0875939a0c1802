"""Kept documents into the live build, group by group.

In: documents whose originals and rows are kept. Out: a report for each. Invariants: embedding runs
without the writer lock, writing with it; a version that was replaced or deleted meanwhile is not
written; a row becomes INDEXED only after its chunks were flushed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.catalog.records import DocumentState
from core.errors import CollectionMissing, WriteRejected
from core.indexing.base import WRITER_LOCK, KnowledgeBase
from core.indexing.deleting import remove_unused_original
from core.indexing.keeping import Kept, withdraw
from core.indexing.preparing import embed, groups, within
from core.indexing.reports import FileOutcome, FileReport
from core.indexing.writing import write
from core.ports import StageProgress, Vectors

_DELETED = "It was deleted while it was being indexed."
_OVERTAKEN = "A newer upload of the same document took its place while it was being indexed."
_MEANWHILE = "Another upload of the same file indexed it meanwhile."
_BEFORE_STAYS = "The version before it stays as it was."


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Documents that were written, and reports by position for all that are settled."""

    written: tuple[Kept, ...]
    reports: Mapping[int, FileReport]


def bring_in(
    base: KnowledgeBase, kept: Sequence[Kept], progress: StageProgress, *, by_first_build: bool = False
) -> dict[int, FileReport]:
    """Embed and write kept documents into the live build; return reports by position.

    Args:
        base: the knowledge base.
        kept: each document at most once.
        progress: stages `embed` and `write`, both counted in chunks.
        by_first_build: this upload made the first build, which brought its documents in already.

    Raises:
        CollectionMissing: nothing is published any more.
        JobCancelled: stopped; what was written so far stays.
        EmbeddingFailed: the model failed three times on one group; as for cancelled.
        StoreError: the store or the catalog does not answer; as for cancelled.
    """
    reports: dict[int, FileReport] = {}
    waiting: list[Kept] = []
    by_others = None if by_first_build else base.builds.live()
    for item in kept:
        settled = _settled(base, item, by_others)
        if settled is None:
            waiting.append(item)
        else:
            reports[item.loaded.position] = settled
    total = sum(len(item.prepared.chunks) for item in waiting)
    done = 0
    by_id = {item.prepared.row.doc_id: item for item in waiting}
    for group in groups([item.prepared for item in waiting]):
        vectors = embed(base, group, within(progress, "embed", done, total))
        done += len(vectors)
        reports |= _write_group(base, [by_id[item.row.doc_id] for item in group], vectors, by_others)
        progress("write", done, total)
    for item in kept:
        if item.replaces and item.previous is not None:
            with WRITER_LOCK:
                remove_unused_original(base, item.previous)
    return reports


def _settled(base: KnowledgeBase, item: Kept, by_others: str | None) -> FileReport | None:
    """Return the report of a document that needs no writing any more, else None.

    In the build `by_others` only another upload can have written it; in any other one a rebuild
    took the kept version along.
    """
    row = base.catalog.find_document(item.prepared.row.doc_id)
    if row is None:
        return item.report(FileOutcome.REFUSED, _DELETED)
    if row.content_key != item.prepared.row.content_key:
        return item.report(FileOutcome.REFUSED, _OVERTAKEN)
    if row.state is not DocumentState.INDEXED:
        return None
    if row.build == by_others:
        return item.report(FileOutcome.UNCHANGED, _MEANWHILE)
    return _done(item)


def _done(item: Kept) -> FileReport:
    return item.report(FileOutcome.REPLACED if item.replaces else FileOutcome.INDEXED)


def _write_group(
    base: KnowledgeBase, members: Sequence[Kept], vectors: Vectors, by_others: str | None
) -> dict[int, FileReport]:
    with WRITER_LOCK:
        # The alias may have moved while the group was embedded; its build may hold the group already.
        live = base.builds.live()
        if live is None:
            raise CollectionMissing("Nothing is published any more. Start a rebuild to bring the files in.")
        reports = {
            item.loaded.position: settled
            for item in members
            if (settled := _settled(base, item, by_others)) is not None
        }
        open_items = [
            (item, rows)
            for item, rows in _with_vectors(members, vectors)
            if item.loaded.position not in reports
        ]
        outcome = _write_open(base, live, open_items)
        if outcome.written:
            base.writer.flush(live)
            counted = [(item.prepared.row, len(item.prepared.chunks)) for item in outcome.written]
            base.catalog.mark_indexed(live, counted, base.clock())
    return reports | dict(outcome.reports)


def _write_open(base: KnowledgeBase, live: str, items: Sequence[tuple[Kept, Vectors]]) -> _Outcome:
    """Write documents together; when one of them is refused, one by one."""
    if not items:
        return _Outcome((), {})
    try:
        write(base, live, [item.prepared for item, _ in items], np.concatenate([rows for _, rows in items]))
    except WriteRejected as error:
        if len(items) == 1:
            item = items[0][0]
            withdraw(base, item)
            reason = f"{error} {_BEFORE_STAYS}" if item.replaces else str(error)
            return _Outcome((), {item.loaded.position: item.report(FileOutcome.REFUSED, reason)})
        parts = [_write_open(base, live, [one]) for one in items]
        written = tuple(item for part in parts for item in part.written)
        return _Outcome(written, {key: report for part in parts for key, report in part.reports.items()})
    return _Outcome(
        tuple(item for item, _ in items), {item.loaded.position: _done(item) for item, _ in items}
    )


def _with_vectors(members: Sequence[Kept], vectors: Vectors) -> Iterator[tuple[Kept, Vectors]]:
    start = 0
    for item in members:
        end = start + len(item.prepared.chunks)
        yield item, vectors[start:end]
        start = end
