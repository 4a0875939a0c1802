"""Fine order: hits whose title or breadcrumb holds a term of the query move up by a few places.

In: hits, best first, and the exact terms of the query. Out: a `FineOrder`: the same hits in the new
order, and a sentence for each one that moved. Invariants: no hit moves by more than the given number of
places, up or down; hits that both match, or both do not, keep their order; ranks and scores
stay those of the search, so a trace never shows a number that the store did not give.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.model.identity import evidence_key
from core.model.lookup import LedgerEntry
from core.model.search import SearchHit
from core.retrieval.query import fold, stands_in


@dataclass(frozen=True, slots=True)
class FineOrder:
    """Hits in their fine order.

    Attributes:
        hits: the hits that were given, each once.
        moves: by evidence key and rank of the search, from which place to which and why; only of
            hits that moved.
    """

    hits: tuple[SearchHit, ...]
    moves: Mapping[tuple[str, int], str]


def fine_order(hits: Sequence[SearchHit], terms: tuple[str, ...], *, places: int) -> FineOrder:
    """Move each matching hit before at most `places` hits that do not match.

    A hit matches when one of the terms stands as a whole in its title or its breadcrumb. Copies of one
    chunk match together with the best-ranked of them, so that dedup still keeps that one.

    Args:
        hits: best first.
        terms: the exact terms of the query; without any, nothing moves.
        places: at least 0; 0 moves nothing.
    """
    unmoved = FineOrder(tuple(hits), {})
    if not terms or not places:
        return unmoved
    matches: dict[str, str | None] = {}
    for hit in hits:
        key = evidence_key(hit)
        if key not in matches:
            matches[key] = _first_term(hit, terms)

    def goal(place: int) -> tuple[int, bool]:
        # Equal goals put the matching hit first: it passes exactly `places` others.
        matching = matches[evidence_key(hits[place])] is not None
        return (place - places, False) if matching else (place, True)

    ordered = sorted(range(len(hits)), key=goal)
    moves = {
        (evidence_key(hits[before]), hits[before].rank): _sentence(
            before + 1, after + 1, matches[evidence_key(hits[before])]
        )
        for after, before in enumerate(ordered)
        if before != after
    }
    return replace(unmoved, hits=tuple(hits[place] for place in ordered), moves=moves)


def with_moves(ledger: Iterable[LedgerEntry], order: FineOrder) -> tuple[LedgerEntry, ...]:
    """Say in the reason of each entry whose hit moved from which rank to which."""
    return tuple(_with_move(entry, order.moves) for entry in ledger)


def _with_move(entry: LedgerEntry, moves: Mapping[tuple[str, int], str]) -> LedgerEntry:
    move = moves.get((entry.evidence_key, entry.hit.rank))
    return entry if move is None else replace(entry, reason=f"{entry.reason}; {move}")


def _first_term(hit: SearchHit, terms: tuple[str, ...]) -> str | None:
    places = (fold(hit.title or ""), fold(hit.breadcrumb or ""))
    return next((term for term in terms if any(stands_in(fold(term), text) for text in places)), None)


def _sentence(before: int, after: int, term: str | None) -> str:
    if after > before:
        return f"fine order: down from rank {before} to {after}, others moved past it"
    return f"fine order: up from rank {before} to {after}, its title or breadcrumb holds '{term}'"
