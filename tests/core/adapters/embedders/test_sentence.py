import dataclasses
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from core.adapters.embedders import sentence
from core.adapters.embedders.description import ModelDescription, describe_model
from core.adapters.embedders.sentence import SentenceTransformerEmbedder, longest_first
from core.errors import EmbeddingFailed, JobCancelled
from core.ports import Embedder
from core.settings import EmbeddingSettings


@pytest.fixture
def tiny(tiny_folder: Path, tmp_path: Path) -> ModelDescription:
    return describe_model(EmbeddingSettings(model=str(tiny_folder)), tmp_path)


def embedder_of(model: ModelDescription, *, batch_size: int = 2, threads: int = 0, device: str = "cpu"):
    return SentenceTransformerEmbedder(lambda: model, batch_size=batch_size, threads=threads, device=device)


def change_weights(model: ModelDescription, value: float) -> None:
    file = model.folder / "model.safetensors"
    weights = {name: np.array(tensor) for name, tensor in load_file(file).items()}
    weights["encoder.layer.0.output.LayerNorm.weight"][:] = value
    weights["encoder.layer.0.output.LayerNorm.bias"][:] = value
    save_file(weights, file, metadata={"format": "pt"})


@pytest.fixture
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_rows_belong_to_their_texts_whatever_the_order_of_the_batches(tiny: ModelDescription) -> None:
    embedder: Embedder = embedder_of(tiny)
    texts = ["a", "数据 a b", "a a a a a", "b", "ab:"]
    vectors = embedder.embed_passages(texts)
    assert (vectors.shape, vectors.dtype) == ((5, 32), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0] * 5, abs=1e-6)
    for text, vector in zip(texts, vectors, strict=True):
        assert embedder.embed_passages([text])[0] == pytest.approx(vector, abs=1e-5)
    assert embedder.embed_passages([]).shape == (0, 32)


def test_emb_01_a_query_and_a_passage_get_their_own_prompts(tiny: ModelDescription) -> None:
    with_prompts = embedder_of(tiny)
    bare = embedder_of(dataclasses.replace(tiny, query_prompt="", passage_prompt=""))
    (as_passage,) = with_prompts.embed_passages(["a 数据"])
    as_query = with_prompts.embed_query("a 数据")
    assert as_query == pytest.approx(bare.embed_passages(["query: a 数据"])[0], abs=1e-6)
    assert as_passage == pytest.approx(bare.embed_query("passage: a 数据"), abs=1e-6)
    assert float(as_query @ as_passage) < 0.999
    assert float(as_query @ bare.embed_query("a 数据")) < 0.999


def test_nothing_is_loaded_before_the_first_vector_and_only_once(
    tiny: ModelDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []
    really_load = sentence._load_model

    def load(description: ModelDescription, **options: object) -> object:
        loads.append(description.name)
        return really_load(description, **options)

    monkeypatch.setattr(sentence, "_load_model", load)
    embedder = embedder_of(tiny)
    assert (embedder.name, embedder.revision) == (tiny.name, tiny.revision)
    assert (embedder.dimension, embedder.query_prompt, embedder.passage_prompt) == (
        32,
        "query: ",
        "passage: ",
    )
    assert loads == []
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda _: embedder.embed_query("a"), range(8)))
    assert loads == [tiny.name]
    assert all(np.array_equal(vector, vectors[0]) for vector in vectors)


def test_progress_comes_after_each_batch_and_may_stop_the_work(tiny: ModelDescription) -> None:
    embedder = embedder_of(tiny)
    seen: list[tuple[int, int]] = []
    embedder.embed_passages(list("abaab"), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 5), (4, 5), (5, 5)]

    def stop(_done: int, _total: int) -> None:
        raise JobCancelled("Stopped.")

    with pytest.raises(JobCancelled):
        embedder.embed_passages(["a"], progress=stop)


def test_a_query_does_not_wait_for_a_batch_in_the_network(tiny: ModelDescription) -> None:
    embedder = embedder_of(tiny, batch_size=1)
    embedder.embed_query("a")
    inside, go_on = threading.Event(), threading.Event()

    def hold_the_passage(_module: object, arguments: tuple[dict[str, torch.Tensor]]) -> None:
        if arguments[0]["input_ids"].shape[1] > 8:
            inside.set()
            assert go_on.wait(30)

    embedder._load().register_forward_pre_hook(hold_the_passage)
    with ThreadPoolExecutor(2) as pool:
        passage = pool.submit(embedder.embed_passages, ["a a a a a a a a"])
        assert inside.wait(30)
        assert pool.submit(embedder.embed_query, "a").result(30).shape == (32,)
        assert not passage.done()
        go_on.set()
        assert passage.result(30).shape == (1, 32)


def test_emb_03_blank_text_is_refused_and_nothing_is_embedded(tiny: ModelDescription) -> None:
    embedder = embedder_of(tiny)
    with pytest.raises(EmbeddingFailed, match="The query 1 of 1 is blank"):
        embedder.embed_query(" \n")
    seen: list[int] = []
    with pytest.raises(EmbeddingFailed, match="The passage 3 of 3 is blank"):
        embedder.embed_passages(["a", "b", ""], progress=lambda done, _: seen.append(done))
    assert seen == []


@pytest.mark.parametrize("value", [float("nan"), 0.0])
def test_emb_03_vectors_that_are_not_finite_or_have_no_length_are_refused(
    tiny: ModelDescription, value: float
) -> None:
    change_weights(tiny, value)
    with pytest.raises(EmbeddingFailed, match="gave 2 of 2 vectors that are not finite or have no length"):
        embedder_of(tiny).embed_passages(["a", "b"])


def test_vectors_of_another_size_than_the_files_say_are_refused(tiny: ModelDescription) -> None:
    wrong = dataclasses.replace(tiny, dimension=64)
    with pytest.raises(EmbeddingFailed, match=r"shape \(1, 32\), its files say 64 dimensions"):
        embedder_of(wrong).embed_query("a")


def test_the_loaded_model_tells_the_dimension_when_its_files_do_not(tiny: ModelDescription) -> None:
    assert embedder_of(dataclasses.replace(tiny, dimension=None)).dimension == 32


@pytest.mark.parametrize("damage", ["missing", "cut", "no model"])
def test_a_model_that_cannot_be_loaded_is_named_with_its_folder(
    tiny: ModelDescription, damage: str
) -> None:
    weights = tiny.folder / "model.safetensors"
    if damage == "missing":
        weights.unlink()
    elif damage == "cut":
        weights.write_bytes(weights.read_bytes()[:500])
    else:
        (tiny.folder / "config.json").write_text('{"model_type": "nobody-knows-it"}', encoding="utf-8")
    with pytest.raises(
        EmbeddingFailed, match=r"from .*models/multilingual-e5-small-\w+ cannot be loaded on cpu"
    ):
        embedder_of(tiny).embed_query("a")


def test_a_device_that_is_not_there_is_named(tiny: ModelDescription) -> None:
    with pytest.raises(EmbeddingFailed, match="cannot be loaded on nonsense"):
        embedder_of(tiny, device="nonsense").embed_query("a")


@pytest.mark.usefixtures("threads_as_before")
def test_the_thread_count_of_the_settings_is_set_with_the_model(tiny: ModelDescription) -> None:
    torch.set_num_threads(2)
    embedder_of(tiny, threads=1).embed_query("a")
    assert torch.get_num_threads() == 1


@pytest.mark.usefixtures("threads_as_before")
@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (3, 1), (8, 4), (None, 1)])
def test_without_a_thread_count_half_of_the_cores_stay_free(
    tiny: ModelDescription, monkeypatch: pytest.MonkeyPatch, cores: int | None, threads: int
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    embedder_of(tiny, threads=0).embed_query("a")
    assert torch.get_num_threads() == threads


def test_text_is_ordered_by_its_bytes_longest_first_and_ties_by_place() -> None:
    assert longest_first(["ab", "数", "cd", "abcd", ""]) == [3, 1, 0, 2, 4]
