"""Material for comparing Milvus with the reference: chunks, questions, and what "the same" means."""

import itertools
import random
from collections.abc import Sequence

import pytest

from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.model.documents import Chunk
from core.model.search import Ranker, Route, RouteList, SearchRequest
from core.ports import KnowledgeSearchPort, Vector
from tests.builders import a_chunk
from tests.core.adapters.store_material import a_fingerprint, vectors_of

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


def filled_memory(chunks: Sequence[Chunk], metric: str) -> MemorySearcher:
    memory = MemoryStore("kb")
    MemoryBuilds(memory).create("kb_1", a_fingerprint(metric=metric), expected_rows=len(chunks))
    MemoryWriter(memory).upsert("kb_1", chunks, vectors_of(chunks))
    return MemorySearcher(memory, build="kb_1")


def score(listed: RouteList, position: int) -> float:
    own = getattr(listed.hits[position], listed.route.value)
    return float(own.score)


def assert_same(expected: RouteList, found: RouteList) -> None:
    """Equal states, scores and lengths; the same hits at the same ranks, up to hits of equal scores."""
    assert (found.route, found.state, found.limit) == (expected.route, expected.state, expected.limit)
    assert len({hit.id for hit in found.hits}) == len(found.hits) == len(expected.hits)
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


def ties_decide(request: SearchRequest, *routes: RouteList) -> bool:
    """Tell whether equal scores on a route decide who is in the fused list, or at which rank.

    A reciprocal rank goes into the fused score whoever has it; a weighted score is the same for
    all that tie, so there only the limit of the route can matter.
    """
    for route in routes:
        scores = [score(route, position) for position in range(len(route.hits))]
        tied = any(a - b < TOLERANCE[route.route] for a, b in itertools.pairwise(scores))
        if tied and (request.ranker is Ranker.RRF or len(scores) == request.retrieve_k):
            return True
    return False


def fused_alike(
    reference: MemorySearcher, milvus: KnowledgeSearchPort, request: SearchRequest, vector: Vector
) -> bool:
    """Compare fused lists; False where a tie on a route decides who is in them or at which rank."""
    expected, found = reference.search_hybrid(request, vector), milvus.search_hybrid(request, vector)
    if ties_decide(request, reference.search_dense(request, vector), reference.search_sparse(request)):
        assert len(found.hits) == len(expected.hits)
        return False
    assert_same(expected, found)
    if request.ranker is Ranker.RRF:
        assert [hit.id for hit in found.hits] == [hit.id for hit in expected.hits]
    return True
