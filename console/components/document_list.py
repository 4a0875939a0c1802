"""The documents of the catalog: finding one, reading its chunks, deleting it.

In: the services. Out: drawing, and a deleting job after a confirmation that names the document.
"""

import streamlit as st

from console import markup
from console.components.actions import start_deleting
from console.components.guard import guard
from console.components.questions import ALL, category_name
from console.components.table import selectable_table
from console.present.documents import DOCUMENT_WIDTHS, document_table, list_line
from console.present.inert import label
from console.state import Session
from console.texts import t
from core.catalog.records import CatalogDocument
from core.indexing.reports import Preview, UploadedFile
from core.indexing.uploading import preview
from core.wiring import Services

_KEPT_DOCUMENTS = 100


def document_list(base: Services) -> None:
    """Draw the list, and the chosen document below it."""
    st.subheader(t("Documents in the catalog"), anchor=False)
    left, right = st.columns([3, 1])
    contains = left.text_input(
        t("Find a document"),
        key=Session.LIST_SEARCH,
        persist_state="session",
        icon=":material/search:",
        placeholder=t("Part of a title or name"),
    )
    category = right.selectbox(
        t("Category"),
        (ALL, *base.categories()),
        key=Session.LIST_CATEGORY,
        persist_state="session",
        format_func=category_name,
    )
    documents = base.catalog.documents(category=category or None, contains=contains or None)
    st.caption(list_line(len(documents), len(base.catalog.documents())))
    if not documents:
        return
    place = selectable_table(
        document_table(documents), Session.LIST, [d.doc_id for d in documents], DOCUMENT_WIDTHS
    )
    if place is None:
        st.caption(t("Select a row to read the chunks of a document or to delete it."))
    else:
        _document(base, documents[place])


def _document(base: Services, document: CatalogDocument) -> None:
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    left.subheader(label(document.title), anchor=False)
    left.text(document.doc_id)
    if not base.settings.console.read_only and right.button(
        t("Delete"),
        icon=":material/delete:",
        key="documents_delete",
        width="stretch",
        disabled=base.jobs.current() is not None,
    ):
        _confirm(base, document)
    with guard():
        made = _chunks(document.original_hash, document.name, document.category, document.kb_scope, base)
        st.html(markup.chunks(made.chunks))


@st.cache_resource(max_entries=_KEPT_DOCUMENTS, show_spinner=t("Reading the document"))
def _chunks(original_hash: str, name: str, category: str, kb_scope: str, _base: Services) -> Preview:
    data = _base.base.originals.get(original_hash)
    return preview(_base.base, UploadedFile(name, data, category, kb_scope))


@st.dialog(t("Delete this document?"))
def _confirm(base: Services, document: CatalogDocument) -> None:
    st.html(markup.notice(document.title, document.doc_id))
    st.text(t("Its original and all of its chunks are removed. No search finds it afterwards."))
    if st.button(
        t("Delete it"), type="primary", icon=":material/delete:", key="documents_delete_confirmed"
    ):
        with guard():
            start_deleting(base, document)
            st.rerun()
