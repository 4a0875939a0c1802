"""The words of an explanation, all in one place.

In: the values of an explanation. Out: English sentences with the numbers that decided. Invariant: no
sentence says more than its values; what was not measured is not named.
"""

from collections.abc import Sequence

from core.model.search import Route, RouteState
from core.model.why import End, Ending, Rescue, RouteStanding, SettingValue
from core.retrieval.configuration import Configuration

SHOWN_KEYS = 5


def standing_sentence(standing: RouteStanding, reason: str = "") -> str:
    """Say where a chunk stands on a route.

    Args:
        standing: its own sentence is not read.
        reason: of the store, for a route that failed or was not run.
    """
    name = "BM25" if standing.route is Route.SPARSE else "Dense"
    if standing.rank is not None and standing.score is not None:
        where = "within" if standing.rank <= standing.limit else "outside"
        score = f"{standing.score:.3f}" if standing.route is Route.DENSE else f"{standing.score:.2f}"
        return f"{name}: rank {standing.rank:,} ({score}), {where} retrieve_k {standing.limit:,}."
    if standing.state is RouteState.FAILED:
        what = f"the route failed ({reason.rstrip('.')})"
    elif standing.state is RouteState.NOT_RUN:
        what = f"not asked ({reason.rstrip('.')})"
    elif not standing.exhausted:
        what = f"not within the first {standing.looked:,}"
    elif standing.route is Route.SPARSE:
        what = "shares no term with the question"
    else:
        what = "the index did not return it"
    return f"{name}: {what}."


def ending_sentence(
    ending: Ending, standings: Sequence[RouteStanding], configuration: Configuration, category: str | None
) -> str:
    """Say where the chunk ended and by how much.

    Args:
        ending: neither NOT_IN_BUILD nor OTHER_SCOPE.
        standings: of the chunk.
        configuration: of the lookup.
        category: the filter of the chosen attempt; None asks all categories.
    """
    key = ending.evidence_key
    copies = ""
    if ending.duplicate_ranks:
        ranks = ", ".join(f"{rank:,}" for rank in ending.duplicate_ranks)
        copies = f" Further copies of it, at rank {ranks}, were set aside as duplicates."
    return f"{key} {_what_happened(ending, standings, configuration, category)}.{copies}"


def _what_happened(
    ending: Ending, standings: Sequence[RouteStanding], configuration: Configuration, category: str | None
) -> str:
    match ending.end:
        case End.KEPT:
            what = f"is kept: piece {ending.reached} of {ending.limit}"
        case End.OTHER_CATEGORY:
            what = f"is of another category than '{category}', and that filter stayed"
        case End.NOT_CHOSEN:
            what = f"was found by attempt '{ending.attempt}' only, and another attempt was chosen"
        case End.RETRIEVE:
            places = " ".join(standing.sentence for standing in standings).rstrip(".")
            what = f"is outside retrieve_k {configuration.retrieve_k:,} on every route. {places}"
        case End.FUSE:
            what = _outside_fused(ending)
        case _:
            what = _refined_away(ending)
    return what


def _outside_fused(ending: Ending) -> str:
    if ending.reached is None or ending.lacking_score is None:
        return "was found by a route, but it is not in the fused list"
    return (
        f"was found by a route, but its fused rank is {ending.reached:,} and the list ends at "
        f"{ending.limit:,}: it lacks {ending.lacking_score:.6f}"
    )


def _refined_away(ending: Ending) -> str:
    """Say what happened to a chunk of the list after it was retrieved; also for a near miss."""
    reached, limit, rank = ending.reached, ending.limit, ending.list_rank
    if ending.end is End.CAP:
        return (
            f"stands at rank {rank:,} and is chunk number {reached} of its document there; "
            f"the cap is {limit} (max_chunks_per_document)"
        )
    if ending.end is End.RETURN_N:
        return (
            f"stands at rank {rank:,}, place {reached:,} after duplicates and the cap; "
            f"return_n keeps {limit:,}"
        )
    if reached is not None and limit is not None:
        return (
            f"stands at rank {rank:,} and needs {reached:,} characters; {limit:,} of the budget were left"
        )
    return "was dropped"


def missing_sentence(
    expected: str, build: str, document: str, document_chunks: int, *, in_catalog: bool | None
) -> str:
    """Say that the build does not hold what is expected."""
    if document_chunks:
        held = "1 chunk" if document_chunks == 1 else f"{document_chunks:,} chunks"
        return f"{expected} is not in build {build}, which holds {held} of {document}."
    if in_catalog:
        return (
            f"{expected} is not in build {build}, although the catalog has the document. "
            "Index it again, or rebuild."
        )
    if in_catalog is None:
        return f"{expected} is not in build {build}. Check the name, or index the document."
    return (
        f"{expected} is neither in build {build} nor in the catalog. Check the name, or index the document."
    )


def other_scope_sentence(expected: str, build: str, kb_scope: str | None) -> str:
    """Say that what is expected lies behind the boundary of access; the other base is not named."""
    return (
        f"{expected} is in build {build}, but not in the knowledge base '{kb_scope}' that was asked. "
        "A knowledge base never relaxes."
    )


def rescue_sentence(found: Rescue) -> str:
    """Say what a change keeps, pushes out and brings in besides; its own sentence is not read."""
    out = f"pushes out {_listed(found.pushed_out)}" if found.pushed_out else "pushes nothing out"
    besides = f"; brings in {_listed(found.brought_in)} besides" if found.brought_in else ""
    change = _change(found.setting, found.old, found.new)
    return f"{change} keeps {found.kept_key} as piece {found.position} and {out}{besides}."


def near_miss_sentence(setting: str, old: SettingValue, new: SettingValue, ending: Ending) -> str:
    """Say how far a change brings a chunk that it does not keep."""
    match ending.end:
        case End.FUSE:
            what = _outside_fused(ending)
        case End.RETRIEVE | End.NOT_CHOSEN | End.OTHER_CATEGORY:
            what = f"ends at {ending.end.value} all the same"
        case _:
            what = _refined_away(ending)
    return f"Nearest comes {_change(setting, old, new)}: then {ending.evidence_key} {what}."


def outlook_sentence(end: End, rescues: int, *, near: bool, failed: bool) -> str:
    """Say what a change of one setting can do; "" when nothing has to be changed."""
    if end is End.KEPT:
        return ""
    if end in (End.NOT_IN_BUILD, End.OTHER_SCOPE):
        return "No setting of the lookup can bring it in."
    if failed:
        return "A route failed, so no change could be tried."
    if rescues:
        return f"{rescues} single {'change keeps' if rescues == 1 else 'changes keep'} it."
    return "No single change of a setting keeps it" + ("." if near else ", and none brings it further.")


def _change(setting: str, old: SettingValue, new: SettingValue) -> str:
    if setting == "category":
        return f"the category filter '{old}' taken off"
    if setting == "navigate":
        return "navigation switched off"
    return f"{setting} {_value(old)} -> {_value(new)}"


def _value(value: SettingValue) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _listed(keys: Sequence[str]) -> str:
    shown = ", ".join(keys[:SHOWN_KEYS])
    more = len(keys) - SHOWN_KEYS
    return shown if more <= 0 else f"{shown} and {more:,} more"
