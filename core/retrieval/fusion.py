"""The server's fusion, recomputed from the two routes and compared with what it returned.

In: both route lists and the fused list of one search. Out: a `FusionAudit`. Invariant: nothing here
changes a result; the order that counts is always the server's.

Why intervals: a route may order equal scores differently from call to call, so a candidate's rank
is only known up to its group of ties. Each candidate's fused score is therefore an interval; the
server agrees up to ties when every score it returned lies in its interval.
"""

import math
from dataclasses import dataclass

from core.model.identity import evidence_key
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
"""Scores travel as float32; two that differ by less are the same."""


@dataclass(frozen=True, slots=True)
class _Share:
    """What one route adds to a candidate's fused score: as listed, at least, at most."""

    listed: float
    least: float
    most: float


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

    NOT_CHECKED when a list is missing; a sparse route that was skipped for want of terms counts as
    an empty one, because the server fused without it too.
    """
    seen = {RouteState.OK, RouteState.EMPTY}
    skipped = sparse.state is RouteState.NOT_RUN and sparse.limit > 0
    if dense.state not in seen or fused.state not in seen or not (sparse.state in seen or skipped):
        return FusionAudit(AuditVerdict.NOT_CHECKED)
    shares = (_dense_shares(request, dense, metric), _sparse_shares(request, sparse))
    keys = {*shares[0], *shares[1]}
    totals = {key: _total([share[key] for share in shares if key in share]) for key in keys}
    order = sorted(totals, key=lambda key: (-totals[key].listed, key))
    recomputed = {key: RouteScore(rank, totals[key].listed) for rank, key in enumerate(order, start=1)}
    difference = _first_difference(fused.hits, order, totals)
    if not difference:
        verdict = AuditVerdict.EQUAL
    elif _agrees_up_to_ties(fused, totals, (dense, sparse), shares):
        verdict = AuditVerdict.EQUAL_UP_TO_TIES
    else:
        verdict = AuditVerdict.DIFFERENT
    return FusionAudit(verdict, len(fused.hits), difference, recomputed)


def _dense_shares(request: SearchRequest, route: RouteList, metric: str) -> dict[str, _Share]:
    scores = [hit.dense.score for hit in route.hits if hit.dense is not None]
    values = [request.weight_dense * normalised_cosine(score, metric) for score in scores]
    return _shares(request, route.hits, scores, values)


def _sparse_shares(request: SearchRequest, route: RouteList) -> dict[str, _Share]:
    scores = [hit.sparse.score for hit in route.hits if hit.sparse is not None]
    values = [request.weight_sparse * normalised_bm25(score) for score in scores]
    return _shares(request, route.hits, scores, values)


def _shares(
    request: SearchRequest, hits: tuple[SearchHit, ...], scores: list[float], weighted: list[float]
) -> dict[str, _Share]:
    """Give each candidate of a route its share; the first copy of a key counts."""
    shares: dict[str, _Share] = {}
    for position, hit in enumerate(hits):
        first, last = _tie_group(scores, position)
        reaches_end = last == len(scores) - 1 and len(hits) >= request.retrieve_k
        if request.ranker is Ranker.RRF:
            listed = reciprocal_rank(position + 1, request.rrf_k)
            most = reciprocal_rank(first + 1, request.rrf_k)
            least = reciprocal_rank(last + 1, request.rrf_k)
        else:
            listed = least = most = weighted[position]
        # A tie that touches the limit may have fallen outside the list inside the hybrid call.
        least = 0.0 if reaches_end and first != last else least
        shares.setdefault(evidence_key(hit), _Share(listed, least, most))
    return shares


def _tie_group(scores: list[float], position: int) -> tuple[int, int]:
    first = last = position
    while first > 0 and abs(scores[first - 1] - scores[position]) <= TOLERANCE:
        first -= 1
    while last + 1 < len(scores) and abs(scores[last + 1] - scores[position]) <= TOLERANCE:
        last += 1
    return first, last


def _total(shares: list[_Share]) -> _Share:
    return _Share(
        math.fsum(share.listed for share in shares),
        math.fsum(share.least for share in shares),
        math.fsum(share.most for share in shares),
    )


def _fused_score(hit: SearchHit) -> float:
    return 0.0 if hit.fused is None else hit.fused.score


def _first_difference(hits: tuple[SearchHit, ...], order: list[str], totals: dict[str, _Share]) -> str:
    for rank, hit in enumerate(hits, start=1):
        key = evidence_key(hit)
        expected = order[rank - 1] if rank <= len(order) else None
        if expected is None:
            return f"rank {rank}: the server has {key}, neither route lists it"
        here = totals[expected].listed
        if key != expected or abs(here - _fused_score(hit)) > TOLERANCE:
            return (
                f"rank {rank}: the server has {key} ({_fused_score(hit):.6f}), "
                f"recomputed {expected} ({here:.6f})"
            )
    return ""


def _agrees_up_to_ties(
    fused: RouteList,
    totals: dict[str, _Share],
    routes: tuple[RouteList, RouteList],
    shares: tuple[dict[str, _Share], dict[str, _Share]],
) -> bool:
    tail_ties = [
        share.most
        for route, by_key in zip(routes, shares, strict=True)
        for key, share in by_key.items()
        if share.least == 0.0 and len(route.hits) >= route.limit and key in totals
    ]
    unlisted_most = math.fsum(sorted(tail_ties, reverse=True)[:2])
    for hit in fused.hits:
        score, total = _fused_score(hit), totals.get(evidence_key(hit))
        low, high = (0.0, unlisted_most) if total is None else (total.least, total.most + unlisted_most)
        if not low - TOLERANCE <= score <= high + TOLERANCE:
            return False
    listed = {evidence_key(hit) for hit in fused.hits}
    lowest = min((_fused_score(hit) for hit in fused.hits), default=0.0)
    full = len(fused.hits) >= fused.limit
    missing = [total for key, total in totals.items() if key not in listed and total.least > 0.0]
    return all(full and total.least <= lowest + TOLERANCE for total in missing)
