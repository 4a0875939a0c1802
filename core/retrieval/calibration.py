"""The cuts of the levels that ship with RankLens, by embedding model.

In: a model's name and the settings. Out: `Thresholds`. Invariant: a model that was never measured
gets cuts that are marked as not calibrated, and no hit of it is ever PRECISE.
"""

from dataclasses import replace

from core.retrieval.levels import Thresholds

BUNDLED = "intfloat/multilingual-e5-small"

SHIPPED = {
    BUNDLED: Thresholds(
        model=BUNDLED,
        calibrated=True,
        reference_threshold=0.821,
        precise_threshold=0.853,
        related_margin=0.72,
        precise_margin=1.55,
    )
}


def thresholds_for(
    model: str,
    *,
    reference_threshold: float | None = None,
    precise_threshold: float | None = None,
    related_margin: float | None = None,
    precise_margin: float | None = None,
) -> Thresholds:
    """Choose the cuts for a model: each as given, else the shipped one of the model.

    A model without shipped cuts counts as calibrated when all four are given; until then nothing but
    its margins is asked, and those are the bundled model's.

    Args:
        model: name of the embedding model.
        reference_threshold: cosine from which a hit can be RELATED; None takes the shipped one.
        precise_threshold: the same for PRECISE.
        related_margin: standard deviations above the background, for RELATED.
        precise_margin: the same for PRECISE.
    """
    given = (reference_threshold, precise_threshold, related_margin, precise_margin)
    shipped = SHIPPED.get(model)
    start = shipped or replace(
        SHIPPED[BUNDLED], model=model, calibrated=False, reference_threshold=-1.0, precise_threshold=1.0
    )
    return Thresholds(
        model=model,
        calibrated=shipped is not None or None not in given,
        reference_threshold=_first(reference_threshold, start.reference_threshold),
        precise_threshold=_first(precise_threshold, start.precise_threshold),
        related_margin=_first(related_margin, start.related_margin),
        precise_margin=_first(precise_margin, start.precise_margin),
    )


def _first(given: float | None, shipped: float) -> float:
    return shipped if given is None else given
