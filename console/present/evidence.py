"""One lookup beside its ledger: attempts with their verdicts, the yardstick, the packing.

In: a `LookupResult`. Out: rows and sentences.
"""

from dataclasses import dataclass

from console.present.hits import level_name, route_name, title_of
from console.present.units import cosine, milliseconds
from console.texts import chunks, counted, sentence, t
from core.model.lookup import Attempt, LedgerEntry, LookupResult, Packing


@dataclass(frozen=True, slots=True)
class Portion:
    """One piece of the context budget, in pack order; `characters` 0 when it was left out."""

    evidence_key: str
    title: str
    characters: int
    full_characters: int
    truncated: bool
    reason: str


@dataclass(frozen=True, slots=True)
class AttemptCard:
    """One attempt in words."""

    name: str
    filter_label: str
    hits_label: str
    level: str
    reason: str
    time_label: str
    selected: bool


def portions(packing: Packing) -> tuple[Portion, ...]:
    """Return the pieces of the budget in pack order, then what did not fit."""
    inside = [
        Portion(
            evidence_key=item.evidence.evidence_key,
            title=title_of(item.evidence.hit),
            characters=item.characters,
            full_characters=item.full_characters,
            truncated=item.truncated,
            reason="",
        )
        for item in packing.packed
    ]
    outside = [_left_out(entry) for entry in packing.dropped]
    return (*inside, *outside)


def _left_out(entry: LedgerEntry) -> Portion:
    hit = entry.hit
    full = sum(len(part or "") for part in (hit.title, hit.breadcrumb, hit.content))
    return Portion(entry.evidence_key, title_of(hit), 0, full, truncated=False, reason=entry.reason)


def packing_finding(packing: Packing) -> str:
    """Say how full the budget is and what was cut."""
    share = packing.used_characters / packing.budget_characters
    text = t("{used:,} of {budget:,} characters used ({share:.0%})").format(
        used=packing.used_characters, budget=packing.budget_characters, share=share
    )
    cut = sum(item.truncated for item in packing.packed)
    notes = [t("{chunks} shortened").format(chunks=chunks(cut))] if cut else []
    if packing.dropped:
        notes.append(t("{chunks} left out").format(chunks=chunks(len(packing.dropped))))
    return "; ".join([text, *(notes or [t("nothing was cut")])])


def attempt_cards(result: LookupResult) -> tuple[AttemptCard, ...]:
    """Return the attempts in the order they ran."""
    return tuple(
        AttemptCard(
            name=attempt.name,
            filter_label=t("category = {category}").format(category=attempt.category_filter)
            if attempt.category_filter
            else t("all categories"),
            hits_label=counted("{count} hit", "{count} hits", len(attempt.hits)),
            level=level_name(attempt.level),
            reason=sentence(attempt.reason) + _admitted(attempt),
            time_label=milliseconds(attempt.milliseconds),
            selected=attempt.name == result.retrieval.selected,
        )
        for attempt in result.retrieval.attempts
    )


def _admitted(attempt: Attempt) -> str:
    if attempt.category_chunks is None:
        return ""
    return " " + t("The filter admits {chunks}.").format(chunks=chunks(attempt.category_chunks))


def background_line(result: LookupResult) -> str:
    """Write the yardstick of the levels: what the base offers for this query at all."""
    background = result.retrieval.background
    if background.best is None or background.mean is None or background.deviation is None:
        return t("Background: the base has no dense hit for this query.")
    return t(
        "Background of this query ({hits}): best cosine {best}, mean {mean}, deviation {spread:.3f}."
    ).format(
        hits=counted("{count} hit", "{count} hits", background.count),
        best=cosine(background.best),
        mean=cosine(background.mean),
        spread=background.deviation,
    )


def route_counts(result: LookupResult) -> str:
    """Write how many hits each route gave in the chosen attempt."""
    response = result.retrieval.chosen.response
    return " · ".join(
        f"{route_name(asked.route)} {len(asked.hits)}"
        for asked in (response.dense, response.sparse, response.fused)
        if asked.limit
    )
