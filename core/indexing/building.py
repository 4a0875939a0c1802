"""Makes a new build from the catalog, verifies it and publishes it.

    catalog -> load -> chunk -> embed -> write -> verify -> publish

Invariants: the alias moves last, and only to a build that passed; whatever goes wrong before that
leaves the live build as it was, drops the new one and says why in its record. The new build holds
the catalog as it is when the alias moves, not as it was when the rebuild began.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from core.catalog.records import BuildContent, BuildRecord, BuildState, CatalogDocument
from core.errors import BuildInvalid
from core.indexing.base import WRITER_LOCK, KnowledgeBase, fingerprint, one_rebuild
from core.indexing.housekeeping import (
    abandon,
    drop_old_builds,
    new_build_name,
    record_published,
    remove_half_built,
)
from core.indexing.preparing import Prepared, Unreadable, prepare
from core.indexing.reports import BuildReport, FileOutcome, FileReport
from core.indexing.verifying import verify
from core.indexing.writing import embed_and_write
from core.model.builds import Verification
from core.ports import StageProgress

# Changes that keep coming are brought in without the lock this often, then once more with it.
CATCH_UP_ROUNDS = 3
_LISTED = 3


@dataclass(frozen=True, slots=True)
class _Held:
    """What the new build holds so far, and what was left out of it, both by doc_id."""

    documents: Mapping[str, Prepared] = field(default_factory=dict)
    left_out: Mapping[str, Unreadable] = field(default_factory=dict)

    def knows(self, row: CatalogDocument) -> bool:
        """This very version is in the build or was left out."""
        seen = self.documents.get(row.doc_id) or self.left_out.get(row.doc_id)
        return seen is not None and seen.row.content_key == row.content_key

    @property
    def chunk_count(self) -> int:
        return sum(len(item.chunks) for item in self.documents.values())


@dataclass(frozen=True, slots=True)
class _Difference:
    """What the catalog has and the new build lacks, and the other way round."""

    prepared: tuple[Prepared, ...]
    unreadable: tuple[Unreadable, ...]
    gone: tuple[str, ...]

    @property
    def empty(self) -> bool:
        return not (self.prepared or self.unreadable or self.gone)


@dataclass(frozen=True, slots=True)
class _Work:
    """One rebuild: where it reads, what it makes, whom it tells."""

    base: KnowledgeBase
    record: BuildRecord
    progress: StageProgress
    leave_out_unreadable: bool


def rebuild(
    base: KnowledgeBase,
    progress: StageProgress,
    *,
    allow_empty: bool = False,
    leave_out_unreadable: bool = False,
) -> BuildReport:
    """Build the whole catalog anew, verify it, and move the alias to it.

    Args:
        base: the knowledge base.
        progress: stages `wait`, `load`, `chunk`, `embed`, `write`, `verify`, `publish`.
        allow_empty: publish a base without documents.
        leave_out_unreadable: publish without the documents that cannot be read again; the report
            names them and they stay in the catalog. Without it one such document stops the rebuild.

    Raises:
        BuildInvalid: the catalog is empty, documents cannot be read again, or the build did not pass.
        JobCancelled: the progress callback stopped it.
        EmbeddingFailed: the model failed three times on one group.
        StoreError: the store refused or did not answer.
    """
    with one_rebuild(progress):
        remove_half_built(base)
        started = time.perf_counter()
        if not base.catalog.documents() and not allow_empty:
            raise BuildInvalid(
                "The catalog has no document, so the rebuild would publish an empty base. Upload files "
                "first, or ask for an empty base on purpose."
            )
        now = base.clock()
        record = BuildRecord(
            new_build_name(base, now), BuildState.BUILDING, now, fingerprint=fingerprint(base)
        )
        base.catalog.record_build(record)
        work = _Work(base, record, progress, leave_out_unreadable)
        held, verification = _build_and_publish(work)
        dropped, warnings = drop_old_builds(base)
        return BuildReport(
            build=record.name,
            documents=len(held.documents),
            chunks=held.chunk_count,
            verification=verification,
            seconds=time.perf_counter() - started,
            left_out=tuple(_left_out(item) for _, item in sorted(held.left_out.items())),
            dropped=dropped,
            fragmented=base.builds.fragmented(record.name),
            warnings=warnings,
        )


def _build_and_publish(work: _Work) -> tuple[_Held, Verification]:
    with _dropped_on_failure(work):
        held = _fill(work)
        verification = _finish(work, held)
    # Nobody writes to the live build from here on, so nothing can be left behind in it.
    with WRITER_LOCK:
        with _dropped_on_failure(work):
            late = _difference(work, held)
            if not late.empty:
                held = _apply(work, held, late)
                verification = _finish(work, held)
            work.progress("publish", 0, 1)
            contents = [
                BuildContent(doc_id, item.row.content_key, len(item.chunks))
                for doc_id, item in held.documents.items()
            ]
            work.base.catalog.save_contents(work.record.name, contents)
            work.base.builds.publish(work.record.name)
        record_published(work.base, replace(work.record, verification=verification))
    return held, verification


def _fill(work: _Work) -> _Held:
    first = _difference(work, _Held())
    rows = sum(len(item.chunks) for item in first.prepared)
    fingerprint_now = work.record.fingerprint or fingerprint(work.base)
    work.base.builds.create(work.record.name, fingerprint_now, expected_rows=rows)
    held = _apply(work, _Held(), first)
    for _ in range(CATCH_UP_ROUNDS):
        difference = _difference(work, held)
        if difference.empty:
            break
        held = _apply(work, held, difference)
    return held


def _difference(work: _Work, held: _Held) -> _Difference:
    rows = work.base.catalog.documents()
    ids = {row.doc_id for row in rows}
    missing = [row for row in rows if not held.knows(row)]
    prepared, unreadable = prepare(work.base, missing, work.progress)
    if unreadable and not work.leave_out_unreadable:
        listed = " ".join(f"{item.row.doc_id}: {item.reason}" for item in unreadable[:_LISTED])
        more = f" And {len(unreadable) - _LISTED} more." if len(unreadable) > _LISTED else ""
        raise BuildInvalid(
            f"{len(unreadable)} of {len(rows)} documents cannot be read again, so the rebuild would lose "
            f"them. {listed}{more} Upload or delete them, or leave them out on purpose."
        )
    gone = tuple(sorted((set(held.documents) | set(held.left_out)) - ids))
    return _Difference(prepared, unreadable, gone)


def _apply(work: _Work, held: _Held, difference: _Difference) -> _Held:
    documents, left_out = dict(held.documents), dict(held.left_out)
    stale = [*difference.gone, *(item.row.doc_id for item in difference.unreadable)]
    for doc_id in stale:
        left_out.pop(doc_id, None)
        if documents.pop(doc_id, None):
            work.base.writer.delete_document(work.record.name, doc_id)
    embed_and_write(work.base, work.record.name, difference.prepared, work.progress)
    documents |= {item.row.doc_id: item for item in difference.prepared}
    left_out |= {item.row.doc_id: item for item in difference.unreadable}
    return _Held(documents, {key: item for key, item in left_out.items() if key not in documents})


def _finish(work: _Work, held: _Held) -> Verification:
    base, name = work.base, work.record.name
    work.progress("verify", 0, 1)
    base.writer.flush(name)
    base.builds.warm_up(name)
    verification = verify(base, name, {key: item.chunks for key, item in held.documents.items()})
    if not verification.passed:
        raise BuildInvalid(
            f"The build {name} did not pass: {_faults(verification)} The live build is kept."
        )
    work.progress("verify", 1, 1)
    return verification


def _faults(verification: Verification) -> str:
    faults = [
        f"{doc_id} has {stored} chunks in the store, {expected} expected."
        for doc_id, (expected, stored) in verification.differing.items()
    ]
    faults += [f"{failure}." for failure in verification.probe_failures]
    more = [f"And {len(faults) - _LISTED} more."] if len(faults) > _LISTED else []
    return " ".join(faults[:_LISTED] + more)


@contextmanager
def _dropped_on_failure(work: _Work) -> Iterator[None]:
    before = work.base.builds.live()
    try:
        yield
    except BaseException as error:
        # Also for a fault of ours or Ctrl+C: no half-built collection may stay.
        abandon(work.base, work.record, before, error)
        raise


def _left_out(item: Unreadable) -> FileReport:
    return FileReport(item.row.name, FileOutcome.REFUSED, item.reason, item.row.doc_id)
