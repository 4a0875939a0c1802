import numpy as np
import pytest

from core.adapters.embedders.hashing import HashingEmbedder, WordCounter
from core.errors import EmbeddingFailed
from core.ports import Embedder, TokenCounter


def test_it_is_an_embedder_with_unit_vectors_of_64_dimensions() -> None:
    embedder: Embedder = HashingEmbedder()
    vectors = embedder.embed_passages(["database timeout", "数据库连接超时", ".", "a"])
    assert (vectors.shape, vectors.dtype) == ((4, 64), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0] * 4, abs=1e-6)
    assert (embedder.name, embedder.dimension) == ("hashing", 64)
    assert embedder.embed_passages([]).shape == (0, 64)


def test_the_same_text_gives_the_same_vector_as_query_and_as_passage() -> None:
    embedder = HashingEmbedder()
    assert np.array_equal(embedder.embed_query("Timeout  ＡＢ"), embedder.embed_passages(["timeout ab"])[0])


def test_a_vector_is_the_same_on_every_machine() -> None:
    # "a" has one feature, "word a", whose CRC-32 is 0x9D5E02C1: place 0xC1 % 64 = 1, top bit set: plus.
    vector = HashingEmbedder().embed_query("a")
    assert np.flatnonzero(vector).tolist() == [1]
    assert vector[1] == 1.0


def test_shared_words_are_closer_than_none() -> None:
    embedder = HashingEmbedder()
    query = embedder.embed_query("数据库连接超时怎么办")
    near, far = embedder.embed_passages(["数据库连接超时的处理步骤", "退款七天内到账"])
    assert query @ near > 0.4 > query @ far


def test_blank_text_is_refused_and_progress_counts_batches() -> None:
    embedder = HashingEmbedder(batch_size=2)
    with pytest.raises(EmbeddingFailed, match="query 1 of 1 is blank"):
        embedder.embed_query(" ")
    with pytest.raises(EmbeddingFailed, match="passage 2 of 2 is blank"):
        embedder.embed_passages(["a", ""])
    seen: list[tuple[int, int]] = []
    embedder.embed_passages(["a", "b", "c"], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("连接 timeout", ["连", "接", "timeout"]),
        ("ERR_42: 超时！", ["ERR_42", ":", "超", "时", "！"]),
        ("カナ한글𠮷", ["カ", "ナ", "한", "글", "𠮷"]),
        ("x" * 45, ["x" * 20, "x" * 20, "x" * 5]),
        ("🚀 a", ["🚀", "a"]),
    ],
)
def test_characters_words_and_signs_are_tokens(text: str, tokens: list[str]) -> None:
    counter: TokenCounter = WordCounter()
    assert [text[start:end] for start, end in counter.offsets(text)] == tokens
    assert counter.count([text]) == [len(tokens)]


def test_window_and_overhead_are_as_given() -> None:
    counter = WordCounter(max_tokens=64, overhead_tokens=2)
    assert (counter.max_tokens, counter.overhead_tokens) == (64, 2)
    assert (WordCounter().max_tokens, WordCounter().overhead_tokens) == (512, 4)
