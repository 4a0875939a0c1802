"""Judged queries as frozen values.

In: values from a reader or a form. Out: a `QuerySet` with a hash of everything that can change a
number. Invariants: query ids are unique; every judgment belongs to a query of the set; names of
documents and headings are NFC, so a name typed on one system matches a file named on another.

Why documents and headings and not chunks: chunk ids change with the chunk rules, and a judgment
has to outlive a rebuild.
"""

import hashlib
import json
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass

UNSPECIFIED_KIND = "unspecified"
MAX_GRADE = 10


def normal_name(name: str) -> str:
    """Return the name in NFC, the form in which document names are compared."""
    return unicodedata.normalize("NFC", name)


@dataclass(frozen=True, slots=True)
class Query:
    """One question of a query set.

    Attributes:
        query_id: unique in its set, never empty.
        text: trimmed, 1 to 2,000 characters after NFKC.
        kind: what it tests, for example `term`, `semantic`, `filter`; means are given by kind.
        language: for example `en`; None when the set does not say.
        category: the category filter to search with; None searches all categories.
        right_category: where the answer is; None when the set does not say.
        notes: for people; "" when there are none. Never part of the hash.
    """

    query_id: str
    text: str
    kind: str = UNSPECIFIED_KIND
    language: str | None = None
    category: str | None = None
    right_category: str | None = None
    notes: str = ""

    @property
    def wrong_category(self) -> bool:
        """It is to be searched with a category in which the answer is known not to be."""
        return None not in (self.category, self.right_category) and self.category != self.right_category


@dataclass(frozen=True, slots=True)
class Judgment:
    """How relevant a document is to a query.

    Attributes:
        document: relative name of the file as it was uploaded, NFC, `/` between folders.
        grade: 0 (judged, not relevant) to 10; 1 and more is relevant.
        heading: the heading under which the answer stands; None when the whole document is meant.
    """

    query_id: str
    document: str
    grade: int
    heading: str | None = None


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Queries with their judgments, in the order of the file.

    Attributes:
        name: for people; not part of the hash.
        warnings: sentences about what was ignored or merged while reading; empty when nothing was.
    """

    name: str
    queries: tuple[Query, ...]
    judgments: tuple[Judgment, ...]
    warnings: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """64 hex digits over queries and judgments, whatever their order; without name and notes.

        Two runs can be compared when they have the same hash.
        """
        queries = sorted(
            [q.query_id, q.text, q.kind, q.language, q.category, q.right_category] for q in self.queries
        )
        judgments = sorted([j.query_id, j.document, j.heading or "", j.grade] for j in self.judgments)
        canonical = json.dumps([queries, judgments], separators=(",", ":"))
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()

    def grades(self) -> Mapping[str, Mapping[str, int]]:
        """Return `{query_id: {document: grade}}` with every query in it, also unjudged ones.

        A document that is judged under several headings has the highest of their grades.
        """
        table: dict[str, dict[str, int]] = {query.query_id: {} for query in self.queries}
        for judgment in self.judgments:
            row = table[judgment.query_id]
            row[judgment.document] = max(judgment.grade, row.get(judgment.document, 0))
        return table


def stale_judgments(query_set: QuerySet, documents: Collection[str]) -> tuple[Judgment, ...]:
    """Find the relevant judgments whose document is not in the base.

    Args:
        query_set: whose judgments are looked at; grade 0 is passed over, it asks for nothing.
        documents: relative names of the documents in the base, in any normal form.

    Returns:
        The judgments in the order of the set; empty when every document is there.
    """
    present = {normal_name(document) for document in documents}
    return tuple(j for j in query_set.judgments if j.grade > 0 and j.document not in present)
