"""What every `KnowledgeSearchPort` says about terms: a contract class without the prefix `Test`.

A subclass gives a fixture `store`: a `StorePorts` under a collection name of its own. The numbers are
worked out by hand: idf = ln((N - df + 0.5) / (df + 0.5) + 1), part = idf * tf * 2.2 / (tf + norm).
"""

import pytest

from core.errors import CollectionMismatch
from core.model.documents import chunk_id
from core.model.token_lens import Term
from tests.builders import a_chunk
from tests.core.adapters.store_material import HOSTILE, StorePorts, a_fingerprint, ask, texts

TOLERANCE = 1e-3
IDF_ONE_OF_THREE = 0.980829  # ln((3 - 1 + 0.5) / (1 + 0.5) + 1)
IDF_TWO_OF_THREE = 0.470004  # ln((3 - 2 + 0.5) / (2 + 0.5) + 1)

FIRST = chunk_id("default/a.md", 0)


class TermContract:
    """`terms`, `document_frequencies` and `match_terms`."""

    def test_a_text_is_cut_in_order_with_stop_words_and_punctuation_as_dropped(
        self, store: StorePorts
    ) -> None:
        searcher = store.filled("1", texts("cpu"))
        assert searcher.terms("How is the 数据库 Disk, disk?") == (
            Term("how", dropped=True), Term("is", dropped=True), Term("the", dropped=True),
            Term("数据"), Term("据库"), Term("数据库"), Term("disk"), Term(",", dropped=True),
            Term("disk"), Term("?", dropped=True),
        )  # fmt: skip
        assert searcher.terms("，。") == (Term("，", dropped=True), Term("。", dropped=True))

    def test_the_parts_of_three_chunks_are_those_worked_out_by_hand(self, store: StorePorts) -> None:
        # Rows of 3, 2 and 1 terms: mean length 2. Norm of the first: 1.2 * (0.25 + 0.75 * 3 / 2) = 1.65.
        searcher = store.filled("1", texts("disk disk full", "disk slow", "cpu"))
        match = searcher.match_terms("disk full", FIRST)
        assert match is not None
        assert match.search_text == "disk disk full"
        disk = IDF_TWO_OF_THREE * 2 * 2.2 / (2 + 1.65)
        full = IDF_ONE_OF_THREE * 1 * 2.2 / (1 + 1.65)
        assert (round(disk, 4), round(full, 4)) == (0.5666, 0.8143)
        assert match.unit_scores == pytest.approx({"disk": disk, "full": full}, abs=TOLERANCE)
        assert match.score == pytest.approx(0.5666 + 0.8143, abs=TOLERANCE)

    def test_a_word_in_a_chinese_word_has_its_own_part(self, store: StorePorts) -> None:
        # 数据库连接池 is cut into 5 terms; rows of 5, 2 and 1 terms: mean length 8/3.
        # Norm of the first: 1.2 * (0.25 + 0.75 * 5 / (8 / 3)) = 1.9875. 数据 stands in two chunks.
        searcher = store.filled("1", texts("数据库连接池", "数据 disk", "cpu"))
        match = searcher.match_terms("数据库", FIRST)
        assert match is not None
        once = 2.2 / (1 + 1.9875)
        assert match.unit_scores == pytest.approx(
            {"数据": IDF_TWO_OF_THREE * once, "据库": IDF_ONE_OF_THREE * once,
             "数据库": IDF_ONE_OF_THREE * once},
            abs=TOLERANCE,
        )  # fmt: skip
        assert list(match.unit_scores) == ["数据", "据库", "数据库"]
        assert match.score == pytest.approx(sum(match.unit_scores.values()), abs=TOLERANCE)

    def test_a_query_word_twice_counts_twice_in_the_score_and_once_in_its_unit(
        self, store: StorePorts
    ) -> None:
        searcher = store.filled("1", texts("disk disk full", "disk slow", "cpu"))
        match = searcher.match_terms("disk full disk", FIRST)
        assert match is not None
        assert match.unit_scores == pytest.approx({"disk": 0.5666, "full": 0.8143}, abs=TOLERANCE)
        assert match.score == pytest.approx(2 * 0.5666 + 0.8143, abs=TOLERANCE)

    def test_the_score_is_the_one_that_a_bm25_search_gives(self, store: StorePorts) -> None:
        chunks = texts("数据库连接池耗尽 mysql timeout", "连接池 redis", "mysql mysql 数据库备份", "cpu")
        searcher = store.filled("1", chunks)
        query = "数据库连接池 mysql 怎么办"
        hits = searcher.search_sparse(ask(query)).hits
        assert len(hits) == 3
        for hit in hits:
            match = searcher.match_terms(query, hit.id)
            assert match is not None
            assert hit.sparse is not None
            assert match.score == pytest.approx(hit.sparse.score, abs=TOLERANCE)
            assert sum(match.unit_scores.values()) == pytest.approx(hit.sparse.score, abs=TOLERANCE)

    def test_statistics_are_those_of_the_whole_build_in_every_category_and_scope(
        self, store: StorePorts
    ) -> None:
        searcher = store.filled("1", [
            *texts("disk full", category="a", kb_scope="x", doc_id="x/1"),
            *texts("disk", category="b", kb_scope="y", doc_id="y/1"),
            *texts("数据库 disk", category="b", kb_scope="y", doc_id="y/2"),
            *texts("数据", category="b", kb_scope="y", doc_id="y/3"),
        ])  # fmt: skip
        terms = ("disk", "full", "数据库", "数据", "xyzzy")
        found = searcher.document_frequencies(terms)
        assert found == {"disk": 3, "full": 1, "数据库": 1, "数据": 2, "xyzzy": 0}
        assert tuple(found) == terms
        assert searcher.document_frequencies(()) == {}

    @pytest.mark.parametrize("query", ["，。！", "the 怎么办", "redis"])
    def test_a_chunk_without_a_shared_term_scores_zero(self, store: StorePorts, query: str) -> None:
        """mil-25: no terms, and no term in common."""
        searcher = store.filled("1", texts("the disk，。！怎么办"))
        match = searcher.match_terms(query, FIRST)
        assert match is not None
        assert (match.score, dict(match.unit_scores)) == (0.0, {})

    def test_the_search_text_holds_title_and_breadcrumb(self, store: StorePorts) -> None:
        chunk = a_chunk("cpu", title="Disk", breadcrumb="一 > Memory")
        match = store.filled("1", [chunk]).match_terms("disk memory", chunk.id)
        assert match is not None
        assert match.search_text == "Disk\n一 > Memory\ncpu"
        assert list(match.unit_scores) == ["disk", "memory"]

    @pytest.mark.parametrize("key", ["none", "", *HOSTILE])
    def test_an_unknown_key_matches_no_chunk(self, store: StorePorts, key: str) -> None:
        """mil-03: a key never changes the meaning of the filter."""
        assert store.filled("1", texts("disk")).match_terms("disk", key) is None

    def test_a_build_of_another_analyzer_is_refused(self, store: StorePorts) -> None:
        """emb-04: the lens never shows the terms of other settings."""
        store.filled("1", texts("disk"))
        searcher = store.searcher(expected=a_fingerprint(analyzer='{"tokenizer":"standard"}'))
        for ask_terms in (
            lambda: searcher.terms("disk"),
            lambda: searcher.document_frequencies(("disk",)),
            lambda: searcher.match_terms("disk", FIRST),
        ):
            with pytest.raises(CollectionMismatch, match="analyzer"):
                ask_terms()
