"""Documents as rows: before indexing, after it, and in the catalog.

In: previews, reports, catalog rows. Out: `DataFrame`s and sentences.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from console.present.tables import INTEGER
from console.present.units import minute, size
from console.texts import chunks, counted, t
from core.catalog.records import CatalogDocument, DocumentState
from core.indexing.reports import FileOutcome, FileReport, Preview

DOCUMENT_WIDTHS = {
    "Title": 180,
    "Name": 190,
    "Category": 85,
    "Knowledge base": 108,
    "State": 108,
    "Size": 54,
}
PREVIEW_WIDTHS = {"File": 180, "Size": 54, "Title": 170, "Encoding": 70, "Remark": 380}
OUTCOME_WIDTHS = {"File": 260, "Outcome": 100, "Reason or remark": 500}

_FEW_FILES = 8


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One chosen file before indexing: a preview, or why it is refused."""

    name: str
    byte_count: int
    preview: Preview | None
    refusal: str


def preview_table(rows: Sequence[PreviewRow]) -> pd.DataFrame:
    """Return one row per chosen file."""
    previews = [row.preview for row in rows]
    return pd.DataFrame(
        {
            t("File"): [row.name for row in rows],
            t("Size"): [size(row.byte_count) for row in rows],
            t("Title"): [preview.document.title if preview else None for preview in previews],
            t("Chunks"): pd.Series([len(p.chunks) if p else None for p in previews], dtype=INTEGER),
            t("Tokens"): pd.Series([_tokens(p) if p else None for p in previews], dtype=INTEGER),
            t("Encoding"): [preview.document.encoding if preview else None for preview in previews],
            t("Remark"): [_remark(row) for row in rows],
        }
    )


def _tokens(preview: Preview) -> int:
    return sum(chunk.token_count for chunk in preview.chunks)


def _remark(row: PreviewRow) -> str:
    if row.preview is None:
        return t("Refused: {reason}").format(reason=row.refusal)
    return " ".join(row.preview.document.warnings)


def outcome_name(outcome: FileOutcome) -> str:
    """Return the shape and word of an outcome."""
    return {
        FileOutcome.INDEXED: t("+ indexed"),
        FileOutcome.REPLACED: t("▲ replaced"),
        FileOutcome.UNCHANGED: t("= unchanged"),
        FileOutcome.REFUSED: t("× refused"),
    }[outcome]


def outcome_table(reports: Sequence[FileReport]) -> pd.DataFrame:
    """Return one row per uploaded file, refused ones first."""
    ordered = sorted(reports, key=lambda report: report.outcome is not FileOutcome.REFUSED)
    return pd.DataFrame(
        {
            t("File"): [report.name for report in ordered],
            t("Outcome"): [outcome_name(report.outcome) for report in ordered],
            t("Chunks"): pd.Series(
                [None if r.outcome is FileOutcome.REFUSED else r.chunk_count for r in ordered],
                dtype=INTEGER,
            ),
            t("Reason or remark"): [
                " ".join([report.reason, *report.warnings]).strip() for report in ordered
            ],
        }
    )


def outcome_line(reports: Sequence[FileReport]) -> str:
    """Count the files by outcome, refused ones first; empty without files."""
    counts = Counter(report.outcome for report in reports)
    order = (FileOutcome.REFUSED, FileOutcome.INDEXED, FileOutcome.REPLACED, FileOutcome.UNCHANGED)
    return " · ".join(
        f"{outcome_name(outcome)} {counts[outcome]:,}" for outcome in order if counts[outcome]
    )


def refusals(reports: Sequence[FileReport]) -> list[str]:
    """Return why files were refused, each with its name."""
    return [
        refusal(report.name, report.reason) for report in reports if report.outcome is FileOutcome.REFUSED
    ]


def refusal(name: str, reason: str) -> str:
    """Write why a file is refused, with its name at the front when the reason does not have it."""
    return reason if name in reason else f"{name}: {reason}"


def worth_reading(reports: Sequence[FileReport]) -> bool:
    """Tell whether the files are few, or one of them was refused or carries a remark."""
    return len(reports) <= _FEW_FILES or any(
        report.outcome is FileOutcome.REFUSED or report.warnings for report in reports
    )


def document_table(documents: Sequence[CatalogDocument]) -> pd.DataFrame:
    """Return one row per document of the catalog."""
    return pd.DataFrame(
        {
            t("Title"): [document.title for document in documents],
            t("Name"): [document.name for document in documents],
            t("Category"): [document.category for document in documents],
            t("Knowledge base"): [document.kb_scope for document in documents],
            t("State"): [state_name(document.state) for document in documents],
            t("Chunks"): pd.Series([document.chunk_count for document in documents], dtype=INTEGER),
            t("Version"): pd.Series([document.version for document in documents], dtype=INTEGER),
            t("Size"): [size(document.byte_count) for document in documents],
            t("Changed (UTC)"): [minute(document.changed_at) for document in documents],
        }
    )


def state_name(state: DocumentState) -> str:
    """Return what a state is called."""
    return t("in the live build") if state is DocumentState.INDEXED else t("kept, not indexed")


def index_label(rows: Sequence[PreviewRow]) -> str:
    """Return the label of the button that starts indexing."""
    ready = [row for row in rows if row.preview is not None]
    count = sum(len(row.preview.chunks) for row in ready if row.preview)
    files = counted("Index {count} file", "Index {count} files", len(ready))
    return f"{files} ({chunks(count)})"


def list_line(shown: int, total: int) -> str:
    """Say how many of the documents are listed."""
    everything = counted("{count} document", "{count} documents", total)
    if shown == total:
        return everything
    return t("{shown} of {everything}").format(shown=shown, everything=everything)
