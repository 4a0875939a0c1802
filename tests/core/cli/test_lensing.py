"""`tokens` as text, and on Milvus Lite with a hashing embedder."""

import json
from pathlib import Path

import pytest

from core.cli.lensing import lens_text
from core.model.token_lens import (
    ChunkLens,
    LensWarning,
    LensWarningKind,
    QueryTerm,
    SharedTerm,
    Term,
    TokenLens,
)

ASKED = (
    QueryTerm("数据库", 2, 1204, False),
    QueryTerm("mysql", 1, 0, False),
    QueryTerm("设为", 1, None, False),
)


def a_lens(*shared: SharedTerm, score: float = 0.0, warnings: tuple[LensWarning, ...] = ()) -> TokenLens:
    terms = (Term("数据库"), Term("the", dropped=True), Term("?", dropped=True), Term("mysql"))
    chunk = ChunkLens("默认/手册.md#chunk-0", (Term("数据库"), Term("设为")), shared, score)
    return TokenLens("q", "kb_1", 2000, terms, ASKED, chunk, warnings)


def test_columns_line_up_under_chinese_and_what_is_not_known_is_no_zero():
    text = lens_text(a_lens(SharedTerm("数据库", 2, 3, 1.5), SharedTerm("设为", 1, 1, None), score=2.25))

    assert text.splitlines() == [
        "Build kb_1, 2,000 chunks.",
        "",
        "Question: 2 kept, 1 stop words and 1 marks dropped",
        "  数据库 [the] mysql",
        "",
        "term    in question  chunks with it  in chunk  BM25 part",
        "------  -----------  --------------  --------  ---------",
        "数据库            2           1,204         3     1.5000",
        "mysql             1               0         0          -",
        "设为              1       not known         1  not known",
        "",
        "Chunk 默认/手册.md#chunk-0: 2 kept, 0 stop words and 0 marks dropped",
        "  数据库 设为",
        "",
        "BM25 score: 2.2500, the sum of the parts; 设为 together: 0.7500.",
    ]


def test_warnings_come_last_and_a_chunk_without_shared_terms_scores_zero():
    lines = lens_text(a_lens(warnings=(LensWarning(LensWarningKind.NONE_IN_BASE, "None."),))).splitlines()

    assert lines[-3:] == ["BM25 score: 0, no shared term.", "", "Warning: None."]


def test_a_term_cannot_move_the_cursor():
    lens = TokenLens("q", "kb_1", 1, (Term("a\x1b[2J"),), (), None, ())

    assert "\x1b" not in lens_text(lens)


@pytest.mark.milvus
class TestCommand:
    """On a base of two files."""

    @pytest.fixture(autouse=True)
    def base(self, place: Path, hashing: None, ranklens) -> None:
        (place / "pool.md").write_text("# 连接池\n\n数据库连接池耗尽 E-1042.", encoding="utf-8")
        (place / "dns.md").write_text("# DNS\n\nServfail, 数据库 slow.", encoding="utf-8")
        assert ranklens("index", "pool.md", "dns.md").code == 0

    def test_the_parts_in_json_add_up_to_the_score_of_the_search(self, ranklens):
        done = ranklens("tokens", "数据库连接池怎么办", "--chunk", "default/pool.md#chunk-0", "--json")
        found = ranklens("search", "数据库连接池怎么办", "--json")

        lens = json.loads(done.out)
        assert (done.code, done.err) == (0, "")
        assert lens["terms"][-1] == {"text": "怎么办", "dropped": True}
        assert {term["text"]: term["document_frequency"] for term in lens["query_terms"]} == {
            "数据": 2, "据库": 2, "数据库": 2, "连接": 1, "连接池": 1,
        }  # fmt: skip
        hits = json.loads(found.out)["retrieval"]["attempts"][0]["response"]["sparse"]["hits"]
        (score,) = [hit["sparse"]["score"] for hit in hits if hit["doc_id"] == "default/pool.md"]
        parts = [term["part"] for term in lens["chunk"]["shared"]]
        assert sum(parts) == pytest.approx(score, abs=1e-3)
        assert lens["chunk"]["score"] == pytest.approx(score, abs=1e-3)

    def test_text_shows_the_question_alone_without_a_chunk(self, ranklens):
        done = ranklens("tokens", "the slow xyzzy")

        assert done.code == 0
        assert done.out.splitlines()[2:] == [
            "Question: 2 kept, 1 stop words and 0 marks dropped",
            "  [the] slow xyzzy",
            "",
            "term   in question  chunks with it",
            "-----  -----------  --------------",
            "slow             1               1",
            "xyzzy            1               0",
        ]

    def test_an_unknown_chunk_is_one_sentence_and_exit_code_two(self, ranklens):
        done = ranklens("tokens", "slow", "--chunk", "default/pool.md#chunk-9")

        assert (done.code, done.out) == (2, "")
        assert "holds no chunk 'default/pool.md#chunk-9'" in done.err
