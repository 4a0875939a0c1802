"""The ports that one knowledge base stands on, and what follows from its settings.

Invariants: one writer to the live build at a time in this process (`WRITER_LOCK`), one rebuild at
a time (`REBUILD_LOCK`). Whoever needs both takes the rebuild lock first.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from core.catalog.catalog import Catalog
from core.catalog.originals import Originals
from core.catalog.records import utc_now
from core.errors import CollectionMismatch
from core.intake.chunking import ChunkRules, chunk_rules_key
from core.model.builds import Fingerprint
from core.ports import (
    BuildPort,
    Embedder,
    KnowledgeSearchPort,
    KnowledgeWritePort,
    StageProgress,
    TokenCounter,
)
from core.settings import Settings

WRITER_LOCK = threading.RLock()
REBUILD_LOCK = threading.RLock()
_LOOK_SECONDS = 0.2

# Two more tries; the longest wait stays below what a person takes for a hang.
RETRY_PAUSES_SECONDS = (0.5, 2.0)


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """What uploading and rebuilding work with.

    Attributes:
        searcher: a build's physical name to its search port.
        schema: version of the store's field layout.
        analyzer: canonical JSON of the analyzer of `search_text`.
        clock: the present time, aware UTC.
        pause: waits that many seconds before a failed step is tried again.
    """

    settings: Settings
    catalog: Catalog
    originals: Originals
    embedder: Embedder
    token_counter: TokenCounter
    writer: KnowledgeWritePort
    builds: BuildPort
    searcher: Callable[[str], KnowledgeSearchPort]
    schema: int
    analyzer: str
    clock: Callable[[], datetime] = utc_now
    pause: Callable[[float], None] = time.sleep


def chunk_rules(base: KnowledgeBase) -> ChunkRules:
    """Return the chunk rules of the settings."""
    chunking = base.settings.chunking
    return ChunkRules(
        size_tokens=chunking.size_tokens,
        overlap_tokens=chunking.overlap_tokens,
        split_levels=chunking.split_levels,
    )


def upload_limit_bytes(base: KnowledgeBase) -> int:
    """Return the largest file that may be uploaded."""
    return base.settings.console.upload_limit_megabytes * 1024 * 1024


def fingerprint(base: KnowledgeBase) -> Fingerprint:
    """Return what a build made now would be made with."""
    return Fingerprint(
        schema=base.schema,
        model=base.embedder.name,
        revision=base.embedder.revision,
        query_prompt=base.embedder.query_prompt,
        passage_prompt=base.embedder.passage_prompt,
        dimension=base.embedder.dimension,
        metric=base.settings.milvus.metric,
        analyzer=base.analyzer,
        chunk_rules=chunk_rules_key(chunk_rules(base)),
    )


def require_fitting_live_build(base: KnowledgeBase) -> None:
    """Refuse to write into a live build that was made with other settings; none at all is fine.

    Raises:
        CollectionMismatch: says which settings differ, both values, and the ways out.
    """
    live = base.builds.live()
    described = [build for build in base.builds.builds() if build.name == live]
    if not described:
        return
    made_with = described[0].fingerprint
    if made_with is None:
        raise CollectionMismatch(
            f"The live build {live} carries no fingerprint, so it was not made by RankLens and cannot be "
            "written. Start a rebuild."
        )
    differences = made_with.differences(fingerprint(base))
    if differences:
        listed = "; ".join(differences)
        raise CollectionMismatch(
            f"The live build {live} was made with other settings ({listed}), so new chunks would not fit "
            "the old ones. Start a rebuild, or go back to the old settings."
        )


@contextmanager
def one_rebuild(progress: StageProgress) -> Iterator[None]:
    """Hold the rebuild lock; while another thread has it, report `wait` so that a person can cancel."""
    while not REBUILD_LOCK.acquire(timeout=_LOOK_SECONDS):
        progress("wait", 0, 0)
    try:
        yield
    finally:
        REBUILD_LOCK.release()
