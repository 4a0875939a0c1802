"""Paths to uploaded files."""

import errno
import os
from pathlib import Path

import pytest

from core.cli import files
from core.cli.files import read_paths
from core.errors import FileRefused

LIMIT = 100


def read(*paths: Path | str, category: str = "", from_folder: bool = False, kb_scope: str = "default"):
    return read_paths(
        [Path(path) for path in paths],
        category=category,
        category_from_folder=from_folder,
        kb_scope=kb_scope,
        limit_bytes=LIMIT,
    )


def names(found) -> list[str]:
    return [file.name for file in found.files]


def refusals(found) -> list[str]:
    return [report.reason for report in found.refused]


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "kb" / "ops" / "deep" / "b.md")
    write(tmp_path / "kb" / "a.md", "first")
    return tmp_path / "kb"


def test_files_of_a_folder_are_named_relative_to_it_and_sorted(folder):
    write(folder / "ops" / "数据库.md")

    found = read("kb")

    assert names(found) == ["a.md", "ops/deep/b.md", "ops/数据库.md"]
    assert found.files[0].data == b"first"
    assert found.refused == ()


def test_hidden_files_and_folders_are_passed_over_but_can_be_given_themselves(folder):
    write(folder / ".git" / "c.md")
    write(folder / ".draft.md")

    assert names(read(folder)) == ["a.md", "ops/deep/b.md"]
    assert names(read(folder / ".git", folder / ".draft.md")) == [".draft.md", "c.md"]


def test_a_relative_path_with_dots_names_files_as_any_other_path(folder, monkeypatch):
    monkeypatch.chdir(folder / "ops")

    assert names(read("..")) == ["a.md", "ops/deep/b.md"]
    assert names(read("../../kb/./ops/../a.md")) == ["a.md"]


def test_a_path_given_twice_is_taken_once(folder):
    assert names(read("kb", folder, "kb/a.md", "kb/../kb/a.md")) == ["a.md", "ops/deep/b.md"]


@pytest.mark.parametrize(
    "order", [("kb", "kb/ops", "kb/ops/deep/b.md"), ("kb/ops/deep/b.md", "kb/ops", "kb")]
)
def test_a_file_inside_a_folder_that_is_given_too_keeps_its_longest_name(folder, order):
    found = read(*order, from_folder=True)

    assert [(file.name, file.category) for file in found.files] == [("a.md", ""), ("ops/deep/b.md", "ops")]


def test_the_category_is_the_first_folder_or_for_a_single_file_the_one_it_lies_in(folder):
    assert [file.category for file in read(folder, from_folder=True).files] == ["", "ops"]
    assert [file.category for file in read("kb/ops/deep/b.md", from_folder=True).files] == ["deep"]


def test_category_and_knowledge_base_are_those_given(folder):
    found = read(folder, category=" ops ", kb_scope=" team ")

    assert {(file.category, file.kb_scope) for file in found.files} == {("ops", "team")}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kb_scope": " "}, "The name of the knowledge base is empty"),
        ({"kb_scope": "a/b"}, "has a slash in its name"),
        ({"category": "a\x00b"}, r"The category 'a\\x00b' holds a control character"),
    ],
)
def test_a_name_that_no_file_could_have_is_refused_once_and_not_for_each_file(folder, values, message):
    with pytest.raises(FileRefused, match=message):
        read(folder, **values)


def test_a_path_that_is_not_there_stops_before_anything_is_read(folder):
    with pytest.raises(FileRefused, match=r"^There is no file or folder kb/gone\.md\.$"):
        read("kb", "kb/gone.md")


def test_a_folder_without_files_is_refused(tmp_path):
    (tmp_path / "empty" / "inside").mkdir(parents=True)
    write(tmp_path / "empty" / ".hidden.md")

    with pytest.raises(FileRefused, match=r"^There is no file in .*empty; hidden ones are passed over\.$"):
        read(tmp_path / "empty")


def test_links_to_files_are_read_and_all_others_are_refused_by_name(folder):
    (folder / "link.md").symlink_to(folder / "a.md")
    (folder / "loop").symlink_to(folder)
    (folder / "itself.md").symlink_to("itself.md")
    (folder / "nowhere.md").symlink_to("gone.md")
    os.mkfifo(folder / "pipe.md")

    found = read(folder)

    assert names(found) == ["a.md", "link.md", "ops/deep/b.md"]
    assert refusals(found) == [
        "itself.md cannot be read: Too many levels of symbolic links.",
        "loop is a link to a folder, which is not followed. Give that folder as a path of its own.",
        "nowhere.md is a link that leads nowhere.",
        "pipe.md is neither a file nor a folder.",
    ]


def test_a_link_to_a_folder_that_is_given_itself_is_followed(folder):
    (folder / "loop").symlink_to(folder / "ops")

    assert names(read("kb/loop")) == ["deep/b.md"]


def test_a_pipe_given_by_itself_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(FileRefused, match="is neither a file nor a folder, so it cannot be indexed"):
        read(tmp_path / "pipe")


def test_a_name_that_is_not_utf8_is_refused_and_the_others_go_on(folder):
    (folder / os.fsdecode(b"caf\xe9.md")).write_bytes(b"text")

    found = read(folder)

    assert names(found) == ["a.md", "ops/deep/b.md"]
    assert refusals(found) == [
        r"The name 'caf\udce9.md' is not valid UTF-8. Rename it and index it again.",
    ]


def test_a_huge_file_is_refused_with_its_true_size_and_not_read(folder):
    with (folder / "huge.md").open("wb") as file:
        file.truncate(3 << 30)  # takes no space on the disk

    assert refusals(read(folder)) == [
        "huge.md has 3,221,225,472 bytes; at most 100 are allowed. Split it, or raise "
        "console.upload_limit_megabytes."
    ]


def test_a_file_at_the_limit_is_read_whole(folder):
    write(folder / "a.md", "x" * LIMIT)

    assert read("kb/a.md").files[0].data == b"x" * LIMIT


def test_nothing_is_read_of_a_file_whose_ending_is_not_supported(folder):
    with (folder / "film.mp4").open("wb") as file:
        file.truncate(3 << 30)

    assert {file.name: file.data for file in read(folder).files}["film.mp4"] == b""


def denied(*broken: str):
    """A stand-in for what the system says to someone without rights; root has them all."""

    def wrap(original):
        def call(path, *arguments, **options):
            if Path(path).name in broken:
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return original(path, *arguments, **options)

        return call

    return wrap


def test_an_unreadable_file_or_folder_inside_is_refused_and_the_others_go_on(folder, monkeypatch):
    write(folder / "secret.md")
    write(folder / "closed" / "c.md")
    monkeypatch.setattr(files.os, "scandir", denied("closed")(os.scandir))
    monkeypatch.setattr(Path, "open", denied("secret.md")(Path.open))

    found = read(folder)

    assert names(found) == ["a.md", "ops/deep/b.md"]
    assert refusals(found) == [
        "closed cannot be read: Permission denied.",
        "secret.md cannot be read: Permission denied.",
    ]


@pytest.mark.parametrize("path", ["kb", "kb/a.md"])
def test_an_unreadable_path_that_was_given_itself_is_an_error(folder, monkeypatch, path):
    monkeypatch.setattr(files.os, "scandir", denied("kb")(os.scandir))
    monkeypatch.setattr(Path, "open", denied("a.md")(Path.open))

    with pytest.raises(FileRefused, match=rf"^{path} cannot be read: Permission denied\.$"):
        read(path)
