"""The filter policy: which attempts run, which one goes on, and the words for why.

In: attempts with their levels. Out: the decision, as data. Invariants: only the category relaxes,
never the knowledge base; the better level wins and a tie stays filtered; a relaxed filter always
shows.
"""

from collections import Counter
from dataclasses import replace

from core.model.identity import evidence_key, is_named
from core.model.lookup import Attempt, FilterPolicy, Level
from core.model.search import SearchHit
from core.retrieval.configuration import Configuration

FILTERED = "filtered"
UNFILTERED = "unfiltered"
MERGED = "merged"


def should_retry_unfiltered(attempt: Attempt, configuration: Configuration) -> bool:
    """Decide after the filtered attempt whether one without the category runs.

    Under `fallback` a poor attempt is retried when `retry_unfiltered_on_low_quality` is set; without
    it only a category that holds no chunk is. `parallel` always runs both, `strict` never.
    """
    if configuration.policy is FilterPolicy.PARALLEL:
        return True
    if configuration.policy is FilterPolicy.STRICT or attempt.level is not Level.WEAK:
        return False
    return configuration.retry_unfiltered_on_low_quality or attempt.category_chunks == 0


def choose(filtered: Attempt, unfiltered: Attempt) -> tuple[str, str]:
    """Choose between the two attempts of `fallback`; return (name, reason)."""
    why = shortfall(filtered)
    if unfiltered.level.order > filtered.level.order:
        return UNFILTERED, (
            f"{why}, and without the filter the best hit is {unfiltered.level.value}: "
            "the answer comes from all categories"
        )
    return FILTERED, f"{why}, but without the filter nothing is better: the filter stays"


def shortfall(attempt: Attempt) -> str:
    """Say why a filtered attempt is not good enough; an empty category is told from a weak one."""
    category = f"category '{attempt.category_filter}'"
    if attempt.category_chunks == 0:
        return f"{category} holds no chunk"
    if not attempt.hits:
        return f"{category} holds {attempt.category_chunks} chunks, and none was found for this query"
    return f"the chunks of {category} are not good enough ({attempt.reason})"


def merge(filtered: tuple[SearchHit, ...], unfiltered: tuple[SearchHit, ...]) -> tuple[SearchHit, ...]:
    """Merge two lists by evidence key, each hit at its better rank; ranks become 1..n.

    Between two hits of equal better rank the one from the filtered list comes first. Of a hit in
    both lists the unfiltered copy is kept, because its ranks are those of the whole base; where a
    route of the whole base did not return it, what the filtered one says stays. A second copy within
    one list meets the second copy of the other, so that refining sees it; a hit without identity
    meets none.
    """
    better: dict[tuple[str, int, int], tuple[int, int]] = {}
    kept: dict[tuple[str, int, int], SearchHit] = {}
    for order, hits in enumerate((filtered, unfiltered)):
        copies: Counter[str] = Counter()
        for hit in hits:
            name = evidence_key(hit)
            key = (name, copies[name], 0 if is_named(hit) else order)
            copies[name] += 1
            place = (hit.rank, order)
            better[key] = min(better.get(key, place), place)
            kept[key] = _with_scores_of(hit, kept.get(key))
    ordered = sorted(kept, key=lambda key: (*better[key], key))
    return tuple(replace(kept[key], rank=rank) for rank, key in enumerate(ordered, start=1))


def _with_scores_of(hit: SearchHit, other: SearchHit | None) -> SearchHit:
    if other is None:
        return hit
    return replace(hit, dense=hit.dense or other.dense, sparse=hit.sparse or other.sparse)


def outside_category(hits: tuple[SearchHit, ...], category: str | None) -> int:
    """Count the hits of another category than the one asked for; 0 when none was asked for."""
    return 0 if category is None else sum(hit.category != category for hit in hits)
