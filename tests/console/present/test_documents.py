from console.present.documents import (
    PreviewRow,
    document_table,
    index_label,
    list_line,
    outcome_table,
    preview_table,
)
from core.indexing.reports import FileOutcome, FileReport, Preview
from tests.builders import a_chunk, a_document
from tests.console.fakes import a_catalog_document

READ = PreviewRow("a.md", 1200, Preview(a_document(), (a_chunk(), a_chunk(chunk_index=1))), "")
REFUSED = PreviewRow("b.bin", 10, None, "It holds NUL bytes.")


def test_a_refused_file_has_its_reason_and_no_chunk_count():
    rows = preview_table([READ, REFUSED])
    assert rows["Remark"].tolist() == ["", "Refused: It holds NUL bytes."]
    assert rows["Chunks"].isna().tolist() == [False, True]
    assert rows["Tokens"].iloc[0] == 20


def test_the_button_counts_only_files_that_can_be_indexed():
    assert index_label([READ, REFUSED]) == "Index 1 file (2 chunks)"


def test_refused_files_stand_first_in_a_report():
    rows = outcome_table(
        [
            FileReport("a.md", FileOutcome.INDEXED, chunk_count=2),
            FileReport("b.bin", FileOutcome.REFUSED, "No text."),
        ]
    )
    assert rows["Outcome"].tolist() == ["× refused", "+ indexed"]
    assert rows["Chunks"].isna().tolist() == [True, False]


def test_a_document_that_is_not_indexed_has_no_chunk_count():
    rows = document_table([a_catalog_document(chunk_count=None)])
    assert rows["Chunks"].isna().tolist() == [True]


def test_a_filtered_list_says_how_many_there_are():
    assert list_line(3, 3) == "3 documents"
    assert list_line(1, 3) == "1 of 3 documents"
