"""One frozen `Settings`, from the environment, then `ranklens.toml`, then defaults.

In: `RANKLENS_...` variables (parts joined by `__`, for example `RANKLENS_MILVUS__URI`) and the
nearest `ranklens.toml` at or above the working folder. Out: `Settings`, with every path absolute.
Invariant: nothing else in the core reads the environment, and a value that is given but wrong is
an error that names it; all faults are reported together.
"""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from core.errors import SettingsInvalid
from core.model.search import MAX_RETRIEVE_K
from core.sections import RetrievalSettings, Section

FILE_NAME = "ranklens.toml"
ENVIRONMENT_PREFIX = "RANKLENS_"
TEST_PREFIX = "RANKLENS_TEST_"
"""Variables that only the tests read."""


class MilvusSettings(Section):
    """Where the base is stored.

    `uri` is a path (Milvus Lite) or `http(s)://host:port`; "" means `<data_dir>/milvus.db`.
    `collection` is an alias; builds are named after it.
    """

    uri: str = ""
    token: SecretStr = SecretStr("")
    collection: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,199}$")] = "biz_hybrid"
    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    metric: Literal["COSINE", "IP", "L2"] = "COSINE"
    index: Literal["auto", "FLAT", "HNSW", "IVF_FLAT", "AUTOINDEX"] = "auto"


class EmbeddingSettings(Section):
    """Which model, and how it runs.

    `model` is `bundled`, a name on the hub, or a folder. `threads` 0 takes half of the
    machine's cores, at least one.
    Prompts are only needed for a model whose own configuration names none.
    """

    model: Annotated[str, Field(min_length=1)] = "bundled"
    batch_size: Annotated[int, Field(ge=1, le=1024)] = 32
    threads: Annotated[int, Field(ge=0, le=256)] = 0
    device: Annotated[str, Field(min_length=1)] = "cpu"
    query_prompt: str | None = None
    passage_prompt: str | None = None


class ChunkingSettings(Section):
    """How documents are cut; sizes in tokens of the embedding model.

    `split_levels`: headings of level 1 to this one start a new chunk.
    """

    size_tokens: Annotated[int, Field(ge=32, le=8192)] = 320
    overlap_tokens: Annotated[int, Field(ge=0, le=4096)] = 32
    split_levels: Annotated[int, Field(ge=1, le=6)] = 3

    @model_validator(mode="after")
    def _overlap_is_smaller_than_half(self) -> "ChunkingSettings":
        if self.overlap_tokens * 2 > self.size_tokens:
            raise ValueError(
                f"overlap_tokens is {self.overlap_tokens}; it must be at most half of "
                f"size_tokens ({self.size_tokens})"
            )
        return self


class RagSettings(Section):
    """How many are found, kept and packed; one number never does two jobs."""

    retrieve_k: Annotated[int, Field(ge=1, le=MAX_RETRIEVE_K)] = 20
    return_n: Annotated[int, Field(ge=1, le=MAX_RETRIEVE_K)] = 5
    max_chunks_per_document: Annotated[int, Field(ge=1, le=MAX_RETRIEVE_K)] = 2
    context_budget_characters: Annotated[int, Field(ge=200, le=1_000_000)] = 6000

    @model_validator(mode="after")
    def _return_n_fits(self) -> "RagSettings":
        if self.return_n > self.retrieve_k:
            raise ValueError(
                f"return_n is {self.return_n}; it must be at most retrieve_k ({self.retrieve_k})"
            )
        return self


class ConsoleSettings(Section):
    """The pages. `upload_limit_megabytes` holds for each file, also on the command line."""

    language: Literal["auto", "en", "zh"] = "auto"
    read_only: bool = False
    upload_limit_megabytes: Annotated[int, Field(ge=1, le=2048)] = 50


class Settings(BaseSettings):
    """Every setting, checked; paths absolute."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix=ENVIRONMENT_PREFIX, env_nested_delimiter="__"
    )

    data_dir: Path = Path("data")
    milvus: MilvusSettings = MilvusSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    rag: RagSettings = RagSettings()
    console: ConsoleSettings = ConsoleSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Explicit values, then the environment, then the file."""
        return (init_settings, env_settings, TomlConfigSettingsSource(settings_cls))

    @property
    def milvus_uri(self) -> str:
        """The address to open: as set, else the local file in the data folder."""
        return self.milvus.uri or str(self.data_dir / "milvus.db")

    @property
    def is_local(self) -> bool:
        """Milvus Lite in this process, not a server."""
        return "://" not in self.milvus_uri


def load_settings(folder: Path | None = None, **overrides: Any) -> Settings:  # noqa: ANN401 - any section
    """Read the settings for a working folder (None: the present one).

    Args:
        folder: where the search for `ranklens.toml` starts; goes upward.
        overrides: whole sections or `data_dir`, stronger than the environment.

    Raises:
        SettingsInvalid: lists every fault, one a line, with the name of the setting.
    """
    root = project_root(folder or Path.cwd())
    file = root / FILE_NAME

    class FileSettings(Settings):
        model_config = SettingsConfigDict(toml_file=file if file.exists() else None)

    faults = _environment_faults()
    try:
        settings = FileSettings(**overrides)
    except ValidationError as error:
        faults += [f"{'.'.join(map(str, fault['loc']))}: {_sentence(fault)}" for fault in error.errors()]
        raise _refusal(faults) from error
    except SettingsError as error:
        raise _refusal([*faults, f"the environment: {error}"]) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsInvalid(f"{file} is not valid TOML: {error}") from error
    except OSError as error:
        raise SettingsInvalid(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SettingsInvalid(f"{file} is not text in UTF-8: {error}. Save it as UTF-8.") from error
    if faults:
        raise _refusal(faults)
    return _with_absolute_paths(settings, root)


def project_root(folder: Path) -> Path:
    """Return the nearest folder upward with `ranklens.toml`, else the project's root, else `folder`."""
    folders = [folder.resolve(), *folder.resolve().parents]
    for candidate in folders:
        if (candidate / FILE_NAME).is_file():
            return candidate
    for candidate in folders:
        project = candidate / "pyproject.toml"
        if project.is_file() and b'name = "ranklens"' in project.read_bytes():
            return candidate
    return folders[0]


def _environment_faults() -> list[str]:
    """Find variables with our prefix that name no section; pydantic looks only for those it knows."""
    known = set(Settings.model_fields)
    return [
        f"{name}: there is no such setting"
        for name in sorted(os.environ)
        if name.startswith(ENVIRONMENT_PREFIX)
        and not name.startswith(TEST_PREFIX)
        and name.removeprefix(ENVIRONMENT_PREFIX).partition("__")[0].lower() not in known
    ]


def _refusal(faults: list[str]) -> SettingsInvalid:
    return SettingsInvalid("\n  ".join(["These settings cannot be used:", *faults]))


def _sentence(fault: Any) -> str:  # noqa: ANN401 - pydantic's own record
    message = str(fault["msg"]).removeprefix("Value error, ")
    given = fault.get("input")
    # A value under an unknown name may be a secret whose name was mistyped.
    secret = fault["type"] == "extra_forbidden" or "token" in fault["loc"]
    hidden = secret or given is None or isinstance(given, dict)
    return message if hidden else f"{message} (given: {given!r})"


def _with_absolute_paths(settings: Settings, root: Path) -> Settings:
    changes: dict[str, object] = {"data_dir": (root / settings.data_dir.expanduser()).resolve()}
    model = root / Path(settings.embedding.model).expanduser()
    if model.is_dir():
        changes["embedding"] = settings.embedding.model_copy(update={"model": str(model.resolve())})
    uri = settings.milvus.uri
    if uri and "://" not in uri:
        path = str((root / Path(uri).expanduser()).resolve())
        changes["milvus"] = settings.milvus.model_copy(update={"uri": path})
    navigation = settings.retrieval.navigation
    if navigation.domains:
        domains = str((root / Path(navigation.domains).expanduser()).resolve())
        update = {"navigation": navigation.model_copy(update={"domains": domains})}
        changes["retrieval"] = settings.retrieval.model_copy(update=update)
    return settings.model_copy(update=changes)
