"""Why an expected chunk is not among the evidence, and which single change of a setting would keep it.

Values only. Invariants: an explanation has exactly one end; a number that was not measured is None,
never 0; every rescue was seen to hold in a lookup with that one change.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from core.model.search import Route, RouteState

SettingValue: TypeAlias = str | int | float | None


class End(StrEnum):
    """Where an expected chunk can end, the earlier in the line the earlier here."""

    NOT_IN_BUILD = "not_in_build"
    OTHER_SCOPE = "other_scope"
    OTHER_CATEGORY = "other_category"
    RETRIEVE = "retrieve"
    NOT_CHOSEN = "not_chosen"
    FUSE = "fuse"
    CAP = "cap"
    RETURN_N = "return_n"
    PACK = "pack"
    KEPT = "kept"

    @property
    def order(self) -> int:
        """0 for the earliest; further along the line is higher."""
        return tuple(End).index(self)


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of the expected chunk that came furthest, with the numbers that decided.

    Attributes:
        end: KEPT, or what lost it.
        evidence_key: of that chunk; None when the build, or the knowledge base asked, holds none.
        list_rank: in the list of the chosen attempt; None when it is not in it.
        reached: what it reached, in the unit of `limit`; None when unknown or when there is none.
            RETRIEVE: its best rank on a route. FUSE: its fused rank. CAP: it is the n-th chunk of its
            document. RETURN_N: its place after dedup and cap. PACK: characters it needs. KEPT: its place.
        limit: RETRIEVE and FUSE: length of the list. CAP, RETURN_N: the setting. PACK: characters
            that were left. KEPT: pieces kept.
        lacking_score: FUSE only: fused score of the last in the list minus its own.
        attempt: NOT_CHOSEN only: name of the attempt that found it; else "".
        duplicate_ranks: list ranks of further copies of the chunk, which were set aside.
    """

    end: End
    evidence_key: str | None = None
    list_rank: int | None = None
    reached: int | None = None
    limit: int | None = None
    lacking_score: float | None = None
    attempt: str = ""
    duplicate_ranks: tuple[int, ...] = ()

    @property
    def progress(self) -> tuple[int, float]:
        """Compare two endings: the higher came further."""
        known = self.reached is not None and self.limit is not None
        behind = float(self.reached - self.limit) if known else float("inf")  # type: ignore[operator] # known
        return self.end.order, -behind


@dataclass(frozen=True, slots=True)
class RouteStanding:
    """The real rank of a chunk on one route, found by asking deeper than the lookup did.

    Attributes:
        state: OK when the route holds the chunk at `rank`; EMPTY when it does not, as far as was
            looked; FAILED or NOT_RUN with the reason in `sentence`.
        rank: from 1; None when it was not found.
        score: cosine on the dense route, BM25 on the sparse one; None when it was not found.
        limit: retrieve_k of the lookup.
        looked: how many hits were asked for at most.
        exhausted: the route gave all it has, so a chunk that is not there is not found by it at all.
    """

    route: Route
    state: RouteState
    rank: int | None
    score: float | None
    limit: int
    looked: int
    exhausted: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Rescue:
    """One setting changed by as little as possible, such that the expected chunk is kept.

    Attributes:
        setting: name of the field of the configuration.
        old: its value now; None for no category.
        new: its value that keeps the chunk; None for no category.
        kept_key: evidence key of the expected chunk that is then kept.
        position: its place among the evidence then, from 1.
        pushed_out: evidence keys kept now and no longer then, in their order now.
        brought_in: evidence keys kept then and not now, without the expected ones, in their order then.
        relative_change: |new - old| / old for a number (|new - old| when old is 0), else 1.0.
    """

    setting: str
    old: SettingValue
    new: SettingValue
    kept_key: str
    position: int
    pushed_out: tuple[str, ...]
    brought_in: tuple[str, ...]
    relative_change: float
    sentence: str


@dataclass(frozen=True, slots=True)
class NearMiss:
    """The single change that brings the chunk furthest without keeping it."""

    setting: str
    old: SettingValue
    new: SettingValue
    ending: Ending
    sentence: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer to *where is my chunk?* for one question, one configuration and one build.

    Attributes:
        query: after normalising.
        expected: as it was asked, trimmed and in NFC.
        configuration_hash: of the lookup that is explained.
        build: physical name of the build that answered.
        evidence_keys: the expected chunks that the build holds in the knowledge base asked; any counts.
        document_chunks: chunks that the build holds of the document there; 0 when it holds none.
        in_catalog: the catalog holds the document although the build does not; None when the caller
            could not tell or it does not matter.
        ending: of the chunk that came furthest.
        category_filter: the filter under which `standings` hold; None for all categories.
        standings: of the chunk that came furthest, on each route that the mode asks.
        rescues: fewest pieces pushed out first, then the smallest relative change; () when the chunk
            is kept, cannot be found at all, or no single change keeps it.
        nearest: when there is no rescue, the change that brings the chunk furthest; None when no
            single change brings it further than it is.
        sentence: the end in words with its numbers.
        outlook: what a change can do, in words; "" when the chunk is kept.
    """

    query: str
    expected: str
    configuration_hash: str
    build: str
    evidence_keys: tuple[str, ...]
    document_chunks: int
    in_catalog: bool | None
    ending: Ending
    category_filter: str | None
    standings: tuple[RouteStanding, ...]
    rescues: tuple[Rescue, ...]
    nearest: NearMiss | None
    sentence: str
    outlook: str
