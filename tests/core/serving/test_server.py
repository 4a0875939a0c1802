"""What an agent meets: the tools through the protocol SDK's own client, over a real process."""

import json
import os
import subprocess

import jsonschema
import pytest
from mcp.shared.exceptions import MCPError

from core.retrieval.projection import projection_json, projection_schema
from tests.conftest import ROOT
from tests.core.serving.conftest import connected, tiny_command
from tests.core.serving.tiny_server import HIDDEN, MEET, NOISE, tiny_services

PORTS = "open/ports.md#chunk-0"
PUBLISHED = json.loads((ROOT / "docs" / "lookup_knowledge.schema.json").read_text(encoding="utf-8"))


def ids(result):
    return [item["document_id"] for item in result.structured_content["evidence"]]


def test_two_read_only_tools_are_offered_with_schemas(agent):
    tools = agent.tools()

    assert list(tools) == ["lookup_knowledge", "why"]
    for tool in tools.values():
        assert tool.annotations.read_only_hint is True
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
    lookup = tools["lookup_knowledge"]
    assert lookup.output_schema == PUBLISHED
    assert list(lookup.input_schema["properties"]) == ["query", "category", "kb_scope"]
    assert lookup.input_schema["required"] == ["query"]
    query = lookup.input_schema["properties"]["query"]
    assert (query["minLength"], query["maxLength"]) == (1, 2000)
    assert tools["why"].input_schema["required"] == ["query", "expected"]


def test_the_published_schema_is_the_one_of_the_code():
    assert projection_schema() == PUBLISHED


def test_every_field_of_the_published_schema_is_described():
    parts = [PUBLISHED, PUBLISHED["$defs"]["ProjectedEvidence"]]

    assert all(field["description"] for part in parts for field in part["properties"].values())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_lookup_gives_exactly_the_projection_in_both_generations_of_the_protocol(tmp_path, mode):
    query = "Which port does Milvus listen on?"
    services = tiny_services(tmp_path)
    expected = json.loads(projection_json(services.lookup(query, services.configuration).projection))
    services.close()

    with connected(*tiny_command(tmp_path / "served"), mode=mode) as agent:
        result = agent.call("lookup_knowledge", query=query)

    assert not result.is_error
    assert result.structured_content == expected
    assert json.loads(result.content[0].text) == expected
    jsonschema.validate(result.structured_content, PUBLISHED)
    assert ids(result)[0] == PORTS


def test_fields_without_a_value_are_null_and_not_left_out(agent):
    first = agent.call("lookup_knowledge", query="port 19530").structured_content["evidence"][0]

    assert list(first) == list(PUBLISHED["$defs"]["ProjectedEvidence"]["properties"])


def test_a_category_that_nobody_has_falls_back_and_the_result_says_so(agent):
    found = agent.call("lookup_knowledge", query="port 19530", category="no such").structured_content

    assert found["filter_relaxed"] is True
    assert found["selected_attempt"] == "unfiltered"
    assert found["evidence"][0]["document_id"] == PORTS


def test_null_counts_as_left_out(agent):
    given = agent.call("lookup_knowledge", query="port 19530", category=None, kb_scope=None)

    assert given.structured_content == agent.call("lookup_knowledge", query="port 19530").structured_content


def test_a_knowledge_base_can_be_asked_alone(agent):
    assert ids(agent.call("lookup_knowledge", query=HIDDEN, kb_scope="secret")) == [
        "secret/vault.md#chunk-0"
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"query": "x" * 2001},
            "The query has 2,001 characters; at most 2,000 are allowed. Shorten it.",
        ),
        ({"query": " "}, "The query is empty. Enter a question or a term to look for."),
        ({}, "query must be given. lookup_knowledge takes query, category, kb_scope."),
        ({"query": 7}, "query is 7; it must be text in quotes."),
        (
            {"query": "a", "top_k": 3},
            "There is no argument 'top_k'. lookup_knowledge takes query, category, kb_scope.",
        ),
        (
            {"query": "a", "category": " "},
            "category is blank. Name one, or leave it out to ask all.",
        ),
        (
            {"query": "a", "kb_scope": "nobody"},
            "No document belongs to the knowledge base 'nobody'. Check its name, or index files into it.",
        ),
    ],
)
def test_an_error_is_one_sentence_and_no_traceback(agent, arguments, sentence):
    assert agent.refusal("lookup_knowledge", **arguments) == sentence


def test_why_refuses_a_name_that_can_be_no_chunk(agent):
    assert agent.refusal("why", query="a", expected=" ").startswith("No chunk or document is named.")


def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(agent):
    with pytest.raises(MCPError, match=r"There is no tool 'drop'\. Tools: lookup_knowledge, why\."):
        agent.call("drop")


def test_why_explains_what_became_of_a_document(agent):
    kept = agent.call("why", query="port 19530", expected=PORTS).structured_content
    gone = agent.call("why", query="port 19530", expected="open/gone.md").structured_content

    assert kept["ending"]["end"] == "kept"
    assert kept["evidence_keys"] == [PORTS]
    assert gone["ending"]["end"] == "not_in_build"
    assert gone["in_catalog"] is False


def test_two_calls_run_at_once_and_the_protocol_answers_meanwhile(agent):
    first = agent.start("lookup_knowledge", query=f"{MEET} port 19530")
    assert list(agent.tools()) == ["lookup_knowledge", "why"]
    assert not first.done()

    second = agent.call("lookup_knowledge", query=f"{MEET} sick leave doctor")

    assert ids(first.result())[0] == PORTS
    assert ids(second)[0] == "open/leave.md#chunk-0"


def test_a_pinned_server_offers_no_choice_of_the_knowledge_base(pinned):
    for tool in pinned.tools().values():
        assert "kb_scope" not in tool.input_schema["properties"]
    refused = pinned.refusal("lookup_knowledge", query=HIDDEN, kb_scope="secret")
    assert refused == "There is no argument 'kb_scope'. lookup_knowledge takes query, category."


@pytest.mark.parametrize("category", [None, "vaults", "ops", 'x" or kb_scope == "secret'])
def test_a_pinned_server_never_returns_a_document_of_another_base(pinned, category):
    result = pinned.call(
        "lookup_knowledge", query="Milvus listens on port 19530 vault code", category=category
    )

    assert PORTS in ids(result)
    assert all(key.startswith("open/") for key in ids(result))
    assert "vault" not in result.content[0].text.lower()


@pytest.mark.parametrize("query", [HIDDEN, "port 19530"])
def test_a_category_of_another_base_is_answered_like_one_that_nobody_has(pinned, query):
    elsewhere = pinned.call("lookup_knowledge", query=query, category="vaults")
    nowhere = pinned.call("lookup_knowledge", query=query, category="no such")

    assert elsewhere.structured_content == nowhere.structured_content


@pytest.mark.parametrize("there", ["secret/vault.md", "vault.md", "secret/vault.md#chunk-0"])
def test_a_pinned_server_does_not_tell_that_another_base_has_a_document(pinned, there):
    nowhere = there.replace("vault", "fault")
    told = pinned.call("why", query=HIDDEN, expected=there).structured_content
    silent = pinned.call("why", query=HIDDEN, expected=nowhere).structured_content

    assert told["ending"]["end"] == "not_in_build"
    assert json.dumps(told).replace("vault.md", "fault.md") == json.dumps(silent)


def test_the_process_ends_in_order_when_the_client_leaves_and_writes_only_messages(tmp_path):
    asked = {"name": "lookup_knowledge", "arguments": {"query": "port 19530"}}
    hello = {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}
    }  # fmt: skip
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked},
    ]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        tiny_command(tmp_path), cwd=ROOT, env=buffered, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, encoding="utf-8",
    ) as process:  # fmt: skip
        for message in messages:
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        rest, complaints = process.communicate(timeout=120)

    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[0]["result"]["serverInfo"]["name"] == "ranklens"
    assert answers[1]["result"]["isError"] is False
    assert rest == ""
    assert process.returncode == 0
    assert NOISE in complaints
    assert "Traceback" not in complaints
