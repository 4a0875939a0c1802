"""What every `KnowledgeSearchPort` must do: a contract class without the prefix `Test`.

A subclass gives a fixture `store`: a `StorePorts` under a collection name of its own.
"""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import CollectionMismatch, CollectionMissing
from core.model.identity import evidence_key
from core.model.search import Ranker, RouteState, SearchHit
from tests.builders import a_chunk
from tests.core.adapters.store_material import (
    HOSTILE,
    StorePorts,
    a_fingerprint,
    ask,
    contents,
    ids,
    texts,
    vector_of,
)
from tests.core.adapters.term_contract import TermContract


class SearchContract(TermContract):
    """`KnowledgeSearchPort`."""

    def test_a_hit_carries_the_chunk_as_it_was_written(self, store: StorePorts) -> None:
        chunk = replace(
            a_chunk("数据库连接池耗尽", title="标题", breadcrumb="一 > 二"),
            metadata={"start": 3, "end": 11},
        )
        searcher = store.filled("1", [chunk])
        hit = searcher.search_dense(ask("数据库"), vector_of(chunk.content)).hits[0]
        assert hit == SearchHit(
            id=chunk.id, doc_id=chunk.doc_id, chunk_index=0, content="数据库连接池耗尽", title="标题",
            breadcrumb="一 > 二", source="ops/a.md", category="ops", kb_scope="default", rank=1,
            dense=hit.dense, metadata={"start": 3, "end": 11},
        )  # fmt: skip
        assert hit.dense is not None
        assert hit.dense.score == pytest.approx(1.0, abs=1e-5)

    def test_an_empty_breadcrumb_and_title_come_back_as_none(self, store: StorePorts) -> None:
        searcher = store.filled("1", texts("alpha"))
        hit = searcher.search_dense(ask("alpha"), vector_of("alpha")).hits[0]
        assert (hit.title, hit.breadcrumb) == (None, None)

    @pytest.mark.parametrize("metric", ["COSINE", "IP", "L2"])
    def test_the_dense_score_is_the_cosine_whatever_the_metric(
        self, store: StorePorts, metric: str
    ) -> None:
        chunks = texts("alpha", "beta", "gamma")
        searcher = store.filled("1", chunks, fingerprint=a_fingerprint(metric=metric))
        query = vector_of("something else")
        found = searcher.search_dense(ask("x"), query)
        expected = sorted((float(vector_of(c.content) @ query) for c in chunks), reverse=True)
        assert [hit.dense.score for hit in found.hits if hit.dense] == pytest.approx(expected, abs=1e-5)

    def test_each_list_carries_only_its_own_score_and_ranks_from_one(self, store: StorePorts) -> None:
        searcher = store.filled("1", texts("mysql timeout", "redis timeout"))
        vector = vector_of("mysql timeout")
        dense = searcher.search_dense(ask("timeout"), vector)
        sparse = searcher.search_sparse(ask("timeout"))
        fused = searcher.search_hybrid(ask("timeout"), vector)
        for listed, own in ((dense, "dense"), (sparse, "sparse"), (fused, "fused")):
            assert [hit.rank for hit in listed.hits] == [1, 2]
            for hit in listed.hits:
                kept = {name for name in ("dense", "sparse", "fused") if getattr(hit, name) is not None}
                assert kept == {own}
                assert getattr(hit, own).rank == hit.rank

    def test_bm25_scores_are_positive_and_the_best_comes_first(self, store: StorePorts) -> None:
        """mil-26: the sign of Milvus Lite is turned round."""
        searcher = store.filled("1", texts("数据库 数据库 连接", "网络 数据库 超时 重试 告警", "缓存"))
        found = searcher.search_sparse(ask("数据库"))
        scores = [hit.sparse.score for hit in found.hits if hit.sparse]
        assert len(scores) == 2
        assert scores[0] > scores[1] > 0
        assert found.hits[0].chunk_index == 0

    def test_chinese_and_english_words_are_found_in_any_case(self, store: StorePorts) -> None:
        """mil-27: 数据库, mysql and MySQL hit their text."""
        searcher = store.filled("1", texts("数据库连接池耗尽 mysql", "缓存穿透", "disk full"))
        for query in ("数据库", "mysql", "MySQL", "连接"):
            assert contents(searcher.search_sparse(ask(query))) == ["数据库连接池耗尽 mysql"], query

    @pytest.mark.parametrize("query", ["，。！", "?!", "---", "…"])
    def test_a_query_without_terms_skips_bm25_and_leaves_the_dense_route(
        self, store: StorePorts, query: str
    ) -> None:
        """mil-25: never an exception, and the trace can say why."""
        searcher = store.filled("1", texts("alpha beta", "gamma，delta"))
        sparse = searcher.search_sparse(ask(query))
        assert (sparse.state, sparse.hits, sparse.milliseconds) == (RouteState.NOT_RUN, (), None)
        assert "no word or number" in sparse.reason
        vector = vector_of("alpha beta")
        for ranker in Ranker:
            fused = searcher.search_hybrid(ask(query, ranker=ranker), vector)
            assert ids(fused) == ids(searcher.search_dense(ask(query), vector))

    def test_a_route_without_a_hit_is_empty_and_hybrid_gives_the_other(self, store: StorePorts) -> None:
        """mil-25: an unknown word."""
        searcher = store.filled("1", texts("alpha", "beta"))
        assert searcher.search_sparse(ask("xyzzynotfound")).state is RouteState.EMPTY
        assert searcher.search_sparse(ask("xyzzynotfound")).reason
        assert len(searcher.search_hybrid(ask("xyzzynotfound"), vector_of("alpha")).hits) == 2

    def test_a_filter_without_a_match_empties_every_route(self, store: StorePorts) -> None:
        """mil-25: both routes empty."""
        searcher = store.filled("1", texts("alpha"))
        request = ask("alpha", category_filter="none such")
        vector = vector_of("alpha")
        for listed in (
            searcher.search_dense(request, vector),
            searcher.search_sparse(request),
            searcher.search_hybrid(request, vector),
        ):
            assert (listed.state, listed.hits) == (RouteState.EMPTY, ())

    def test_a_filter_holds_on_both_routes_though_the_best_hit_lies_outside(
        self, store: StorePorts
    ) -> None:
        """mil-29: the same filter on every route of a hybrid search."""
        chunks = [
            *texts("mysql timeout", "mysql pool", category="wrong", doc_id="default/w.md"),
            *texts(
                "mysql elsewhere and much more text", "weather", category="right", doc_id="default/r.md"
            ),
        ]
        searcher = store.filled("1", chunks)
        request = ask("mysql timeout", category_filter="right")
        for ranker in Ranker:
            fused = searcher.search_hybrid(replace(request, ranker=ranker), vector_of("mysql timeout"))
            assert {hit.category for hit in fused.hits} == {"right"}
            assert len(fused.hits) == 2

    def test_kb_scope_and_category_are_both_obeyed_and_counted(self, store: StorePorts) -> None:
        chunks = [
            *texts("one", category="a", kb_scope="x", doc_id="x/1"),
            *texts("two", category="b", kb_scope="x", doc_id="x/2"),
            *texts("three", category="a", kb_scope="y", doc_id="y/3"),
        ]
        searcher = store.filled("1", chunks)
        counts = [searcher.count(category=c, kb_scope=s) for c, s in
                  ((None, None), ("a", None), (None, "x"), ("a", "x"), ("b", "y"))]  # fmt: skip
        assert counts == [3, 2, 2, 1, 0]
        found = searcher.search_dense(ask("q", category_filter="a", kb_scope="x"), vector_of("q"))
        assert contents(found) == ["one"]

    @pytest.mark.parametrize("value", HOSTILE)
    def test_a_value_never_changes_the_meaning_of_a_filter(self, store: StorePorts, value: str) -> None:
        """mil-02, mil-03, mil-04: round trip by category, kb_scope and doc_id."""
        name = store.name("1")
        searcher = store.filled("1", [
            *texts("mine", category=value, kb_scope=value, doc_id=value),
            *texts("other", category="a", kb_scope="a", doc_id="a"),
        ])  # fmt: skip
        assert searcher.count(category=value) == searcher.count(kb_scope=value) == 1
        request = ask("mine", category_filter=value, kb_scope=value)
        assert contents(searcher.search_hybrid(request, vector_of("other"))) == ["mine"]
        assert store.writer.delete_document(name, value) == 1
        assert store.builds.chunk_counts(name) == {"a": 1}

    def test_a_literal_that_looks_like_a_filter_matches_nothing(self, store: StorePorts) -> None:
        """mil-03: an injected category selects and deletes no row."""
        searcher = store.filled("1", texts("one", "two", category="a"))
        for value in ('a" or category != "a', '" or 1==1', 'a" or "1" == "1'):
            assert searcher.count(category=value) == 0
            assert store.writer.delete_document(store.name("1"), value) == 0
        assert searcher.count() == 2

    def test_more_than_there_is_returns_everything_and_small_is_a_prefix(self, store: StorePorts) -> None:
        """ret-08: the dense and the BM25 list for a small k begin the list for a larger one."""
        chunks = texts(*(f"timeout {word} " * (1 + i) for i, word in enumerate("abcdefgh")))
        searcher = store.filled("1", chunks)
        vector = vector_of("q")
        for k in (1, 3, 5):
            assert (
                ids(searcher.search_dense(ask("q", retrieve_k=k), vector))
                == ids(searcher.search_dense(ask("q", retrieve_k=1000), vector))[:k]
            )
            assert len(searcher.search_sparse(ask("timeout", retrieve_k=k)).hits) == k
        assert len(searcher.search_hybrid(ask("timeout", retrieve_k=1000), vector).hits) == 8

    def test_a_hybrid_list_is_as_long_as_asked_when_the_routes_differ(self, store: StorePorts) -> None:
        """mil-30: each route is asked for as many hits as the fused list."""
        searcher = store.filled("1", texts(*(f"word{i}" for i in range(12))))
        for k in (2, 10):
            assert len(searcher.search_hybrid(ask("word3", retrieve_k=k), vector_of("word7")).hits) == k

    def test_equal_fused_scores_are_ordered_by_evidence_key_ten_times(self, store: StorePorts) -> None:
        """mil-31, evl-08: six equal chunks give one list, and one list when cut."""
        same = [a_chunk("mysql timeout", doc_id=f"default/{n}.md", title="") for n in "fbdace"]
        searcher = store.filled("1", same)
        vector = vector_of("mysql timeout")
        request = ask("mysql", ranker=Ranker.WEIGHTED)
        runs = [
            [evidence_key(hit) for hit in searcher.search_hybrid(request, vector).hits] for _ in range(10)
        ]
        assert runs == [[f"default/{n}.md#chunk-0" for n in "abcdef"]] * 10
        cut = [ids(searcher.search_hybrid(replace(request, retrieve_k=3), vector)) for _ in range(3)]
        assert len(cut[0]) == 3
        assert cut[0] == cut[1] == cut[2]

    def test_reciprocal_rank_scores_are_those_of_the_formula(self, store: StorePorts) -> None:
        """mil-32: first on both routes 2/61; first on one route alone 1/61; no cosine among them."""
        chunks = texts("redis", "mysql")
        searcher = store.filled("1", chunks)
        both = searcher.search_hybrid(ask("redis", retrieve_k=1), vector_of("redis"))
        assert [hit.fused.score for hit in both.hits if hit.fused] == pytest.approx([2 / 61], abs=1e-6)
        split = searcher.search_hybrid(ask("mysql", retrieve_k=2), vector_of("redis"))
        assert sorted(hit.fused.score for hit in split.hits if hit.fused) == pytest.approx(
            [1 / 61, 1 / 61 + 1 / 62], abs=1e-6
        )

    def test_weights_one_and_zero_give_the_dense_order(self, store: StorePorts) -> None:
        """mil-33: normalised scores times weights."""
        searcher = store.filled("1", texts("mysql", "redis mysql", "mysql mysql disk", "cpu"))
        vector = vector_of("redis mysql")
        request = ask("mysql disk", ranker=Ranker.WEIGHTED, weight_dense=1.0, weight_sparse=0.0)
        dense = searcher.search_dense(request, vector)
        fused = searcher.search_hybrid(request, vector)
        assert ids(fused) == ids(dense)
        assert [hit.fused.score for hit in fused.hits if hit.fused] == pytest.approx(
            [(1 + hit.dense.score) / 2 for hit in dense.hits if hit.dense], abs=1e-5
        )

    def test_a_document_is_found_by_doc_id_or_source_in_order_without_scores(
        self, store: StorePorts
    ) -> None:
        chunks = [
            a_chunk("b1", doc_id="x/b.md", chunk_index=1, source="b.md", category="c2", kb_scope="x"),
            a_chunk("b0", doc_id="x/b.md", chunk_index=0, source="b.md", category="c2", kb_scope="x"),
            a_chunk("yb", doc_id="y/b.md", chunk_index=0, source="b.md", category="c1", kb_scope="y"),
            a_chunk("a", doc_id="x/a.md", source="a.md", kb_scope="x"),
        ]
        searcher = store.filled("1", chunks)
        found = searcher.find("x/b.md")
        assert [(hit.content, hit.rank, hit.category, hit.kb_scope) for hit in found] == [
            ("b0", 1, "c2", "x"), ("b1", 2, "c2", "x"),
        ]  # fmt: skip
        assert {(hit.dense, hit.sparse, hit.fused) for hit in found} == {(None, None, None)}
        assert [hit.content for hit in searcher.find("b.md")] == ["b0", "b1", "yb"]
        assert searcher.find("b") == searcher.find("") == ()

    @pytest.mark.parametrize("value", HOSTILE)
    def test_the_name_of_a_document_never_changes_the_meaning_of_a_search(
        self, store: StorePorts, value: str
    ) -> None:
        """mil-02, mil-03: round trip by source, and no row of another document."""
        searcher = store.filled("1", [
            a_chunk("mine", doc_id="default/1", source=value), a_chunk("other", doc_id="default/2"),
        ])  # fmt: skip
        assert [hit.content for hit in searcher.find(value)] == ["mine"]

    def test_a_query_vector_of_another_dimension_is_named_with_both_numbers(
        self, store: StorePorts
    ) -> None:
        searcher = store.filled("1", texts("alpha"))
        with pytest.raises(CollectionMismatch, match=r"\(5,\).*16"):
            searcher.search_dense(ask("alpha"), np.ones(5, dtype=np.float32))

    def test_a_build_of_other_settings_is_refused_naming_both_values(self, store: StorePorts) -> None:
        """mil-37: never wrong results from a build that was made otherwise."""
        store.filled("1", texts("alpha"))
        searcher = store.searcher(expected=a_fingerprint(model="other", revision="r2"))
        with pytest.raises(
            CollectionMismatch, match=r"model 'model', now 'other'; revision 'r1', now 'r2'.*Rebuild"
        ):
            searcher.search_dense(ask("alpha"), vector_of("alpha"))
        fitting = store.searcher(expected=a_fingerprint())
        assert fitting.search_dense(ask("alpha"), vector_of("alpha")).state is RouteState.OK

    def test_nothing_published_is_collection_missing(self, store: StorePorts) -> None:
        with pytest.raises(CollectionMissing, match=store.collection):
            store.searcher().search_dense(ask("alpha"), vector_of("alpha"))
        with pytest.raises(CollectionMissing):
            store.searcher().count()
