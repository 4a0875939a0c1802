"""The reference and Milvus give the same answers to the same questions over the same chunks."""

import itertools
import random
from collections.abc import Callable

import pytest

from core.adapters.analyzer import analyze
from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.adapters.milvus.connection import MilvusConnection
from core.model.documents import Chunk
from core.model.search import Ranker, Route, RouteList, SearchRequest
from tests.builders import a_chunk
from tests.core.adapters.conftest import BACK_ENDS
from tests.core.adapters.store_material import StorePorts, a_fingerprint, ask, vector_of, vectors_of

pytestmark = pytest.mark.milvus

TOLERANCE = {Route.DENSE: 1e-5, Route.SPARSE: 1e-3, Route.FUSED: 1e-5}

SUBJECTS = ("数据库连接池", "mysql replica", "redis 缓存", "Kubernetes Pod", "消息队列 kafka", "磁盘空间")
FAULTS = ("耗尽 E-1042", "timeout after 30s", "频繁重启", "is firing", "延迟升高 p99", "OOMKilled")
STEPS = (
    "检查 max_connections 并重启服务", "look at the slow query log", "扩容节点，然后观察告警",
    "run kubectl describe pod", "清理日志文件 /var/log", "ask the owner of db_pool.max_size", "-- 见上 --",
)  # fmt: skip
QUERIES = (
    "数据库", "连接池耗尽怎么办", "mysql timeout", "E-1042", "kafka 延迟", "OOMKilled pod",
    "重启 重启 服务", "disk", "db_pool.max_size", "p99", "，。", "xyzzynotfound",
    "how to look at the slow query log of mysql",
)  # fmt: skip


def corpus() -> list[Chunk]:
    draw = random.Random(20260131)  # noqa: S311 - test material
    chunks = []
    for number in range(60):
        text = " ".join(
            (draw.choice(SUBJECTS), draw.choice(FAULTS), *draw.sample(STEPS, draw.randint(1, 4)))
        )
        chunks.append(
            a_chunk(
                f"{text} #{number}",
                doc_id=f"kb/{number // 3}.md",
                chunk_index=number % 3,
                title=draw.choice(("", "手册", "Runbook")),
                breadcrumb=draw.choice(("", "一 > 二")),
                category=draw.choice(("db", "运维")),
                kb_scope=draw.choice(("x", "y")),
            )
        )
    return chunks


def requests() -> list[SearchRequest]:
    draw = random.Random(7)  # noqa: S311 - test material
    return [
        ask(
            query,
            retrieve_k=draw.choice((3, 10, 60, 200)),
            ranker=ranker,
            rrf_k=draw.choice((1, 60)),
            weight_dense=draw.choice((0.3, 1.0)),
            weight_sparse=draw.choice((0.0, 0.8)),
            category_filter=draw.choice((None, None, "db", "运维")),
            kb_scope=draw.choice((None, None, "x")),
        )
        for query in QUERIES
        for ranker in Ranker
        for _ in range(2)
    ]


def filled_memory(chunks: list[Chunk], metric: str) -> MemorySearcher:
    memory = MemoryStore("kb")
    MemoryBuilds(memory).create("kb_1", a_fingerprint(metric=metric), expected_rows=60)
    MemoryWriter(memory).upsert("kb_1", chunks, vectors_of(chunks))
    return MemorySearcher(memory, build="kb_1")


def score(listed: RouteList, position: int) -> float:
    own = getattr(listed.hits[position], listed.route.value)
    return float(own.score)


def assert_same(expected: RouteList, found: RouteList) -> None:
    """Equal states, scores and lengths; the same hits at the same ranks, up to hits of equal scores."""
    assert (found.route, found.state, found.limit) == (expected.route, expected.state, expected.limit)
    assert len(found.hits) == len(expected.hits)
    tolerance = TOLERANCE[expected.route]
    for position in range(len(expected.hits)):
        assert score(found, position) == pytest.approx(score(expected, position), abs=tolerance)
    wanted = {hit.id: index for index, hit in enumerate(expected.hits)}
    last = score(expected, len(expected.hits) - 1) if expected.hits else 0.0
    for position, hit in enumerate(found.hits):
        if hit.id in wanted:
            tied = score(expected, wanted[hit.id])
            assert tied == pytest.approx(score(expected, position), abs=2 * tolerance)
        else:
            assert score(found, position) == pytest.approx(last, abs=2 * tolerance)


@pytest.mark.parametrize("metric", ["COSINE", "IP", "L2"])
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_milvus_answers_as_the_reference_does(
    back_end: str,
    metric: str,
    connections: Callable[[str], MilvusConnection],
    ports_of: Callable[[MilvusConnection], StorePorts],
) -> None:
    chunks = corpus()
    reference = filled_memory(chunks, metric)
    milvus = ports_of(connections(back_end)).filled("1", chunks, fingerprint=a_fingerprint(metric=metric))
    states, compared = set(), 0
    for request in requests():
        vector = vector_of(request.query)
        sparse = reference.search_sparse(request)
        states.add(sparse.state)
        assert_same(reference.search_dense(request, vector), milvus.search_dense(request, vector))
        assert_same(sparse, milvus.search_sparse(request))
        compared += fused_alike(reference, milvus, request)
        where = {"category": request.category_filter, "kb_scope": request.kb_scope}
        assert reference.count(**where) == milvus.count(**where)
    assert len(states) == 3
    assert compared >= 20, compared


def fused_alike(reference: MemorySearcher, milvus, request: SearchRequest) -> bool:
    """Compare fused lists; False where a tie on a route decides who is in them or at which rank."""
    vector = vector_of(request.query)
    sparse = reference.search_sparse(request)
    # Equal BM25 scores may take either rank, and the ranks go into the fused score.
    scores = [score(sparse, position) for position in range(len(sparse.hits))]
    tied = any(a - b < TOLERANCE[Route.SPARSE] for a, b in itertools.pairwise(scores))
    expected, found = reference.search_hybrid(request, vector), milvus.search_hybrid(request, vector)
    if tied and (request.ranker is Ranker.RRF or len(scores) == request.retrieve_k):
        assert len(found.hits) == len(expected.hits)
        return False
    assert_same(expected, found)
    if request.ranker is Ranker.RRF:
        assert [hit.id for hit in found.hits] == [hit.id for hit in expected.hits]
    return True


def test_the_analyzer_cuts_as_milvus_lite_does() -> None:
    from milvus_lite.analyzer import create_analyzer

    from core.adapters.analyzer import ANALYZER_PARAMETERS

    theirs = create_analyzer(dict(ANALYZER_PARAMETERS))
    for text in [
        *QUERIES,
        *(chunk.search_text for chunk in corpus()),
        "a--b ... C++ 99.9% café Ünïcode 你好👋",
    ]:
        assert list(analyze(text)) == theirs.tokenize(text)
