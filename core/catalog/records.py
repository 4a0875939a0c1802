"""The rows of the catalog as frozen values.

Invariant: every time is timezone-aware UTC; `DocumentState.INDEXED` is only ever set together with
the build and the chunk count that make it true.
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from core.model.builds import Fingerprint, Verification


def utc_now() -> datetime:
    """Return the present time, timezone-aware, in UTC."""
    return datetime.now(UTC)


class DocumentState(StrEnum):
    """STORED: kept, but not (or not in this version) in the live build. INDEXED: in the live build."""

    STORED = "stored"
    INDEXED = "indexed"


class BuildState(StrEnum):
    """What became of a rebuild; only a PUBLISHED one was ever behind the alias."""

    BUILDING = "building"
    PUBLISHED = "published"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobState(StrEnum):
    """The life of a job; INTERRUPTED means that the process ended while it ran."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def active(self) -> bool:
        """Queued or running."""
        return self in (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class CatalogDocument:
    """A document that was uploaded.

    Attributes:
        original_hash: SHA-256 of the bytes as uploaded; the key of the original.
        content_hash: SHA-256 of the loaded text.
        byte_count: size of the original.
        version: 1 at the first upload, one more with each replacement.
        uploaded_at: of version 1.
        changed_at: of the present version.
        state: whether the present version is in the live build.
        encoding: how the bytes are read, when a person chose it; None finds it by rules.
        chunk_count: chunks of the present version in the live build; None while STORED.
        build: the build they were written to; None while STORED.
        indexed_at: None while STORED.
    """

    doc_id: str
    name: str
    title: str
    category: str
    kb_scope: str
    original_hash: str
    content_hash: str
    byte_count: int
    version: int
    uploaded_at: datetime
    changed_at: datetime
    encoding: str | None = None
    state: DocumentState = DocumentState.STORED
    chunk_count: int | None = None
    build: str | None = None
    indexed_at: datetime | None = None

    @property
    def content_key(self) -> str:
        """Name what its chunks are made of: original, name, category, encoding; 64 hex digits."""
        parts = (self.original_hash, self.name, self.category, self.encoding or "")
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class BuildContent:
    """What a build holds of one document.

    Attributes:
        content_key: of the version that was written, see `CatalogDocument.content_key`.
        chunk_count: its chunks.
    """

    doc_id: str
    content_key: str
    chunk_count: int


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """One rebuild and what became of it.

    Attributes:
        finished_at: None while BUILDING.
        documents: in the build when it was published; 0 before.
        chunks: in the build when it was published; 0 before.
        verification: None when it did not get that far.
        reason: a sentence: why it failed or was cancelled; "" when it was published.
    """

    name: str
    state: BuildState
    started_at: datetime
    finished_at: datetime | None = None
    documents: int = 0
    chunks: int = 0
    fingerprint: Fingerprint | None = None
    verification: Verification | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as it is kept after the process that ran it.

    Attributes:
        stage: verb of the last stage it reported; "" before the first.
        done: steps of that stage.
        total: 0 when unknown.
        started_at: when it was accepted.
        finished_at: None while it is active.
        message: how it ended, in a sentence; "" while it is active.
    """

    id: str
    kind: str
    title: str
    state: JobState
    stage: str
    done: int
    total: int
    started_at: datetime
    finished_at: datetime | None = None
    message: str = ""
