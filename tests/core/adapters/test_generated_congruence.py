"""The reference and Milvus Lite give the same answers to generated questions over one build.

Many rows have the same text, so that all three lists are full of ties. Where ties on a route decide
the fused list, the two may differ; what Milvus fused is then compared with what its own two routes
(which are those of the reference, up to ties) add up to.
"""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.adapters.milvus.connection import MilvusConnection
from core.adapters.scoring import dense_distance, normalised
from core.model.identity import evidence_key
from core.model.search import AuditVerdict, Ranker, Route, RouteList, SearchMode, SearchRequest
from core.ports import KnowledgeSearchPort, Vector
from core.retrieval.searching import search
from tests.builders import a_chunk
from tests.core.adapters.conftest import ports_on
from tests.core.adapters.congruence_material import (
    FAULTS,
    QUERIES,
    STEPS,
    SUBJECTS,
    assert_same,
    corpus,
    filled_memory,
    score,
    ties_decide,
)
from tests.core.adapters.store_material import HOSTILE, a_fingerprint, vector_of

pytestmark = pytest.mark.milvus

METRICS = ("COSINE", "IP", "L2")
REPEATABLE = settings(deadline=None, derandomize=True, database=None, max_examples=150)

REPEATED = (
    "mysql timeout",
    "数据库连接池耗尽",
    "disk full 磁盘空间",
    "how do I",
    "，。！",
    "👋 café",
    "E-1042",
)


def chunks_with_ties():
    """The corpus, seven texts four times each (two of them without terms), and a row per hostile value."""
    again = [
        a_chunk(
            text,
            doc_id=f"kb/again-{copy}.md",
            chunk_index=index,
            title="",
            category=("db", "运维")[copy % 2],
            kb_scope=("x", "x", "y", "y")[copy],
        )
        for copy in range(4)
        for index, text in enumerate(REPEATED)
    ]
    hostile = [
        a_chunk(f"mysql {value}", doc_id=f"kb/hostile-{number}", category=value, kb_scope=value)
        for number, value in enumerate(HOSTILE)
    ]
    return [*corpus(), *again, *hostile]


CHUNKS = chunks_with_ties()

WORDS = st.sampled_from(
    [*SUBJECTS, *FAULTS, *STEPS, *REPEATED, "how", "的", "怎么办", "the", "MySQL", "库", "pod"]
)
KNOWN = (*QUERIES, *REPEATED, *HOSTILE, "how do I", "怎么办", "的 了", "what is the", "。")
TEXTS = st.one_of(
    st.lists(WORDS, min_size=1, max_size=5).map(" ".join),
    st.lists(WORDS, min_size=2, max_size=8).map("".join),
    st.sampled_from(KNOWN),
    st.lists(st.sampled_from(("how", "的", "怎么办", "the", "。", "?", "👋")), min_size=1).map(" ".join),
    st.lists(st.sampled_from("数据库连接池磁盘空间 mysqlkfE-1042_.，"), min_size=1, max_size=12).map(
        "".join
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
).filter(str.strip)
# Mostly no filter, and mostly one that holds rows: two rare values together empty nearly every list.
RARE = ("db ", "DB", "", "none such", "z", *HOSTILE)
CATEGORIES = st.sampled_from([None] * 40 + ["db", "运维"] * 12 + [*RARE])
SCOPES = st.sampled_from([None] * 40 + ["x", "y"] * 12 + [*RARE])
WEIGHTS = st.one_of(
    st.sampled_from([(1.0, 0.0), (0.0, 1.0), (1.0, 0.8), (0.0, 0.0)]),
    st.tuples(st.floats(0, 1, width=16), st.floats(0, 1, width=16)),
)


@st.composite
def requests(draw):
    weight_dense, weight_sparse = draw(WEIGHTS)
    return SearchRequest(
        draw(TEXTS),
        mode=draw(st.sampled_from([SearchMode.HYBRID] * 7 + [SearchMode.DENSE])),
        retrieve_k=draw(st.one_of(st.integers(1, 12), st.sampled_from([20, 60, len(CHUNKS), 1000]))),
        ranker=draw(st.sampled_from(Ranker)),
        rrf_k=draw(st.sampled_from([1, 2, 10, 60, 1000])),
        weight_dense=weight_dense,
        weight_sparse=weight_sparse,
        category_filter=draw(CATEGORIES),
        kb_scope=draw(SCOPES),
    )


@st.composite
def vectors(draw):
    """Of any text, of a row, or the opposite of a row's."""
    text = draw(st.one_of(st.sampled_from([chunk.content for chunk in CHUNKS]), st.text(max_size=3)))
    return vector_of(text) * np.float32(draw(st.sampled_from([1, -1])))


@dataclass(frozen=True, slots=True)
class Pair:
    reference: KnowledgeSearchPort
    milvus: KnowledgeSearchPort
    metric: str


@pytest.fixture(scope="module", params=METRICS)
def pair(request: pytest.FixtureRequest, file_connection: MilvusConnection) -> Iterator[Pair]:
    metric = request.param
    ports = ports_on(file_connection, f"generated_{metric.lower()}")
    milvus = ports.filled("1", CHUNKS, fingerprint=a_fingerprint(metric=metric))
    return Pair(filled_memory(CHUNKS, metric), milvus, metric)


def shares(route: RouteList, request: SearchRequest, metric: str) -> dict[str, float]:
    """What a route adds to the fused score of each of its hits, by primary key."""
    if request.ranker is Ranker.RRF:
        return {hit.id: 1 / (request.rrf_k + rank) for rank, hit in enumerate(route.hits, start=1)}
    scores = {hit.id: score(route, position) for position, hit in enumerate(route.hits)}
    if route.route is Route.SPARSE:
        return {key: request.weight_sparse * normalised(bm25, "BM25") for key, bm25 in scores.items()}
    return {
        key: request.weight_dense * normalised(dense_distance(cosine, metric), metric)
        for key, cosine in scores.items()
    }


def assert_fused_from(
    dense: RouteList, sparse: RouteList, fused: RouteList, request: SearchRequest, metric: str
) -> None:
    """The fused list is the best of what the two routes add up to, equal scores by evidence key."""
    totals: Counter[str] = Counter()
    for route in (dense, sparse):
        totals.update(shares(route, request, metric))
    best = sorted(totals.values(), reverse=True)[: request.retrieve_k]
    # Reciprocal ranks differ from the formula by the rounding of a 32-bit float alone.
    close = {"abs": 1e-6} if request.ranker is Ranker.WEIGHTED else {"rel": 1.2e-7, "abs": 0.0}
    found = [score(fused, position) for position in range(len(fused.hits))]
    assert found == pytest.approx(best, **close)
    assert [totals[hit.id] for hit in fused.hits] == pytest.approx(found, **close)
    for (first, above), (second, below) in itertools.pairwise(zip(fused.hits, found, strict=True)):
        assert above > below or evidence_key(first) < evidence_key(second)


def compare(pair: Pair, request: SearchRequest, vector: Vector) -> tuple[str, ...]:
    """Compare all lists of one request; return what kind of answer it was."""
    expected, found = (search(port, request, vector, trace=True) for port in (pair.reference, pair.milvus))
    assert_same(expected.dense, found.dense)
    assert_same(expected.sparse, found.sparse)
    assert found.audit.verdict is not AuditVerdict.DIFFERENT, found.audit.first_difference
    where = {"category": request.category_filter, "kb_scope": request.kb_scope}
    assert pair.reference.count(**where) == pair.milvus.count(**where)
    if request.mode is SearchMode.DENSE:
        return ("dense mode", found.dense.state.value)
    assert_fused_from(found.dense, found.sparse, found.fused, request, pair.metric)
    tied = ties_decide(request, expected.dense, expected.sparse)
    if not tied:
        assert_same(expected.fused, found.fused)
    ties = "ties" if tied else "no ties"
    return (request.ranker.value, found.dense.state.value, found.sparse.state.value, ties)


def test_milvus_lite_answers_generated_requests_as_the_reference_does(pair: Pair) -> None:
    kinds: Counter[tuple[str, ...]] = Counter()

    @REPEATABLE
    @given(request=requests(), vector=vectors())
    def check(request: SearchRequest, vector: Vector) -> None:
        kinds[compare(pair, request, vector)] += 1

    check()
    for ranker in Ranker:
        assert kinds[ranker.value, "ok", "ok", "no ties"] >= 15, kinds
        assert kinds[ranker.value, "ok", "ok", "ties"] >= 2, kinds
        assert kinds[ranker.value, "ok", "empty", "no ties"] >= 2, kinds
        assert kinds[ranker.value, "ok", "not_run", "no ties"] >= 2, kinds
        assert kinds[ranker.value, "empty", "empty", "no ties"] >= 1, kinds


def test_weights_one_and_zero_give_the_dense_order_of_generated_requests(pair: Pair) -> None:
    """mil-33: the order of the dense route, up to rows of equal cosine."""

    @settings(REPEATABLE, max_examples=50)
    @given(request=requests(), vector=vectors())
    def check(request: SearchRequest, vector: Vector) -> None:
        request = replace(request, ranker=Ranker.WEIGHTED, weight_dense=1.0, weight_sparse=0.0)
        for port in (pair.reference, pair.milvus):
            dense, fused = port.search_dense(request, vector), port.search_hybrid(request, vector)
            cosines = {hit.id: score(dense, place) for place, hit in enumerate(dense.hits)}
            assert len(fused.hits) == len(dense.hits)
            found = [cosines.get(hit.id, -1.0) for hit in fused.hits]
            assert found == pytest.approx(list(cosines.values()), abs=4e-6)

    check()
