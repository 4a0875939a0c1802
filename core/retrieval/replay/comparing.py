"""Two results of one question to their differences.

In: the saved result and the new one. Out: `Differences`. Invariants: a result compared with itself has
none; swapping the two swaps added with removed and before with after; times never count.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from core.model.builds import BuildDescription
from core.model.identity import evidence_key
from core.model.lookup import Attempt, LedgerEntry, LookupResult, Projection, Stage
from core.model.search import RouteList, RouteState, SearchHit
from core.retrieval.filters import MERGED
from core.retrieval.projection import projection_json
from core.retrieval.replay.bundles import Plain
from core.retrieval.replay.comparison import (
    AttemptChange,
    Change,
    ContentChange,
    Differences,
    EndChange,
    LevelChange,
    ListChange,
    PlaceChange,
    ProjectionChange,
    Ran,
    ScoreChange,
)

SCORE_TOLERANCE = 1e-5
"""Sums in another order give other last digits; below this a score is the same."""

_SHOWN_FIELDS = ("content", "title", "breadcrumb", "source", "category", "kb_scope")


def differences(before: LookupResult, after: LookupResult) -> Differences:
    """Compare two results of one question."""
    return Differences(
        navigation=changes(_navigation(before), _navigation(after)),
        contents=_contents(before, after),
        attempts=_attempts(before, after),
        decision=changes(_decision(before), _decision(after)),
        ends=_ends(before.ledger, after.ledger),
        projection=_projection(before.projection, after.projection),
    )


def changes(before: Mapping[str, Plain], after: Mapping[str, Plain]) -> tuple[Change, ...]:
    """List the names whose values differ, in the order of `after`, then those that are gone."""
    return tuple(
        Change(name, before.get(name), after.get(name))
        for name in dict.fromkeys((*after, *before))
        if before.get(name) != after.get(name)
    )


def build_values(build: BuildDescription) -> dict[str, Plain]:
    """Flatten what is known of a build; whether it is live says nothing about its answers."""
    values: dict[str, Plain] = {
        "name": build.name,
        "chunks": build.chunks,
        "index_type": build.index_type,
        "metric": build.metric,
        "dimension": build.dimension,
        "hybrid_ready": build.hybrid_ready,
        "missing_fields": ", ".join(build.missing_fields),
    }
    if build.fingerprint is not None:
        values |= {f"fingerprint.{name}": value for name, value in asdict(build.fingerprint).items()}
    return values


def _decision(result: LookupResult) -> dict[str, Plain]:
    retrieval = result.retrieval
    return {
        "selected": retrieval.selected,
        "filter_relaxed": retrieval.filter_relaxed,
        "outside_category": result.outside_category,
    }


def _navigation(result: LookupResult) -> dict[str, Plain]:
    navigation = result.navigation
    if navigation is None:
        return {}
    matched = ", ".join(domain.category for domain in navigation.matched)
    return {"matched": matched, "category": navigation.category}


def _contents(before: LookupResult, after: LookupResult) -> tuple[ContentChange, ...]:
    then, now = _by_key(before), _by_key(after)
    found = []
    for key in sorted(then.keys() & now.keys()):
        one, other = then[key], now[key]
        fields = tuple(name for name in _SHOWN_FIELDS if getattr(one, name) != getattr(other, name))
        if fields:
            found.append(ContentChange(key, one.doc_id, fields))
    return tuple(found)


def _by_key(result: LookupResult) -> dict[str, SearchHit]:
    """Every chunk that a lookup saw; of two copies the first counts."""
    found: dict[str, SearchHit] = {}
    for attempt in result.retrieval.attempts:
        response = attempt.response
        for hits in (response.hits, response.dense.hits, response.sparse.hits, response.fused.hits):
            for hit in hits:
                found.setdefault(evidence_key(hit), hit)
    return found


def _attempts(before: LookupResult, after: LookupResult) -> tuple[AttemptChange, ...]:
    then = {attempt.name: attempt for attempt in before.retrieval.attempts}
    now = {attempt.name: attempt for attempt in after.retrieval.attempts}
    found = []
    for name in dict.fromkeys((*then, *now)):
        if name not in now:
            found.append(AttemptChange(name, Ran.ONLY_THEN))
        elif name not in then:
            found.append(AttemptChange(name, Ran.ONLY_NOW))
        else:
            change = _attempt(then[name], now[name])
            if change.lists or change.verdict or change.levels:
                found.append(change)
    return tuple(found)


def _attempt(before: Attempt, after: Attempt) -> AttemptChange:
    if before.name == MERGED:
        # Its route lists are those of the unfiltered attempt, which are compared there.
        lists = [_listed(MERGED, None, before.hits, after.hits)]
    else:
        one, other = before.response, after.response
        lists = [
            _route(one.dense, other.dense),
            _route(one.sparse, other.sparse),
            _route(one.fused, other.fused),
        ]
    return AttemptChange(
        name=before.name,
        ran=Ran.BOTH,
        lists=tuple(item for item in lists if item is not None),
        verdict=changes(_verdict(before), _verdict(after)),
        levels=_levels(before, after),
    )


def _verdict(attempt: Attempt) -> dict[str, Plain]:
    return {
        "category_filter": attempt.category_filter,
        "level": attempt.level.value,
        "category_chunks": attempt.category_chunks,
        "fusion audit": attempt.response.audit.verdict.value,
    }


def _levels(before: Attempt, after: Attempt) -> tuple[LevelChange, ...]:
    keys = sorted(before.judgements.keys() & after.judgements.keys())
    pairs = ((key, before.judgements[key].level, after.judgements[key].level) for key in keys)
    return tuple(LevelChange(key, then, now) for key, then, now in pairs if then is not now)


def _route(before: RouteList, after: RouteList) -> ListChange | None:
    state = None
    if before.state is not after.state:
        state = Change("state", _state(before), _state(after))
    return _listed(before.route.value, state, before.hits, after.hits)


def _state(route: RouteList) -> str:
    if route.state is RouteState.OK or not route.reason:
        return route.state.value
    return f"{route.state.value} ({route.reason})"


def _listed(
    name: str, state: Change | None, before: Sequence[SearchHit], after: Sequence[SearchHit]
) -> ListChange | None:
    """Compare two lists of hits; None when nothing differs."""
    then, now = named_copies(map(evidence_key, before)), named_copies(map(evidence_key, after))
    gone, new, moved = places(then, now)
    rescored = _rescored(
        {key: _score(hit, name) for key, hit in zip(then, before, strict=True)},
        {key: _score(hit, name) for key, hit in zip(now, after, strict=True)},
    )
    if state is None and not (gone or new or moved or rescored):
        return None
    return ListChange(name, state, added=new, removed=gone, moved=moved, rescored=rescored)


def _score(hit: SearchHit, name: str) -> float | None:
    found = {"dense": hit.dense, "sparse": hit.sparse, "fused": hit.fused}.get(name)
    return None if found is None else found.score


def _rescored(
    before: Mapping[str, float | None], after: Mapping[str, float | None]
) -> tuple[ScoreChange, ...]:
    found = []
    for key, then in before.items():
        now = after.get(key)
        if then is not None and now is not None and abs(then - now) > SCORE_TOLERANCE:
            found.append(ScoreChange(key, then, now))
    return tuple(found)


def named_copies(keys: Iterable[str]) -> tuple[str, ...]:
    """Give the second copy of a key in one list a name of its own: `<key> (copy 2)`."""
    seen: Counter[str] = Counter()
    named = []
    for key in keys:
        seen[key] += 1
        named.append(key if seen[key] == 1 else f"{key} (copy {seen[key]})")
    return tuple(named)


def places(
    before: Sequence[str], after: Sequence[str]
) -> tuple[tuple[PlaceChange, ...], tuple[PlaceChange, ...], tuple[PlaceChange, ...]]:
    """Compare two orders of distinct names; return (gone, new, moved), ranks from 1."""
    then = {key: rank for rank, key in enumerate(before, start=1)}
    now = {key: rank for rank, key in enumerate(after, start=1)}
    gone = tuple(PlaceChange(key, rank, None) for key, rank in then.items() if key not in now)
    new = tuple(PlaceChange(key, None, rank) for key, rank in now.items() if key not in then)
    moved = tuple(
        PlaceChange(key, rank, now[key]) for key, rank in then.items() if key in now and now[key] != rank
    )
    return gone, new, moved


def _ends(before: Sequence[LedgerEntry], after: Sequence[LedgerEntry]) -> tuple[EndChange, ...]:
    then, now = _entries(before), _entries(after)
    found = []
    for key in sorted(then.keys() | now.keys()):
        one, other = then.get(key), now.get(key)
        end_then, end_now = one.end if one else None, other.end if other else None
        if end_then is not end_now:
            reason_then, reason_now = one.reason if one else "", other.reason if other else ""
            found.append(EndChange(key, end_then, end_now, reason_then, reason_now))
    return tuple(found)


def _entries(ledger: Sequence[LedgerEntry]) -> dict[str, LedgerEntry]:
    """Map candidates to entries; a duplicate is a further copy of the candidate it duplicates."""
    ordered = sorted(ledger, key=lambda entry: entry.end is Stage.DEDUP)
    return dict(zip(named_copies(entry.evidence_key for entry in ordered), ordered, strict=True))


def _projection(before: Projection, after: Projection) -> ProjectionChange:
    then = {piece.document_id: piece for piece in before.evidence}
    now = {piece.document_id: piece for piece in after.evidence}
    gone, new, moved = places(tuple(then), tuple(now))
    return ProjectionChange(
        same=projection_json(before) == projection_json(after),
        fields=changes(_fields(before), _fields(after)),
        gone=gone,
        new=new,
        moved=moved,
        rewritten=tuple(key for key, piece in then.items() if key in now and now[key] != piece),
    )


def _fields(projection: Projection) -> dict[str, Plain]:
    return {
        "found": projection.found,
        "relevance_level": projection.relevance_level.value,
        "selected_attempt": projection.selected_attempt,
        "filter_relaxed": projection.filter_relaxed,
    }
