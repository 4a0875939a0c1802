"""The reference and Milvus give the same answers to the same questions over the same chunks."""

import random
from collections.abc import Callable

import pytest

from core.adapters.analyzer import analyze
from core.adapters.milvus.connection import MilvusConnection
from core.model.search import Ranker, SearchRequest
from tests.core.adapters.conftest import BACK_ENDS
from tests.core.adapters.congruence_material import QUERIES, assert_same, corpus, filled_memory, fused_alike
from tests.core.adapters.store_material import StorePorts, a_fingerprint, ask, vector_of

pytestmark = pytest.mark.milvus


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
        compared += fused_alike(reference, milvus, request, vector)
        where = {"category": request.category_filter, "kb_scope": request.kb_scope}
        assert reference.count(**where) == milvus.count(**where)
    assert len(states) == 3
    assert compared >= 20, compared


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
