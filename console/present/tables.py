"""Rows as pandas tables, and tables as CSV that a spreadsheet opens without running anything.

In: rows of the other modules. Out: `DataFrame`s whose columns carry their shown names. Invariant: a
missing number stays missing (`<NA>`, an empty cell); it is never 0.
"""

from collections.abc import Sequence

import pandas as pd

from console.palette import MOVE_SHAPES
from console.present.compare import Comparison, listed
from console.present.hits import short_key, title_of
from console.present.inert import cell
from console.present.ledger import LedgerRow, ledger_rows, stage_name
from console.texts import t
from core.model.lookup import LookupResult
from core.model.search import RouteScore

INTEGER = "Int64"
CHANGE_WIDTHS = {"Title": 170, "Chunk": 210, "Change": 80}
LEDGER_WIDTHS = {"Title": 130, "Chunk": 110, "Level": 62, "End": 140, "Reason": 300}
NUMBER = "Float64"
SCORE_FORMATS = {"Cosine": "%.3f", "BM25": "%.2f", "Fused": "%.5f"}


def change_table(left: LookupResult, right: LookupResult, comparison: Comparison) -> pd.DataFrame:
    """Return one row per chunk of either list, the right list's order first.

    Ranks and scores of the routes are those of the right lookup where it has the candidate, else
    those of the left one.
    """
    known = {row.evidence_key: row for result in (left, right) for row in ledger_rows(result)}
    hits = {**listed(left, comparison.listing), **listed(right, comparison.listing)}
    ends = [{row.evidence_key: row for row in reversed(ledger_rows(result))} for result in (left, right)]
    keys = [
        *comparison.right_keys,
        *(key for key in comparison.left_keys if key not in comparison.right_keys),
    ]
    changes = [comparison.changes[key] for key in keys]
    rows = [known.get(key) for key in keys]
    columns: dict[str, pd.Series] = {
        t("Title"): pd.Series([title_of(hits[key]) for key in keys], dtype="str"),
        t("Chunk"): pd.Series([short_key(key) for key in keys], dtype="str"),
        comparison.left_name + " #": pd.Series([change.left_rank for change in changes], dtype=INTEGER),
        comparison.right_name + " #": pd.Series([change.right_rank for change in changes], dtype=INTEGER),
        t("Change"): pd.Series([f"{MOVE_SHAPES[c.move]} {c.move}" for c in changes], dtype="str"),
        **_route_columns(rows),
    }
    for name, side in zip((comparison.left_name, comparison.right_name), ends, strict=True):
        columns[t("End with {name}").format(name=name)] = pd.Series(
            [stage_name(side[key].end) if key in side else t("no candidate") for key in keys], dtype="str"
        )
    columns[t("Evidence key")] = pd.Series(keys, dtype="str")
    return pd.DataFrame(columns)


def ledger_table(rows: Sequence[LedgerRow]) -> pd.DataFrame:
    """Return the ledger, one row per candidate."""
    return pd.DataFrame(
        {
            t("Title"): pd.Series([row.title for row in rows], dtype="str"),
            t("Chunk"): pd.Series([short_key(row.evidence_key) for row in rows], dtype="str"),
            **_route_columns(rows),
            t("Level"): pd.Series([row.level for row in rows], dtype="str"),
            t("End"): pd.Series([stage_name(row.end) for row in rows], dtype="str"),
            t("Reason"): pd.Series([row.reason for row in rows], dtype="str"),
            t("Evidence key"): pd.Series([row.evidence_key for row in rows], dtype="str"),
        }
    )


def _route_columns(rows: Sequence[LedgerRow | None]) -> dict[str, pd.Series]:
    dense = [row.dense if row else None for row in rows]
    sparse = [row.sparse if row else None for row in rows]
    fused = [row.fused if row else None for row in rows]
    return {
        t("Dense #"): _ranks(dense),
        t("Cosine"): _scores(dense, 3),
        t("BM25 #"): _ranks(sparse),
        t("BM25"): _scores(sparse, 2),
        t("Fused #"): _ranks(fused),
        t("Fused"): _scores(fused, 5),
    }


def _ranks(scores: Sequence[RouteScore | None]) -> pd.Series:
    return pd.Series([score.rank if score else None for score in scores], dtype=INTEGER)


def _scores(scores: Sequence[RouteScore | None], digits: int) -> pd.Series:
    return pd.Series([round(score.score, digits) if score else None for score in scores], dtype=NUMBER)


def csv(table: pd.DataFrame) -> bytes:
    """Write a table as UTF-8 CSV with a byte order mark, so that spreadsheets read Chinese text."""
    safe = table.copy()
    for name in safe.columns:
        if safe[name].dtype == "str":
            safe[name] = safe[name].map(cell, na_action="ignore")
    return safe.to_csv(index=False).encode("utf-8-sig")
