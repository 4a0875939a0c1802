"""The real rank of the expected chunks on each route, however deep it is.

In: recorded lists and the rows expected. Out: a `RouteStanding` per route. Invariant: a rank is one the
store gave; "not found" says how deep was looked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.errors import StoreError
from core.model.identity import evidence_key
from core.model.search import MAX_RETRIEVE_K, Route, RouteList, RouteState, SearchMode, SearchRequest
from core.model.why import RouteStanding
from core.retrieval.searching import WHOLE_STORE
from core.retrieval.why.recorded import RecordedSearcher
from core.retrieval.why.sentences import standing_sentence


@dataclass(frozen=True, slots=True)
class Found:
    """The first of the expected chunks on one route.

    Attributes:
        standing: of that chunk.
        key: None when none of them was found.
    """

    standing: RouteStanding
    key: str | None


def routes_of(request: SearchRequest) -> tuple[Route, ...]:
    """Return the routes that a mode asks."""
    return (Route.DENSE,) if request.mode is SearchMode.DENSE else (Route.DENSE, Route.SPARSE)


def stand(recorded: RecordedSearcher, request: SearchRequest, route: Route, keys: Sequence[str]) -> Found:
    """Look for the first of the keys on one route, twice as deep each time, down to 1,000 at most.

    Args:
        recorded: the lists; a deeper one costs one call, so at most ten are made from `retrieve_k` 1.
        request: with the filter under which to look, and the `retrieve_k` of the lookup.
        route: DENSE or SPARSE.
        keys: evidence keys, any of which counts.
    """
    depth = request.retrieve_k
    while True:
        try:
            answer = recorded.listed(route, replace(request, retrieve_k=depth))
        except WHOLE_STORE:
            raise
        except StoreError as error:
            return _not_known(route, RouteState.FAILED, request.retrieve_k, depth, str(error))
        if answer.state is RouteState.NOT_RUN:
            return _not_known(route, answer.state, request.retrieve_k, depth, answer.reason)
        place = next((i for i, hit in enumerate(answer.hits) if evidence_key(hit) in keys), None)
        if place is not None:
            whole = recorded.exhausted(route, request.category_filter)
            return _found(answer, place, request.retrieve_k, depth, exhausted=whole)
        exhausted = len(answer.hits) < depth
        if exhausted or depth == MAX_RETRIEVE_K:
            standing = RouteStanding(
                route, RouteState.EMPTY, None, None, request.retrieve_k, depth, exhausted, ""
            )
            return Found(replace(standing, sentence=standing_sentence(standing)), None)
        depth = min(2 * depth, MAX_RETRIEVE_K)


def _found(answer: RouteList, place: int, limit: int, looked: int, *, exhausted: bool) -> Found:
    hit = answer.hits[place]
    score = hit.dense if answer.route is Route.DENSE else hit.sparse
    standing = RouteStanding(
        route=answer.route,
        state=RouteState.OK,
        rank=place + 1,
        score=None if score is None else score.score,
        limit=limit,
        looked=looked,
        exhausted=exhausted,
        sentence="",
    )
    return Found(replace(standing, sentence=standing_sentence(standing)), evidence_key(hit))


def _not_known(route: Route, state: RouteState, limit: int, looked: int, reason: str) -> Found:
    standing = RouteStanding(route, state, None, None, limit, looked, exhausted=False, sentence="")
    return Found(replace(standing, sentence=standing_sentence(standing, reason)), None)
