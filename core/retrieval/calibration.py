"""The cuts of the levels that ship with RankLens, by embedding model.

In: a model's name and the settings. Out: `Thresholds`. Invariant: a model that was never measured
gets cuts that are marked as not calibrated, and no hit of it is ever PRECISE.
"""

from core.retrieval.levels import Thresholds

SHIPPED = {
    "intfloat/multilingual-e5-small": Thresholds(
        model="intfloat/multilingual-e5-small",
        calibrated=True,
        reference_threshold=0.825,
        precise_threshold=0.85,
        related_margin=0.9,
        precise_margin=1.5,
    )
}


def thresholds_for(model: str, *, reference: float | None, precise: float | None) -> Thresholds:
    """Choose the cuts for a model.

    Args:
        model: name of the embedding model.
        reference: cosine that the settings put in place of the shipped one; None keeps it.
        precise: the same for PRECISE. Settings that name both cuts count as a calibration of a model
            that has none.
    """
    shipped = SHIPPED.get(model)
    both_set = reference is not None and precise is not None
    margins = shipped or next(iter(SHIPPED.values()))
    fallback_reference = shipped.reference_threshold if shipped else -1.0
    fallback_precise = shipped.precise_threshold if shipped else 1.0
    return Thresholds(
        model=model,
        calibrated=shipped is not None or both_set,
        reference_threshold=fallback_reference if reference is None else reference,
        precise_threshold=fallback_precise if precise is None else precise,
        related_margin=margins.related_margin,
        precise_margin=margins.precise_margin,
    )
