import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from core.adapters.embedders.conversion import build_tokenizer, write_model_folder
from core.adapters.embedders.quantized import read_quantized_model
from tests.core.adapters.embedders.quantized_material import model_file

MODEL = read_quantized_model(model_file(), file=Path("tiny.bin"))


def test_weights_get_the_names_and_shapes_of_bert(tmp_path: Path) -> None:
    write_model_folder(MODEL, tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    shapes = {name: tensor.shape for name, tensor in weights.items()}
    layer = "encoder.layer.0."
    assert shapes == {
        "embeddings.word_embeddings.weight": (16, 32),
        "embeddings.position_embeddings.weight": (16, 32),
        "embeddings.token_type_embeddings.weight": (2, 32),
        "embeddings.LayerNorm.weight": (32,),
        "embeddings.LayerNorm.bias": (32,),
        **{f"{layer}attention.self.{part}.weight": (32, 32) for part in ("query", "key", "value")},
        **{f"{layer}attention.self.{part}.bias": (32,) for part in ("query", "key", "value")},
        f"{layer}attention.output.dense.weight": (32, 32),
        f"{layer}attention.output.dense.bias": (32,),
        f"{layer}attention.output.LayerNorm.weight": (32,),
        f"{layer}attention.output.LayerNorm.bias": (32,),
        f"{layer}intermediate.dense.weight": (64, 32),
        f"{layer}intermediate.dense.bias": (64,),
        f"{layer}output.dense.weight": (32, 64),
        f"{layer}output.dense.bias": (32,),
        f"{layer}output.LayerNorm.weight": (32,),
        f"{layer}output.LayerNorm.bias": (32,),
        "pooler.dense.weight": (32, 32),
        "pooler.dense.bias": (32,),
    }
    assert np.array_equal(weights[f"{layer}attention.self.key.weight"].ravel(), MODEL.tensors["l0.k.w"])
    assert np.array_equal(weights[f"{layer}output.dense.weight"].ravel(), MODEL.tensors["l0.fo.w"])


def test_the_folder_says_mean_pooling_then_unit_length_and_the_two_prompts(tmp_path: Path) -> None:
    write_model_folder(MODEL, tmp_path)
    modules = json.loads((tmp_path / "modules.json").read_text())
    assert [module["type"].rsplit(".", 1)[-1] for module in modules] == [
        "Transformer",
        "Pooling",
        "Normalize",
    ]
    pooling = json.loads((tmp_path / "1_Pooling" / "config.json").read_text())
    assert pooling == {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}
    own = json.loads((tmp_path / "config_sentence_transformers.json").read_text())
    assert own["prompts"] == {"query": "query: ", "passage": "passage: "}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a", ["<s>", "▁a", "</s>"]),
        ("数据", ["<s>", "▁", "数据", "</s>"]),
        ("据数", ["<s>", "▁", "据", "数", "</s>"]),
        ("  a \t a  ", ["<s>", "▁a", "▁a", "</s>"]),
        ("a\u3000a", ["<s>", "▁a", "▁a", "</s>"]),
        ("a\u200ba", ["<s>", "▁a", "▁a", "</s>"]),
        ("a\x01b", ["<s>", "▁a", "b", "</s>"]),
        ("ａ：", ["<s>", "▁a", ":", "</s>"]),
        ("①", ["<s>", "▁", "1", "</s>"]),
        ("", ["<s>", "</s>"]),
    ],
)
def test_text_is_normalised_and_cut_into_the_likeliest_pieces(text: str, tokens: list[str]) -> None:
    assert build_tokenizer(MODEL.vocabulary).encode(text).tokens == tokens


def test_a_piece_has_its_place_in_the_file_as_its_id() -> None:
    tokenizer = build_tokenizer(MODEL.vocabulary)
    assert tokenizer.encode("a数据z").ids == [0, 7, 13, 3, 2]
    assert tokenizer.get_vocab_size() == 16
