"""The sample base: its documents, its judged queries and what its examples promise."""

import math
import re
import unicodedata
from collections import Counter
from functools import cache

import pytest

from core.adapters.analyzer import analyze
from core.evaluation.query_sets import Query, QuerySet, stale_judgments
from core.evaluation.reading import read_query_set
from core.intake.loading import load
from core.model.documents import Document
from core.sample import EXAMPLE_QUERIES, sample_files, sample_queries_path

CATEGORIES = {"database": 6, "kubernetes": 6, "network": 6, "payments": 6, "policies": 4, "security": 4}
LONG = "policies/disaster-recovery-handbook.md"
TWINS = ("payments/日终对账-华东.md", "payments/日终对账-华南.md")
HAN = re.compile(r"[\u4e00-\u9fff]")


@cache
def documents() -> dict[str, Document]:
    return {
        file.name: load(
            file.name, file.data, category=file.category, kb_scope="default", limit_bytes=1_000_000
        )
        for file in sample_files()
    }


@cache
def query_set() -> QuerySet:
    return read_query_set(sample_queries_path())


def headings(document: Document) -> list[str]:
    without_code = re.sub(r"^ *```.*?^ *```", "", document.text, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"^#{1,6} +(.+?)\s*$", without_code, flags=re.MULTILINE)


def is_chinese(document: Document) -> bool:
    return len(HAN.findall(document.text)) > 100


def relevant(query: Query, grade: int = 1) -> list[str]:
    return [
        judgment.document
        for judgment in query_set().judgments
        if judgment.query_id == query.query_id and judgment.grade >= grade
    ]


def test_there_are_32_documents_in_six_categories():
    assert Counter(file.category for file in sample_files()) == CATEGORIES
    assert len(documents()) == 32


def test_files_come_in_the_order_of_their_names_which_begin_with_the_category():
    names = [file.name for file in sample_files()]
    assert names == sorted(names)
    assert all(file.name.startswith(f"{file.category}/") for file in sample_files())
    assert all(unicodedata.is_normalized("NFC", name) for name in names)


def test_half_of_the_documents_are_chinese():
    assert sum(is_chinese(document) for document in documents().values()) == 16


def test_every_document_is_read_as_utf_8_markdown_without_a_warning():
    assert {(d.encoding, d.markup, d.warnings) for d in documents().values()} == {("utf-8", "markdown", ())}


def test_no_two_documents_share_a_title_except_the_regional_copies():
    titles = Counter(document.title for document in documents().values())
    assert {title for title, count in titles.items() if count > 1} == {"日终对账操作手册"}
    assert documents()["database/数据库连接池耗尽.md"].title == "数据库连接池耗尽"


def test_short_documents_stay_short_and_the_handbook_is_long():
    for name, document in documents().items():
        if name == LONG:
            assert len(document.text.split()) >= 1500
        elif is_chinese(document):
            assert 300 <= len(HAN.findall(document.text)) <= 900, name
        else:
            assert 150 <= len(document.text.split()) <= 450, name


def test_documents_hold_no_link_picture_or_html_and_only_reserved_hosts():
    leading_outside = re.compile(
        r"!?\[[^\]]*\]\(|</?(?:a|img|script|br|div)\b|https?://(?![\w.-]+\.example/)"
    )
    for name, document in documents().items():
        assert not leading_outside.search(document.text), name


def test_the_regional_copies_differ_in_a_time_and_a_host_only():
    east, south = (documents()[name].text.split("\n") for name in TWINS)
    changed = [pair for pair in zip(east, south, strict=True) if pair[0] != pair[1]]
    assert [(x.replace("23:30", "22:00").replace("sftp-east", "sftp-south"), y) for x, y in changed] == [
        (y, y) for _, y in changed
    ]
    assert len(changed) == 2


def test_the_query_set_reads_without_a_warning_and_has_unique_ids():
    assert query_set().warnings == ()
    assert len({query.query_id for query in query_set().queries}) == len(query_set().queries) == 30


def test_there_are_ten_term_ten_semantic_five_filter_and_five_long_document_queries():
    assert Counter(query.kind for query in query_set().queries) == {
        "term": 10, "semantic": 10, "filter": 5, "long_document": 5,
    }  # fmt: skip


def test_both_languages_are_asked():
    languages = Counter(query.language for query in query_set().queries)
    assert set(languages) == {"en", "zh"}
    assert min(languages.values()) >= 12


def test_two_semantic_queries_are_in_the_other_language_than_their_document():
    crossing = [
        query.query_id
        for query in query_set().queries
        if query.kind == "semantic"
        and (query.language == "zh") != is_chinese(documents()[relevant(query, 2)[0]])
    ]
    assert crossing == ["s-s09", "s-s10"]


def test_every_judgment_names_a_document_and_a_heading_that_exist():
    assert stale_judgments(query_set(), documents()) == ()
    for judgment in query_set().judgments:
        if judgment.heading is not None:
            assert judgment.heading in headings(documents()[judgment.document]), judgment


def test_every_query_has_one_document_that_is_right():
    for query in query_set().queries:
        assert len(set(relevant(query, 2))) == 1, query.query_id


def test_only_filter_queries_ask_a_category_and_it_is_the_wrong_one():
    for query in query_set().queries:
        if query.kind == "filter":
            assert query.wrong_category
            assert query.category in CATEGORIES
            assert {documents()[name].category for name in relevant(query)} == {query.right_category}
        else:
            assert (query.category, query.right_category) == (None, None)


def test_long_document_queries_have_two_right_sections_of_the_handbook():
    for query in query_set().queries:
        if query.kind == "long_document":
            sections = {
                judgment.heading
                for judgment in query_set().judgments
                if judgment.query_id == query.query_id and judgment.grade == 2
            }
            assert set(relevant(query)) == {LONG}
            assert len(sections) == 2


def test_semantic_queries_share_no_rare_word_with_their_document():
    terms = {name: set(analyze(f"{d.title}\n{d.text}")) for name, d in documents().items()}
    frequency = Counter(term for own in terms.values() for term in own)
    for query in query_set().queries:
        if query.kind == "semantic":
            shared = set(analyze(query.text)) & terms[relevant(query, 2)[0]]
            assert {term for term in shared if frequency[term] < 2} == set(), query.query_id


def test_bm25_finds_the_document_of_every_term_query_among_its_first_three():
    names = list(documents())
    rows = [Counter(analyze(f"{d.title}\n{d.text}")) for d in documents().values()]
    mean_length = sum(row.total() for row in rows) / len(rows)

    def weight(term: str, row: Counter[str]) -> float:
        holding = sum(term in other for other in rows)
        rarity = math.log(1 + (len(rows) - holding + 0.5) / (holding + 0.5))
        return rarity * row[term] * 2.2 / (row[term] + 1.2 * (0.25 + 0.75 * row.total() / mean_length))

    for query in query_set().queries:
        if query.kind == "term":
            scores = [sum(weight(term, row) for term in analyze(query.text)) for row in rows]
            best = sorted(range(len(rows)), key=lambda i: -scores[i])[:3]
            assert relevant(query, 2)[0] in [names[i] for i in best], query.query_id


@pytest.mark.parametrize("example", EXAMPLE_QUERIES, ids=lambda example: example.title)
def test_examples_fit_on_a_card_and_ask_a_category_that_exists(example):
    assert len(example.title) <= 40
    assert len(example.explanation) <= 240
    assert example.category is None or example.category in CATEGORIES
