"""Under which conditions a lookup ran: filter, fusion audit, times; one line each.

In: a `LookupResult`. Out: sentences.
"""

from collections.abc import Mapping

from console.present.hits import route_name
from console.present.units import milliseconds
from console.texts import counted, t
from core.model.lookup import LookupResult
from core.model.search import AuditVerdict, FusionAudit, Ranker, RouteState, SearchResponse

STAGES = ("embed", "retrieve", "refine", "pack", "project", "total")


def filter_verdict(result: LookupResult, category: str | None) -> str | None:
    """Say what became of the category filter; None when none was asked for."""
    if category is None:
        return None
    reason = result.retrieval.reason.rstrip(".")
    if not result.projection.filter_relaxed:
        return t("Category filter “{category}” kept: {reason}.").format(category=category, reason=reason)
    outside = counted(
        "{count} returned chunk lies outside it.",
        "{count} returned chunks lie outside it.",
        result.outside_category,
    )
    return t("Category filter “{category}” relaxed: {reason}. {outside}").format(
        category=category, reason=reason, outside=outside
    )


def audit_line(response: SearchResponse) -> str | None:
    """Say whether the server's fusion is the formula's; None when nothing was fused."""
    if response.fused.state is RouteState.NOT_RUN:
        return None
    audit = response.audit
    formula = _formula(response)
    if audit.verdict is AuditVerdict.EQUAL:
        return t("Fusion audit: the server's order is {formula} exactly ({ranks}).").format(
            formula=formula, ranks=_ranks(audit)
        )
    if audit.verdict is AuditVerdict.EQUAL_UP_TO_TIES:
        return t(
            "Fusion audit: the server's order is {formula}, apart from equal scores ({ranks})."
        ).format(formula=formula, ranks=_ranks(audit))
    if audit.verdict is AuditVerdict.DIFFERENT:
        return t("Fusion audit: the server's order is not {formula}. {difference}").format(
            formula=formula, difference=audit.first_difference
        )
    return t("Fusion audit: not checked, because a route did not run.")


def _formula(response: SearchResponse) -> str:
    request = response.request
    if request.ranker is Ranker.RRF:
        return t("RRF with k = {k}").format(k=request.rrf_k)
    return t("weighted, dense {dense} and BM25 {sparse}").format(
        dense=request.weight_dense, sparse=request.weight_sparse
    )


def _ranks(audit: FusionAudit) -> str:
    return counted("{count} rank compared", "{count} ranks compared", audit.compared)


def call_times(response: SearchResponse) -> str:
    """Write the milliseconds of each call to the store; a call that did not run is left out."""
    calls = [
        f"{route_name(asked.route)} {milliseconds(asked.milliseconds)}"
        for asked in (response.dense, response.sparse, response.fused)
        if asked.milliseconds is not None
    ]
    return " · ".join(calls)


def stage_times(times: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Return (stage, milliseconds) in the order of the line, without the total and without gaps."""
    known = [(stage, times[stage]) for stage in STAGES if stage in times and stage != "total"]
    return tuple(known)


def time_line(result: LookupResult) -> str:
    """Write the times of one column: the total, embedding, and each call."""
    total = milliseconds(result.milliseconds.get("total"))
    embed = milliseconds(result.milliseconds.get("embed"))
    calls = call_times(result.retrieval.chosen.response)
    return t("{total} in all · embed {embed} · {calls}").format(total=total, embed=embed, calls=calls)


def route_troubles(response: SearchResponse) -> tuple[str, ...]:
    """Say which route failed or was skipped and why; empty when each did its part."""
    troubles = []
    for asked in (response.dense, response.sparse, response.fused):
        if asked.state is RouteState.FAILED:
            text = t("{route} failed: {reason}")
        elif asked.state is RouteState.EMPTY:
            text = t("{route} found nothing: {reason}")
        else:
            continue
        name = route_name(asked.route)
        troubles.append(text.format(route=name[:1].upper() + name[1:], reason=asked.reason))
    return tuple(troubles)
