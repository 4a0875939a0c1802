from dataclasses import replace

import pytest

from console.present.hits import absence, heading_characters, place_of, short_key, title_of
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


@pytest.mark.parametrize(
    ("breadcrumb", "place"),
    [
        ("Guide", ""),
        ("Guide > Check > Pool", "Check > Pool"),
        ("Other > Check", "Other > Check"),
        ("Guided tour > Check", "Guided tour > Check"),
        (None, ""),
    ],
)
def test_a_place_is_the_breadcrumb_without_the_title(breadcrumb, place):
    assert place_of(replace(a_hit(title="Guide"), breadcrumb=breadcrumb)) == place


def test_a_breadcrumb_without_a_title_is_the_place():
    assert place_of(replace(a_hit(title=None), breadcrumb="Check > Pool")) == "Check > Pool"


@pytest.mark.parametrize(
    ("said", "count"), [(3, 3), (0, 0), (-1, 0), (4, 0), (9, 0), (True, 0), ("3", 0), (2.0, 0), (None, 0)]
)
def test_only_a_usable_count_of_heading_characters_is_used(said, count):
    hit = replace(a_hit(), content="# A\n", metadata={"heading_characters": said})
    assert heading_characters(hit) == count


def test_a_row_that_tells_no_heading_has_none():
    assert heading_characters(replace(a_hit(), metadata={})) == 0
