"""What differs between the live build and the catalog is named with a way out."""

from dataclasses import replace

from core.catalog.records import DocumentState
from core.indexing.checking import inconsistencies
from core.indexing.reports import InconsistencyKind
from core.indexing.uploading import index_files
from tests.builders import a_chunk
from tests.core.indexing.material import a_file, sections, silent


def test_a_base_without_documents_and_builds_is_consistent(base):
    assert inconsistencies(base) == ()


def test_lost_rows_ghosts_and_unindexed_documents_are_told_apart(base):
    live = index_files(base, [a_file("a.md"), a_file("b.md", sections("one", "two"))], silent).build
    base.writer.delete_document(live, "default/b.md")
    ghost = a_chunk("boo", doc_id="default/ghost.md")
    base.writer.upsert(live, [ghost], base.embedder.embed_passages([ghost.search_text]))
    row = base.catalog.document("default/a.md")
    base.catalog.save_document(
        replace(row, doc_id="default/c.md", name="c.md", state=DocumentState.STORED, chunk_count=None)
    )
    found = inconsistencies(base)
    assert [(item.doc_id, item.kind, item.expected, item.stored) for item in found] == [
        ("default/b.md", InconsistencyKind.COUNT_DIFFERS, 2, 0),
        ("default/c.md", InconsistencyKind.NOT_INDEXED, None, 0),
        ("default/ghost.md", InconsistencyKind.GHOST, 0, 1),
    ]
    assert found[0].sentence == (
        f'"default/b.md" was indexed with 2 chunks, but the live build {live} has 0. Upload it again or '
        "start a rebuild."
    )
    assert all("rebuild" in item.sentence for item in found)


def test_a_catalog_without_a_live_build_says_so(base, store):
    index_files(base, [a_file("a.md")], silent)
    store.builds.clear()
    store.live = None
    assert ["there is no live build" in item.sentence for item in inconsistencies(base)] == [True]
