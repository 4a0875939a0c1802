"""The ranges of a request, and values that cannot change."""

import dataclasses

import pytest

from core.errors import RequestInvalid
from core.model import lookup, search
from core.model.search import Ranker, SearchMode, SearchRequest
from tests.builders import a_hit, a_list


def test_the_defaults_are_those_of_the_contract():
    request = SearchRequest("query")

    assert request.mode is SearchMode.HYBRID
    assert (request.retrieve_k, request.ranker, request.rrf_k) == (20, Ranker.RRF, 60)
    assert (request.weight_dense, request.weight_sparse) == (1.0, 0.8)
    assert (request.category_filter, request.kb_scope) == (None, None)


@pytest.mark.parametrize(
    "changes",
    [
        {"query": "q"}, {"query": "q" * 2000}, {"query": "磁" * 2000}, {"retrieve_k": 1},
        {"retrieve_k": 1000}, {"rrf_k": 1}, {"weight_dense": 0.0}, {"weight_sparse": 1.0},
    ],
)  # fmt: skip
def test_the_ends_of_every_range_are_allowed(changes):
    assert SearchRequest(**{"query": "query", **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": ""}, "The query is empty. Enter a question or a term to look for."),
        ({"query": " \n"}, "The query is empty. Enter a question or a term to look for."),
        (
            {"query": "q" * 2001},
            "The query has 2,001 characters; at most 2,000 are allowed. Shorten it.",
        ),
        ({"retrieve_k": 0}, "retrieve_k is 0; it must lie between 1 and 1,000."),
        ({"retrieve_k": -1}, "retrieve_k is -1; it must lie between 1 and 1,000."),
        ({"retrieve_k": 1001}, "retrieve_k is 1001; it must lie between 1 and 1,000."),
        ({"rrf_k": 0}, "rrf_k is 0; it must be at least 1."),
        ({"weight_dense": -0.1}, "weight_dense is -0.1; it must lie between 0 and 1."),
        ({"weight_sparse": 1.5}, "weight_sparse is 1.5; it must lie between 0 and 1."),
        ({"weight_sparse": float("nan")}, "weight_sparse is nan; it must lie between 0 and 1."),
    ],
)
def test_a_value_outside_its_range_is_refused_in_one_sentence_ret_08(changes, message):
    with pytest.raises(RequestInvalid) as caught:
        SearchRequest(**{"query": "query", **changes})

    assert str(caught.value) == message


@pytest.mark.parametrize("module", [search, lookup])
def test_every_value_is_frozen_and_has_slots(module):
    values = [each for each in vars(module).values() if dataclasses.is_dataclass(each)]

    assert values
    for each in values:
        assert each.__dataclass_params__.frozen, each
        assert hasattr(each, "__slots__"), each


def test_no_value_has_one_number_for_two_jobs():
    for module in (search, lookup):
        for each in vars(module).values():
            if dataclasses.is_dataclass(each):
                assert not {"top_k", "topk", "k"} & {field.name for field in dataclasses.fields(each)}


def test_what_a_route_did_not_say_is_none():
    hit = a_hit()

    assert (hit.dense, hit.sparse, hit.fused) == (None, None, None)


def test_a_list_of_a_route_carries_the_score_of_that_route_only():
    (hit,) = a_list(search.Route.SPARSE, {"a": 2.0}).hits

    assert (hit.dense, hit.sparse, hit.fused) == (None, search.RouteScore(1, 2.0), None)
