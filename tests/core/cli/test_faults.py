"""Settings, stores and paths that cannot be used: one sentence on standard error and code 2."""

import socket
from pathlib import Path

import pytest

from core import wiring
from core.adapters.embedders import CachingEmbedder, HashingEmbedder, WordCounter
from tests.core.cli.processes import HASHING, HOLDER, finish, start

pytestmark = pytest.mark.usefixtures("place", "hashing")


class OtherModel(HashingEmbedder):
    name = "other"
    dimension = 32


def refused(outcome, *parts: str) -> None:
    """One line on standard error that holds the parts, and nothing else anywhere."""
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("Error: ")
    assert outcome.err.count("\n") == 1
    for part in parts:
        assert part in outcome.err


@pytest.fixture
def indexed(place: Path, ranklens) -> Path:
    (place / "a.md").write_text("# Disk\n\nThe disk is full.", encoding="utf-8")
    assert ranklens("index", "a.md").code == 0
    return place


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"rag = [", ["ranklens.toml is not valid TOML"]),
        (b"# \xff", ["ranklens.toml is not text in UTF-8"]),
    ],
    ids=["no-toml", "no-text"],
)
def test_a_settings_file_that_cannot_be_read(ranklens, place, content, parts):
    (place / "ranklens.toml").write_bytes(content)

    refused(ranklens("doctor"), str(place), *parts)


def test_every_setting_that_cannot_be_used_is_listed_on_a_line_of_its_own(ranklens, place, monkeypatch):
    (place / "ranklens.toml").write_text("[rag]\nreturn_n = 0\n[milvus]\nuril = 'x'\n", encoding="utf-8")
    monkeypatch.setenv("RANKLENS_CHUNKING__SIZE_TOKENS", "many")

    done = ranklens("search", "hi")

    assert done.code == 2
    head, *faults = done.err.splitlines()
    assert head == "Error: These settings cannot be used:"
    assert sorted(fault.partition(":")[0].strip() for fault in faults) == [
        "chunking.size_tokens",
        "milvus.uril",
        "rag.return_n",
    ]


def test_a_data_folder_that_cannot_be_made(ranklens, place):
    (place / "ranklens.toml").write_text('data_dir = "taken/data"', encoding="utf-8")
    (place / "taken").touch()

    refused(
        ranklens("doctor"), f"The data folder {place / 'taken' / 'data'} cannot be made", "Set data_dir"
    )


@pytest.mark.parametrize("command", ["index", "evaluate"])
def test_a_path_that_is_not_there(ranklens, command):
    refused(ranklens(command, "gone/x.md"), "gone/x.md")


@pytest.mark.milvus
def test_a_server_that_is_not_there(place):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    done = finish(
        HASHING,
        "search",
        "hi",
        folder=place,
        RANKLENS_MILVUS__URI=f"http://127.0.0.1:{port}",
        RANKLENS_MILVUS__TIMEOUT_SECONDS="1",
    )

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().count("\n") == 1
    assert done.stderr.decode().startswith(
        f"Error: Milvus at http://127.0.0.1:{port} failed while opening it:"
    )
    assert "Check that the server runs" in done.stderr.decode()


@pytest.mark.milvus
def test_a_store_that_another_process_has_open_says_which(place):
    store = place / "data" / "milvus.db"
    holder = start(HOLDER, str(store), folder=place)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        done = finish(HASHING, "search", "hi", folder=place)
        checked = finish(HASHING, "doctor", folder=place)
    finally:
        holder.communicate()

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().count("\n") == 1
    assert f"The local store {store} is in use by process {holder.pid}" in done.stderr.decode()
    # For the doctor it is a finding like others.
    assert (checked.returncode, checked.stderr) == (1, b"")
    assert f"Trouble: The local store {store} is in use by process {holder.pid}" in checked.stdout.decode()


@pytest.mark.milvus
def test_a_live_build_with_other_chunk_rules_is_neither_asked_nor_written(ranklens, indexed):
    (indexed / "ranklens.toml").write_text("[chunking]\nsize_tokens = 100\n", encoding="utf-8")

    refused(ranklens("search", "disk"), "320", "100", "ebuild")
    refused(ranklens("index", "a.md"), "320", "100", "rebuild")
    assert ranklens("rebuild").code == 0
    assert ranklens("search", "disk").code == 0


@pytest.mark.milvus
def test_a_live_build_of_another_model_is_refused_with_both_names(ranklens, indexed, monkeypatch):
    monkeypatch.setattr(
        wiring,
        "open_embedder",
        lambda _settings, data_dir: (CachingEmbedder(OtherModel(), data_dir / "other.db"), WordCounter()),
    )

    refused(ranklens("search", "disk"), "'hashing'", "'other'", "64", "32", "ebuild")
    checked = ranklens("doctor")
    assert checked.code == 1
    assert "Trouble: " in checked.out


@pytest.mark.milvus
def test_a_store_path_of_another_kind_is_left_as_it_was(ranklens, place):
    (place / "notes.db").write_text("mine", encoding="utf-8")
    (place / "ranklens.toml").write_text('[milvus]\nuri = "notes.db"\n', encoding="utf-8")

    refused(ranklens("search", "hi"), f"{place / 'notes.db'} is a file of another kind")
    assert (place / "notes.db").read_text(encoding="utf-8") == "mine"
