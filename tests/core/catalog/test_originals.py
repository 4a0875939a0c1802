"""Originals are there whole or not at all, and are checked when they are read."""

import hashlib
from pathlib import Path

import pytest

from core.catalog.originals import Originals, open_originals
from core.errors import StoreError, StoreUnavailable

DATA = "# 退款\n\n一百元".encode()
KEY = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "originals"


@pytest.fixture
def originals(folder: Path) -> Originals:
    return open_originals(str(folder))


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_bytes_are_kept_under_their_sha256_in_a_folder_of_its_first_two_digits(originals, folder):
    assert originals.put(DATA) == KEY
    assert originals.get(KEY) == DATA
    assert files_in(folder) == [f"{KEY[:2]}/{KEY}"]


def test_the_same_bytes_twice_are_one_file(originals, folder):
    assert originals.put(DATA) == originals.put(DATA)
    assert len(files_in(folder)) == 1


def test_an_empty_file_can_be_kept(originals):
    assert originals.get(originals.put(b"")) == b""


def test_a_damaged_original_is_an_error_that_names_both_hashes(originals, folder):
    originals.put(DATA)
    (folder / KEY[:2] / KEY).write_bytes(b"other")
    found = hashlib.sha256(b"other").hexdigest()
    with pytest.raises(StoreError, match=f"{KEY[:12]}.*damaged.*{found[:12]}"):
        originals.get(KEY)


def test_keeping_the_bytes_again_mends_a_damaged_original(originals, folder):
    originals.put(DATA)
    (folder / KEY[:2] / KEY).write_bytes(b"torn")
    originals.put(DATA)
    assert originals.get(KEY) == DATA


def test_a_missing_original_is_an_error_that_says_what_to_do(originals):
    with pytest.raises(StoreError, match=f"{KEY[:12]} is missing from .*Upload the file again"):
        originals.get(KEY)


def test_removing_says_whether_there_was_anything(originals):
    originals.put(DATA)
    assert originals.remove(KEY) is True
    assert originals.remove(KEY) is False


def test_a_write_that_fails_at_the_rename_leaves_no_file(originals, folder, monkeypatch):
    def full(_self: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreUnavailable, match=r"cannot be written.*No space left"):
        originals.put(DATA)
    assert files_in(folder) == []


def test_a_folder_that_cannot_be_made_is_an_error_with_its_name(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match="file/originals"):
        open_originals(str(tmp_path / "file" / "originals")).put(DATA)


def test_another_file_system_works_the_same():
    originals = open_originals("memory://kept/originals")
    key = originals.put(DATA)
    assert originals.get(key) == DATA
    assert [name for name in originals.files.find("kept/originals") if not name.endswith(key)] == []
    assert originals.remove(key) is True
    with pytest.raises(StoreError, match="is missing"):
        originals.get(key)
