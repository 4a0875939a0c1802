"""How good a hit is: a floor for the cosine and a margin above the query's own background.

In: hits with their dense cosines, and the background: what the base offers for this query at all.
Out: a `Judgement` per hit. Invariant: only dense similarity is judged, so a hit that BM25 alone
found is never PRECISE, and no fused score is ever compared with a threshold.

Why two numbers: a cosine says whether the base knows the topic at all, but not whether one hit
is as good as what the base has, because some queries are close to everything. The second needs a
number relative to the query: how many standard deviations the cosine stands above the mean of the
query's unfiltered dense list in the same knowledge base.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from core.model.documents import search_text
from core.model.lookup import Background, Judgement, Level
from core.model.search import SearchHit
from core.retrieval.query import is_lexically_complete

BACKGROUND_SIZE = 20
"""The margin is taken against at most the first 20 hits, so a larger retrieve_k does not change it."""

SMALLEST_DEVIATION = 1e-4
"""Below this spread the background cannot tell hits apart and only the floor decides."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The cuts between the levels, for one embedding model; all of them inclusive.

    Attributes:
        calibrated: False says the cuts belong to no measured model: nothing is PRECISE then.
        reference_threshold: cosine from which a hit can be RELATED.
        precise_threshold: cosine from which a hit can be PRECISE.
        related_margin: standard deviations above the background's mean from which it can be RELATED.
        precise_margin: the same for PRECISE.
    """

    model: str
    calibrated: bool
    reference_threshold: float
    precise_threshold: float
    related_margin: float
    precise_margin: float


def measure_background(hits: Iterable[SearchHit], *, milliseconds: float = 0.0) -> Background:
    """Summarise an unfiltered dense list, best first; only its first 20 cosines count."""
    cosines = [hit.dense.score for hit in hits if hit.dense is not None][:BACKGROUND_SIZE]
    if not cosines:
        return Background(0, None, None, None, milliseconds)
    mean = math.fsum(cosines) / len(cosines)
    deviation = math.sqrt(math.fsum((cosine - mean) ** 2 for cosine in cosines) / len(cosines))
    return Background(len(cosines), max(cosines), mean, deviation, milliseconds)


def judge(
    hit: SearchHit, background: Background, thresholds: Thresholds, terms: tuple[str, ...]
) -> Judgement:
    """Give one hit its level and the numbers behind it.

    Args:
        hit: carries its cosine in `dense`, or None when the dense route did not return it.
        background: of the same query and knowledge base, without a category filter.
        thresholds: of the embedding model.
        terms: the identifier-like terms of the query.
    """
    complete = is_lexically_complete(terms, search_text(hit.title, hit.breadcrumb, hit.content))
    similarity = None if hit.dense is None else hit.dense.score
    margin = margin_above(similarity, background)
    level, reason = _level(similarity, margin, thresholds)
    if level is Level.WEAK and complete:
        level = Level.RELATED
        reason = f"holds every exact term of the query ({', '.join(terms)}); by similarity: {reason}"
    if not thresholds.calibrated:
        reason += f"; the levels are not calibrated for {thresholds.model}"
    return Judgement(level, similarity, margin, complete, reason)


def margin_above(similarity: float | None, background: Background) -> float | None:
    """Say how many standard deviations a cosine stands above the background's mean.

    None without a cosine, or with a background that is empty or has no spread.
    """
    if similarity is None or background.mean is None or background.deviation is None:
        return None
    if background.deviation < SMALLEST_DEVIATION:
        return None
    return (similarity - background.mean) / background.deviation


def _level(similarity: float | None, margin: float | None, cuts: Thresholds) -> tuple[Level, str]:
    if similarity is None:
        return Level.WEAK, "the dense route did not return it, so it counts as least similar"
    stands = f"cosine {similarity:.3f}" + ("" if margin is None else f", margin {margin:+.2f}")
    above = math.inf if margin is None else margin
    level = Level.RELATED
    if similarity < cuts.reference_threshold:
        level, reason = Level.WEAK, f"{stands}: the cosine is below {cuts.reference_threshold:.3f}"
    elif above < cuts.related_margin:
        level, reason = Level.WEAK, f"{stands}: the margin is below {cuts.related_margin:+.2f}"
    elif cuts.calibrated and similarity >= cuts.precise_threshold and above >= cuts.precise_margin:
        level = Level.PRECISE
        reason = f"{stands}: at least {cuts.precise_threshold:.3f} and {cuts.precise_margin:+.2f}"
    else:
        reason = f"{stands}: at least {cuts.reference_threshold:.3f} and {cuts.related_margin:+.2f}"
    return level, reason
