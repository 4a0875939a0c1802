"""The server's fusion, recomputed from the two routes and compared with what it returned.

In: both route lists and the fused list of one search. Out: a `FusionAudit`. Invariant: nothing here
changes a result; the order that counts is always the server's.

Why ranges: a route may order equal scores differently from call to call, so a candidate's rank is
only known up to its group of ties, and the group at the limit of a full list may go on beyond it.
What a route adds to a candidate is therefore one range or two; the server agrees up to ties when
every score it returned is a sum of such ranges and nothing that must be better was left out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TypeAlias

from core.model.identity import evidence_key, is_named
from core.model.search import (
    AuditVerdict,
    FusionAudit,
    Ranker,
    RouteList,
    RouteScore,
    RouteState,
    SearchHit,
    SearchRequest,
)

TOLERANCE = 1e-5
"""Scores of two calls that differ by less are the same; they travel as float32."""

RELATIVE_TOLERANCE = 1e-6
"""The same for reciprocal ranks, whose neighbours differ by far less than `TOLERANCE` at deep ranks."""

_Range: TypeAlias = tuple[float, float]

_NOTHING: _Range = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Shares:
    """What one route adds to the fused scores.

    Attributes:
        listed: by evidence key, as the route lists it.
        possible: by evidence key, the ranges it can lie in.
        elsewhere: the ranges of a candidate that the route did not list.
    """

    listed: Mapping[str, float]
    possible: Mapping[str, tuple[_Range, ...]]
    elsewhere: tuple[_Range, ...]

    def of(self, key: str) -> tuple[_Range, ...]:
        return self.possible.get(key, self.elsewhere)


def reciprocal_rank(rank: int, rrf_k: int) -> float:
    """Return 1 / (k + rank), rank from 1.

    Source: Cormack, Clarke and Buettcher, Reciprocal Rank Fusion outperforms Condorcet and
    individual Rank Learning Methods, 2009.
    """
    return 1.0 / (rrf_k + rank)


def normalised_cosine(cosine: float, metric: str) -> float:
    """Map a cosine to [0, 1] the way Milvus' weighted ranker does for the metric of the index.

    COSINE: (1 + c) / 2. IP: 1/2 + atan(c) / pi. L2: 1 - 2 atan(d) / pi with d = 2 - 2c, the squared
    distance of unit vectors. Source: Milvus documentation, Weighted Ranker, with norm_score on.
    """
    if metric == "COSINE":
        return (1.0 + cosine) / 2.0
    if metric == "IP":
        return 0.5 + math.atan(cosine) / math.pi
    return 1.0 - 2.0 * math.atan(2.0 - 2.0 * cosine) / math.pi


def normalised_bm25(score: float) -> float:
    """Map a BM25 score to [0, 1): 2 atan(s) / pi. Source: as for `normalised_cosine`."""
    return 2.0 * math.atan(score) / math.pi


def audit_fusion(
    request: SearchRequest, dense: RouteList, sparse: RouteList, fused: RouteList, *, metric: str
) -> FusionAudit:
    """Recompute the fusion and compare it with the server's list.

    NOT_CHECKED when a list is missing, or holds a hit without identity, which cannot be found again
    in another list. A sparse route that was skipped for want of terms counts as an empty one, because
    the server fused without it too.
    """
    seen = {RouteState.OK, RouteState.EMPTY}
    skipped = sparse.state is RouteState.NOT_RUN and sparse.limit > 0
    if dense.state not in seen or fused.state not in seen or not (sparse.state in seen or skipped):
        return FusionAudit(AuditVerdict.NOT_CHECKED)
    if not all(is_named(hit) for route in (dense, sparse, fused) for hit in route.hits):
        return FusionAudit(AuditVerdict.NOT_CHECKED)
    routes = (_dense_shares(request, dense, metric), _sparse_shares(request, sparse))
    totals = {
        key: math.fsum(route.listed[key] for route in routes if key in route.listed)
        for route in routes
        for key in route.listed
    }
    order = sorted(totals, key=lambda key: (-totals[key], key))
    recomputed = {key: RouteScore(rank, totals[key]) for rank, key in enumerate(order, start=1)}
    difference = _first_difference(request, fused, recomputed)
    if not difference:
        verdict = AuditVerdict.EQUAL
    elif _agrees_up_to_ties(request, fused, routes):
        verdict = AuditVerdict.EQUAL_UP_TO_TIES
    else:
        verdict = AuditVerdict.DIFFERENT
    return FusionAudit(verdict, len(fused.hits), difference, recomputed)


def _dense_shares(request: SearchRequest, route: RouteList, metric: str) -> _Shares:
    scores = [hit.dense.score for hit in route.hits if hit.dense is not None]
    values = [request.weight_dense * normalised_cosine(score, metric) for score in scores]
    return _shares(request, route.hits, scores, values)


def _sparse_shares(request: SearchRequest, route: RouteList) -> _Shares:
    scores = [hit.sparse.score for hit in route.hits if hit.sparse is not None]
    values = [request.weight_sparse * normalised_bm25(score) for score in scores]
    return _shares(request, route.hits, scores, values)


def _shares(
    request: SearchRequest, hits: tuple[SearchHit, ...], scores: list[float], weighted: list[float]
) -> _Shares:
    """Give each candidate of a route its share; the first copy of a key counts."""
    if request.ranker is Ranker.RRF:
        weighted = [reciprocal_rank(rank, request.rrf_k) for rank in range(1, len(hits) + 1)]
    listed: dict[str, float] = {}
    possible: dict[str, tuple[_Range, ...]] = {}
    elsewhere: tuple[_Range, ...] = (_NOTHING,)
    full = len(hits) >= request.retrieve_k
    for position, hit in enumerate(hits):
        first, last = _tie_group(scores, position)
        ranges: tuple[_Range, ...] = ((weighted[last], weighted[first]),)
        if full and last == len(hits) - 1:
            ranges = elsewhere = (_NOTHING, *ranges)
        key = evidence_key(hit)
        listed.setdefault(key, weighted[position])
        possible.setdefault(key, ranges)
    return _Shares(listed, possible, elsewhere)


def _tie_group(scores: list[float], position: int) -> tuple[int, int]:
    first = last = position
    while first > 0 and abs(scores[first - 1] - scores[position]) <= TOLERANCE:
        first -= 1
    while last + 1 < len(scores) and abs(scores[last + 1] - scores[position]) <= TOLERANCE:
        last += 1
    return first, last


def _slack(request: SearchRequest, score: float) -> float:
    return RELATIVE_TOLERANCE * score if request.ranker is Ranker.RRF else TOLERANCE


def _fused_score(hit: SearchHit) -> float:
    return 0.0 if hit.fused is None else hit.fused.score


def _first_difference(
    request: SearchRequest, fused: RouteList, recomputed: Mapping[str, RouteScore]
) -> str:
    order = list(recomputed)
    for rank, hit in enumerate(fused.hits, start=1):
        key, score = evidence_key(hit), _fused_score(hit)
        if rank > len(order):
            return f"rank {rank}: the server has {key} ({score:.6f}), recomputed none"
        expected = order[rank - 1]
        here = recomputed[expected].score
        if key != expected or abs(here - score) > _slack(request, here):
            return f"rank {rank}: the server has {key} ({score:.6f}), recomputed {expected} ({here:.6f})"
    rank = len(fused.hits) + 1
    if rank <= min(len(order), request.retrieve_k):
        expected = order[rank - 1]
        return f"rank {rank}: the server has none, recomputed {expected} ({recomputed[expected].score:.6f})"
    return ""


def _agrees_up_to_ties(request: SearchRequest, fused: RouteList, routes: Sequence[_Shares]) -> bool:
    scores = {evidence_key(hit): _fused_score(hit) for hit in fused.hits}
    in_order = list(scores.values())
    if any(later - earlier > _slack(request, later) for earlier, later in pairwise(in_order)):
        return False
    for key, score in scores.items():
        slack = _slack(request, score)
        if not any(low - slack <= score <= high + slack for low, high in _sums(routes, key)):
            return False
    # What is missing must be able to stand below the last of a full list, or to be in no route at all.
    full = len(fused.hits) >= request.retrieve_k
    last = in_order[-1] if full else 0.0
    missing = {key for route in routes for key in route.listed if key not in scores}
    return all(min(low for low, _ in _sums(routes, key)) <= last + _slack(request, last) for key in missing)


def _sums(routes: Sequence[_Shares], key: str) -> list[_Range]:
    """Return every range that the fused score of a candidate can lie in."""
    choices = product(*(route.of(key) for route in routes))
    return [(math.fsum(low for low, _ in each), math.fsum(high for _, high in each)) for each in choices]
