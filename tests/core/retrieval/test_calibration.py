"""Which cuts a model gets."""

from core.retrieval.calibration import SHIPPED, thresholds_for

BUNDLED = "intfloat/multilingual-e5-small"


def test_the_bundled_model_has_its_own_cuts():
    assert thresholds_for(BUNDLED, reference=None, precise=None) == SHIPPED[BUNDLED]
    assert SHIPPED[BUNDLED].calibrated


def test_a_set_cut_replaces_the_shipped_one_and_leaves_the_other():
    cuts = thresholds_for(BUNDLED, reference=0.5, precise=None)

    assert cuts.reference_threshold == 0.5
    assert cuts.precise_threshold == SHIPPED[BUNDLED].precise_threshold
    assert cuts.calibrated


def test_another_model_is_not_calibrated_until_both_cuts_are_set():
    for reference, precise in ((None, None), (0.5, None), (None, 0.8)):
        assert not thresholds_for("other", reference=reference, precise=precise).calibrated

    cuts = thresholds_for("other", reference=0.5, precise=0.8)
    assert cuts.calibrated
    assert (cuts.model, cuts.reference_threshold, cuts.precise_threshold) == ("other", 0.5, 0.8)
