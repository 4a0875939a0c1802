"""`save` and `replay` on Milvus Lite with a hashing embedder."""

import json
from pathlib import Path

import pytest

from core.retrieval.replay.reading import read_bundle

pytestmark = [pytest.mark.milvus, pytest.mark.usefixtures("hashing", "place")]


def index(ranklens, **files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.md").write_text(text, encoding="utf-8")
    assert ranklens("index", *[f"{name}.md" for name in files], "--category", "ops").code == 0


def test_a_lookup_is_saved_asked_again_and_a_changed_document_is_named(ranklens, monkeypatch):
    monkeypatch.setenv("RANKLENS_MILVUS__TOKEN", "t0ken")
    index(ranklens, pool="# 连接池\n\n连接池 pool E-104.", dns="# DNS\n\nServfail of a pool.")

    done = ranklens("save", "连接池 E-104", "saved.json", "--mode", "hybrid", "--category", "ops")
    bundle = read_bundle(Path("saved.json").read_bytes(), "saved.json")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"Saved the lookup in build {bundle.result.build} with 2 candidates to saved.json.\n"
    assert (bundle.query, bundle.configuration.category) == ("连接池 E-104", "ops")
    assert "lite" in bundle.surroundings.versions["milvus"]
    assert "t0ken" not in Path("saved.json").read_text(encoding="utf-8")

    same = ranklens("replay", "saved.json")
    assert (same.code, same.err) == (0, "")
    assert same.out.splitlines()[0] == "Nothing changed."

    index(ranklens, pool="# 连接池\n\n连接池 pool E-104, changed.")
    changed = ranklens("replay", "saved.json")
    assert (changed.code, changed.err) == (1, "")
    assert "the chunks of default/pool.md hold something else" in changed.out
    assert "default/pool.md#chunk-0  content" in changed.out

    found = json.loads(ranklens("replay", "saved.json", "--json").out)
    assert (found["identical"], found["query"]) == (False, "连接池 E-104")
    assert found["differences"]["contents"][0]["document"] == "default/pool.md"


def test_a_file_that_is_there_is_not_written_over(ranklens):
    index(ranklens, dns="# DNS\n\nServfail.")
    Path("kept.txt").write_text("mine")

    done = ranklens("save", "dns", "kept.txt")

    assert done.code == 2
    assert done.err == "Error: kept.txt is there already. Name another file, or remove that one.\n"
    assert Path("kept.txt").read_text() == "mine"


def test_a_folder_that_is_not_there_is_one_sentence(ranklens):
    index(ranklens, dns="# DNS\n\nServfail.")

    assert ranklens("save", "dns", "no/such.json").err == (
        "Error: no/such.json cannot be written: No such file or directory. "
        "Name a file in a folder you may write to.\n"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "x.json cannot be read: No such file or directory. Name a file that `ranklens save` made."),
        (b"{}",
         "x.json is no saved lookup: it has no schema_version. Choose a file that `ranklens save` made."),
        (b'{"schema_version": 2}',
         "x.json has schema version 2; this RankLens reads 1. Open it with the newer "
         "RankLens that saved it."),
    ],
)  # fmt: skip
def test_a_file_that_is_no_saved_lookup_is_one_sentence(ranklens, content, message):
    if content is not None:
        Path("x.json").write_bytes(content)

    done = ranklens("replay", "x.json")

    assert (done.code, done.out, done.err) == (2, "", f"Error: {message}\n")
