"""Bundles to JSON and back."""

import json
from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import BundleInvalid, StoreError
from core.model.builds import BuildDescription
from core.model.search import RouteState
from core.retrieval.replay import writing
from core.retrieval.replay.bundles import Bundle, Surroundings, bundle_of
from core.retrieval.replay.reading import read_bundle
from core.retrieval.replay.writing import bundle_json
from tests.builders import a_hit
from tests.core.retrieval.replay import generated
from tests.core.retrieval.replay.material import (
    DESCRIPTION,
    NOW,
    SETTINGS,
    VERSIONS,
    a_base,
    looked_up,
    saved,
)
from tests.core.retrieval.scripted import a_configuration


def read_again(bundle: Bundle) -> Bundle:
    return read_bundle(bundle_json(bundle).encode(), "saved.json")


@pytest.mark.parametrize(
    "query", ["port E-1042", "连接池已满怎么办 👩🏽‍🔧", "é́\u200d", 'say "no" \\ or 1==1', "???"]
)
@pytest.mark.parametrize("category", [None, "ops", "财务"])
def test_a_lookup_comes_back_as_it_was(query, category):
    bundle = saved(a_base(), query, category=category, kb_scope="default")

    assert read_again(bundle) == bundle
    assert read_again(bundle).result.retrieval.chosen == bundle.result.retrieval.chosen


def test_a_failed_an_empty_and_a_missing_number_come_back_as_they_were():
    result = looked_up({"a": 0.9}, StoreError("the BM25 index is gone"), {"b": 0.03})
    bundle = bundle_of(result, a_configuration(), Surroundings(DESCRIPTION, {}, {}), now=NOW)
    response = read_again(bundle).result.retrieval.chosen.response

    assert (response.sparse.state, response.sparse.reason) == (RouteState.FAILED, "the BM25 index is gone")
    assert response.hits[0].dense is None
    assert read_again(bundle) == bundle


def test_a_foreign_build_without_a_fingerprint_comes_back():
    foreign = BuildDescription("build", True, None, False, 3, "HNSW", "L2", None, ("sparse_vector",))
    bundle = bundle_of(
        looked_up({}, {}, {}), a_configuration(), Surroundings(foreign, SETTINGS, VERSIONS), now=NOW
    )

    assert read_again(bundle) == bundle
    assert read_again(bundle).surroundings.build.fingerprint is None


def test_the_time_is_written_in_utc_with_seconds():
    there = NOW.astimezone(timezone(timedelta(hours=8)))
    bundle = bundle_of(
        looked_up({}, {}, {}), a_configuration(), Surroundings(DESCRIPTION, {}, {}), now=there
    )

    assert bundle.created_at == "2026-01-31T12:00:30+00:00"


def test_one_lookup_has_one_text_apart_from_times():
    def timeless(value):
        if isinstance(value, dict):
            return {key: timeless(each) for key, each in value.items() if key != "milliseconds"}
        return [timeless(each) for each in value] if isinstance(value, list) else value

    first, second = (json.loads(bundle_json(saved(a_base()))) for _ in range(2))

    assert json.dumps(timeless(first)) == json.dumps(timeless(second))


def test_the_order_in_which_a_mapping_was_filled_does_not_show():
    bundle = saved(a_base())
    around = replace(bundle.surroundings, settings=dict(reversed(SETTINGS.items())))

    assert bundle_json(replace(bundle, surroundings=around)) == bundle_json(bundle)


def test_text_is_written_for_people_and_ends_with_a_line_feed():
    written = bundle_json(saved(a_base(), "连接池 👩🏽‍🔧"))

    assert '"query": "连接池 👩🏽‍🔧"' in written
    assert written.endswith("}\n")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes", "\ud800"])
def test_what_json_cannot_hold_is_refused_with_the_way_out(value):
    bundle = saved(a_base())
    hit = replace(a_hit(), metadata={"page": value})
    attempt = bundle.result.retrieval.attempts[0]
    attempt = replace(attempt, response=replace(attempt.response, hits=(hit,)))
    result = replace(bundle.result, retrieval=replace(bundle.result.retrieval, attempts=(attempt,)))

    with pytest.raises(BundleInvalid, match=r"'port E-1042' cannot be saved: .* index its document again"):
        bundle_json(replace(bundle, result=result))


def test_a_lookup_too_large_to_be_read_again_is_not_written(monkeypatch):
    monkeypatch.setattr(writing, "MOST_BYTES", 1000)

    with pytest.raises(
        BundleInvalid, match=r"at most 1,000 can be saved.*smaller retrieve_k \(it was 20\)"
    ):
        bundle_json(saved(a_base()))


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(
    generated.results,
    generated.configurations,
    st.dictionaries(generated.text, generated.plain, max_size=3),
    st.dictionaries(generated.text, generated.maybe_text, max_size=3),
)
def test_any_result_comes_back_as_it_was(result, configuration, effective, versions):
    around = Surroundings(replace(DESCRIPTION, name=result.build), effective, versions)
    bundle = bundle_of(result, configuration, around, now=NOW)

    assert read_again(bundle) == bundle
    assert bundle_json(read_again(bundle)) == bundle_json(bundle)
