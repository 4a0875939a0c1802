"""`search` and `lookup` on Milvus Lite with a hashing embedder."""

import json
from pathlib import Path

import jsonschema
import pytest

from core import wiring
from core.cli import asking
from core.cli.main import run
from core.retrieval.projection import projection_schema
from tests.core.cli.conftest import hashing_embedder
from tests.core.indexing.material import sections

pytestmark = [pytest.mark.milvus, pytest.mark.usefixtures("hashing")]

POOL = sections("连接池 pool E-104 first", "连接池 pool E-104 second", "连接池 pool E-104 third")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base that no test changes: one file of three chunks in two knowledge bases, and a short one."""
    folder = tmp_path_factory.mktemp("asking")
    (folder / "ranklens.toml").touch()
    (folder / "pool.md").write_text(POOL, encoding="utf-8")
    (folder / "dns.md").write_text("# DNS\n\nServfail.", encoding="utf-8")
    (folder / "tls.md").write_text("# TLS\n\nCertificate expired.", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(wiring, "open_embedder", hashing_embedder)
        assert run(["index", "pool.md", "dns.md", "--category", "database"]) == 0
        assert run(["index", "tls.md", "--category", "network"]) == 0
        assert run(["index", "pool.md", "--category", "tenant", "--kb-scope", "other"]) == 0
    return folder


@pytest.fixture(autouse=True)
def inside(place: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)


def in_json(ranklens, *arguments: str):
    done = ranklens(*arguments, "--json")
    assert (done.code, done.err) == (0, "")

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(done.out, parse_constant=refuse)


def test_lookup_json_is_what_the_schema_promises(ranklens):
    projection = in_json(ranklens, "lookup", "连接池 E-104")

    jsonschema.validate(projection, projection_schema())
    assert projection["found"] is True
    assert [item["document_id"].rpartition("#")[0] for item in projection["evidence"]].count(
        "default/pool.md"
    ) == 2


def test_lookup_json_of_nothing_found_is_valid_too(ranklens):
    projection = in_json(
        ranklens, "lookup", "连接池 first", "--category", "network", "--policy", "strict", "--mode", "dense"
    )

    jsonschema.validate(projection, projection_schema())
    assert (projection["found"], projection["relevance_level"]) == (False, "weak")


def test_search_json_has_null_where_a_route_gave_no_number(ranklens):
    result = in_json(ranklens, "search", "Servfail")

    hits = {hit["doc_id"]: hit for hit in result["retrieval"]["attempts"][0]["response"]["hits"]}
    assert hits["default/dns.md"]["sparse"]["rank"] == 1
    assert hits["default/pool.md"]["sparse"] is None
    assert {"query", "configuration_hash", "ledger", "milliseconds"} <= set(result)


def test_search_json_of_dense_mode_tells_not_run_from_empty(ranklens):
    response = in_json(ranklens, "search", "E-104", "--mode", "dense")["retrieval"]["attempts"][0][
        "response"
    ]

    assert [response[route]["state"] for route in ("dense", "sparse", "fused")] == [
        "ok",
        "not_run",
        "not_run",
    ]
    assert all(hit["fused"] is None for hit in response["hits"])


def test_search_lists_each_hit_with_its_routes_its_level_and_its_end(ranklens):
    done = ranklens("search", "连接池 pool E-104", "--kb-scope", "other")

    header, _, *rows = done.out.splitlines()[2:]
    assert header.split() == ["rank", "dense", "BM25", "fused", "level", "end", "evidence", "section"]
    assert len(rows) == 3
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert [row.split()[8] for row in rows] == ["kept", "kept", "cap"]


def test_without_a_trace_no_attempt_and_no_ledger_is_printed(ranklens):
    plain, traced = ranklens("search", "E-104").out, ranklens("search", "E-104", "--trace").out

    assert "Ledger" not in plain
    assert "fusion audit: " in traced
    assert "Milliseconds: embed " in traced
    assert traced.rstrip().rpartition(", ")[2].startswith("total ")


def test_a_category_with_poor_chunks_is_relaxed_inside_the_knowledge_base_only(ranklens):
    asked = ("连接池 E-104 first", "--category", "network", "--kb-scope", "default")

    projection = in_json(ranklens, "lookup", *asked)
    traced = ranklens("search", *asked, "--trace").out

    # The same file with the same chunks is in the other knowledge base too.
    assert projection["filter_relaxed"] is True
    assert {item["document_id"].partition("/")[0] for item in projection["evidence"]} == {"default"}
    assert "The category filter was relaxed: " in traced
    assert "other/pool.md" not in traced


def test_a_category_of_another_knowledge_base_is_unknown_in_this_one(ranklens):
    done = ranklens("search", "连接池", "--category", "tenant", "--kb-scope", "default")

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "Error: No document has the category 'tenant'. The categories of this base: database, network.\n"
    )


def test_the_policy_can_be_chosen_for_one_question(ranklens):
    asked = ("search", "连接池", "--category", "database", "--trace")

    assert "merged (chosen)" in ranklens(*asked, "--policy", "parallel").out
    assert "  filtered (chosen)" in ranklens(*asked, "--policy", "strict").out


def test_a_lookup_for_people_says_the_verdict_and_shows_the_text(ranklens):
    head, first, *_ = ranklens("lookup", "Servfail").out.split("\n\n")

    assert head == "found: true, related, attempt unfiltered"
    assert first.splitlines() == ["default/dns.md#chunk-0", "DNS", "# DNS"]


def test_a_question_that_starts_like_an_option_goes_after_two_dashes(ranklens):
    refused = ranklens("search", "-Xmx512m")

    assert refused.code == 2
    assert refused.err.splitlines()[-1] == (
        'Error: No such option \'-X\'. A question that starts with "-" goes last, after "--": '
        "ranklens search -- QUERY"
    )
    assert ranklens("search", "--json", "--", "-Xmx512m").code == 0


def test_a_mistyped_option_is_still_corrected(ranklens):
    assert "Did you mean '--json'?" in ranklens("search", "hello", "--jsn").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["   "], "The query is empty. Enter a question or a term to look for."),
        (["x" * 3000], "The query has 3,000 characters; at most 2,000 are allowed. Shorten it."),
        (["caf\udce9"], r"The query 'caf\udce9' is not valid UTF-8. Type it again."),
        (
            ["q", "--category", "nope"],
            "No document has the category 'nope'. The categories of this base: database, network, tenant.",
        ),
        (["q", "--category", " "], "category is blank. Name one, or leave it out to ask all."),
        (
            ["q", "--kb-scope", "nope"],
            "No document belongs to the knowledge base 'nope'. Check its name, or index files into it.",
        ),
    ],
    ids=["empty", "too-long", "no-text", "unknown-category", "blank-category", "unknown-scope"],
)
@pytest.mark.parametrize("command", ["search", "lookup"])
def test_a_question_that_cannot_be_asked_is_one_sentence_and_code_2(ranklens, command, arguments, message):
    done = ranklens(command, *arguments)

    assert (done.code, done.out, done.err) == (2, "", f"Error: {message}\n")


def test_a_terminal_gets_tables_that_fit_and_a_file_gets_them_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "97")

    assert asking._screen_width() is None
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert asking._screen_width() == 97
