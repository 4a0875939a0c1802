from dataclasses import replace

import pytest

from console.present.hits import absence, short_key, title_of
from core.model.search import Route, RouteList, RouteState
from tests.builders import a_hit


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (RouteState.OK, "BM25: not found by this route (limit 20)"),
        (RouteState.EMPTY, "BM25: not found by this route (limit 20)"),
        (RouteState.NOT_RUN, "BM25: not asked"),
        (RouteState.FAILED, "BM25: failed"),
    ],
)
def test_a_missing_number_says_why_it_is_missing(state, words):
    assert absence(RouteList(Route.SPARSE, state, limit=20)) == words


def test_a_short_key_starts_with_the_position_of_the_chunk():
    assert short_key("default/ops/a#chunk-1.md#chunk-12") == "#12 a#chunk-1.md"
    assert short_key("vector:abc/def") == "vector:abc/def"


def test_a_hit_without_title_is_called_by_its_source():
    assert title_of(a_hit(title=None)) == "ops/a.md"
    assert title_of(replace(a_hit(title=None), source=None)) == "untitled"
