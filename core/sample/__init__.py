"""The sample knowledge base of a first visit: documents, judged queries and three examples.

In: the files beside this module. Out: their bytes and names. Invariant: everything here was written
for this project, about a shop that does not exist; a file's category is the folder it lies in.
"""

import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent
_DOCUMENTS: Final = _FOLDER / "documents"


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A document as a person would upload it.

    Attributes:
        name: relative name with its category folder, `/` between folders, NFC.
        data: the whole file, Markdown in UTF-8.
        category: the first folder of `name`.
    """

    name: str
    data: bytes
    category: str


@dataclass(frozen=True, slots=True)
class ExampleQuery:
    """A question that shows one thing about retrieval on the sample base.

    Attributes:
        title: what it shows, in a few words.
        query: the question.
        category: the filter to ask with; None asks all categories.
        explanation: what to watch, in two or three sentences.
    """

    title: str
    query: str
    category: str | None
    explanation: str


EXAMPLE_QUERIES: Final = (
    ExampleQuery(
        title="A gain: an alert name",
        query="GatewayBadGatewayRate",
        category=None,
        explanation=(
            "Dense search sees a gateway and brings pages about payments; the runbook for this alert is "
            "not among its first five. BM25 looks for the name itself, so hybrid search puts it first."
        ),
    ),
    ExampleQuery(
        title="No change: dense search was right",
        query="KubePodCrashLooping",
        category=None,
        explanation=(
            "One chunk alone holds this alert name, and dense search has it first already. The two lists "
            "are the same: here hybrid search costs a little time and gains nothing."
        ),
    ),
    ExampleQuery(
        title="A wrong filter: saved by the fallback",
        query="CoreDNS answers SERVFAIL for names inside the cluster",
        category="kubernetes",
        explanation=(
            "The answer is filed under network. Nothing in kubernetes stands out, so the filter is "
            "relaxed. Watch the two attempts, the numbers behind the verdict, and the hits from elsewhere."
        ),
    ),
)
"""A query that hybrid search answers better, one that it leaves as it was, one with a wrong category."""


def sample_files() -> tuple[SampleFile, ...]:
    """Read the documents, in the order of their names."""
    paths = sorted(_DOCUMENTS.glob("*/*.md"))
    files = (SampleFile(_name(path), path.read_bytes(), path.parent.name) for path in paths)
    return tuple(sorted(files, key=lambda file: file.name))


def sample_documents_path() -> Path:
    """Return the folder of the documents; its folders are the categories."""
    return _DOCUMENTS


def sample_queries_path() -> Path:
    """Return the JSONL file of judged queries; judgments name documents as `sample_files` does."""
    return _FOLDER / "queries.jsonl"


def _name(path: Path) -> str:
    # Some file systems hand out decomposed names; a document's identity is made of composed ones.
    return unicodedata.normalize("NFC", path.relative_to(_DOCUMENTS).as_posix())
