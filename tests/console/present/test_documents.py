from dataclasses import replace

from console.present.documents import (
    PreviewRow,
    document_table,
    index_label,
    list_line,
    outcome_line,
    outcome_table,
    preview_table,
    refusals,
    worth_reading,
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


INDEXED = FileReport("a.md", FileOutcome.INDEXED, chunk_count=2)
NO_TEXT = FileReport("b.bin", FileOutcome.REFUSED, "It holds NUL bytes.")
NAMED = FileReport("c.md", FileOutcome.REFUSED, "c.md is empty.")


def test_the_outcomes_of_an_upload_are_counted_with_the_refused_first():
    assert outcome_line([INDEXED, NO_TEXT, INDEXED]) == "× refused 1 · + indexed 2"


def test_a_reason_always_comes_with_the_name_of_the_file_and_never_twice():
    assert refusals([INDEXED, NO_TEXT, NAMED]) == ["b.bin: It holds NUL bytes.", "c.md is empty."]


def test_a_long_report_is_opened_only_when_there_is_something_to_read():
    assert worth_reading([INDEXED])
    assert not worth_reading([INDEXED] * 9)
    assert worth_reading([INDEXED] * 9 + [NAMED])
    assert worth_reading([INDEXED] * 9 + [replace(INDEXED, warnings=("Read as GB18030.",))])
