"""What differs between a saved lookup and the same one asked again, as values.

Invariants: what did not change is not listed, so an empty tuple means "the same"; `before` is of the
saved lookup and `after` of the new one; None there means that there was none, never 0.
"""

from dataclasses import dataclass
from enum import StrEnum

from core.model.lookup import Level, Stage
from core.retrieval.replay.bundles import Plain


@dataclass(frozen=True, slots=True)
class Change:
    """A named value that differs; None is one that is not set or was not there."""

    name: str
    before: Plain
    after: Plain


@dataclass(frozen=True, slots=True)
class PlaceChange:
    """A chunk at another rank of one list; None is not in it.

    A second copy of a chunk in one list is named `<evidence key> (copy 2)`.
    """

    evidence_key: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A chunk that one list gives another score, by more than 1e-5."""

    evidence_key: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class LevelChange:
    """A chunk that was judged otherwise in one attempt."""

    evidence_key: str
    before: Level
    after: Level


@dataclass(frozen=True, slots=True)
class EndChange:
    """A candidate that ended otherwise; None is no candidate at all, with an empty reason."""

    evidence_key: str
    before: Stage | None
    after: Stage | None
    reason_before: str
    reason_after: str


@dataclass(frozen=True, slots=True)
class ContentChange:
    """A chunk that both lookups found, with other text or another place in the base.

    Attributes:
        document: its doc_id; None in a foreign row that carries none.
        fields: what differs, of content, title, breadcrumb, source, category and kb_scope.
    """

    evidence_key: str
    document: str | None
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListChange:
    """What differs in one list of one attempt.

    Attributes:
        name: `dense`, `sparse`, `fused`, or `merged` for the hits of a merged attempt.
        state: of the route, with the reason where it is not ok; None when it is the same.
        added: by rank now.
        removed: by rank then.
        moved: by rank then.
        rescored: by rank then; empty for `merged`, which has no score of its own.
    """

    name: str
    state: Change | None
    added: tuple[PlaceChange, ...]
    removed: tuple[PlaceChange, ...]
    moved: tuple[PlaceChange, ...]
    rescored: tuple[ScoreChange, ...]


class Ran(StrEnum):
    """In which of the two lookups an attempt ran."""

    BOTH = "both"
    ONLY_THEN = "only then"
    ONLY_NOW = "only now"


@dataclass(frozen=True, slots=True)
class AttemptChange:
    """What differs in one attempt; all empty unless it ran in both lookups.

    Attributes:
        lists: dense, sparse and fused, or merged.
        verdict: category_filter, level, category_chunks and the verdict of the fusion audit.
        levels: by evidence key, of the hits that both have.
    """

    name: str
    ran: Ran
    lists: tuple[ListChange, ...] = ()
    verdict: tuple[Change, ...] = ()
    levels: tuple[LevelChange, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectionChange:
    """What differs in what the agent gets.

    Attributes:
        same: its JSON is the same byte for byte; everything else is empty then.
        fields: found, relevance_level, selected_attempt, filter_relaxed.
        gone: by place then.
        new: by place now.
        moved: by place then.
        rewritten: keys in both whose title, excerpt or another part differs; by place then.
    """

    same: bool
    fields: tuple[Change, ...]
    gone: tuple[PlaceChange, ...]
    new: tuple[PlaceChange, ...]
    moved: tuple[PlaceChange, ...]
    rewritten: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs between two results of one question; surroundings and times left out.

    Attributes:
        navigation: the domains that match, and the category they set.
        contents: by evidence key.
        attempts: in the order they ran.
        decision: which attempt was selected, filter_relaxed, outside_category.
        ends: of the ledger, by evidence key.
    """

    navigation: tuple[Change, ...]
    contents: tuple[ContentChange, ...]
    attempts: tuple[AttemptChange, ...]
    decision: tuple[Change, ...]
    ends: tuple[EndChange, ...]
    projection: ProjectionChange

    @property
    def none(self) -> bool:
        """Nothing differs."""
        listed = (self.navigation, self.contents, self.attempts, self.decision, self.ends)
        return self.projection.same and not any(listed)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A saved lookup against the same one asked again.

    Attributes:
        identical: the two results are the same; builds, settings and versions may still differ.
        sentence: what changed first on the line and why it probably did.
        created_at: when the saved one was made, ISO 8601 in UTC.
        build: name, rows and index of the build, and its fingerprint field by field.
        settings: those that differ today; the replay itself used the saved configuration.
        versions: of libraries and server.
        milliseconds: every stage, then and now; shown, never compared.
    """

    identical: bool
    sentence: str
    query: str
    created_at: str
    build: tuple[Change, ...]
    settings: tuple[Change, ...]
    versions: tuple[Change, ...]
    differences: Differences
    milliseconds: tuple[Change, ...]
