"""Deleted documents are gone from the store, the catalog and the originals, in that order."""

from dataclasses import replace

import pytest

from core.errors import DocumentMissing, StoreError
from core.indexing.checking import inconsistencies
from core.indexing.deleting import delete_documents
from core.indexing.reports import DeletionReport, FileOutcome
from core.indexing.uploading import index_files
from tests.core.indexing.material import a_file, files_in, found_by_bm25, live_counts, sections, silent


def test_a_deleted_document_cannot_be_found_at_once_and_leaves_nothing(base, tmp_path):
    index_files(base, [a_file("a.md", sections("alpha", "beta")), a_file("b.md", "# B\n\ngamma")], silent)
    assert delete_documents(base, ["default/a.md"]) == DeletionReport(documents=1, chunks=2, originals=1)
    assert found_by_bm25(base, "alpha") == []
    assert live_counts(base) == {"default/b.md": 1}
    assert len(files_in(tmp_path / "originals")) == 1
    assert inconsistencies(base) == ()


def test_an_original_that_another_document_needs_stays(base, tmp_path):
    """int-23"""
    index_files(base, [a_file(kb_scope="a"), a_file(kb_scope="b")], silent)
    assert delete_documents(base, ["a/ops/a.md"]) == DeletionReport(1, 1, 0)
    assert len(files_in(tmp_path / "originals")) == 1
    assert live_counts(base) == {"b/ops/a.md": 1}
    again = index_files(base, [a_file(kb_scope="a")], silent)
    assert again.files[0].outcome is FileOutcome.INDEXED
    assert live_counts(base) == {"a/ops/a.md": 1, "b/ops/a.md": 1}
    assert base.catalog.document("a/ops/a.md").version == 1
    assert inconsistencies(base) == ()
    delete_documents(base, ["a/ops/a.md", "b/ops/a.md"])
    assert files_in(tmp_path / "originals") == []


def test_an_unknown_document_stops_the_whole_deletion(base):
    index_files(base, [a_file("a.md")], silent)
    with pytest.raises(DocumentMissing, match=r"default/no\.md"):
        delete_documents(base, ["default/a.md", "default/no.md"])
    assert live_counts(base) == {"default/a.md": 1}


def test_the_same_document_named_twice_counts_once(base):
    index_files(base, [a_file("a.md")], silent)
    assert delete_documents(base, ["default/a.md", "default/a.md"]).documents == 1


def test_nothing_to_delete_is_no_error(base):
    assert delete_documents(base, []) == DeletionReport(0, 0, 0)


def test_a_store_that_keeps_chunks_keeps_the_document_in_the_catalog(base):
    index_files(base, [a_file("a.md")], silent)

    class Deaf:
        def __init__(self, inner):
            self.inner = inner

        def delete_document(self, _build, _doc_id):
            return 1

        def __getattr__(self, name):
            return getattr(self.inner, name)

    with pytest.raises(StoreError, match=r"still counts chunks.*default/a.md \(1\)"):
        delete_documents(replace(base, writer=Deaf(base.writer)), ["default/a.md"])
    assert base.catalog.find_document("default/a.md") is not None


def test_documents_can_be_deleted_before_anything_is_published(base, store):
    index_files(base, [a_file("a.md")], silent)
    store.builds.clear()
    store.live = None
    assert delete_documents(base, ["default/a.md"]) == DeletionReport(1, 0, 1)
