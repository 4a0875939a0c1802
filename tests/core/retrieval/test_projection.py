"""The agent's contract, held by its JSON Schema."""

import json
from dataclasses import replace

import jsonschema
import pytest

from core.model.lookup import Background, Evidence, Level, PackedEvidence, Packing, Retrieval
from core.retrieval.projection import project, projection_json, projection_schema
from tests.builders import a_hit, a_judgement

KEYS = {"found", "relevance_level", "selected_attempt", "filter_relaxed", "evidence"}
EVIDENCE_KEYS = {"document_id", "source", "title", "breadcrumb", "category", "excerpt", "truncated"}
RETRIEVAL = Retrieval(
    (), "filtered", "why", filter_relaxed=False, background=Background(0, None, None, None)
)


def packed(key="a#chunk-0", level=Level.RELATED, *, truncated=False, **fields):
    hit = a_hit("a", 0, dense=(1, 0.123456), sparse=(2, 7.654321), fused=(1, 0.0327869), **fields)
    item = Evidence(key, hit, a_judgement(level))
    return PackedEvidence(item, hit.content, truncated, len(hit.content), len(hit.content))


def projected(*items, retrieval=RETRIEVAL):
    return project(Packing(tuple(items), (), 1000), retrieval)


def valid(projection):
    value = json.loads(projection_json(projection))
    jsonschema.Draft202012Validator(projection_schema()).validate(value)
    return value


def test_the_schema_is_itself_valid():
    jsonschema.Draft202012Validator.check_schema(projection_schema())


def test_a_projection_has_exactly_the_keys_of_the_contract_ret_11():
    value = valid(projected(packed()))

    assert list(value) == ["found", "relevance_level", "selected_attempt", "filter_relaxed", "evidence"]
    assert set(value) == KEYS
    assert set(value["evidence"][0]) == EVIDENCE_KEYS


def test_quotes_newlines_and_emoji_go_through_as_they_are_ret_11():
    content = 'He said "no"\\\n\t🚀 磁盘 \u0000'
    value = valid(projected(packed(content=content, title='"T"', source=None, breadcrumb=None)))

    assert value["evidence"][0] == {
        "document_id": "a#chunk-0", "source": None, "title": '"T"', "breadcrumb": None,
        "category": "ops", "excerpt": content, "truncated": False,
    }  # fmt: skip
    assert "🚀 磁盘" in projection_json(projected(packed(content=content)))


def test_no_score_and_no_rank_reaches_the_agent():
    text = projection_json(projected(packed())).lower()

    for hidden in ("0.12", "7.65", "0.03", "rank", "score", "similar", "margin", "chunk_index", "kb_scope"):
        assert hidden not in text


@pytest.mark.parametrize(
    "extra", [{"score": 1.0}, {"rank": 1}, {"found": "yes"}, {"relevance_level": "great"}]
)
def test_the_schema_refuses_what_is_not_in_the_contract(extra):
    value = {**valid(projected(packed())), **extra}

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, projection_schema())


@pytest.mark.parametrize("extra", [{"dense_score": 0.9}, {"title": 3}, {"document_id": None}])
def test_the_schema_refuses_it_in_the_evidence_too(extra):
    value = valid(projected(packed()))
    value["evidence"][0].update(extra)

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, projection_schema())


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_key_is_required(key):
    value = valid(projected(packed()))
    del value[key]

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, projection_schema())


@pytest.mark.parametrize("key", sorted(EVIDENCE_KEYS))
def test_every_key_of_the_evidence_is_required(key):
    value = valid(projected(packed()))
    del value["evidence"][0][key]

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, projection_schema())


def test_two_chunks_of_one_source_are_two_pieces_of_evidence():
    value = valid(projected(packed("a#chunk-0"), packed("a#chunk-7")))

    assert [piece["document_id"] for piece in value["evidence"]] == ["a#chunk-0", "a#chunk-7"]
    assert {piece["source"] for piece in value["evidence"]} == {"ops/a.md"}


@pytest.mark.parametrize(
    ("levels", "found", "level"),
    [
        ([], False, Level.WEAK),
        ([Level.WEAK, Level.WEAK], False, Level.WEAK),
        ([Level.WEAK, Level.RELATED], True, Level.RELATED),
        ([Level.RELATED, Level.PRECISE, Level.WEAK], True, Level.PRECISE),
    ],
)
def test_the_best_packed_piece_gives_the_level(levels, found, level):
    projection = projected(*(packed(level=each) for each in levels))

    assert (projection.found, projection.relevance_level) == (found, level)
    assert valid(projection)["relevance_level"] == level.value


def test_a_relaxed_filter_and_the_attempt_show():
    retrieval = replace(RETRIEVAL, selected="unfiltered", filter_relaxed=True)
    value = valid(projected(retrieval=retrieval))

    assert (value["selected_attempt"], value["filter_relaxed"]) == ("unfiltered", True)
    assert value["evidence"] == []


def test_a_cut_piece_says_so():
    assert valid(projected(packed(truncated=True)))["evidence"][0]["truncated"] is True
