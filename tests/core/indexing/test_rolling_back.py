"""Going back to an older build never brings deleted documents back, and says what is missing."""

import pytest

from core.catalog.records import DocumentState
from core.errors import BuildInvalid, CollectionMissing
from core.indexing.base import fingerprint
from core.indexing.building import rebuild
from core.indexing.checking import inconsistencies
from core.indexing.deleting import delete_documents
from core.indexing.rolling_back import roll_back
from core.indexing.uploading import index_files
from tests.core.indexing.material import a_file, found_by_bm25, live_counts, silent


def test_rolling_back_lists_what_the_older_build_does_not_hold(base):
    texts = {name: f"# {name}\n\nword{name}" for name in ("same", "changed", "deleted")}
    old = index_files(base, [a_file(f"{n}.md", text) for n, text in texts.items()], silent).build
    new = rebuild(base, silent).build
    index_files(base, [a_file("changed.md", "# c\n\nnewer"), a_file("added.md")], silent)
    delete_documents(base, ["default/deleted.md"])

    missing = roll_back(base, old)

    assert base.builds.live() == old
    assert [item.doc_id for item in missing] == ["default/added.md", "default/changed.md"]
    assert found_by_bm25(base, "worddeleted") == []
    states = {row.name: row.state for row in base.catalog.documents()}
    assert states == {
        "same.md": DocumentState.INDEXED,
        "changed.md": DocumentState.STORED,
        "added.md": DocumentState.STORED,
    }
    assert roll_back(base, new) == ()
    assert len(found_by_bm25(base, "newer")) == 1
    assert inconsistencies(base) == ()


def test_an_upload_after_rolling_back_brings_a_missing_document_in(base):
    old = index_files(base, [a_file("a.md")], silent).build
    rebuild(base, silent)
    index_files(base, [a_file("b.md")], silent)
    roll_back(base, old)
    report = index_files(base, [a_file("b.md")], silent)
    assert report.build == old
    assert live_counts(base) == {"default/a.md": 1, "default/b.md": 1}
    assert inconsistencies(base) == ()


def test_an_unknown_build_is_an_error_that_lists_the_known_ones(base):
    old = index_files(base, [a_file("a.md")], silent).build
    with pytest.raises(CollectionMissing, match=f"no build biz_hybrid_x.*{old}"):
        roll_back(base, "biz_hybrid_x")


def test_a_build_that_was_never_published_cannot_be_rolled_back_to(base):
    old = index_files(base, [a_file("a.md")], silent).build
    base.builds.create("biz_hybrid_half", fingerprint(base), expected_rows=0)
    with pytest.raises(BuildInvalid, match="never published"):
        roll_back(base, "biz_hybrid_half")
    assert base.builds.live() == old
