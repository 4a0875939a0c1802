"""What became of a query: attempts, evidence, ledger, packing, projection, and all of it together.

Values only. Invariants: the ledger gives every candidate exactly one end, and the counts of the
ends add up to the number of candidates; a projection carries no score and no rank.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.model.search import SearchHit, SearchResponse


class FilterPolicy(StrEnum):
    """What happens when a category filter gives poor results; kb_scope never relaxes."""

    STRICT = "strict"
    FALLBACK = "fallback"
    PARALLEL = "parallel"


class Level(StrEnum):
    """How good a hit, or a whole list, is; judged on dense similarity only (see `evidence`)."""

    PRECISE = "precise"
    RELATED = "related"
    WEAK = "weak"

    @property
    def order(self) -> int:
        """0 for WEAK, 1 for RELATED, 2 for PRECISE."""
        return (Level.WEAK, Level.RELATED, Level.PRECISE).index(self)


@dataclass(frozen=True, slots=True)
class Background:
    """What the base offers for this query at all: its unfiltered dense list in the same kb_scope.

    Attributes:
        count: hits in that list; 0 when there was none.
        best: highest cosine, None when count is 0.
        mean: mean cosine, None when count is 0.
        deviation: population standard deviation of the cosines, None when count is 0.
        milliseconds: of the extra call that fetched it; 0.0 when the search's own dense list served.
    """

    count: int
    best: float | None
    mean: float | None
    deviation: float | None
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """The level of one hit with the numbers behind it.

    Attributes:
        similarity: dense cosine; None when the dense route did not return the hit.
        margin: how many standard deviations the cosine stands above the background's mean; None
            without a similarity or with a background that has no spread.
        lexically_complete: every identifier-like term of the query stands in the hit's text.
        reason: the rule that decided, in words with the numbers.
    """

    level: Level
    similarity: float | None
    margin: float | None
    lexically_complete: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One retrieval under one filter.

    Attributes:
        name: `filtered`, `unfiltered` or `merged`.
        category_filter: the category asked of the store; None asks all.
        response: the search; for `merged` the hits are the merge and the lists are those of the
            unfiltered attempt.
        level: the best level among the hits that refining keeps; WEAK when there are none.
        judgements: by evidence key, one for every hit of `response.hits`.
        category_chunks: chunks the filter admits, counted when the attempt found nothing good; else None.
        reason: the verdict in words with its numbers.
        milliseconds: wall-clock time of the whole attempt.
    """

    name: str
    category_filter: str | None
    response: SearchResponse
    level: Level
    judgements: Mapping[str, Judgement]
    category_chunks: int | None
    reason: str
    milliseconds: float

    @property
    def hits(self) -> tuple[SearchHit, ...]:
        """The hits of this attempt, best first."""
        return self.response.hits


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The attempts of one lookup and the one whose hits go on.

    Attributes:
        attempts: in the order they ran.
        selected: name of the attempt that goes on.
        reason: why that one, in words.
        filter_relaxed: hits of other categories than the one asked for were allowed.
        background: the yardstick of all levels in this lookup.
    """

    attempts: tuple[Attempt, ...]
    selected: str
    reason: str
    filter_relaxed: bool
    background: Background

    @property
    def chosen(self) -> Attempt:
        """The selected attempt."""
        return next(attempt for attempt in self.attempts if attempt.name == self.selected)


class Stage(StrEnum):
    """Where a candidate can end, in the order of the line."""

    RETRIEVE = "retrieve"
    FUSE = "fuse"
    DEDUP = "dedup"
    CAP = "cap"
    RETURN_N = "return_n"
    PACK = "pack"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The one end of one candidate.

    Attributes:
        evidence_key: of the candidate. A duplicate has the key of the copy it duplicates.
        hit: the candidate with its ranks and scores.
        end: KEPT, or the stage that dropped it.
        reason: the numbers that decided, in words.
        judgement: None for candidates that were dropped before levels are given.
        duplicate_of_rank: list rank of the kept copy; None unless `end` is DEDUP.
    """

    evidence_key: str
    hit: SearchHit
    end: Stage
    reason: str
    judgement: Judgement | None = None
    duplicate_of_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One hit that survived refining, with its identity and level."""

    evidence_key: str
    hit: SearchHit
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Refinement:
    """What refining kept, best first, and an entry for everything it dropped."""

    kept: tuple[Evidence, ...]
    dropped: tuple[LedgerEntry, ...]


@dataclass(frozen=True, slots=True)
class PackedEvidence:
    """One piece of evidence inside the character budget.

    Attributes:
        excerpt: the content, or its beginning when it was cut; never ends inside a character.
        truncated: the excerpt is shorter than the content.
        characters: what it takes from the budget: title, breadcrumb and excerpt, in code points.
        full_characters: what it would have taken uncut.
    """

    evidence: Evidence
    excerpt: str
    truncated: bool
    characters: int
    full_characters: int


@dataclass(frozen=True, slots=True)
class Packing:
    """The evidence that fits into the budget, in pack order, and what did not fit."""

    packed: tuple[PackedEvidence, ...]
    dropped: tuple[LedgerEntry, ...]
    budget_characters: int

    @property
    def used_characters(self) -> int:
        """Code points taken from the budget; never more than the budget."""
        return sum(item.characters for item in self.packed)


@dataclass(frozen=True, slots=True)
class ProjectedEvidence:
    """One piece of evidence as the agent sees it."""

    document_id: str
    source: str | None
    title: str | None
    breadcrumb: str | None
    category: str
    excerpt: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class Projection:
    """The agent's contract: no scores, no ranks, unique by `document_id` (the evidence key)."""

    found: bool
    relevance_level: Level
    selected_attempt: str
    filter_relaxed: bool
    evidence: tuple[ProjectedEvidence, ...]


@dataclass(frozen=True, slots=True)
class MatchedDomain:
    """A domain with the words of it that stand in the query, in the order of the query, at least one."""

    category: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Navigation:
    """What the words of the query say about its category; it decides a filter, never a score.

    Attributes:
        matched: in the order of the dictionary; empty when no word of it stands in the query.
        category: the category that the lookup was filtered by because of it; None when it set none.
        reason: why, in words.
    """

    matched: tuple[MatchedDomain, ...]
    category: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class LookupResult:
    """Everything one lookup did, from the question to what the agent sees.

    Attributes:
        query: after normalising.
        configuration_hash: 12 hex digits over every setting that shapes the result.
        build: physical name of the build that answered.
        navigation: None when it was not asked for.
        outside_category: how many projected hits lie outside the category that was asked for by hand or
            set by navigation; 0 without one.
        ledger: one entry for every candidate of any route and attempt, kept ones first in pack order.
        milliseconds: by stage: navigate (when asked for), embed, retrieve, refine, pack, project, total.
    """

    query: str
    configuration_hash: str
    build: str
    navigation: Navigation | None
    retrieval: Retrieval
    refinement: Refinement
    packing: Packing
    projection: Projection
    outside_category: int
    ledger: tuple[LedgerEntry, ...]
    milliseconds: Mapping[str, float]

    @property
    def low_quality(self) -> bool:
        """Nothing kept is at least RELATED."""
        return not self.projection.found
