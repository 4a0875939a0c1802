"""Files that are no whole bundle, by accident or on purpose."""

import json

import pytest

from core.errors import BundleInvalid
from core.retrieval.replay import reading
from core.retrieval.replay.reading import read_bundle
from core.retrieval.replay.writing import bundle_json
from tests.core.retrieval.replay.material import a_base, saved

WAY_OUT = "Take the file as it was saved, or save the lookup again."
REMOVED = object()


@pytest.fixture(scope="module")
def written() -> str:
    return bundle_json(saved(a_base(), category="ops"))


def changed(written: str, place: str, value: object) -> str:
    """Put a value at a place such as `result.ledger.0.end`; REMOVED takes the key away."""
    whole = json.loads(written)
    *path, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    inner = whole
    for part in path:
        inner = inner[part]
    if value is REMOVED:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(whole)


def refusal(text: str | bytes) -> str:
    with pytest.raises(BundleInvalid) as caught:
        read_bundle(text, "a.json")
    return str(caught.value)


def test_a_newer_schema_version_is_refused_with_both_numbers(written):
    assert refusal(changed(written, "schema_version", 2)) == (
        "a.json has schema version 2; this RankLens reads 1. Open it with the newer RankLens that saved it."
    )


def test_an_older_schema_version_is_refused(written):
    assert refusal(changed(written, "schema_version", 0)) == (
        "a.json has schema version 0; this RankLens reads 1. Ask the question again and save it."
    )


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "null", "3", '"text"', '{"schema_version": "1"}', '{"schema_version": true}', "[[]]"],
)
def test_json_that_is_no_bundle_is_told_from_a_broken_one(text):
    assert refusal(text) == (
        "a.json is no saved lookup: it has no schema_version. Choose a file that `ranklens save` made."
    )


@pytest.mark.parametrize(
    "text",
    [b"", b"\xff\xfe", b"\x80\x04K\x01.", "{", '{"schema_version": NaN}', '{"schema_version": 1e999}',
     "[" * 100_000],
    ids=["empty", "utf-16", "pickle", "cut", "nan", "huge", "deep"],
)  # fmt: skip
def test_what_is_not_json_is_refused(text):
    message = refusal(text)

    assert message.startswith("a.json is not valid JSON in UTF-8: ")
    assert message.endswith(WAY_OUT)


def test_a_cut_file_is_refused(written):
    assert refusal(written[: len(written) // 2]).startswith("a.json is not valid JSON in UTF-8: ")


def test_a_key_given_twice_is_refused(written):
    twice = written.replace('"schema_version": 1', '"schema_version": 1, "schema_version": 1', 1)

    assert refusal(twice) == (
        f"a.json is not valid JSON in UTF-8: the key 'schema_version' is given twice. {WAY_OUT}"
    )


@pytest.mark.parametrize(
    ("place", "value", "trouble"),
    [
        ("query", REMOVED, "query is missing"),
        ("configuration.rrf_k", REMOVED, "configuration.rrf_k is missing"),
        ("result.ledger.0.duplicate_of_rank", REMOVED, "result.ledger[0].duplicate_of_rank is missing"),
        ("result.ledger.0.end", REMOVED, "result.ledger[0].end is missing"),
        ("extra", 1, "'extra' is unknown"),
        ("configuration.rrf_K", 1, "'configuration.rrf_K' is unknown"),
        ("result.retrieval.attempts.0.response.dense.hits.0.dense.extra", None,
         "'result.retrieval.attempts[0].response.dense.hits[0].dense.extra' is unknown"),
        ("result.ledger.0.end", "lost",
         "result.ledger[0].end is wrong: Input should be 'retrieve', 'fuse', 'dedup', 'cap', 'return_n', "
         "'pack' or 'kept'"),
        ("configuration.rrf_k", "60", "configuration.rrf_k is wrong: Input should be a valid integer"),
        ("result.outside_category", 1.0,
         "result.outside_category is wrong: Input should be a valid integer"),
        ("result.milliseconds.total", True,
         "result.milliseconds.total is wrong: Input should be a valid number"),
        ("surroundings.settings.x", [1],
         "surroundings.settings.x is wrong: Input should be a valid string"),
        ("result", 5, "result is wrong: Input should be an object"),
        ("configuration.rrf_k", 0, "a request in it is not possible (rrf_k is 0; it must be at least 1.)"),
        ("configuration.category", " ops",
         "configuration.category is ' ops'; as a bundle it would be 'ops'"),
        ("created_at", "yesterday", "created_at is 'yesterday', not a time in UTC"),
        ("created_at", "2026-01-31T12:00:00", "created_at is '2026-01-31T12:00:00', not a time in UTC"),
        ("created_at", "2026-01-31T12:00:00+08:00",
         "created_at is '2026-01-31T12:00:00+08:00', not a time in UTC"),
        ("query", "other", "query is 'other', but result.query is 'port E-1042'"),
        ("result.build", "kb_2", "surroundings.build.name is 'kb_1', but result.build is 'kb_2'"),
        ("result.retrieval.selected", "best",
         "result.retrieval.selected is 'best', but no attempt has that name"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place(written, place, value, trouble):
    assert refusal(changed(written, place, value)) == (
        f"a.json is no whole saved lookup: {trouble}. {WAY_OUT}"
    )


def test_metadata_that_nests_too_deeply_is_refused(written):
    deep = json.loads("[" * 300 + "]" * 300)

    message = refusal(changed(written, "result.ledger.0.hit.metadata.x", deep))
    assert "recursion limit" in message or "nests its values too deeply" in message


def test_half_of_a_surrogate_pair_is_refused(written):
    assert refusal(changed(written, "result.ledger.0.hit.title", "\ud800")).startswith("a.json is no whole")


def test_a_file_that_is_too_long_is_not_parsed(monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 10)

    assert refusal(b"[" * 11) == (
        "a.json has more than 10 bytes, so it is no saved lookup. Choose another file."
    )
