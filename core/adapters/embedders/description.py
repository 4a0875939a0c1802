"""What an embedding model is, read from its configuration files alone.

In: the embedding settings and the data folder. Out: a `ModelDescription`. Invariant: no weights are
loaded and torch is not imported; the dimension and the window come from the model, never from a
setting.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.adapters.embedders.bundled import BUNDLED_NAME, bundled_model, find_weight_file
from core.adapters.embedders.conversion import PASSAGE_PROMPT, QUERY_PROMPT, TOKENIZER_NAME
from core.errors import EmbeddingFailed
from core.settings import EmbeddingSettings

BUNDLED = "bundled"
MODELS_FOLDER_NAME = "models"

UNLIMITED_TOKENS = 1_000_000
"""The window of a model whose files name none (a table of word vectors reads any length)."""

QUERY_NAMES = ("query",)
PASSAGE_NAMES = ("passage", "document", "corpus")
WEIGHT_ENDINGS = (".safetensors", ".bin", ".json", ".txt", ".model")


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """A sentence-transformers model whose weights need not be loaded yet.

    Attributes:
        name: as it is recorded with a build.
        revision: 12 hex digits; changes whenever the vectors would.
        folder: holds the configuration files and `tokenizer.json`.
        hub_revision: the full commit when the weights come from the hub by `name`; None when they
            are in `folder`.
        dimension: None when only the loaded model can tell.
        max_tokens: the window, special tokens and prompt included.
    """

    name: str
    revision: str
    folder: Path
    hub_revision: str | None
    dimension: int | None
    max_tokens: int
    query_prompt: str
    passage_prompt: str

    @property
    def tokenizer_file(self) -> Path:
        """The file of the `tokenizers` library."""
        return self.folder / TOKENIZER_NAME


@dataclass(frozen=True, slots=True)
class _Location:
    name: str
    revision: str
    folder: Path
    hub_revision: str | None


def describe_model(settings: EmbeddingSettings, data_dir: Path) -> ModelDescription:
    """Find the model of the settings and read its files.

    The bundled model is converted on the first call; a name on the hub is looked up in the local
    cache first and its small files are downloaded only when they are not there.

    Raises:
        EmbeddingFailed: there is no such model, or its files cannot be read.
    """
    location = _locate(settings.model, data_dir / MODELS_FOLDER_NAME)
    query_prompt, passage_prompt = _prompts(location)
    return ModelDescription(
        name=location.name,
        revision=location.revision,
        folder=location.folder,
        hub_revision=location.hub_revision,
        dimension=_dimension(location.folder),
        max_tokens=_max_tokens(location.folder),
        query_prompt=query_prompt if settings.query_prompt is None else settings.query_prompt,
        passage_prompt=passage_prompt if settings.passage_prompt is None else settings.passage_prompt,
    )


def _locate(model: str, models_folder: Path) -> _Location:
    if model == BUNDLED:
        weight_file = find_weight_file()
        if weight_file is None:
            return _locate_on_hub(BUNDLED_NAME)
        bundled = bundled_model(weight_file, models_folder)
        return _Location(BUNDLED_NAME, bundled.revision, bundled.folder, None)
    folder = Path(model).expanduser()
    if folder.is_dir():
        return _Location(folder.resolve().name, _folder_revision(folder), folder.resolve(), None)
    if folder.is_absolute() or model.startswith((".", "~")):
        raise EmbeddingFailed(
            f"The embedding model folder {folder} does not exist. Set embedding.model to a folder with "
            "a sentence-transformers model, to a name on the hub, or to bundled."
        )
    return _locate_on_hub(model)


def _locate_on_hub(name: str) -> _Location:
    from huggingface_hub import snapshot_download  # a third of a second, only for hub names
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
    )

    patterns = ["*.json", "*.txt"]
    try:
        try:
            folder = snapshot_download(name, allow_patterns=patterns, local_files_only=True)
        except LocalEntryNotFoundError:
            folder = snapshot_download(name, allow_patterns=patterns)
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise EmbeddingFailed(
            f"The embedding model {name} is neither a folder here nor could it be had from the hub: "
            f"{_first_line(error)} Check the name and the connection, or set embedding.model to a folder "
            "or to bundled."
        ) from error
    commit = Path(folder).name
    return _Location(name, commit[:12], Path(folder), commit)


def _first_line(error: Exception) -> str:
    line = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    return f"{line}."


def _folder_revision(folder: Path) -> str:
    """Hash every weight and configuration file with its name; reads them all once."""
    total = hashlib.sha256()
    try:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.suffix in WEIGHT_ENDINGS:
                with file.open("rb") as stream:
                    content = hashlib.file_digest(stream, "sha256").hexdigest()
                total.update(f"{file.relative_to(folder).as_posix()}\0{content}\n".encode())
    except OSError as error:
        raise EmbeddingFailed(
            f"The embedding model folder {folder} cannot be read: {error}. Check its permissions."
        ) from error
    return total.hexdigest()[:12]


def _prompts(location: _Location) -> tuple[str, str]:
    """Return (query prompt, passage prompt): the model's own, else those of the e5 family, else "".

    A configuration with only empty prompts names none: that is what saving a model writes by default.
    """
    named = _read_object(location.folder / "config_sentence_transformers.json").get("prompts")
    prompts = named if isinstance(named, dict) else {}
    query, passage = _first(prompts, QUERY_NAMES), _first(prompts, PASSAGE_NAMES)
    if query or passage:
        return query, passage
    words = re.split(r"[^a-z0-9]+", location.name.lower())
    if "e5" in words and "instruct" not in words:
        return QUERY_PROMPT, PASSAGE_PROMPT
    return "", ""


def _first(prompts: Mapping[str, object], names: Sequence[str]) -> str:
    return next((str(prompts[name]) for name in names if prompts.get(name)), "")


def _dimension(folder: Path) -> int | None:
    """Follow the modules: the last dense layer decides, else the pooling, else nobody here knows."""
    dimension: int | None = None
    for module in _read_list(folder / "modules.json"):
        if not isinstance(module, dict):
            continue
        kind = str(module.get("type", "")).rsplit(".", 1)[-1]
        configuration = _read_object(folder / str(module.get("path", "")) / "config.json")
        if kind == "Pooling":
            dimension = _pooled(configuration)
        elif kind == "Dense":
            dimension = _integer(configuration, "out_features")
    return dimension


def _pooled(configuration: Mapping[str, object]) -> int | None:
    """Size after pooling: token size times the number of modes, which are concatenated."""
    size = _integer(configuration, "word_embedding_dimension") or _integer(
        configuration, "embedding_dimension"
    )
    if size is None:
        return None
    modes = configuration.get("pooling_mode")
    if isinstance(modes, list):
        return size * len(modes)
    flags = [value for key, value in configuration.items() if key.startswith("pooling_mode_")]
    return size * max(1, sum(flag is True for flag in flags))


def _max_tokens(folder: Path) -> int:
    """Return the window as sentence-transformers takes it: its own limit, else the model's smallest."""
    own = _integer(_read_object(folder / "sentence_bert_config.json"), "max_seq_length")
    if own is not None:
        return own
    limits = (
        _integer(_read_object(folder / "tokenizer_config.json"), "model_max_length"),
        _integer(_read_object(folder / "config.json"), "max_position_embeddings"),
    )
    # A tokenizer without a limit of its own writes 10^30.
    known = [limit for limit in limits if limit is not None and limit < UNLIMITED_TOKENS]
    return min(known, default=UNLIMITED_TOKENS)


def _integer(configuration: Mapping[str, object], name: str) -> int | None:
    value = configuration.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _read_object(file: Path) -> dict[str, object]:
    content = _read(file)
    return content if isinstance(content, dict) else {}


def _read_list(file: Path) -> list[object]:
    content = _read(file)
    return content if isinstance(content, list) else []


def _read(file: Path) -> object:
    """Read a JSON file; None when the model has no such file."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise EmbeddingFailed(
            f"The configuration file {file} of the embedding model cannot be read: {error}. "
            "Restore the file, or set embedding.model to another model."
        ) from error
