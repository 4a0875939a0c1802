"""Which cuts a model gets."""

import pytest

from core.retrieval.calibration import BUNDLED, SHIPPED, thresholds_for

ALL_FOUR = {
    "reference_threshold": 0.5,
    "precise_threshold": 0.8,
    "related_margin": 0.25,
    "precise_margin": 2.0,
}


def test_the_bundled_model_has_its_own_cuts():
    assert thresholds_for(BUNDLED) == SHIPPED[BUNDLED]
    assert SHIPPED[BUNDLED].calibrated


@pytest.mark.parametrize("name", ALL_FOUR)
def test_a_set_cut_replaces_the_shipped_one_and_leaves_the_others(name):
    cuts = thresholds_for(BUNDLED, **{name: ALL_FOUR[name]})

    assert cuts.calibrated
    for other in ALL_FOUR:
        expected = ALL_FOUR[name] if other == name else getattr(SHIPPED[BUNDLED], other)
        assert getattr(cuts, other) == expected


@pytest.mark.parametrize("missing", ALL_FOUR)
def test_another_model_is_not_calibrated_until_every_cut_is_set(missing):
    given = {name: value for name, value in ALL_FOUR.items() if name != missing}
    assert not thresholds_for("other").calibrated
    assert not thresholds_for("other", **given).calibrated

    cuts = thresholds_for("other", **ALL_FOUR)
    assert cuts.calibrated
    assert (cuts.model, cuts.reference_threshold, cuts.precise_margin) == ("other", 0.5, 2.0)
