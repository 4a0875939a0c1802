import json
import shutil
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from core.adapters.embedders import description
from core.adapters.embedders.description import UNLIMITED_TOKENS, ModelDescription, describe_model
from core.errors import EmbeddingFailed
from core.settings import EmbeddingSettings


def describe(model: Path | str, data_dir: Path, **prompts: str) -> ModelDescription:
    return describe_model(EmbeddingSettings(model=str(model), **prompts), data_dir)


def write(folder: Path, name: str, content: object) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content), encoding="utf-8")


def pooled(folder: Path, configuration: object) -> None:
    modules = [{"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]
    write(folder, "modules.json", modules)
    write(folder, "1_Pooling/config.json", configuration)


def test_a_folder_tells_everything_without_its_weights(tiny_folder: Path, tmp_path: Path) -> None:
    (tiny_folder / "model.safetensors").write_bytes(b"no weights")
    made = describe(tiny_folder, tmp_path)
    assert (made.name, made.folder, made.hub_revision) == (tiny_folder.name, tiny_folder, None)
    assert (made.dimension, made.max_tokens) == (32, 16)
    assert (made.query_prompt, made.passage_prompt) == ("query: ", "passage: ")
    assert made.tokenizer_file == tiny_folder / "tokenizer.json"


def test_the_bundled_model_is_converted_into_the_data_folder(
    tiny_weight_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(description, "find_weight_file", lambda: tiny_weight_file)
    made = describe("bundled", tmp_path / "data")
    assert made.name == "intfloat/multilingual-e5-small"
    assert made.folder == tmp_path / "data" / "models" / f"multilingual-e5-small-{made.revision}"
    assert made.hub_revision is None


def test_without_the_wheel_the_bundled_model_comes_from_the_hub_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def snapshot(name: str, *, allow_patterns: list[str], local_files_only: bool = False) -> str:
        asked.append(name)
        assert "*.safetensors" not in allow_patterns
        if local_files_only:
            raise LocalEntryNotFoundError("not here")
        return str(tmp_path / "snapshots" / "0123456789abcdef0123456789abcdef01234567")

    monkeypatch.setattr(description, "find_weight_file", lambda: None)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    made = describe("bundled", tmp_path)
    assert asked == ["intfloat/multilingual-e5-small"] * 2
    assert (made.name, made.revision) == ("intfloat/multilingual-e5-small", "0123456789ab")
    assert made.hub_revision == "0123456789abcdef0123456789abcdef01234567"
    assert (made.query_prompt, made.passage_prompt) == ("query: ", "passage: ")


def test_a_hub_that_does_not_answer_is_an_error_with_the_name_and_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def snapshot(*_: object, **__: object) -> str:
        raise LocalEntryNotFoundError("Name or service not known\nAn error happened")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    with pytest.raises(EmbeddingFailed) as caught:
        describe("somebody/some-model", tmp_path)
    assert str(caught.value) == (
        "The embedding model somebody/some-model is neither a folder here nor could it be had from the hub"
        ": Name or service not known. Check the name and the connection, or set embedding.model to a "
        "folder or to bundled."
    )


@pytest.mark.parametrize("name", ["{tmp}/gone", "./gone", "~/a-folder-that-nobody-has"])
def test_a_missing_folder_is_never_looked_for_on_the_hub(tmp_path: Path, name: str) -> None:
    with pytest.raises(EmbeddingFailed, match=r"The embedding model folder .* does not exist"):
        describe(name.format(tmp=tmp_path), tmp_path)


def test_the_revision_of_a_folder_changes_with_any_byte_of_the_weights(
    tiny_folder: Path, tmp_path: Path
) -> None:
    before = describe(tiny_folder, tmp_path).revision
    moved = tmp_path / "elsewhere"
    shutil.copytree(tiny_folder, moved)
    assert describe(moved, tmp_path).revision == before
    weights = bytearray((moved / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (moved / "model.safetensors").write_bytes(weights)
    assert describe(moved, tmp_path).revision != before


@pytest.mark.parametrize(
    ("folder_name", "prompts", "expected"),
    [
        ("my-model", {"query": "Q ", "passage": "P "}, ("Q ", "P ")),
        ("my-model", {"query": "Q ", "document": "D "}, ("Q ", "D ")),
        ("my-model", {"query": "Q "}, ("Q ", "")),
        ("my-e5", {"query": "Q "}, ("Q ", "")),
        ("my-model", {"query": "", "document": ""}, ("", "")),
        ("my-model", None, ("", "")),
        ("my-e5", {"query": "", "document": ""}, ("query: ", "passage: ")),
        ("multilingual-E5-base", None, ("query: ", "passage: ")),
        ("multilingual-e5-large-instruct", None, ("", "")),
        ("base5", None, ("", "")),
    ],
)
def test_prompts_are_the_models_own_else_those_of_its_family(
    tmp_path: Path, folder_name: str, prompts: object, expected: tuple[str, str]
) -> None:
    folder = tmp_path / folder_name
    folder.mkdir()
    if prompts is not None:
        write(folder, "config_sentence_transformers.json", {"prompts": prompts})
    made = describe(folder, tmp_path)
    assert (made.query_prompt, made.passage_prompt) == expected


def test_prompts_of_the_settings_win_and_may_be_empty(tiny_folder: Path, tmp_path: Path) -> None:
    made = describe(tiny_folder, tmp_path, query_prompt="", passage_prompt="text: ")
    assert (made.query_prompt, made.passage_prompt) == ("", "text: ")
    made = describe(tiny_folder, tmp_path, query_prompt="ask: ")
    assert (made.query_prompt, made.passage_prompt) == ("ask: ", "passage: ")


@pytest.mark.parametrize(
    ("configuration", "dimension"),
    [
        ({"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}, 384),
        ({"embedding_dimension": 384, "pooling_mode": "mean"}, 384),
        ({"embedding_dimension": 384, "pooling_mode": ["mean", "max"]}, 768),
        (
            {
                "word_embedding_dimension": 384,
                "pooling_mode_mean_tokens": True,
                "pooling_mode_max_tokens": True,
            },
            768,
        ),
        ({"pooling_mode_mean_tokens": True}, None),
    ],
)
def test_the_pooling_gives_the_dimension(
    tmp_path: Path, configuration: object, dimension: int | None
) -> None:
    pooled(tmp_path, configuration)
    assert describe(tmp_path, tmp_path).dimension == dimension


def test_a_dense_layer_after_the_pooling_gives_the_dimension(tmp_path: Path) -> None:
    pooled(tmp_path, {"word_embedding_dimension": 768})
    modules = json.loads((tmp_path / "modules.json").read_text())
    modules.append({"type": "sentence_transformers.models.Dense", "path": "2_Dense"})
    write(tmp_path, "modules.json", modules)
    write(tmp_path, "2_Dense/config.json", {"in_features": 768, "out_features": 128})
    assert describe(tmp_path, tmp_path).dimension == 128


@pytest.mark.parametrize(
    ("own", "tokenizer", "model", "window"),
    [
        ({"max_seq_length": 256}, {"model_max_length": 512}, {"max_position_embeddings": 512}, 256),
        ({}, {"model_max_length": 512}, {"max_position_embeddings": 514}, 512),
        ({}, {"model_max_length": 10**30}, {"max_position_embeddings": 512}, 512),
        ({"max_seq_length": None}, {}, {}, UNLIMITED_TOKENS),
    ],
)
def test_the_window_is_the_models_own_limit_else_the_smallest_known(
    tmp_path: Path, own: object, tokenizer: object, model: object, window: int
) -> None:
    write(tmp_path, "sentence_bert_config.json", own)
    write(tmp_path, "tokenizer_config.json", tokenizer)
    write(tmp_path, "config.json", model)
    assert describe(tmp_path, tmp_path).max_tokens == window


def test_a_configuration_that_is_no_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text("{", encoding="utf-8")
    with pytest.raises(EmbeddingFailed, match=r"configuration file .*modules\.json .* cannot be read"):
        describe(tmp_path, tmp_path)
