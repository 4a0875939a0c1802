import math
from collections import Counter

import pytest

from core.adapters.analyzer import analyze
from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.adapters.scoring import bm25, corpus_statistics, normalised
from tests.core.adapters.search_contract import SearchContract
from tests.core.adapters.store_contract import BuildContract, WriteContract
from tests.core.adapters.store_material import StorePorts, ask, texts


@pytest.fixture
def store() -> StorePorts:
    memory = MemoryStore("kb")
    return StorePorts(
        "kb",
        MemoryBuilds(memory),
        MemoryWriter(memory),
        lambda expected=None, build=None: MemorySearcher(memory, expected, build),
    )


class TestMemorySearcher(SearchContract):
    pass


class TestMemoryWriter(WriteContract):
    pass


class TestMemoryBuilds(BuildContract):
    pass


def test_bm25_is_the_sum_worked_out_by_hand(store: StorePorts) -> None:
    # Three rows of 3, 2 and 1 terms: mean length 2. "disk" stands in two of them, "full" in one.
    searcher = store.filled("1", texts("disk disk full", "disk slow", "cpu"))
    idf_disk = math.log((3 - 2 + 0.5) / (2 + 0.5) + 1)
    idf_full = math.log((3 - 1 + 0.5) / (1 + 0.5) + 1)
    norm_first = 1.2 * (0.25 + 0.75 * 3 / 2)
    norm_second = 1.2 * (0.25 + 0.75 * 2 / 2)
    first = idf_disk * 2 * 2.2 / (2 + norm_first) + idf_full * 1 * 2.2 / (1 + norm_first)
    second = idf_disk * 1 * 2.2 / (1 + norm_second)
    assert (round(first, 4), round(second, 4)) == (1.3809, 0.47)
    found = searcher.search_sparse(ask("disk full"))
    assert [hit.sparse.score for hit in found.hits if hit.sparse] == pytest.approx(
        [first, second], abs=1e-6
    )


def test_a_term_asked_twice_counts_twice() -> None:
    rows = [Counter({"disk": 1}), Counter({"cpu": 1})]
    statistics = corpus_statistics(rows)
    once, twice = (bm25(Counter({"disk": n}), rows[0], statistics) for n in (1, 2))
    assert twice == pytest.approx(2 * once)


def test_a_corpus_without_terms_scores_nothing() -> None:
    statistics = corpus_statistics([Counter()])
    assert bm25(Counter({"disk": 1}), Counter(), statistics) == 0.0


@pytest.mark.parametrize(
    ("metric", "value", "expected"),
    [("COSINE", 0.5, 0.75), ("COSINE", -1.0, 0.0), ("IP", 1.0, 0.75), ("L2", 1.0, 0.5), ("L2", 0.0, 1.0),
     ("BM25", 1.0, 0.5), ("BM25", 0.0, 0.0)],
)  # fmt: skip
def test_the_weighted_ranker_brings_each_metric_into_zero_to_one(
    metric: str, value: float, expected: float
) -> None:
    assert normalised(value, metric) == pytest.approx(expected)


def test_text_is_cut_into_words_and_the_words_inside_them() -> None:
    assert analyze("数据库连接池") == ("数据", "据库", "数据库", "连接", "连接池")
    assert analyze("KubePodCrashLooping E-1042, db_pool.max") == (
        "kubepodcrashlooping", "e", "1042", "db", "pool", "max",
    )  # fmt: skip
    assert analyze(" ，。!") == ()
