"""The ledger: one end for every candidate that any route of any attempt returned.

In: a retrieval, its refinement and packing. Out: entries, kept ones first in pack order, then the
others in the order of the stages. Invariant: the number of entries equals the number of candidates,
and each candidate stands in exactly one.
"""

from collections.abc import Callable, Iterable
from functools import partial

from core.model.identity import evidence_key
from core.model.lookup import Attempt, LedgerEntry, Packing, Refinement, Retrieval, Stage
from core.model.search import SearchHit
from core.retrieval.filters import MERGED


def balance(retrieval: Retrieval, refinement: Refinement, packing: Packing) -> tuple[LedgerEntry, ...]:
    """Write the ledger of one lookup.

    Candidates are the hits of the chosen attempt (a duplicate is one of its own) and every other
    chunk that a route list of any attempt holds.
    """
    kept = [
        LedgerEntry(
            item.evidence.evidence_key,
            item.evidence.hit,
            Stage.KEPT,
            f"kept, {item.characters:,} of {item.full_characters:,} characters"
            if item.truncated
            else f"kept whole, {item.characters:,} characters",
            item.evidence.judgement,
        )
        for item in packing.packed
    ]
    chosen = retrieval.chosen
    done = {evidence_key(hit) for hit in chosen.hits}
    dropped = [*refinement.dropped, *packing.dropped]
    # The merged attempt goes on with both others, so what their routes found was in the running too.
    sources = retrieval.attempts if chosen.name == MERGED else (chosen,)
    for source in sources:
        dropped += _entries(_route_hits(source), done, Stage.FUSE, partial(_outside_fused, source))
    for attempt in retrieval.attempts:
        reason = f"only attempt '{attempt.name}' found it, and '{chosen.name}' goes on"
        hits = (*attempt.hits, *_route_hits(attempt))
        dropped += _entries(hits, done, Stage.RETRIEVE, _always(reason))
    return (*kept, *sorted(dropped, key=lambda entry: tuple(Stage).index(entry.end)))


def _route_hits(attempt: Attempt) -> tuple[SearchHit, ...]:
    response = attempt.response
    return (*response.fused.hits, *response.dense.hits, *response.sparse.hits)


def _entries(
    hits: Iterable[SearchHit], done: set[str], stage: Stage, reason: Callable[[SearchHit], str]
) -> list[LedgerEntry]:
    """Make an entry for each hit whose key is not done yet, and mark it done."""
    entries = []
    for hit in hits:
        key = evidence_key(hit)
        if key not in done:
            done.add(key)
            entries.append(LedgerEntry(key, hit, stage, reason(hit)))
    return entries


def _always(reason: str) -> Callable[[SearchHit], str]:
    return lambda _: reason


def _outside_fused(attempt: Attempt, hit: SearchHit) -> str:
    response = attempt.response
    limit = response.request.retrieve_k
    place = response.audit.recomputed.get(evidence_key(hit))
    last = response.fused.hits[-1].fused if response.fused.hits else None
    if place is None or last is None:
        return f"a route found it, but it is not among the {limit} of the fused list"
    return (
        f"fused rank {place.rank} ({place.score:.6f}), "
        f"the list ends at rank {len(response.fused.hits)} ({last.score:.6f})"
    )
