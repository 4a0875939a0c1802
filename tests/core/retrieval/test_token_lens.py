"""The token lens over the reference store; the numbers are worked out by hand."""

import pytest

from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.errors import RequestInvalid
from core.model.token_lens import (
    LensWarningKind,
    QueryTerm,
    SharedTerm,
    Term,
    TermMatch,
    TokenLens,
)
from core.retrieval.token_lens import is_giant, look_through
from tests.core.adapters.store_material import a_fingerprint, texts, vectors_of
from tests.core.retrieval.scripted import ScriptedPort

FIRST, SECOND = "default/a.md#chunk-0", "default/a.md#chunk-1"


def a_base(*contents: str) -> MemorySearcher:
    chunks = texts(*contents)
    store = MemoryStore("kb")
    MemoryBuilds(store).create("kb_1", a_fingerprint(), expected_rows=len(chunks))
    MemoryWriter(store).upsert("kb_1", chunks, vectors_of(chunks))
    return MemorySearcher(store, build="kb_1")


def kinds(lens: TokenLens) -> list[LensWarningKind]:
    return [warning.kind for warning in lens.warnings]


def test_the_parts_of_a_question_are_its_terms_times_their_repetitions():
    # Rows of 3, 2 and 1 terms, mean length 2; norm of the first 1.2 * (0.25 + 0.75 * 3 / 2) = 1.65.
    # disk: ln(1.5 / 2.5 + 1) * 2 * 2.2 / 3.65 = 0.5666, asked twice; full: ln(2.5 / 1.5 + 1) * 2.2 / 2.65.
    lens = look_through(a_base("disk disk full", "disk slow", "cpu"), "The Disk, full disk xyzzy?", FIRST)

    assert (lens.query, lens.build, lens.build_chunks) == ("The Disk, full disk xyzzy?", "kb_1", 3)
    assert lens.terms == (
        Term("the", dropped=True), Term("disk"), Term(",", dropped=True), Term("full"), Term("disk"),
        Term("xyzzy"), Term("?", dropped=True),
    )  # fmt: skip
    assert lens.query_terms == (
        QueryTerm("disk", 2, 2, giant=False), QueryTerm("full", 1, 1, giant=False),
        QueryTerm("xyzzy", 1, 0, giant=False),
    )  # fmt: skip
    assert lens.missing == ("xyzzy",)
    assert lens.chunk is not None
    assert lens.chunk.terms == (Term("disk"), Term("disk"), Term("full"))
    assert lens.chunk.shared == (
        SharedTerm("disk", 2, 2, pytest.approx(1.13316, abs=1e-4)),
        SharedTerm("full", 1, 1, pytest.approx(0.81427, abs=1e-4)),
    )
    assert lens.chunk.score == pytest.approx(1.94743, abs=1e-4)
    assert lens.chunk.unexplained == pytest.approx(0.0, abs=1e-9)
    assert lens.warnings == ()


def test_without_a_key_only_the_question_is_looked_at():
    lens = look_through(a_base("数据库 disk", "数据"), "  数据库怎么办 ")

    assert lens.chunk is None
    assert lens.query == "数据库怎么办"
    assert [(term.text, term.document_frequency) for term in lens.query_terms] == [
        ("数据", 2), ("据库", 1), ("数据库", 1),
    ]  # fmt: skip
    assert lens.terms[-1] == Term("怎么办", dropped=True)


def test_a_question_is_normalised_as_a_lookup_does():
    assert look_through(a_base("disk"), "ＤＩＳＫ").query_terms == (QueryTerm("disk", 1, 1, giant=False),)


@pytest.mark.parametrize("question", ["，。！", "how do I?", "怎么办"])
def test_a_question_without_terms_is_warned_about_and_nothing_else(question):
    """mil-25."""
    lens = look_through(a_base("disk"), question, FIRST)

    assert kinds(lens) == [LensWarningKind.NO_TERMS]
    assert lens.query_terms == ()
    assert lens.chunk is not None
    assert (lens.chunk.score, lens.chunk.shared) == (0.0, ())


def test_a_question_with_no_term_in_the_base_is_warned_about():
    assert kinds(look_through(a_base("disk"), "kubernetes pod")) == [LensWarningKind.NONE_IN_BASE]
    assert kinds(look_through(a_base("disk"), "kubernetes disk")) == []


def test_a_chunk_without_a_shared_term_is_warned_about():
    lens = look_through(a_base("disk", "cpu"), "disk", SECOND)

    assert kinds(lens) == [LensWarningKind.NOTHING_SHARED]
    assert lens.chunk is not None
    assert (lens.chunk.evidence_key, lens.chunk.score) == (SECOND, 0.0)
    assert SECOND in lens.warnings[0].sentence


def test_a_long_run_that_was_not_cut_is_warned_about_with_its_length():
    run = "a1" * 100
    lens = look_through(a_base(f"{run} disk"), f"disk {run}")

    assert kinds(lens) == [LensWarningKind.GIANT_TERM]
    assert "'a1a1a1a1a1a1a1a1a1a1a1a1…' has 200 characters" in lens.warnings[0].sentence
    assert [term.giant for term in lens.query_terms] == [False, True]


@pytest.mark.parametrize(
    ("term", "giant"),
    [
        ("a" * 64, False),
        ("a" * 65, True),
        ("prometheuserrorsendingalertstosomealertmanagers", False),
        ("库" * 16, False),
        ("库" * 17, True),
        ("エラー" * 6, True),
        ("ก" * 17, True),
        ("mysql数据库连接池耗尽怎么办请问", True),
        ("é" * 17, False),
    ],
)
def test_a_term_is_giant_above_64_characters_or_16_where_words_have_no_spaces(term, giant):
    assert is_giant(term) is giant


class Unsure(ScriptedPort):
    """A store that cannot tell some terms apart, nor count."""

    def __init__(self, **units: float | None):
        super().__init__({})
        self.units = units

    def match_terms(self, query, chunk_id):
        return TermMatch("a b c", 6.0, self.units)


def test_what_the_store_cannot_count_is_unknown_and_no_warning():
    lens = look_through(Unsure(), "a b")

    assert [term.document_frequency for term in lens.query_terms] == [None, None]
    assert (lens.missing, lens.warnings) == ((), ())


def test_one_unknown_part_is_what_the_others_leave_and_two_stay_unknown():
    one = look_through(Unsure(a=2.0, b=None), "a b", FIRST).chunk
    two = look_through(Unsure(a=2.0, b=None, c=None), "a b c", FIRST).chunk

    assert [term.part for term in one.shared] == [2.0, 4.0]
    assert [term.part for term in two.shared] == [2.0, None, None]
    assert two.unexplained == 4.0


@pytest.mark.parametrize("key", ["default/a.md", "rank:1", "", "default/a.md#chunk-", "a#chunk--1"])
def test_what_is_no_evidence_key_is_refused_with_an_example(key):
    with pytest.raises(RequestInvalid, match=r"is no evidence key.*base/guide\.md#chunk-3"):
        look_through(a_base("disk"), "disk", key)


def test_a_chunk_that_the_build_does_not_hold_is_named_with_the_build():
    with pytest.raises(RequestInvalid, match=r"Build kb_1 holds no chunk 'default/a\.md#chunk-7'"):
        look_through(a_base("disk"), "disk", "default/a.md#chunk-7")


def test_a_row_is_named_by_its_primary_key_too():
    (chunk,) = texts("disk")

    lens = look_through(a_base("disk"), "disk", f"vector:{chunk.id}")

    assert lens.chunk is not None
    assert [term.text for term in lens.chunk.shared] == ["disk"]


@pytest.mark.parametrize("question", ["", "   ", "x" * 2001, "\ud800"])
def test_a_question_that_no_lookup_takes_is_refused(question):
    with pytest.raises(RequestInvalid):
        look_through(a_base("disk"), question)
