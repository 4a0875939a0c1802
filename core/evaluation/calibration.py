"""The cuts of the relevance levels, measured on judged questions.

In: bases with judged questions, and questions about something else. Out: a `Calibration`: three
separations and the `Thresholds` that follow from them. Invariant: the numbers are those that the
levels are made of (the cosine, and its margin over the query's background), taken the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.evaluation.query_sets import Query, QuerySet
from core.evaluation.separation import Separation, percentile, separate
from core.model.search import SearchHit
from core.ports import Embedder, KnowledgeSearchPort, Vector
from core.retrieval.configuration import Configuration
from core.retrieval.levels import Thresholds, margin_above, measure_background
from core.retrieval.query import normalise_query

UNRELATED = "does the base know this topic at all? (best cosine)"
CATEGORY = "does the category hold the answer? (best margin)"
SINGLE_HIT = "is this document relevant? (margin of its best chunk)"

STRAY_SHARE = 0.95
"""PRECISE asks for a margin that 19 of 20 hits of other documents do not reach."""


@dataclass(frozen=True, slots=True)
class Material:
    """One base with its judged questions.

    Attributes:
        categories: all categories of the base.
        category_of: relative document name to its category.
    """

    name: str
    searcher: KnowledgeSearchPort
    questions: QuerySet
    categories: tuple[str, ...]
    category_of: dict[str, str]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured, and the cuts that follow."""

    unrelated: Separation
    category: Separation
    single_hit: Separation
    thresholds: Thresholds


@dataclass(slots=True)
class _Observed:
    """Numbers as they are gathered."""

    known: list[float]
    strange: list[float]
    right: list[float]
    wrong: list[float]
    relevant: list[float]
    other: list[float]


def calibrate(
    materials: Sequence[Material],
    unrelated: Sequence[str],
    embedder: Embedder,
    configuration: Configuration,
) -> Calibration:
    """Measure the three questions over all bases together and choose the cuts.

    The floor of RELATED best parts questions that the base knows from unrelated ones; its margin best
    parts the right category from the wrong ones. PRECISE asks for a cosine that no unrelated question
    reached and for a margin that 19 of 20 hits of other documents do not reach.

    Args:
        materials: bases whose documents are judged by relative name.
        unrelated: questions whose answers are in none of the bases.
        embedder: of the bases; the cuts belong to it.
        configuration: its `retrieve_k` and `kb_scope` are used.

    Raises:
        RequestInvalid: a group of examples is empty.
        StoreError: a base does not answer.
    """
    observed = _Observed([], [], [], [], [], [])
    strange = [embedder.embed_query(normalise_query(text)) for text in unrelated]
    for material in materials:
        for query in material.questions.queries:
            _observe(observed, material, query, embedder, configuration)
        for text, vector in zip(unrelated, strange, strict=True):
            hits = _dense(material, text, vector, configuration, category=None)
            observed.strange += [_cosine(hit) for hit in hits[:1]]
    topic = separate(UNRELATED, observed.known, observed.strange)
    category = separate(CATEGORY, observed.right, observed.wrong)
    single = separate(SINGLE_HIT, observed.relevant, observed.other)
    reference = topic.best_cut
    thresholds = Thresholds(
        model=embedder.name,
        calibrated=True,
        reference_threshold=reference,
        precise_threshold=max(reference, topic.negatives[-1]),
        related_margin=category.best_cut,
        precise_margin=max(category.best_cut, percentile(single.negatives, STRAY_SHARE)),
    )
    return Calibration(topic, category, single, thresholds)


def _observe(
    observed: _Observed,
    material: Material,
    query: Query,
    embedder: Embedder,
    configuration: Configuration,
) -> None:
    relevant = {name for name, grade in material.questions.grades()[query.query_id].items() if grade > 0}
    text = normalise_query(query.text)
    vector = embedder.embed_query(text)
    hits = _dense(material, text, vector, configuration, category=None)
    background = measure_background(hits)
    observed.known += [_cosine(hit) for hit in hits[:1]]
    homes = {material.category_of[name] for name in relevant if name in material.category_of}
    for category in material.categories:
        found = _dense(material, text, vector, configuration, category=category)
        margins = [margin_above(_cosine(hit), background) for hit in found[:1]]
        group = observed.right if category in homes else observed.wrong
        group += [margin for margin in margins if margin is not None]
    seen: set[str] = set()
    for hit in hits:
        margin = margin_above(_cosine(hit), background)
        if hit.source is not None and hit.source not in seen and margin is not None:
            seen.add(hit.source)
            (observed.relevant if hit.source in relevant else observed.other).append(margin)


def _dense(
    material: Material, text: str, vector: Vector, configuration: Configuration, *, category: str | None
) -> tuple[SearchHit, ...]:
    request = configuration.request(text, category_filter=category)
    return material.searcher.search_dense(request, vector).hits


def _cosine(hit: SearchHit) -> float:
    return -1.0 if hit.dense is None else hit.dense.score
