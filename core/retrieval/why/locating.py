"""Which stage lost a chunk, and by how much, read from one traced lookup.

In: a lookup result and the rows that are expected. Out: an `Ending`. Invariant: what the ledger says
of a chunk and what the ending says are the same.
"""

from collections.abc import Mapping, Sequence

from core.model.identity import evidence_key
from core.model.lookup import Attempt, LedgerEntry, LookupResult, Stage
from core.model.search import SearchHit
from core.model.why import End, Ending
from core.retrieval.filters import MERGED

_ENDS: Mapping[Stage, End] = {
    Stage.RETRIEVE: End.NOT_CHOSEN,
    Stage.FUSE: End.FUSE,
    Stage.CAP: End.CAP,
    Stage.RETURN_N: End.RETURN_N,
    Stage.PACK: End.PACK,
    Stage.KEPT: End.KEPT,
}


def locate(result: LookupResult, rows: Sequence[SearchHit]) -> Ending:
    """Return the end of the row that came furthest; of two that came as far, of the first.

    Args:
        result: of a lookup with a trace.
        rows: at least one, all in the knowledge base asked.
    """
    return max((_ending(result, row) for row in rows), key=lambda ending: ending.progress)


def _ending(result: LookupResult, row: SearchHit) -> Ending:
    key = evidence_key(row)
    entries = [entry for entry in result.ledger if entry.evidence_key == key]
    copies = tuple(entry.hit.rank for entry in entries if entry.end is Stage.DEDUP)
    ends = [entry for entry in entries if entry.end is not Stage.DEDUP]
    chosen = result.retrieval.chosen
    if not ends:
        asked = chosen.category_filter
        if asked is not None and row.category != asked:
            return Ending(End.OTHER_CATEGORY, key)
        return Ending(End.RETRIEVE, key, limit=chosen.response.request.retrieve_k)
    entry = max(ends, key=lambda entry: _ENDS[entry.end].order)
    end = _ENDS[entry.end]
    if end is End.NOT_CHOSEN:
        return Ending(end, key, attempt=_finder(result, key))
    if end is End.FUSE:
        return _outside_fused(result, key)
    reached, limit = _margin(result, entry)
    return Ending(end, key, entry.hit.rank, reached, limit, duplicate_ranks=copies)


def _margin(result: LookupResult, entry: LedgerEntry) -> tuple[int, int]:
    """Return what a chunk of the chosen list reached and the limit it met."""
    key = entry.evidence_key
    if entry.end is Stage.KEPT:
        order = [item.evidence.evidence_key for item in result.packing.packed]
        return order.index(key) + 1, len(order)
    if entry.end is Stage.PACK:
        return _size(entry.hit), characters_left(result, key)
    if entry.end is Stage.RETURN_N:
        beyond = [dropped.evidence_key for dropped in result.refinement.dropped
                  if dropped.end is Stage.RETURN_N]  # fmt: skip
        kept = len(result.refinement.kept)
        return kept + beyond.index(key) + 1, kept
    document = entry.hit.doc_id
    capped = [dropped.evidence_key for dropped in result.refinement.dropped
              if dropped.end is Stage.CAP and dropped.hit.doc_id == document]  # fmt: skip
    further = [dropped for dropped in result.refinement.dropped
              if dropped.end is Stage.RETURN_N and dropped.hit.doc_id == document]  # fmt: skip
    cap = len(further) + sum(item.hit.doc_id == document for item in result.refinement.kept)
    return cap + capped.index(key) + 1, cap


def characters_left(result: LookupResult, key: str) -> int:
    """Return how much of the budget was left when a piece that refining kept came to be packed."""
    left = result.packing.budget_characters
    taken = {item.evidence.evidence_key: item.characters for item in result.packing.packed}
    for item in result.refinement.kept:
        if item.evidence_key == key:
            break
        left -= taken.get(item.evidence_key, 0)
    return left


def _size(hit: SearchHit) -> int:
    return len(hit.title or "") + len(hit.breadcrumb or "") + len(hit.content)


def _finder(result: LookupResult, key: str) -> str:
    return next(
        attempt.name
        for attempt in result.retrieval.attempts
        if any(evidence_key(hit) == key for hit in (*attempt.hits, *_route_hits(attempt)))
    )


def _route_hits(attempt: Attempt) -> tuple[SearchHit, ...]:
    response = attempt.response
    return (*response.dense.hits, *response.sparse.hits)


def _outside_fused(result: LookupResult, key: str) -> Ending:
    """Take the attempt in which it stands best; the recomputed fusion knows what the server left out."""
    chosen = result.retrieval.chosen
    sources = result.retrieval.attempts if chosen.name == MERGED else (chosen,)
    found = []
    for attempt in sources:
        response = attempt.response
        place = response.audit.recomputed.get(key)
        last = response.fused.hits[-1].fused if response.fused.hits else None
        if place is not None and last is not None:
            lacking = last.score - place.score
            found.append(
                Ending(End.FUSE, key, None, place.rank, len(response.fused.hits), max(0.0, lacking))
            )
    unknown = Ending(End.FUSE, key, limit=chosen.response.request.retrieve_k)
    return max(found, key=lambda ending: ending.progress, default=unknown)
