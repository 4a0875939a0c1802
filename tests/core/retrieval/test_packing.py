"""Packing into a budget of code points, never inside a character that a reader sees."""

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from core.model.lookup import Evidence, Stage
from core.retrieval.packing import SMALLEST_EXCERPT_CHARACTERS, cut, pack
from tests.builders import a_hit, a_judgement

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
"""Man, woman and girl joined to one picture: five code points."""
FLAG = "\U0001f1e9\U0001f1ea"
"""Two regional indicators: one flag."""
E_ACUTE = "e\u0301"


def evidence(content, *, title=None, breadcrumb=None, name="a"):
    hit = a_hit(name, 0, content=content, title=title, breadcrumb=breadcrumb)
    return Evidence(f"{name}#chunk-0", hit, a_judgement())


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("abc", 5, "abc"),
        ("abc", 3, "abc"),
        ("abc", 2, "ab"),
        ("abc", 0, ""),
        ("abc", -4, ""),
        ("ab " + FAMILY, 7, "ab"),
        ("ab " + FAMILY, 8, "ab " + FAMILY),
        (FAMILY + "x", 5, FAMILY),
        (FAMILY + "x", 4, ""),
        ("x" + FLAG + FLAG, 4, "x" + FLAG),
        ("caf" + E_ACUTE + "s", 4, "caf"),
        ("caf" + E_ACUTE + "s", 5, "caf" + E_ACUTE),
        ("a\r\nb", 2, "a"),
        ("\U0001f44d\U0001f3fd!", 1, ""),
        ("磁盘满了", 2, "磁盘"),
        ("one two", 4, "one"),
    ],
)
def test_a_cut_ends_between_characters(text, most, expected):
    assert cut(text, most) == expected


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from([FAMILY, FLAG, E_ACUTE, "\u0301", "\u200d", "\r\n", " ", "a", "磁", "각"])),
    st.integers(-1, 30),
)
def test_a_cut_is_a_beginning_made_of_whole_graphemes(parts, most):
    text = "".join(parts)
    excerpt = cut(text, most)
    ends = {0, *(match.end() for match in regex.finditer(r"\X", text))}

    assert len(excerpt) <= max(most, 0)
    assert text.startswith(excerpt)
    assert len(excerpt) in ends


def test_pieces_are_packed_in_order_until_the_budget_is_full():
    packing = pack([evidence("a" * 100), evidence("b" * 100, name="b")], budget_characters=200)

    assert [item.excerpt for item in packing.packed] == ["a" * 100, "b" * 100]
    assert packing.used_characters == 200
    assert packing.budget_characters == 200
    assert not any(item.truncated for item in packing.packed)


def test_title_and_breadcrumb_take_their_part_of_the_budget():
    (item,) = pack([evidence("a" * 100, title="Title", breadcrumb="A > B")], budget_characters=110).packed

    assert (item.characters, item.full_characters, item.truncated) == (110, 110, False)


def test_a_piece_that_does_not_fit_whole_is_cut_and_says_so():
    (item,) = pack([evidence("a" * 300, title="Title")], budget_characters=105).packed

    assert item.excerpt == "a" * 100
    assert (item.characters, item.full_characters, item.truncated) == (105, 305, True)


def test_a_remainder_too_small_to_be_useful_is_left_and_says_so():
    smallest = SMALLEST_EXCERPT_CHARACTERS
    pieces = [evidence("a" * 100), evidence("b" * 300, name="b")]
    too_small, just_enough = (pack(pieces, budget_characters=100 + n) for n in (smallest - 1, smallest))

    assert [item.evidence.evidence_key for item in too_small.packed] == ["a#chunk-0"]
    (entry,) = too_small.dropped
    assert (entry.evidence_key, entry.end) == ("b#chunk-0", Stage.PACK)
    assert entry.reason == "needs 300 characters, 79 of 179 are left"
    assert just_enough.packed[1].excerpt == "b" * 80


def test_a_short_piece_after_one_that_did_not_fit_is_still_packed():
    pieces = [evidence("a" * 100), evidence("b" * 300, name="b"), evidence("short", name="c")]
    packing = pack(pieces, budget_characters=110)

    assert [item.excerpt for item in packing.packed] == ["a" * 100, "short"]
    assert [entry.evidence_key for entry in packing.dropped] == ["b#chunk-0"]


def test_a_title_longer_than_the_budget_drops_the_piece():
    packing = pack([evidence("text", title="t" * 50)], budget_characters=40)

    assert packing.packed == ()
    assert packing.dropped[0].reason == "needs 54 characters, 40 of 40 are left"


def test_a_piece_without_text_is_dropped_for_that_reason():
    assert pack([evidence("")], budget_characters=100).dropped[0].reason == "it has no text"


def test_a_large_number_is_written_with_separators():
    (entry,) = pack([evidence("b" * 5000, title="t" * 1950)], budget_characters=2000).dropped

    assert entry.reason == "needs 6,950 characters, 2,000 of 2,000 are left"


def test_nothing_packs_to_nothing():
    assert pack([], budget_characters=100).used_characters == 0


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.text(max_size=200), st.text(max_size=20), st.text(max_size=20)), max_size=6),
    st.integers(1, 500),
)
def test_the_budget_is_never_exceeded_and_every_piece_has_one_end(texts, budget):
    pieces = [
        evidence(content, title=title, breadcrumb=breadcrumb, name=f"n{number}")
        for number, (content, title, breadcrumb) in enumerate(texts)
    ]
    packing = pack(pieces, budget_characters=budget)

    used = sum(
        len(item.excerpt) + len(item.evidence.hit.title) + len(item.evidence.hit.breadcrumb)
        for item in packing.packed
    )
    ends = [item.evidence.evidence_key for item in packing.packed]
    ends += [entry.evidence_key for entry in packing.dropped]
    assert used == packing.used_characters <= budget
    assert sorted(ends) == sorted(piece.evidence_key for piece in pieces)
    for item in packing.packed:
        content = item.evidence.hit.content
        assert content.startswith(item.excerpt)
        assert item.truncated is (item.excerpt != content)
