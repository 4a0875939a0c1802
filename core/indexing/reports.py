"""What indexing, deleting and rebuilding say about what they did."""

from dataclasses import dataclass
from enum import StrEnum

from core.model.builds import Verification
from core.model.documents import DEFAULT_KB_SCOPE, Chunk, Document


@dataclass(frozen=True, slots=True)
class UploadedFile:
    r"""A file as a person gave it.

    Attributes:
        name: relative name, `/` or `\` between folders.
        category: "" means uncategorized.
        encoding: chosen by a person, one of `core.intake.decoding.ENCODINGS`; None finds it by rules.
    """

    name: str
    data: bytes
    category: str = ""
    kb_scope: str = DEFAULT_KB_SCOPE
    encoding: str | None = None


class FileOutcome(StrEnum):
    """What became of an uploaded file."""

    INDEXED = "indexed"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file of an upload.

    Attributes:
        reason: a sentence for UNCHANGED and REFUSED; "" else.
        doc_id: None when the file never became a document.
        chunk_count: chunks of the document in the live build; 0 when refused.
        warnings: sentences from loading.
    """

    name: str
    outcome: FileOutcome
    reason: str = ""
    doc_id: str | None = None
    chunk_count: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexReport:
    """An upload.

    Attributes:
        files: one report for each file, in the order given.
        build: the live build afterwards; None when there is none.
        rebuilt: the upload ended with a rebuild (the first build, or to make BM25 statistics whole).
        warnings: sentences about the upload as a whole.
    """

    files: tuple[FileReport, ...]
    build: str | None
    milliseconds: float
    rebuilt: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """A file as it would be indexed; nothing was stored."""

    document: Document
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class DeletionReport:
    """Documents that were deleted.

    Attributes:
        documents: removed from the catalog.
        chunks: removed from the live build.
        originals: removed; fewer than documents when another document is made of the same bytes.
    """

    documents: int
    chunks: int
    originals: int


@dataclass(frozen=True, slots=True)
class BuildReport:
    """A rebuild that was published.

    Attributes:
        left_out: documents that could not be read again and were left out on purpose, REFUSED each.
        dropped: names of old builds that were removed.
        fragmented: BM25 statistics are not whole, because a document changed at the last moment.
        warnings: sentences; an old build that could not be removed, for example.
    """

    build: str
    documents: int
    chunks: int
    verification: Verification
    seconds: float
    left_out: tuple[FileReport, ...] = ()
    dropped: tuple[str, ...] = ()
    fragmented: bool = False
    warnings: tuple[str, ...] = ()


class InconsistencyKind(StrEnum):
    """How the live build and the catalog can differ."""

    NOT_INDEXED = "not indexed"
    COUNT_DIFFERS = "count differs"
    GHOST = "ghost"


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """One document about which the catalog and the live build do not agree.

    Attributes:
        expected: chunks that the catalog knows; 0 for a ghost; None when it was not indexed yet.
        stored: chunks that the store counts.
        sentence: what is the case and what to do.
    """

    doc_id: str
    kind: InconsistencyKind
    expected: int | None
    stored: int
    sentence: str
