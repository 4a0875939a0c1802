"""Pack: fit the evidence into the agent's character budget.

In: evidence, best first. Out: a `Packing`: excerpts in the same order and an entry for everything
that did not fit. Invariants: the budget is never exceeded; a grapheme cluster (a letter with its
marks, an emoji with its modifiers) is never split; what was cut says so.
"""

from collections.abc import Sequence

import regex

from core.model.lookup import Evidence, LedgerEntry, PackedEvidence, Packing, Stage

SMALLEST_EXCERPT_CHARACTERS = 80
"""A cut excerpt shorter than this tells an agent too little to be worth its place."""

_GRAPHEME = regex.compile(r"\X")


def pack(evidence: Sequence[Evidence], *, budget_characters: int) -> Packing:
    """Fill the budget in order.

    A piece takes the code points of its title, breadcrumb and excerpt. One that does not fit whole is
    cut when at least 80 characters of its content fit, else dropped; smaller ones after it may still
    fit.

    Args:
        evidence: best first.
        budget_characters: code points, at least 1.
    """
    packed: list[PackedEvidence] = []
    dropped: list[LedgerEntry] = []
    left = budget_characters
    for item in evidence:
        content = item.hit.content
        overhead = len(item.hit.title or "") + len(item.hit.breadcrumb or "")
        full = overhead + len(content)
        excerpt = content if full <= left else cut(content, left - overhead)
        too_short = len(excerpt) < min(SMALLEST_EXCERPT_CHARACTERS, len(content))
        if not excerpt or too_short:
            reason = f"needs {full:,} characters, {left:,} of {budget_characters:,} are left"
            if not content:
                reason = "it has no text"
            dropped.append(LedgerEntry(item.evidence_key, item.hit, Stage.PACK, reason, item.judgement))
            continue
        used = overhead + len(excerpt)
        packed.append(PackedEvidence(item, excerpt, len(excerpt) < len(content), used, full))
        left -= used
    return Packing(tuple(packed), tuple(dropped), budget_characters)


def cut(text: str, most_characters: int) -> str:
    """Return the longest beginning of at most so many code points that ends between characters.

    "" when nothing fits; trailing white space of the cut is dropped, unless it is part of a character.
    """
    if most_characters <= 0:
        return ""
    if len(text) <= most_characters:
        return text
    end = 0
    for match in _GRAPHEME.finditer(text):
        if match.end() > most_characters:
            break
        if not match.group().isspace():
            end = match.end()
    return text[:end]
