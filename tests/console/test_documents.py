"""Uploading, reading and deleting on the Documents page."""

import pytest
from streamlit.testing.v1 import AppTest

from console.components import actions
from core.indexing.reports import FileOutcome, FileReport, IndexReport
from tests.console.fakes import a_catalog_document, a_scored, fake_services

PAGE = "views/documents.py"
GUIDE = ("guide.md", b"# Guide\n\nFirst part.\n\n## More\n\nSecond part.", "text/markdown")
BINARY = ("image.bin", b"\x00\x01\x02", "application/octet-stream")
REPORT = IndexReport((FileReport("guide.md", FileOutcome.INDEXED, chunk_count=2),), "b", 1.0)


@pytest.fixture
def uploads(monkeypatch):
    handed_over = []

    def index(base, files, progress):
        handed_over.append([(file.name, file.category, file.kb_scope) for file in files])
        return REPORT

    monkeypatch.setattr(actions, "index_files", index)
    return handed_over


def html(at) -> str:
    return "\n".join(block.proto.body for block in at.get("html"))


@pytest.fixture
def page(open_console, tmp_path):
    base = fake_services(
        tmp_path,
        (a_scored("a", dense=0.9),),
        documents=(
            a_catalog_document("ops/a.md", title=":red[Title] $a$"),
            a_catalog_document("net/b.md", category="net"),
        ),
    )
    base.base.originals = {"0" * 64: b"# Kept\n\nThe <b>kept</b> text."}
    at = open_console(base).run().switch_page(PAGE).run()
    assert not at.exception
    return at, base


def choose(at, *files):
    return at.file_uploader[0].set_value(list(files)).run()


def test_files_are_previewed_before_anything_is_indexed(page, uploads):
    at, _ = page
    choose(at, GUIDE, BINARY)
    assert not at.exception
    assert uploads == []
    rows = at.dataframe[0].value
    assert rows["File"].tolist() == ["guide.md", "image.bin"]
    assert rows["Remark"].iloc[1].startswith("Refused: ")
    assert '<ul class="rl-refused"><li><b>×</b> image.bin ' in html(at)
    assert at.button(key="documents_index").label.startswith("Index 1 file (")
    assert "Second part." in html(at)


def test_indexing_hands_all_files_over_once_and_empties_the_uploader(page, uploads):
    at, _ = page
    choose(at, GUIDE, BINARY)
    at.button(key="documents_index").click().run()
    assert not at.exception
    at.run()
    at.run()
    assert uploads == [
        [("guide.md", "uncategorized", "default"), ("image.bin", "uncategorized", "default")]
    ]
    assert at.file_uploader[0].value == []
    assert at.dataframe[0].value["Outcome"].tolist() == ["+ indexed"]


def test_the_chosen_category_and_knowledge_base_go_with_the_files(page, uploads):
    at, _ = page
    at.selectbox(key="documents_upload_category").set_value("net")
    at.text_input(key="documents_upload_scope").set_value("private")
    choose(at, GUIDE)
    at.button(key="documents_index").click().run()
    assert uploads == [[("guide.md", "net", "private")]]


def test_files_that_cannot_be_read_cannot_be_indexed(page, uploads):
    at, _ = page
    choose(at, BINARY)
    assert at.button(key="documents_index").disabled


def test_the_list_is_searched_and_filtered(page):
    at, _ = page
    at.selectbox(key="documents_list_category").set_value("net").run()
    assert at.dataframe[0].value["Name"].tolist() == ["net/b.md"]
    at.text_input(key="documents_list_search").set_value("nothing like it").run()
    assert not at.exception
    assert "0 of 2 documents" in [caption.value for caption in at.caption]


def test_deleting_asks_first_and_names_the_document(open_console, tmp_path, monkeypatch):
    deleted = []
    monkeypatch.setattr(actions, "delete_documents", lambda base, doc_ids: deleted.append(tuple(doc_ids)))

    def page(base, document):
        from console.components import document_list

        document_list._confirm(base, document)

    base, document = fake_services(tmp_path), a_catalog_document(title="<b>Guide</b> :red[x]")
    at = AppTest.from_function(page, args=(base, document)).run()
    assert not at.exception
    assert deleted == []
    assert "&lt;b&gt;Guide&lt;/b&gt; :red[x]" in html(at)
    assert "default/ops/a.md" in html(at)
    at.button(key="documents_delete_confirmed").click().run()
    assert deleted == [("default/ops/a.md",)]
