"""What a lookup may be configured with."""

from dataclasses import replace

import pytest

from core.errors import RequestInvalid
from core.model.lookup import FilterPolicy
from core.model.search import Ranker, SearchMode
from tests.core.retrieval.scripted import FLOORS_ONLY, a_configuration


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"return_n": 21}, r"return_n is 21; it must lie between 1 and retrieve_k \(20\)"),
        ({"return_n": 0}, "return_n is 0"),
        ({"retrieve_k": 0}, "retrieve_k is 0; it must lie between 1 and 1,000"),
        ({"retrieve_k": -1}, "retrieve_k is -1"),
        ({"retrieve_k": 10**6}, "retrieve_k is 1000000; it must lie between 1 and 1,000"),
        ({"rrf_k": 0}, "rrf_k is 0"),
        ({"weight_dense": 1.1}, "weight_dense is 1.1; it must lie between 0 and 1"),
        ({"weight_sparse": float("nan")}, "weight_sparse is nan"),
        ({"max_chunks_per_document": 0}, "max_chunks_per_document is 0"),
        ({"context_budget_characters": 0}, "context_budget_characters is 0"),
        ({"category": "  "}, "category is blank"),
        ({"kb_scope": ""}, "kb_scope is blank"),
    ],
)
def test_a_value_outside_its_range_is_refused_with_its_number_ret_08(changes, message):
    with pytest.raises(RequestInvalid, match=message):
        a_configuration(**changes)


def test_the_widest_limits_are_allowed():
    assert a_configuration(retrieve_k=1000, return_n=1000).return_n == 1000
    assert a_configuration(retrieve_k=1, return_n=1).retrieve_k == 1


def test_names_are_brought_to_the_form_they_are_stored_in_ret_06():
    configuration = a_configuration(category="运维 ", kb_scope=" cafe\u0301")

    assert configuration.category == "运维"
    assert configuration.kb_scope == "caf\u00e9"
    assert replace(configuration, return_n=1).category == "运维"


@pytest.mark.parametrize(
    "changes",
    [
        {"mode": SearchMode.DENSE}, {"retrieve_k": 30}, {"ranker": Ranker.WEIGHTED}, {"rrf_k": 10},
        {"weight_dense": 0.5}, {"weight_sparse": 0.5}, {"policy": FilterPolicy.STRICT},
        {"retry_unfiltered_on_low_quality": False}, {"category": "ops"}, {"kb_scope": "a"},
        {"return_n": 4}, {"max_chunks_per_document": 3}, {"context_budget_characters": 1000},
        {"thresholds": replace(FLOORS_ONLY, precise_threshold=0.81)},
    ],
)  # fmt: skip
def test_every_value_changes_the_hash(changes):
    assert a_configuration(**changes).hash != a_configuration().hash


def test_equal_configurations_have_one_hash_of_twelve_hex_digits():
    assert a_configuration(category="ops").hash == a_configuration(category=" ops").hash
    assert len(a_configuration().hash) == 12
    assert int(a_configuration().hash, 16) >= 0


def test_a_request_carries_the_scope_under_every_filter():
    configuration = a_configuration(category="ops", kb_scope="base-a", rrf_k=10, retrieve_k=7)

    for category in ("ops", None):
        request = configuration.request("query", category_filter=category)
        assert (request.category_filter, request.kb_scope) == (category, "base-a")
        assert (request.rrf_k, request.retrieve_k) == (10, 7)
