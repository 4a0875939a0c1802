"""`why` on Milvus Lite with a hashing embedder."""

import json
from pathlib import Path

import pytest

from core import wiring
from core.cli.main import run
from tests.core.cli.conftest import hashing_embedder
from tests.core.indexing.material import sections

pytestmark = [pytest.mark.milvus, pytest.mark.usefixtures("hashing")]

POOL = sections("pool E-104 first", "pool E-104 second", "pool E-104 third")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base that no test changes: a file of three chunks, and a short one of another category."""
    folder = tmp_path_factory.mktemp("explaining")
    (folder / "ranklens.toml").touch()
    (folder / "pool.md").write_text(POOL, encoding="utf-8")
    (folder / "tls.md").write_text("# TLS\n\nCertificate expired.", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(wiring, "open_embedder", hashing_embedder)
        assert run(["index", "pool.md", "--category", "database"]) == 0
        assert run(["index", "tls.md", "--category", "network"]) == 0
    return folder


@pytest.fixture(autouse=True)
def inside(place: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)


def lost_chunk(ranklens) -> str:
    """The third chunk of its document for this question, which the cap of two drops."""
    found = json.loads(ranklens("search", "pool E-104", "--json").out)
    (dropped,) = [entry["evidence_key"] for entry in found["ledger"] if entry["end"] == "cap"]
    return dropped


def test_the_cap_is_named_with_its_numbers_and_a_higher_one_keeps_the_chunk(ranklens):
    key = lost_chunk(ranklens)
    done = ranklens("why", "pool E-104", "--expect", key)

    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith(key)
    assert lines[0].endswith(
        "is chunk number 3 of its document there; the cap is 2 (max_chunks_per_document)."
    )
    assert "Ranks in all categories:" in lines
    assert any(
        f"max_chunks_per_document 2 -> 3 keeps {key}" in line and "pushes nothing out" in line
        for line in lines
    )


def test_json_has_the_same_answer(ranklens):
    key = lost_chunk(ranklens)
    done = ranklens("why", "pool E-104", "--expect", key, "--json")

    found = json.loads(done.out)
    assert (found["ending"]["end"], found["ending"]["reached"], found["ending"]["limit"]) == ("cap", 3, 2)
    assert [standing["route"] for standing in found["standings"]] == ["dense", "sparse"]
    assert ("max_chunks_per_document", 3) in [(it["setting"], it["new"]) for it in found["rescues"]]


def test_a_file_name_is_enough_and_any_of_its_chunks_counts(ranklens):
    done = ranklens("why", "pool E-104", "--expect", "pool.md", "--mode", "dense")

    assert "is kept: piece 1 of" in done.out


def test_a_strict_filter_is_named(ranklens):
    done = ranklens(
        "why", "certificate", "--expect", "tls.md", "--category", "database", "--policy", "strict", "--json"
    )  # fmt: skip

    found = json.loads(done.out)
    assert found["ending"]["end"] == "other_category"
    assert ("category", None) in [(it["setting"], it["new"]) for it in found["rescues"]]


def test_what_is_in_no_build_and_no_catalog_is_an_answer(ranklens):
    done = ranklens("why", "pool", "--expect", "gone.md")

    assert done.code == 0
    assert "gone.md is neither in build" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pool", "--expect", " "], "No chunk or document is named"),
        (["pool", "--expect", "rank:2"], "names a place in one list"),
        (["pool", "--expect", "pool.md", "--category", "nope"], "No document"),
        ([" ", "--expect", "pool.md"], "query is empty"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence_and_code_2(ranklens, arguments, message):
    done = ranklens("why", *arguments)

    assert (done.code, done.out) == (2, "")
    assert message in done.err
