"""The same text under two names, and what a character of either language costs."""

from pathlib import Path

import pytest

from core.model.lookup import Evidence
from core.model.search import Route
from core.retrieval.evidence import refine
from core.retrieval.lookup import lookup_knowledge
from core.retrieval.packing import pack
from tests.builders import a_hit, a_judgement, a_list
from tests.core.retrieval.scripted import ScriptedEmbedder, ScriptedPort, a_configuration


def refined(*hits):
    return refine(hits, {f"{hit.doc_id}#chunk-{hit.chunk_index}": a_judgement() for hit in hits},
                  return_n=5, max_chunks_per_document=2)  # fmt: skip


def test_a_copy_under_another_name_is_evidence_of_its_own(shared: Path):
    """ret-02 asks for one piece that names the other; the design dedups by evidence key alone.

    Each copy can be cited, and neither document goes missing because of what another one says.
    """
    names = ("dup_a.md", "dup_b_copy.md")
    first, second = ((shared / "cases" / "files" / name).read_text(encoding="utf-8") for name in names)
    hits = [
        a_hit(f"default/{name}", 0, rank=rank, content=content, source=name)
        for rank, (name, content) in enumerate(zip(names, (first, second), strict=True), start=1)
    ]
    result = refined(*hits)

    assert first == second
    assert [item.hit.source for item in result.kept] == ["dup_a.md", "dup_b_copy.md"]
    assert result.dropped == ()


def test_overlapping_neighbours_fill_no_more_than_the_cap_of_their_document():
    """ret-02: the cap keeps windows of one document from filling the list, and the ledger says so."""
    text = "数据库连接池耗尽。" * 20
    windows = [a_hit("kb/a", place, rank=place + 1, content=text[place * 70 :][:100]) for place in range(4)]
    result = refined(*windows, a_hit("kb/b", 0, rank=5, content="other"))

    assert [(item.hit.doc_id, item.hit.chunk_index) for item in result.kept] == [
        ("kb/a", 0), ("kb/a", 1), ("kb/b", 0),
    ]  # fmt: skip
    assert [entry.reason for entry in result.dropped] == [
        "chunk number 3 of its document in this list, the cap is 2",
        "chunk number 4 of its document in this list, the cap is 2",
    ]


@pytest.mark.parametrize("letter", ["数", "x"])
def test_a_thousand_letters_of_either_language_take_a_thousand_of_the_budget(letter):
    """ret-10 asks for one named counter for both; the design counts characters, and says so in the name.

    What stands around the text is counted too: 5 of the title and 7 of the breadcrumb.
    """
    hit = a_hit("kb/a", 0, content=letter * 1000, title="Title", breadcrumb="One > 2")
    piece = Evidence("kb/a#chunk-0", hit, a_judgement())

    (whole,) = pack([piece], budget_characters=1012).packed
    (part,) = pack([piece], budget_characters=1011).packed
    assert (whole.characters, whole.truncated, len(whole.excerpt)) == (1012, False, 1000)
    assert (part.characters, part.truncated, len(part.excerpt)) == (1011, True, 999)


def test_what_a_lookup_packs_is_counted_in_characters_and_within_the_budget():
    """ret-10: over the whole line."""
    port = ScriptedPort({(Route.FUSED, None): a_list(Route.FUSED, {"a": 0.03, "b": 0.02}),
                         (Route.DENSE, None): a_list(Route.DENSE, {"a": 0.9, "b": 0.8})})  # fmt: skip
    # Each piece takes 5 of the title and 13 of "Content of a.".
    result = lookup_knowledge(
        port, ScriptedEmbedder(), "数据库", a_configuration(context_budget_characters=35)
    )

    assert (result.packing.budget_characters, result.packing.used_characters) == (35, 18)
    assert [entry.reason for entry in result.packing.dropped] == ["needs 18 characters, 17 of 35 are left"]
