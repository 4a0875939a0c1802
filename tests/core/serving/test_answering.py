"""Running a tool without the protocol."""

from dataclasses import replace

import pytest

from core.errors import CategoryUnknown, RequestInvalid
from core.model.lookup import FilterPolicy
from core.serving.answering import answer, read_arguments
from core.serving.offers import offers
from tests.core.serving.tiny_server import tiny_services

LOOKUP, WHY = offers(pinned=False)


@pytest.fixture
def services(tmp_path):
    opened = tiny_services(tmp_path)
    yield opened
    opened.close()


def test_a_strict_filter_names_the_categories_of_the_base_asked_and_of_no_other(services):
    strict = replace(services.configuration, policy=FilterPolicy.STRICT, kb_scope="open")

    with pytest.raises(CategoryUnknown) as refused:
        answer(services, strict, offers(pinned=True)[0], {"query": "port", "category": "vaults"})

    assert str(refused.value) == (
        "No document has the category 'vaults'. The categories of this base: hr, ops."
    )


def test_the_knowledge_base_of_the_server_wins_over_an_argument(services):
    pinned = replace(services.configuration, kb_scope="open")

    found = answer(services, pinned, LOOKUP, {"query": "vault code", "kb_scope": "secret"})

    assert [item["document_id"].partition("/")[0] for item in found["evidence"]].count("secret") == 0


def test_an_answer_holds_no_score_and_no_rank(services):
    found = answer(services, services.configuration, LOOKUP, {"query": "port 19530"})

    numbers = [
        value for item in found["evidence"] for value in item.values() if type(value) in (int, float)
    ]
    assert numbers == []
    assert list(found) == ["found", "relevance_level", "selected_attempt", "filter_relaxed", "evidence"]


def test_the_settings_of_the_server_stay_as_they_are_between_calls(services):
    before = services.configuration

    answer(services, before, LOOKUP, {"query": "port", "category": "hr", "kb_scope": "open"})

    assert (before.category, before.kb_scope) == (None, None)


def test_both_missing_arguments_are_named():
    with pytest.raises(RequestInvalid, match=r"^query and expected must be given"):
        read_arguments(WHY, {"category": "ops"})


def test_a_long_wrong_value_is_shown_by_its_beginning():
    with pytest.raises(RequestInvalid) as refused:
        read_arguments(LOOKUP, {"query": ["x" * 500]})

    assert len(str(refused.value)) < 120
