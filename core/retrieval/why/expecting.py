"""What a person expects to find: one chunk, or any chunk of a document.

In: an evidence key, a doc_id or a file name. Out: a `Target`, the rows of the build that count.
Invariant: of rows in another knowledge base than the one asked only their being there is told.
"""

import re
import unicodedata
from dataclasses import dataclass

from core.errors import RequestInvalid
from core.model.identity import evidence_key
from core.model.lookup import LookupResult
from core.model.search import SearchHit
from core.ports import KnowledgeSearchPort

MAX_EXPECTED_BYTES = 1_100
"""The longest file name takes 1,024 bytes; an index with its mark is far shorter than the rest."""

_CHUNK = re.compile(r"(?P<document>.+)#chunk-(?P<index>[0-9]{1,18})", re.DOTALL)
_PLACE = re.compile(r"rank:[0-9]+")


@dataclass(frozen=True, slots=True)
class Target:
    """The rows that were meant.

    Attributes:
        rows: those in the knowledge base asked, by doc_id and chunk_index.
        elsewhere: the build holds such a row, but only in other knowledge bases.
        document: the doc_id or file name without the chunk.
        document_chunks: chunks of the document in the knowledge base asked.
    """

    rows: tuple[SearchHit, ...]
    elsewhere: bool
    document: str
    document_chunks: int

    @property
    def keys(self) -> tuple[str, ...]:
        """The evidence keys, in the order of the rows."""
        return tuple(evidence_key(row) for row in self.rows)


def clean_expected(expected: str) -> str:
    """Trim what was typed and bring it to NFC.

    Raises:
        RequestInvalid: it cannot name a chunk or a document.
    """
    clean = unicodedata.normalize("NFC", expected).strip()
    example = "Give an evidence key such as base/guide.md#chunk-3, a doc_id or a file name."
    if not clean:
        raise RequestInvalid(f"No chunk or document is named. {example}")
    try:
        size = len(clean.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise RequestInvalid(f"{clean!a} is not valid Unicode ({error.reason}). {example}") from error
    if size > MAX_EXPECTED_BYTES:
        raise RequestInvalid(
            f"The name of what is expected takes {size:,} bytes; at most {MAX_EXPECTED_BYTES:,} are "
            f"allowed. {example}"
        )
    if _PLACE.fullmatch(clean):
        raise RequestInvalid(f"{clean!r} names a place in one list, not a chunk. {example}")
    return clean


def find_target(
    searcher: KnowledgeSearchPort, expected: str, kb_scope: str | None, result: LookupResult
) -> Target:
    """Find the rows that a clean name means.

    An evidence key means its chunk. When the build has no such chunk, the whole text may be the name
    of a document that looks like a key. A key of a row without a document (`vector:...`) is known only
    when the lookup met the row.
    """
    met = tuple(entry.hit for entry in result.ledger if entry.evidence_key == expected)
    parsed = _CHUNK.fullmatch(expected)
    if parsed is None:
        rows = searcher.find(expected) or met[:1]
        return _target(rows, rows, expected, kb_scope)
    document = searcher.find(parsed["document"])
    rows = tuple(row for row in document if row.chunk_index == int(parsed["index"]))
    if not rows:
        whole = searcher.find(expected)
        if whole:
            return _target(whole, whole, expected, kb_scope)
    return _target(rows or met[:1], document, parsed["document"], kb_scope)


def _target(
    rows: tuple[SearchHit, ...], document: tuple[SearchHit, ...], name: str, kb_scope: str | None
) -> Target:
    inside = _within(rows, kb_scope)
    return Target(inside, bool(rows) and not inside, name, len(_within(document, kb_scope)))


def _within(rows: tuple[SearchHit, ...], kb_scope: str | None) -> tuple[SearchHit, ...]:
    return tuple(row for row in rows if kb_scope in (None, row.kb_scope))
