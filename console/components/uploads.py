"""Choosing files, seeing their chunks, and indexing them.

In: the services. Out: drawing, and an indexing job when the button is pressed. Invariant: files are
handed over once; the uploader gets a new key with it, so a rerun finds it empty.
"""

from collections.abc import Sequence

import streamlit as st

from console import markup
from console.components.actions import start_indexing
from console.components.table import table
from console.present.documents import PREVIEW_WIDTHS, PreviewRow, index_label, preview_table, refusal
from console.state import Session
from console.texts import chunks, t
from core.errors import FileRefused
from core.indexing.reports import UploadedFile
from core.indexing.uploading import preview
from core.model.documents import DEFAULT_KB_SCOPE, UNCATEGORIZED
from core.wiring import Services

_KEPT_PREVIEWS = 200


def upload(base: Services) -> None:
    """Draw the uploader, the preview of what was chosen, and the button that indexes it."""
    files = chosen_files(base)
    if not files:
        return
    rows = [_previewed(file.name, file.data, file.category, file.kb_scope, base) for file in files]
    table(preview_table(rows), PREVIEW_WIDTHS)
    refused = [refusal(row.name, row.refusal) for row in rows if row.preview is None]
    if refused:
        st.html(markup.refusals(refused))
    if st.button(
        index_label(rows),
        type="primary",
        icon=":material/upload:",
        key="documents_index",
        disabled=len(refused) == len(rows) or base.jobs.current() is not None,
    ):
        # The refused ones go along, so that the report names them too.
        start_indexing(base, files)
        st.session_state[Session.UPLOAD_ROUND] += 1
        st.rerun()
    _chunks_of(rows)


def chosen_files(base: Services) -> list[UploadedFile]:
    """Return the files in the uploader with their category and knowledge base."""
    left, middle, right = st.columns([3, 1, 1])
    round_number = st.session_state.setdefault(Session.UPLOAD_ROUND, 0)
    chosen = left.file_uploader(
        t("Markdown or text files"),
        accept_multiple_files=True,
        key=f"{Session.UPLOAD}_{round_number}",
        max_upload_size=base.settings.console.upload_limit_megabytes,
    )
    known = dict.fromkeys([UNCATEGORIZED, *base.categories()])
    category = middle.selectbox(
        t("Category"),
        tuple(known),
        key=Session.UPLOAD_CATEGORY,
        accept_new_options=True,
        persist_state="session",
        help=t("Choose one, or type a new one."),
    )
    kb_scope = right.text_input(
        t("Knowledge base"),
        value=DEFAULT_KB_SCOPE,
        key=Session.UPLOAD_SCOPE,
        persist_state="session",
        help=t("An access boundary: a lookup in one knowledge base never sees another."),
    )
    return [
        UploadedFile(file.name, file.getvalue(), category or "", kb_scope or "") for file in chosen or ()
    ]


@st.cache_resource(max_entries=_KEPT_PREVIEWS, show_spinner=t("Reading the files"))
def _previewed(name: str, data: bytes, category: str, kb_scope: str, _base: Services) -> PreviewRow:
    try:
        made = preview(_base.base, UploadedFile(name, data, category, kb_scope))
    except FileRefused as error:
        return PreviewRow(name, len(data), None, str(error))
    return PreviewRow(name, len(data), made, "")


def _chunks_of(rows: Sequence[PreviewRow]) -> None:
    readable = [row for row in rows if row.preview]
    if not readable:
        return
    chosen = st.selectbox(
        t("Chunks of"), range(len(readable)), format_func=lambda place: readable[place].name
    )
    made = readable[chosen].preview
    if made is not None:
        with st.expander(t("Preview: {chunks}").format(chunks=chunks(len(made.chunks))), expanded=True):
            st.html(markup.chunks(made.chunks))
