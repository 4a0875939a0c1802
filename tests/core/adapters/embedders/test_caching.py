import sqlite3
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from core.adapters.embedders.caching import CachingEmbedder
from core.adapters.embedders.hashing import HashingEmbedder
from core.errors import EmbeddingFailed, JobCancelled
from core.ports import Embedder, Progress, Vector, Vectors


class CountingEmbedder(HashingEmbedder):
    """Notes what it was asked; name, revision and prompt can be chosen."""

    def __init__(self, *, name: str = "model", revision: str = "1", prompt: str = "") -> None:
        super().__init__()
        self._own = (name, revision, prompt)
        self.batches: list[list[str]] = []
        self.queries: list[str] = []
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._own[0]

    @property
    def revision(self) -> str:
        return self._own[1]

    @property
    def passage_prompt(self) -> str:
        return self._own[2]

    def embed_query(self, text: str) -> Vector:
        self.queries.append(text)
        return super().embed_query(text)

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        with self._lock:
            self.batches.append(list(texts))
        return super().embed_passages(texts, progress=progress)


@pytest.fixture
def model() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "vectors.db"


@pytest.fixture
def cached(model: CountingEmbedder, file: Path) -> Iterator[CachingEmbedder]:
    embedder = CachingEmbedder(model, file, batch_size=2)
    yield embedder
    embedder.close()


def embed_with(model: CountingEmbedder, file: Path, texts: Sequence[str]) -> Vectors:
    embedder = CachingEmbedder(model, file)
    try:
        return embedder.embed_passages(texts)
    finally:
        embedder.close()


def test_nothing_is_opened_before_the_first_use(model: CountingEmbedder, file: Path) -> None:
    embedder: Embedder = CachingEmbedder(model, file)
    assert (embedder.name, embedder.revision, embedder.dimension) == ("model", "1", 64)
    assert not file.exists()


def test_a_passage_is_embedded_once_even_after_a_restart(model: CountingEmbedder, file: Path) -> None:
    first = embed_with(model, file, ["one", "two"])
    again = CountingEmbedder()
    second = embed_with(again, file, ["two", "three", "one"])
    assert again.batches == [["three"]]
    assert np.array_equal(second[[2, 0]], first)
    assert np.array_equal(second, HashingEmbedder().embed_passages(["two", "three", "one"]))
    assert second.dtype == np.float32


def test_repeats_in_one_call_are_embedded_once(cached: CachingEmbedder, model: CountingEmbedder) -> None:
    texts = ["a", "bb", "a", "a", "bb"]
    assert np.array_equal(cached.embed_passages(texts), HashingEmbedder().embed_passages(texts))
    assert model.batches == [["bb", "a"]]


def test_the_longest_texts_go_first_in_batches(cached: CachingEmbedder, model: CountingEmbedder) -> None:
    texts = ["a", "dddd", "bb", "ccc", "数据"]  # 数据 takes 6 bytes
    vectors = cached.embed_passages(texts)
    assert model.batches == [["数据", "dddd"], ["ccc", "bb"], ["a"]]
    assert np.array_equal(vectors, HashingEmbedder().embed_passages(texts))


def test_progress_counts_texts_and_starts_with_those_that_are_known(cached: CachingEmbedder) -> None:
    seen: list[tuple[int, int]] = []
    cached.embed_passages(["a", "bb"])
    texts = ["a", "a", "bb", "ccc", "ccc", "dddd", "eeeee"]
    cached.embed_passages(texts, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(3, 7), (5, 7), (7, 7)]  # known a a bb; then eeeee dddd; then ccc ccc


def test_work_that_is_stopped_keeps_the_batches_that_were_done(
    cached: CachingEmbedder, model: CountingEmbedder
) -> None:
    def stop(done: int, _total: int) -> None:
        if done >= 2:
            raise JobCancelled("Stopped.")

    with pytest.raises(JobCancelled):
        cached.embed_passages(["a", "bb", "ccc"], progress=stop)
    cached.embed_passages(["a", "bb", "ccc"])
    assert model.batches == [["ccc", "bb"], ["a"]]


@pytest.mark.parametrize("other", [{"name": "other"}, {"revision": "2"}, {"prompt": "passage: "}])
def test_another_model_revision_or_prompt_never_shares_vectors(
    model: CountingEmbedder, file: Path, other: dict[str, str]
) -> None:
    embed_with(model, file, ["text"])
    changed = CountingEmbedder(**other)
    embed_with(changed, file, ["text"])
    assert changed.batches == [["text"]]
    back = CountingEmbedder()
    embed_with(back, file, ["text"])
    assert back.batches == []


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"\x00" * 4 * 63,
        b"\x00" * 4 * 65,
        b"\x00" * 4 * 64,
        np.ones(1, dtype="<f4").tobytes(),
        np.full(64, np.nan, dtype="<f4").tobytes(),
        "text in place of bytes",
    ],
    ids=["empty", "short", "long", "zero", "one number of unit length", "nan", "text"],
)
def test_a_damaged_row_is_computed_again_and_repaired(
    model: CountingEmbedder, file: Path, damaged: bytes | str
) -> None:
    whole = embed_with(model, file, ["text"])
    connection = sqlite3.connect(file)
    with connection:
        assert connection.execute("UPDATE vectors SET vector = ?", (damaged,)).rowcount == 1
    connection.close()
    assert np.array_equal(embed_with(model, file, ["text"]), whole)
    assert np.array_equal(embed_with(model, file, ["text"]), whole)
    assert model.batches == [["text"], ["text"]]


def test_more_texts_than_one_statement_holds_are_read_back(model: CountingEmbedder, file: Path) -> None:
    texts = [f"text {number}" for number in range(1201)]
    first = embed_with(model, file, texts)
    model.batches.clear()
    assert np.array_equal(embed_with(model, file, texts), first)
    assert model.batches == []


def test_no_passages_give_no_rows(cached: CachingEmbedder) -> None:
    assert cached.embed_passages([]).shape == (0, 64)


def test_a_blank_passage_is_refused_before_anything_is_embedded(
    cached: CachingEmbedder, model: CountingEmbedder
) -> None:
    with pytest.raises(EmbeddingFailed, match="passage 2 of 2 is blank"):
        cached.embed_passages(["a", "\u200b"])
    with pytest.raises(EmbeddingFailed, match="half of a character"):
        cached.embed_passages(["a", "b\ud83d"])
    assert model.batches == []


def test_the_latest_queries_are_remembered(model: CountingEmbedder, file: Path) -> None:
    embedder = CachingEmbedder(model, file, query_limit=2)
    for text in ("a", "b", "a", "c", "a", "b"):  # c pushes b out, for a was used later
        assert np.array_equal(embedder.embed_query(text), HashingEmbedder().embed_query(text))
    assert model.queries == ["a", "b", "c", "b"]
    assert not file.exists()


def test_a_remembered_query_cannot_be_changed_by_who_got_it(cached: CachingEmbedder) -> None:
    with pytest.raises(ValueError, match="read-only"):
        cached.embed_query("a")[0] = 5.0


def test_a_file_that_is_no_cache_is_an_error_that_says_it_may_go(
    model: CountingEmbedder, file: Path
) -> None:
    file.parent.mkdir()
    file.write_bytes(b"this is not a database, but it is longer than a header" * 20)
    with pytest.raises(
        EmbeddingFailed, match=r"vectors\.db cannot be used: .*not a database.*may be deleted"
    ):
        embed_with(model, file, ["a"])


def test_several_threads_and_two_connections_share_one_file(file: Path) -> None:
    embedders = [CachingEmbedder(CountingEmbedder(), file, batch_size=3) for _ in range(2)]
    texts = [f"text {number}" for number in range(40)]
    expected = HashingEmbedder().embed_passages(texts)

    def work(number: int) -> bool:
        chosen = np.roll(np.arange(40), number)
        vectors = embedders[number % 2].embed_passages([texts[row] for row in chosen])
        return np.array_equal(vectors, expected[chosen])

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(12))) == [True] * 12
    for embedder in embedders:
        embedder.close()


def test_a_closed_cache_opens_again_by_itself(cached: CachingEmbedder, model: CountingEmbedder) -> None:
    cached.embed_passages(["a"])
    cached.close()
    cached.close()
    cached.embed_passages(["a"])
    assert model.batches == [["a"]]
