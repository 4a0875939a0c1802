"""The terms that BM25 sees: of a query, of a chunk, and what each of them is worth.

A store cuts text into `Term`s and says what a chunk and a query share as a `TermMatch`; the token
lens joins both into a `TokenLens`. Invariants: terms stand as the build's analyzer makes them; what a
store cannot tell is None, never 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Term:
    """One piece of a text, as the analyzer made it.

    Attributes:
        text: in lower case where the analyzer lowers it.
        dropped: a stop word or punctuation: cut, but never looked for.
    """

    text: str
    dropped: bool = False

    @property
    def is_word(self) -> bool:
        """It holds a letter or a digit, so it is no punctuation."""
        return any(character.isalnum() for character in self.text)


def kept_terms(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """Return the terms that BM25 looks for, in order, with repetitions."""
    return tuple(term.text for term in terms if not term.dropped)


def can_be_searched(terms: tuple[Term, ...]) -> bool:
    """Tell whether BM25 has anything to look for: a kept term with a letter or digit."""
    return any(term.is_word and not term.dropped for term in terms)


@dataclass(frozen=True, slots=True)
class TermMatch:
    """What one chunk and one query share.

    Attributes:
        search_text: of the chunk, as the store holds it.
        score: BM25 of the chunk for the whole query; 0.0 when they share no term.
        unit_scores: by term that both hold, in the order of the query: BM25 of the chunk for a query
            that is this term once, > 0. None when the store has no query for this term alone.
    """

    search_text: str
    score: float
    unit_scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One distinct term of the query.

    Attributes:
        times: how often it stands in the query, at least 1; BM25 counts it as often.
        document_frequency: chunks of the build that hold it; None when the store cannot tell.
        giant: too long to be a word, so the analyzer did not cut it.
    """

    text: str
    times: int
    document_frequency: int | None
    giant: bool


@dataclass(frozen=True, slots=True)
class SharedTerm:
    """A term that the query and the chunk hold.

    Attributes:
        times_in_query: at least 1.
        times_in_chunk: at least 1.
        part: what it adds to the chunk's BM25 score, its repetitions in the query included; None when
            the store cannot tell it from another term's.
    """

    text: str
    times_in_query: int
    times_in_chunk: int
    part: float | None


@dataclass(frozen=True, slots=True)
class ChunkLens:
    """One chunk under the lens.

    Attributes:
        terms: of its search text, in order.
        shared: in the order of the query.
        score: BM25 for the query; 0.0 when they share no term.
    """

    evidence_key: str
    terms: tuple[Term, ...]
    shared: tuple[SharedTerm, ...]
    score: float

    @property
    def unexplained(self) -> float:
        """The score without the known parts; 0 up to rounding when every part is known."""
        return self.score - sum(term.part for term in self.shared if term.part is not None)


class LensWarningKind(StrEnum):
    """What makes a query or a chunk poor for BM25."""

    NO_TERMS = "no terms"
    GIANT_TERM = "giant term"
    NONE_IN_BASE = "no term in the base"
    NOTHING_SHARED = "no shared term"


@dataclass(frozen=True, slots=True)
class LensWarning:
    """A warning and its sentence, which says what to do."""

    kind: LensWarningKind
    sentence: str


@dataclass(frozen=True, slots=True)
class TokenLens:
    """A query, and if asked one chunk, as BM25 sees them.

    Attributes:
        query: normalised.
        build: whose analyzer and statistics these are.
        build_chunks: chunks of that build, all knowledge bases and categories, as BM25 counts them.
        terms: of the query, in order, with repetitions.
        query_terms: the kept ones, each once, in order of first appearance.
        chunk: None when none was asked for.
        warnings: () when there is nothing to say.
    """

    query: str
    build: str
    build_chunks: int
    terms: tuple[Term, ...]
    query_terms: tuple[QueryTerm, ...]
    chunk: ChunkLens | None
    warnings: tuple[LensWarning, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Terms of the query that no chunk of the build holds, in order."""
        return tuple(term.text for term in self.query_terms if term.document_frequency == 0)
