"""Errors of the core as a sentence with a way on; the only place of the console that catches them.

In: a block of a page. Out: its drawing, or the error's own sentence, what to do, and a button.
Invariant: the page ends there, and no traceback is ever shown.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from console import markup
from console.texts import t
from core.errors import (
    BuildInvalid,
    CollectionMismatch,
    CollectionMissing,
    DocumentMissing,
    EmbeddingFailed,
    HybridUnsupported,
    JobRefused,
    RankLensError,
    RequestInvalid,
    SettingsInvalid,
    StoreLocked,
    StoreUnavailable,
)

COMPARE_PAGE = "views/compare.py"
EVIDENCE_PAGE = "views/evidence.py"
DOCUMENTS_PAGE = "views/documents.py"
COLLECTION_PAGE = "views/collection.py"

_REBUILD = (CollectionMissing, CollectionMismatch, HybridUnsupported, BuildInvalid)


@contextmanager
def guard() -> Iterator[None]:
    """Run a block; an error of the core ends the page with its sentence and a way on."""
    try:
        yield
    except RankLensError as error:
        trouble(error)
        st.stop()


def trouble(error: RankLensError) -> None:
    """Show an error: what kind of trouble it is, its own sentence, and where to go."""
    st.html(markup.trouble(heading(error), str(error)))
    with st.container(horizontal=True, vertical_alignment="center"):
        if not isinstance(error, RequestInvalid):
            st.button(t("Try again"), icon=":material/refresh:", key="trouble_retry")
        if isinstance(error, _REBUILD):
            st.page_link(COLLECTION_PAGE, label=t("Go to Collection"), icon=":material/database:")
        if isinstance(error, CollectionMissing | DocumentMissing):
            st.page_link(DOCUMENTS_PAGE, label=t("Go to Documents"), icon=":material/description:")


def heading(error: RankLensError) -> str:
    """Name the kind of trouble in a few words."""
    names: tuple[tuple[type[RankLensError], str], ...] = (
        (SettingsInvalid, t("The settings cannot be used")),
        (RequestInvalid, t("This cannot be asked")),
        (StoreLocked, t("Another process holds the knowledge base")),
        (StoreUnavailable, t("The store does not answer")),
        (CollectionMissing, t("No build is published yet")),
        (CollectionMismatch, t("The live build does not fit the settings")),
        (HybridUnsupported, t("This build cannot be searched in hybrid mode")),
        (BuildInvalid, t("The build did not pass its verification")),
        (EmbeddingFailed, t("The embedding model is not usable")),
        (JobRefused, t("Another job is running")),
    )
    return next((name for kind, name in names if isinstance(error, kind)), t("This did not work"))
