"""Paths on the command line to uploaded files.

In: files and folders. Out: `FoundFiles`: what can be indexed, in the order of the names, and what
cannot be read, with the reason. Invariants: a folder's files are named relative to it, so indexing the
same folder again meets the same documents; a file that two paths lead to is taken once; no more of
a file is read than may be uploaded, and nothing of one whose ending is not supported.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.cli.arguments import as_text
from core.errors import FileRefused
from core.indexing.reports import FileOutcome, FileReport, UploadedFile
from core.intake.loading import refuse_too_large
from core.intake.naming import category_name, scope_name
from core.intake.readers import reader_for

LINK_TO_FOLDER = "is a link to a folder, which is not followed. Give that folder as a path of its own"
LINK_TO_NOTHING = "is a link that leads nowhere"
NO_FILE = "is neither a file nor a folder"


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """What the paths hold.

    Attributes:
        files: read, by name; unsupported ones without their bytes.
        refused: a report for each thing that could not be read.
    """

    files: tuple[UploadedFile, ...]
    refused: tuple[FileReport, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file, or what stands in its place; `trouble` says why it cannot be read, "" when it can."""

    name: str
    path: Path
    folder: str
    trouble: str = ""


def read_paths(
    paths: Sequence[Path],
    *,
    category: str,
    category_from_folder: bool,
    kb_scope: str,
    limit_bytes: int,
) -> FoundFiles:
    """Read every file of the paths.

    Hidden files and folders below a path are passed over. A file that is met twice, because a path
    is given twice or lies inside another one, gets the longer of its names.

    Args:
        paths: files, or folders that are walked to the bottom; links to folders are not followed.
        category: of every file; blank means uncategorized.
        category_from_folder: take a file's first folder below the given path in its place; for a
            single file, the folder it lies in.
        kb_scope: of every file.
        limit_bytes: the largest file that may be uploaded.

    Raises:
        FileRefused: a path given is not there or cannot be read, the paths hold no file, or the
            category or knowledge base has a name that no file could have.
    """
    category, kb_scope = category_name(category), scope_name(kb_scope)
    entries: dict[Path, _Entry] = {}
    for entry in (entry for root in paths for entry in _entries(root)):
        place = _place(entry.path)
        known = entries.get(place)
        if known is None or entry.name.count("/") > known.name.count("/"):
            entries[place] = entry
    if not entries:
        listed = ", ".join(map(str, paths))
        raise FileRefused(f"There is no file in {listed}; hidden ones are passed over.")
    files: list[UploadedFile] = []
    refused: list[FileReport] = []
    for entry in sorted(entries.values(), key=lambda entry: entry.name):
        try:
            name, folder = _as_text(entry.name), _as_text(entry.folder)
            data = _read(entry, name, limit_bytes)
        except FileRefused as error:
            refused.append(FileReport(entry.name, FileOutcome.REFUSED, str(error)))
        else:
            own = folder if category_from_folder else category
            files.append(UploadedFile(name, data, own, kb_scope))
    return FoundFiles(tuple(files), tuple(refused))


def _entries(root: Path) -> Iterator[_Entry]:
    try:
        if not root.exists():
            raise FileRefused(f"There is no file or folder {root}.")
        if root.is_dir():
            yield from _below(root)
        elif root.is_file():
            root.open("rb").close()  # one that was named must be readable; in a folder it is refused
            yield _Entry(root.name, root, root.absolute().parent.name)
        else:
            raise FileRefused(f"{root} {NO_FILE}, so it cannot be indexed.")
    except OSError as error:
        raise FileRefused(f"{root} cannot be read: {error.strerror}.") from error


def _below(root: Path) -> Iterator[_Entry]:
    """Walk a folder; a folder inside it that cannot be read is an entry with a trouble."""
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            found = [entry for entry in os.scandir(folder) if not entry.name.startswith(".")]
        except OSError as error:
            if folder == root:
                raise
            yield _entry(root, folder, f"cannot be read: {error.strerror}")
            continue
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            else:
                yield _entry(root, Path(entry.path), _trouble(entry))


def _entry(root: Path, path: Path, trouble: str) -> _Entry:
    parts = path.relative_to(root).parts
    return _Entry("/".join(parts), path, parts[0] if len(parts) > 1 else "", trouble)


def _trouble(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_file():
            return ""
        if entry.is_symlink():
            return LINK_TO_FOLDER if entry.is_dir() else LINK_TO_NOTHING
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return NO_FILE


def _place(path: Path) -> Path:
    """Where an entry lies, whatever path led there; a link keeps its own place."""
    return Path(os.path.realpath(path.parent)) / path.name


def _as_text(name: str) -> str:
    text = as_text(name)
    if text is None:
        raise FileRefused(f"The name {name!a} is not valid UTF-8. Rename it and index it again.")
    return text


def _read(entry: _Entry, name: str, limit_bytes: int) -> bytes:
    if entry.trouble:
        raise FileRefused(f"{name} {entry.trouble}.")
    if reader_for(name) is None:
        return b""  # refused by its ending, so its bytes are not needed
    try:
        with entry.path.open("rb") as file:
            refuse_too_large(name, os.fstat(file.fileno()).st_size, limit_bytes)
            return file.read(limit_bytes + 1)
    except OSError as error:
        raise FileRefused(f"{name} cannot be read: {error.strerror}.") from error
