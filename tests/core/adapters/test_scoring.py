import pytest

from core.adapters.scoring import cosine_of_distance, dense_distance, fuse_ranks, fuse_weighted, tie_order
from core.model.search import Ranker


def test_equal_scores_are_ordered_by_key_in_every_group() -> None:
    scores, keys = [0.5, 0.9, 0.5, 0.9, 0.1], ["d", "b", "c", "a", "e"]
    assert tie_order(scores, keys, Ranker.RRF) == [3, 1, 2, 0, 4]


def test_weighted_scores_that_differ_in_the_last_bit_are_equal_and_reciprocal_ranks_are_not() -> None:
    scores, keys = [1.0, 1.0 - 1e-7, 0.5, 0.5 - 1e-6], ["b", "a", "d", "c"]
    assert tie_order(scores, keys, Ranker.WEIGHTED) == [1, 0, 2, 3]
    assert tie_order(scores, keys, Ranker.RRF) == [0, 1, 2, 3]


def test_a_group_of_ties_does_not_grow_step_by_step() -> None:
    scores = [1.0, 1.0 - 4e-7, 1.0 - 8e-7]
    assert tie_order(scores, ["c", "b", "a"], Ranker.WEIGHTED) == [1, 0, 2]


def test_nothing_is_ordered_as_nothing() -> None:
    assert tie_order([], [], Ranker.RRF) == []


def test_reciprocal_ranks_add_up_over_the_routes() -> None:
    assert fuse_ranks([["a", "b"], ["b"]], 60) == pytest.approx({"a": 1 / 61, "b": 1 / 62 + 1 / 61})


def test_a_hit_missing_on_a_route_gets_nothing_from_it() -> None:
    fused = fuse_weighted([({"a": 0.5, "b": 1.0}, 1.0), ({"b": 0.5, "c": 1.0}, 0.8)])
    assert fused == pytest.approx({"a": 0.5, "b": 1.4, "c": 0.8})


@pytest.mark.parametrize(
    ("metric", "cosine", "distance"),
    [("COSINE", 0.3, 0.3), ("IP", -0.3, -0.3), ("L2", 1.0, 0.0), ("L2", 0.0, 2.0), ("L2", -1.0, 4.0)],
)
def test_a_cosine_and_the_value_of_the_server_are_two_sides_of_one_number(
    metric: str, cosine: float, distance: float
) -> None:
    assert dense_distance(cosine, metric) == pytest.approx(distance)
    assert cosine_of_distance(distance, metric) == pytest.approx(cosine)
