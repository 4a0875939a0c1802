"""Uploaded bytes, kept under their own hash.

In: bytes. Out: their SHA-256, and later the same bytes again. Invariants: a file is there whole or
not at all (temporary name, then one rename, flushed to the disk on a local folder); what is read is
checked against its name; the same bytes twice are one file.
"""

import hashlib
import os
import uuid
from dataclasses import dataclass
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem

from core.errors import StoreError, StoreUnavailable


@dataclass(frozen=True, slots=True)
class Originals:
    """A folder of originals on any file system that fsspec knows.

    Attributes:
        files: the file system.
        folder: absolute path in it, without a slash at the end.
    """

    files: fsspec.AbstractFileSystem
    folder: str

    def put(self, data: bytes) -> str:
        """Keep the bytes; return their SHA-256, 64 hex digits. Idempotent; mends a damaged copy.

        Raises:
            StoreUnavailable: the folder cannot be written.
        """
        key = original_key(data)
        path = self._path(key)
        try:
            if not (self.files.exists(path) and self.files.cat_file(path) == data):
                self._write(path, data)
        except OSError as error:
            raise StoreUnavailable(
                f"The original {key[:12]} ({len(data):,} bytes) cannot be written to {self.folder}: "
                f"{error}. Check that the folder can be written and is not full."
            ) from error
        return key

    def get(self, key: str) -> bytes:
        """Read the bytes with this SHA-256.

        Raises:
            StoreError: the file is missing, or its bytes have another hash.
            StoreUnavailable: the folder cannot be read.
        """
        try:
            data = self.files.cat_file(self._path(key))
        except FileNotFoundError as error:
            raise StoreError(
                f"The original {key[:12]} is missing from {self.folder}. Upload the file again."
            ) from error
        except OSError as error:
            raise StoreUnavailable(
                f"The original {key[:12]} cannot be read from {self.folder}: {error}."
            ) from error
        found = original_key(data)
        if found != key:
            raise StoreError(
                f"The original {key[:12]} in {self.folder} is damaged: its {len(data):,} bytes have the "
                f"hash {found[:12]}. Upload the file again."
            )
        return bytes(data)

    def remove(self, key: str) -> bool:
        """Remove the bytes with this SHA-256; False when they were not there.

        Raises:
            StoreUnavailable: the file cannot be removed.
        """
        try:
            self.files.rm_file(self._path(key))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreUnavailable(
                f"The original {key[:12]} cannot be removed from {self.folder}: {error}."
            ) from error
        return True

    def _path(self, key: str) -> str:
        # Two digits of the hash as a folder keep each folder small.
        return f"{self.folder}/{key[:2]}/{key}"

    def _write(self, path: str, data: bytes) -> None:
        if isinstance(self.files, LocalFileSystem):
            _write_durably(Path(path), data)
            return
        temporary = f"{path}.{uuid.uuid4().hex}"
        self.files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self.files.pipe_file(temporary, data)
        self.files.mv(temporary, path)


def original_key(data: bytes) -> str:
    """Return the SHA-256 of the bytes, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def open_originals(url: str) -> Originals:
    """Open the folder at a path or an fsspec URL (`file:///...`, `s3://bucket/...`, `memory://...`)."""
    files, folder = fsspec.core.url_to_fs(url)
    return Originals(files, folder.rstrip("/"))


def _write_durably(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    # The names themselves are only on the disk once their folders are.
    for folder in (path.parent, path.parent.parent):
        _flush_folder(folder)


def _flush_folder(folder: Path) -> None:
    if os.name == "nt":
        return  # Windows cannot open a folder as a file, and writes names through by itself
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
