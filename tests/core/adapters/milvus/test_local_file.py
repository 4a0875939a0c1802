import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.local_file import lock_holder, lock_is_held, real_path, segment_count
from core.errors import StoreUnavailable

ROOT = Path(__file__).resolve().parents[4]

OPEN_ELSEWHERE = """
import sys
from core.adapters.milvus.connection import MilvusConnection
from core.errors import StoreLocked
try:
    MilvusConnection(sys.argv[1], "", 5).call(lambda client: client.list_collections(), "listing")
except StoreLocked as error:
    print(error)
else:
    print("opened")
"""


def opened(uri: str) -> list[str]:
    connection = MilvusConnection(uri, "", 3)
    try:
        return connection.call(lambda client: client.list_collections(), "listing")
    finally:
        connection.close()


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.milvus
def test_a_second_process_hears_who_holds_the_store_and_changes_nothing(
    file_connection: MilvusConnection,
) -> None:
    """mil-17: within seconds, naming the path, the process and the way out."""
    file_connection.call(lambda client: client.list_collections(), "listing")
    path = str(file_connection.path)
    before = snapshot(Path(path))
    said = subprocess.run(
        [sys.executable, "-c", OPEN_ELSEWHERE, path], cwd=ROOT, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert f"{path} is in use by process {os.getpid()}" in said.stdout
    assert "milvus-lite server" in said.stdout
    assert "Traceback" not in said.stderr
    assert snapshot(Path(path)) == before


@pytest.mark.milvus
def test_closing_the_last_connection_frees_the_store_for_others(tmp_path: Path) -> None:
    """mil-17: the client's own close would keep the lock."""
    path = str(tmp_path / "milvus.db")
    first, second = (MilvusConnection(path, "", 5) for _ in range(2))
    for connection in (first, second):
        connection.call(lambda client: client.list_collections(), "listing")
    first.close()
    assert lock_is_held(path)
    assert second.call(lambda client: client.list_collections(), "listing") == []
    second.close()
    assert not lock_is_held(path)
    said = subprocess.run(
        [sys.executable, "-c", OPEN_ELSEWHERE, path], cwd=ROOT, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert said.stdout == "opened\n"
    assert first.call(lambda client: client.list_collections(), "listing") == []
    first.close()


@pytest.mark.milvus
def test_a_link_and_a_relative_path_share_one_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mil-17: the path is resolved once."""
    (tmp_path / "link.db").symlink_to(tmp_path / "milvus.db")
    monkeypatch.chdir(tmp_path)
    connections = [MilvusConnection(uri, "", 5) for uri in (str(tmp_path / "link.db"), "milvus.db")]
    try:
        for connection in connections:
            assert connection.path == os.path.realpath(tmp_path / "milvus.db")
            assert connection.call(lambda client: client.list_collections(), "listing") == []
    finally:
        for connection in connections:
            connection.close()


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"SQLite format 3\x00 rest", "Milvus Lite 2.x"), (b"hello", "file of another kind")],
)
def test_a_single_file_is_recognised_and_left_alone(tmp_path: Path, content: bytes, message: str) -> None:
    """mil-18: each cause has its own sentence."""
    file = tmp_path / "milvus.db"
    file.write_bytes(content)
    with pytest.raises(StoreUnavailable, match=rf"{message}.*not changed"):
        opened(str(file))
    assert file.read_bytes() == content


@pytest.mark.milvus
def test_missing_parent_folders_are_made_and_a_trailing_slash_does_not_matter(tmp_path: Path) -> None:
    """mil-18."""
    assert opened(f"{tmp_path}/new/folder/milvus.db/") == []
    assert (tmp_path / "new" / "folder" / "milvus.db").is_dir()


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("{tmp}/milvus", r"must end in \.db"),
        ("{tmp}/milvus.DB", r"must end in \.db in lower case"),
        ("file://{tmp}/milvus.db", "plain path"),
        ("ftp://host/milvus.db", "plain path"),
    ],
)
def test_an_address_that_cannot_be_one_is_named(tmp_path: Path, uri: str, message: str) -> None:
    """mil-18: no suffix, wrong case, a file address."""
    with pytest.raises(StoreUnavailable, match=message):
        opened(uri.format(tmp=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_parent_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    with pytest.raises(StoreUnavailable, match=r"folder .*data.* cannot be made"):
        opened(str(tmp_path / "data" / "milvus.db"))


def test_a_store_that_nobody_opened_is_not_locked(tmp_path: Path) -> None:
    assert (lock_is_held(str(tmp_path)), lock_holder(str(tmp_path))) == (False, None)
    (tmp_path / "LOCK").touch()
    assert (lock_is_held(str(tmp_path)), lock_holder(str(tmp_path))) == (False, None)


def test_segments_are_counted_from_the_manifest_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "collections" / "a"
    folder.mkdir(parents=True)
    assert segment_count(str(tmp_path), "a") is None
    partitions = {"_default": {"data_files": ["1", "2"]}, "p": {"data_files": ["3"]}}
    (folder / "manifest.json").write_text(json.dumps({"partitions": partitions}))
    assert segment_count(str(tmp_path), "a") == 3
    (folder / "manifest.json").write_text("[]")
    assert segment_count(str(tmp_path), "a") is None


def test_a_path_is_absolute_whatever_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert real_path("x/../milvus.db") == os.path.realpath(tmp_path / "milvus.db")
