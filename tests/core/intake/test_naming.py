import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import FileRefused
from core.intake.naming import category_name, document_id, relative_name, scope_name
from core.model.documents import chunk_id
from core.model.identity import chunk_key

ANY_NAME = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def test_a_name_is_given_back_as_it_was() -> None:
    names = [
        "ops/a.md",
        " leading space.md",
        'it\'s "final" v2.md',
        "🚀发布 说明（新）.md",
        "back\\slash.md",
        "con.md",
    ]
    assert [relative_name(name) for name in names] == names


def test_a_name_is_composed_to_nfc() -> None:
    assert relative_name("cafe\u0301.md") == "caf\u00e9.md"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../../etc/evil.md", "has the part '..'"),
        ("..\\..\\evil.md", "has the part '..'"),
        ("a/../../evil.md", "has the part '..'"),
        ("a/.. /evil.md", "has the part '.. '"),
        ("....//evil.md", "has the part '....'"),
        ("..", "has the part '..'"),
        ("/abs/evil.md", "absolute path"),
        ("\\\\host\\share\\evil.md", "absolute path"),
        ("C:\\evil.md", "absolute path"),
        ("c:evil.md", "absolute path"),
        (".", "ends without a file name"),
        ("folder/", "ends without a file name"),
        ("", "without a name"),
        (" \u3000\u200b", "without a name"),
        ("evil.md\0.pdf", "U+0000"),
        ("a\nb.md", "U+000A"),
        ("a\u2028b.md", "U+2028"),
        ("\u202edm.exe", "reading direction (U+202E)"),
        ("a\u2066b.md", "reading direction (U+2066)"),
        ("caf\udce9.md", "half of a surrogate pair (U+DCE9)"),
    ],
)
def test_a_hostile_name_is_refused_with_the_reason(name: str, reason: str) -> None:
    """Case int-20."""
    with pytest.raises(FileRefused) as refusal:
        relative_name(name)
    assert reason in str(refusal.value)


def test_a_refusal_never_repeats_a_character_that_could_spoil_the_display() -> None:
    """Case int-20: a direction mark and a line end are shown escaped."""
    for name in ("\u202edm.exe", "a\nb.md"):
        with pytest.raises(FileRefused) as refusal:
            relative_name(name)
        assert "\u202e" not in str(refusal.value)
        assert "\n" not in str(refusal.value)


def test_every_hostile_name_of_the_case_file_is_refused_or_stays_inside(shared: Path) -> None:
    """Case int-20."""
    names = json.loads((shared / "cases/files/hostile_names.json").read_text(encoding="utf-8"))
    base = Path("/base").resolve()
    kept = []
    for name in names:
        try:
            kept.append(relative_name(name))
        except FileRefused:
            continue
        assert (base / kept[-1]).resolve().is_relative_to(base)
    assert kept == ["%2e%2e%2fevil.md", "con.md", ".md"]


def test_a_name_may_have_1024_bytes_and_no_more() -> None:
    assert relative_name("a" * 1024) == "a" * 1024
    with pytest.raises(FileRefused, match=r"has 1,026 bytes; at most 1,024"):
        relative_name("é" * 513)


def test_the_identity_is_the_base_and_the_name() -> None:
    assert document_id("default", "ops/a.md") == "default/ops/a.md"


def test_one_path_has_one_identity_however_its_separators_are_written() -> None:
    assert document_id("default", "ops\\.//a.md") == "default/ops/a.md"


def test_a_long_identity_is_cut_at_a_character_and_ends_in_a_hash() -> None:
    whole = "default/" + "长" * 100 + ".md"
    # 255 - 13 = 242 bytes are left: 8 of "default/" and 78 characters of 3 bytes make exactly 242.
    expected = "default/" + "长" * 78 + "~" + hashlib.sha256(whole.encode()).hexdigest()[:12]
    assert document_id("default", "长" * 100 + ".md") == expected
    assert len(expected.encode()) == 255


def test_an_identity_of_255_bytes_stays_readable_and_one_more_is_cut() -> None:
    assert document_id("b", "a" * 253) == "b/" + "a" * 253
    assert document_id("b", "a" * 254).startswith("b/" + "a" * 240 + "~")


def test_a_short_name_cannot_take_the_identity_of_a_long_one() -> None:
    shortened = document_id("b", "a" * 400)
    assert document_id("b", shortened.removeprefix("b/")) != shortened


def test_the_same_name_in_two_bases_has_two_identities() -> None:
    """Case int-23."""
    assert document_id("A", "dup_a.md") == "A/dup_a.md"
    assert document_id("B", "dup_a.md") == "B/dup_a.md"


def test_a_slash_cannot_move_from_the_name_into_the_base() -> None:
    with pytest.raises(FileRefused, match="slash"):
        scope_name("a/b")
    with pytest.raises(FileRefused, match="slash"):
        scope_name("a\\b")


def test_a_name_with_the_mark_of_a_chunk_meets_no_chunk_of_another_document() -> None:
    """Case chk-18."""
    with_mark = document_id("default", "a#chunk-1.md")
    without = document_id("default", "a")
    assert chunk_key(with_mark, 0) == "default/a#chunk-1.md#chunk-0"
    assert chunk_key(without, 1) == "default/a#chunk-1"
    assert chunk_id(with_mark, 0) != chunk_id(without, 1)


NAME_WITH_MARKS = st.lists(st.sampled_from(["a", "#chunk-", "1", "10", ".md", "#"]), max_size=6).map(
    "".join
)


@given(NAME_WITH_MARKS, st.integers(0, 110), NAME_WITH_MARKS, st.integers(0, 110))
@settings(deadline=None, max_examples=500)
def test_two_chunks_never_share_an_evidence_key(first: str, i: int, second: str, j: int) -> None:
    """Case chk-18."""
    same = (first, i) == (second, j)
    assert (chunk_key(first, i) == chunk_key(second, j)) == same
    assert chunk_key(first, i).rpartition("#chunk-") == (first, "#chunk-", str(i))


@given(ANY_NAME)
@settings(deadline=None)
def test_an_accepted_name_stays_inside_and_gives_a_clean_identity(name: str) -> None:
    try:
        kept = relative_name(name)
    except FileRefused:
        return
    identity = document_id("default", kept)
    assert len(identity.encode("utf-8")) <= 255
    assert identity.startswith("default/")
    assert "\0" not in identity
    assert (Path("/base") / kept.replace("\\", "/")).resolve().is_relative_to("/base")


def test_category_and_base_are_trimmed_and_composed() -> None:
    assert category_name(" \u3000cafe\u0301 ") == "caf\u00e9"
    assert scope_name("\u00a0cafe\u0301\t".replace("\t", "")) == "caf\u00e9"


@pytest.mark.parametrize("blank", ["", "  ", "\u3000", "\u200b", "\ufeff"])
def test_a_blank_category_is_uncategorized_and_a_blank_base_is_refused(blank: str) -> None:
    assert category_name(blank) == "uncategorized"
    with pytest.raises(FileRefused, match="name of the knowledge base is empty"):
        scope_name(blank)


@pytest.mark.parametrize("clean", [category_name, scope_name])
def test_a_category_or_base_has_at_most_255_bytes_and_no_control_character(clean) -> None:
    assert clean("长" * 85) == "长" * 85
    with pytest.raises(FileRefused, match="has 258 bytes; at most 255"):
        clean("长" * 86)
    with pytest.raises(FileRefused, match=r"U\+0000"):
        clean("a\0b")
