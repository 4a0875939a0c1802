"""What became of every candidate: counts per stage, one row each, duplicates beside their copy.

In: a `LookupResult`. Out: rows and counts. Invariant: the counts come from the ledger alone, so what
enters a stage is what it passes on plus what it drops.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from console.present.hits import level_name, title_of
from console.texts import counted, t
from core.model.identity import evidence_key
from core.model.lookup import Attempt, LedgerEntry, LookupResult, Stage
from core.model.search import Route, RouteScore, SearchHit

Scores: TypeAlias = Mapping[tuple[Route, str], RouteScore]
"""What each route says of each evidence key."""

DROPPING = (Stage.RETRIEVE, Stage.FUSE, Stage.DEDUP, Stage.CAP, Stage.RETURN_N, Stage.PACK)


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """What is left after a stage, and what that stage dropped."""

    name: str
    left: int
    dropped: int


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One candidate; a route's rank and score are None where it did not return it."""

    evidence_key: str
    title: str
    breadcrumb: str
    dense: RouteScore | None
    sparse: RouteScore | None
    fused: RouteScore | None
    level: str | None
    end: Stage
    reason: str
    category: str


@dataclass(frozen=True, slots=True)
class Twin:
    """A dropped duplicate beside the copy that stands for it."""

    evidence_key: str
    title: str
    reason: str
    kept_rank: int | None
    dropped_content: str
    kept_content: str | None


def stage_name(stage: Stage) -> str:
    """Return what a candidate's end is called."""
    return {
        Stage.RETRIEVE: t("other attempt"),
        Stage.FUSE: t("outside the fused list"),
        Stage.DEDUP: t("duplicate"),
        Stage.CAP: t("over the cap per document"),
        Stage.RETURN_N: t("after return_n"),
        Stage.PACK: t("over the budget"),
        Stage.KEPT: t("kept"),
    }[stage]


def _passed_name(stage: Stage) -> str:
    return {
        Stage.RETRIEVE: t("in the chosen attempt"),
        Stage.FUSE: t("in the list that counts"),
        Stage.DEDUP: t("after dedup"),
        Stage.CAP: t("within the cap per document"),
        Stage.RETURN_N: t("within return_n"),
        Stage.PACK: t("packed for the agent"),
    }[stage]


def funnel(ledger: tuple[LedgerEntry, ...]) -> tuple[FunnelStep, ...]:
    """Count what is left after each stage, all candidates first."""
    ends = Counter(entry.end for entry in ledger)
    left = len(ledger)
    steps = [FunnelStep(t("candidates of all routes"), left, 0)]
    for stage in DROPPING:
        left -= ends[stage]
        steps.append(FunnelStep(_passed_name(stage), left, ends[stage]))
    return tuple(steps)


def funnel_finding(ledger: tuple[LedgerEntry, ...]) -> str:
    """Say how many candidates reach the agent and where most are lost."""
    if not ledger:
        return t("No route found a candidate.")
    ends = Counter(entry.end for entry in ledger)
    kept = ends.pop(Stage.KEPT, 0)
    text = t("{kept} of {candidates} reach the agent").format(
        kept=kept, candidates=counted("{count} candidate", "{count} candidates", len(ledger))
    )
    if not ends:
        return text
    stage, count = max(ends.items(), key=lambda pair: (pair[1], -DROPPING.index(pair[0])))
    return t("{text}; most of the others end {where} ({count})").format(
        text=text, where=_lost_where(stage), count=count
    )


def _lost_where(stage: Stage) -> str:
    return {
        Stage.RETRIEVE: t("in the attempt that was not chosen"),
        Stage.FUSE: t("outside the fused list"),
        Stage.DEDUP: t("as duplicates"),
        Stage.CAP: t("at the cap per document"),
        Stage.RETURN_N: t("after return_n"),
        Stage.PACK: t("over the budget"),
    }[stage]


def ledger_rows(result: LookupResult) -> tuple[LedgerRow, ...]:
    """Return one row per candidate, in the ledger's order."""
    chosen = result.retrieval.chosen
    others = [attempt for attempt in result.retrieval.attempts if attempt is not chosen]
    own = _route_scores(chosen)
    elsewhere = [_route_scores(attempt) for attempt in others]
    return tuple(_ledger_row(entry, own, elsewhere) for entry in result.ledger)


def _ledger_row(entry: LedgerEntry, own: Scores, elsewhere: Sequence[Scores]) -> LedgerRow:
    sources: Sequence[Scores] = elsewhere if entry.end is Stage.RETRIEVE else [own]
    hit = entry.hit

    def score(route: Route, carried: RouteScore | None) -> RouteScore | None:
        found = (scores.get((route, entry.evidence_key)) for scores in sources)
        return carried or next((value for value in found if value is not None), None)

    return LedgerRow(
        evidence_key=entry.evidence_key,
        title=title_of(hit),
        breadcrumb=hit.breadcrumb or "",
        dense=score(Route.DENSE, hit.dense),
        sparse=score(Route.SPARSE, hit.sparse),
        fused=score(Route.FUSED, hit.fused),
        level=level_name(entry.judgement.level) if entry.judgement else None,
        end=entry.end,
        reason=entry.reason,
        category=hit.category,
    )


def _route_scores(attempt: Attempt) -> dict[tuple[Route, str], RouteScore]:
    response = attempt.response
    scores: dict[tuple[Route, str], RouteScore] = {}
    for asked in (response.dense, response.sparse, response.fused):
        for hit in asked.hits:
            value = _score_of(hit, asked.route)
            if value is not None:
                scores.setdefault((asked.route, evidence_key(hit)), value)
    return scores


def _score_of(hit: SearchHit, route: Route) -> RouteScore | None:
    return {Route.DENSE: hit.dense, Route.SPARSE: hit.sparse, Route.FUSED: hit.fused}[route]


def twins(result: LookupResult) -> tuple[Twin, ...]:
    """Return the dropped duplicates, each beside the copy that stands for it."""
    copies = {hit.rank: hit for hit in result.retrieval.chosen.hits}
    rows = []
    for entry in result.ledger:
        if entry.end is not Stage.DEDUP:
            continue
        copy = copies.get(entry.duplicate_of_rank) if entry.duplicate_of_rank is not None else None
        rows.append(
            Twin(
                evidence_key=entry.evidence_key,
                title=title_of(entry.hit),
                reason=entry.reason,
                kept_rank=entry.duplicate_of_rank,
                dropped_content=entry.hit.content,
                kept_content=copy.content if copy else None,
            )
        )
    return tuple(rows)
