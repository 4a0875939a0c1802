"""Names, records and removal of builds.

In: builds and their records. Out: the same, tidied. Invariants: the live build is never dropped;
a record says PUBLISHED only when the alias moved to its build.
"""

import logging
from dataclasses import replace
from datetime import UTC, datetime

from core.catalog.records import BuildRecord, BuildState
from core.errors import JobCancelled, RankLensError, StoreError
from core.indexing.base import KnowledgeBase, one_rebuild

KEPT_BUILDS = 3
_INTERRUPTED = "The process ended while this build was made; what there was of it is removed."
_LOG = logging.getLogger(__name__)


def new_build_name(base: KnowledgeBase, now: datetime) -> str:
    """Return `<collection>_<UTC time to the second>`, with `_2`, `_3` ... when that is taken."""
    name = f"{base.settings.milvus.collection}_{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    taken = {build.name for build in base.builds.builds()}
    taken |= {record.name for record in base.catalog.build_records()}
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def record_published(base: KnowledgeBase, record: BuildRecord) -> None:
    """Note that the alias points to the build of a record, and set every document's state by it."""
    now = base.clock()
    base.catalog.mark_live(record.name, now)
    contents = base.catalog.contents(record.name)
    base.catalog.record_build(
        replace(
            record,
            state=BuildState.PUBLISHED,
            finished_at=now,
            documents=len(contents),
            chunks=sum(content.chunk_count for content in contents.values()),
        )
    )


def abandon(base: KnowledgeBase, record: BuildRecord, before: str | None, error: BaseException) -> None:
    """Take back a build that failed: the alias to where it was, the collection dropped, the reason kept.

    Never raises for a store or catalog that does not answer, since that would hide the first
    error; what is left over is removed at the next rebuild.
    """
    cancelled = isinstance(error, JobCancelled)
    reason = str(error) if isinstance(error, RankLensError) else f"{type(error).__name__}: {error}"
    try:
        if base.builds.live() == record.name and before is not None:
            base.builds.publish(before)
        _drop_if_there(base, record.name)
    except StoreError as failure:
        _LOG.warning("The half-built %s could not be removed: %s", record.name, failure)
    try:
        base.catalog.remove_contents(record.name)
        base.catalog.record_build(
            replace(
                record,
                state=BuildState.CANCELLED if cancelled else BuildState.FAILED,
                finished_at=base.clock(),
                reason=reason or "Stopped.",
            )
        )
    except StoreError as failure:
        _LOG.warning("The end of build %s could not be recorded: %s", record.name, failure)


def remove_half_built(base: KnowledgeBase) -> tuple[str, ...]:
    """Remove what an ended process left of its rebuilds; return the names of dropped builds.

    Belongs to the start of the process that owns the base, and runs before each rebuild. A build
    that was published just before the end is kept and recorded as published.

    Raises:
        StoreError: the store does not answer.
    """
    dropped: list[str] = []
    with one_rebuild(_say_nothing):
        there = {build.name for build in base.builds.builds()}
        live = base.builds.live()
        for record in base.catalog.build_records():
            if record.name == live and record.state is BuildState.BUILDING:
                record_published(base, record)
            elif record.state is not BuildState.PUBLISHED and record.name != live:
                if record.name in there:
                    base.builds.drop(record.name)
                    dropped.append(record.name)
                _close_interrupted(base, record)
    return tuple(dropped)


def drop_old_builds(
    base: KnowledgeBase, keep: int = KEPT_BUILDS
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Drop our builds beyond the newest `keep`, never the live one and never a foreign collection.

    Returns:
        The names dropped, oldest first, and a sentence for each one that could not be.
    """
    ours = [build for build in base.builds.builds() if build.fingerprint is not None]
    dropped: list[str] = []
    warnings: list[str] = []
    for build in ours[:-keep]:
        if build.live:
            continue
        try:
            base.builds.drop(build.name)
        except StoreError as error:
            warnings.append(f"The old build {build.name} could not be removed: {error}")
            continue
        base.catalog.remove_contents(build.name)
        dropped.append(build.name)
    return tuple(dropped), tuple(warnings)


def _drop_if_there(base: KnowledgeBase, name: str) -> None:
    if name != base.builds.live() and name in {build.name for build in base.builds.builds()}:
        base.builds.drop(name)


def _close_interrupted(base: KnowledgeBase, record: BuildRecord) -> None:
    if record.state is BuildState.BUILDING:
        base.catalog.remove_contents(record.name)
        ended = replace(record, state=BuildState.FAILED, finished_at=base.clock(), reason=_INTERRUPTED)
        base.catalog.record_build(ended)


def _say_nothing(_verb: str, _done: int, _total: int) -> None:
    return
