"""Floors, margins and lexical completeness, one rule a test."""

import math
from dataclasses import replace

import pytest

from core.model.lookup import Background, Level
from core.retrieval.levels import BACKGROUND_SIZE, Thresholds, judge, measure_background
from tests.builders import a_hit

CUTS = Thresholds("model-a", True, 0.5, 0.8, related_margin=0.0, precise_margin=1.0)
BACKGROUND = Background(count=20, best=0.9, mean=0.5, deviation=0.25)
"""Margins: 0.5 -> 0, 0.75 -> +1, 0.875 -> +1.5."""


def level_of(cosine, cuts=CUTS, background=BACKGROUND):
    dense = None if cosine is None else (1, cosine)
    return judge(a_hit(dense=dense, sparse=(1, 9.0)), background, cuts, ()).level


def test_the_background_is_the_mean_and_the_population_deviation():
    background = measure_background([a_hit(dense=(1, 0.9)), a_hit(dense=(2, 0.5))], milliseconds=7.0)

    assert background.count == 2
    assert background.best == 0.9
    assert background.mean == pytest.approx(0.7, abs=1e-12)
    assert background.deviation == pytest.approx(0.2, abs=1e-12)
    assert background.milliseconds == 7.0


def test_only_the_first_twenty_hits_make_the_background():
    near = [a_hit(dense=(rank, 0.8)) for rank in range(1, BACKGROUND_SIZE + 1)]
    far = [a_hit(dense=(rank, -1.0)) for rank in range(21, 101)]

    assert measure_background([*near, *far]).count == 20
    assert measure_background([*near, *far]).mean == pytest.approx(0.8, abs=1e-12)


def test_a_background_of_nothing_has_no_numbers():
    assert measure_background([]) == Background(0, None, None, None, 0.0)


@pytest.mark.parametrize(
    ("cosine", "level"),
    [
        (0.82, Level.PRECISE),
        (0.80, Level.PRECISE),
        (math.nextafter(0.80, 0), Level.RELATED),
        (0.55, Level.RELATED),
        (0.50, Level.RELATED),
        (math.nextafter(0.50, 0), Level.WEAK),
        (0.31, Level.WEAK),
        (None, Level.WEAK),
    ],
)
def test_the_cuts_are_inclusive_ret_04(cosine, level):
    assert level_of(cosine) is level


def test_the_reason_of_a_weak_hit_has_its_cosine_ret_04():
    reason = judge(a_hit(dense=(1, 0.31)), BACKGROUND, CUTS, ()).reason

    assert reason == "cosine 0.310, margin -0.76: the cosine is below 0.500"


def test_a_hit_above_the_floor_but_below_the_margin_is_weak():
    cuts = replace(CUTS, related_margin=1.0)
    judgement = judge(a_hit(dense=(1, 0.6)), BACKGROUND, cuts, ())

    assert judgement.level is Level.WEAK
    assert judgement.margin == pytest.approx(0.4, abs=1e-12)
    assert judgement.reason == "cosine 0.600, margin +0.40: the margin is below +1.00"


def test_both_margins_are_inclusive():
    cuts = replace(CUTS, precise_threshold=0.5, related_margin=1.0, precise_margin=1.5)

    assert level_of(0.74, cuts) is Level.WEAK
    assert level_of(0.75, cuts) is Level.RELATED
    assert level_of(0.875, cuts) is Level.PRECISE


def test_a_high_cosine_below_its_margin_is_only_related():
    assert level_of(0.9, replace(CUTS, precise_margin=2.0)) is Level.RELATED


def test_a_high_margin_below_the_floor_is_weak():
    low = Background(count=20, best=0.4, mean=0.1, deviation=0.01)

    assert level_of(0.4, background=low) is Level.WEAK


@pytest.mark.parametrize(
    "background",
    [
        Background(0, None, None, None),
        Background(1, 0.9, 0.9, 0.0),
        Background(20, 0.9, 0.9, 0.00009),
    ],
)
def test_a_background_without_spread_leaves_only_the_floor(background):
    judgement = judge(a_hit(dense=(1, 0.9)), background, CUTS, ())

    assert judgement.level is Level.PRECISE
    assert judgement.margin is None
    assert level_of(0.6, background=background) is Level.RELATED
    assert level_of(0.4, background=background) is Level.WEAK


def test_a_hit_that_only_bm25_found_has_no_similarity_and_is_weak():
    judgement = judge(a_hit(sparse=(1, 99.0), fused=(1, 1 / 61)), BACKGROUND, CUTS, ())

    assert judgement.level is Level.WEAK
    assert judgement.similarity is None
    assert judgement.margin is None


def test_lexical_completeness_lifts_a_bm25_hit_to_related_and_no_further():
    hit = a_hit(content="Restart after E-1042.", sparse=(1, 99.0))
    judgement = judge(hit, BACKGROUND, CUTS, ("E-1042",))

    assert judgement.level is Level.RELATED
    assert judgement.lexically_complete
    assert judgement.reason == (
        "holds every exact term of the query (E-1042); by similarity: "
        "the dense route did not return it, so it counts as least similar"
    )


def test_lexical_completeness_does_not_make_a_related_hit_precise():
    hit = a_hit(content="E-1042", dense=(1, 0.6))

    assert judge(hit, BACKGROUND, CUTS, ("E-1042",)).level is Level.RELATED


def test_the_title_and_the_breadcrumb_count_for_completeness():
    hit = a_hit(title="E-1042", breadcrumb="Pool > max_connections", content="Restart it.")

    assert judge(hit, BACKGROUND, CUTS, ("E-1042", "max_connections")).level is Level.RELATED


def test_part_of_a_longer_code_does_not_lift_a_hit():
    hit = a_hit(content="Error E-1042", dense=(1, 0.1))

    assert judge(hit, BACKGROUND, CUTS, ("E-104",)).level is Level.WEAK


def test_an_uncalibrated_model_says_so_and_is_never_precise():
    cuts = replace(CUTS, model="model-b", calibrated=False)
    judgement = judge(a_hit(dense=(1, 0.99)), BACKGROUND, cuts, ())

    assert judgement.level is Level.RELATED
    assert judgement.reason.endswith("; the levels are not calibrated for model-b")


def test_the_scale_of_fused_scores_changes_no_judgement_ret_05():
    hit = a_hit(dense=(2, 0.6), fused=(1, 1.0))
    lower = replace(hit, fused=replace(hit.fused, score=0.3))

    assert judge(hit, BACKGROUND, CUTS, ()) == judge(lower, BACKGROUND, CUTS, ())
