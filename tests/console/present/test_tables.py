import pandas as pd

from console.present.compare import Listing, compare
from console.present.ledger import ledger_rows
from console.present.tables import change_table, csv, ledger_table
from core.model.search import SearchMode
from tests.console.fakes import a_lookup, a_scored

ROWS = (a_scored("a", dense=0.9), a_scored("d", sparse=9.0, title="=cmd()"))


def table() -> pd.DataFrame:
    left, right = a_lookup(ROWS, SearchMode.DENSE), a_lookup(ROWS)
    made = compare(left, right, Listing.FOUND, left_name="dense", right_name="hybrid")
    return change_table(left, right, made)


def test_a_missing_rank_or_score_stays_missing():
    rows = table().set_index("Evidence key")
    new = rows.loc["default/d.md#chunk-0"]
    assert pd.isna(new["dense #"])
    assert pd.isna(new["Cosine"])
    assert (new["hybrid #"], new["BM25 #"], new["Change"]) == (2, 1, "+ new")
    assert new["End with dense"] == "no candidate"


def test_the_ledger_table_has_a_row_for_every_candidate():
    rows = ledger_rows(a_lookup(ROWS))
    made = ledger_table(rows)
    assert list(made["Evidence key"]) == ["default/a.md#chunk-0", "default/d.md#chunk-0"]
    assert made["BM25"].isna().tolist() == [True, False]


def test_csv_opens_as_text_in_a_spreadsheet_and_has_empty_cells_for_missing_numbers():
    text = csv(table()).decode("utf-8-sig")
    assert csv(table()).startswith(b"\xef\xbb\xbf")
    assert "'=cmd()" in text
    assert ",0," not in text
