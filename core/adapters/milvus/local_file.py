"""The folder of Milvus Lite: whether it can be opened, who holds it, how many segments it has.

In: a path. Out: a real path, or an error that names the path and the way out. Invariant: nothing
here changes or removes a byte of a store; the only thing ever made is a missing parent folder.
"""

import json
import os
from pathlib import Path

from core.errors import StoreUnavailable

SUFFIX = ".db"
_OLD_FORMAT = b"SQLite format 3"


def real_path(uri: str) -> str:
    """Resolve a local address once, so that links and relative paths share one store.

    Raises:
        StoreUnavailable: a scheme that is none of ours, or a path without `.db`.
    """
    if "://" in uri or uri.startswith("file:"):
        raise StoreUnavailable(
            f"milvus.uri is {uri!r}; it must be a plain path that ends in .db, or http(s)://host:port."
        )
    path = os.path.realpath(uri)
    if not path.endswith(SUFFIX):
        raise StoreUnavailable(
            f"milvus.uri leads to {path}; a local store must end in {SUFFIX} "
            "in lower case. Correct the setting."
        )
    return path


def prepare(path: str) -> None:
    """Make sure that a local store can be opened at a path.

    Raises:
        StoreUnavailable: a file lies there, or the parent folder cannot be made.
    """
    if os.path.isfile(path):  # noqa: PTH113 - the path is text everywhere here
        raise StoreUnavailable(_about_file(path))
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(
            f"The folder {Path(path).parent} for the local store cannot be made: {error.strerror}. "
            "Make it, or set data_dir or milvus.uri to another path."
        ) from error


def _about_file(path: str) -> str:
    with open(path, "rb") as file:  # noqa: PTH123 - the path is text everywhere here
        start = file.read(len(_OLD_FORMAT))
    if start == _OLD_FORMAT:
        return (
            f"{path} is a single file of Milvus Lite 2.x, which this version cannot read. "
            "It was not changed. Set milvus.uri to a new path and index the files again, "
            "or export it with the old version."
        )
    return (
        f"{path} is a file of another kind, not the folder of a Milvus Lite store. It was not changed. "
        "Set milvus.uri to another path."
    )


def locked_sentence(path: str, holder: int | None) -> str:
    """Say who holds a store and what to do."""
    who = f"process {holder}" if holder else "another process"
    return (
        f"The local store {path} is in use by {who} (another console or job?). "
        "Nothing was changed. Stop it, or let both share a server: run `milvus-lite server --data-dir "
        "<that path>` and set milvus.uri to its address."
    )


def lock_is_held(path: str) -> bool:
    """Tell whether any process, this one included, has the store open."""
    import fcntl  # absent on Windows, where there is no Milvus Lite either

    try:
        with (Path(path) / "LOCK").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def lock_holder(path: str) -> int | None:
    """Return the id of the process that has the store open.

    None when nobody has, or when the system does not tell (only Linux lists its locks).
    """
    try:
        inode = (Path(path) / "LOCK").stat().st_ino
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        parts = line.split()
        if "FLOCK" in parts and "->" not in parts and parts[5].rpartition(":")[2] == str(inode):
            return int(parts[4]) if int(parts[4]) > 0 else None
    return None


def segment_count(path: str, collection: str) -> int | None:
    """Count the flushed segments of a collection; None when the folder does not tell."""
    try:
        text = (Path(path) / "collections" / collection / "manifest.json").read_text(encoding="utf-8")
        partitions = json.loads(text)["partitions"]
        return sum(len(partition["data_files"]) for partition in partitions.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
