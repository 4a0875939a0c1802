"""The way on when there is nothing to search yet.

In: the services. Out: whether the base can be searched; else the next step, drawn. Invariant: an
empty base and a base without a build look different.
"""

import streamlit as st

from console import markup
from console.components.actions import INDEX, REBUILD, start_indexing, start_rebuilding
from console.components.guard import DOCUMENTS_PAGE
from console.components.job_panel import job_panel, last_outcome
from console.texts import counted, t
from core.indexing.reports import UploadedFile
from core.sample import sample_files
from core.wiring import Services


def searchable(base: Services) -> bool:
    """Tell whether a build is live; draw what to do when none is."""
    if base.base.builds.live() is not None:
        return True
    if base.jobs.current() is not None:
        job_panel(base)
        st.caption(t("Nothing can be searched until this job has published a build."))
        return False
    last_outcome(base, (INDEX, REBUILD))
    documents = base.catalog.documents()
    if documents:
        _no_build(base, len(documents))
    else:
        empty_base(base)
    return False


def _no_build(base: Services, documents: int) -> None:
    message = counted(
        "{count} document is kept, but no build is published, so nothing can be searched.",
        "{count} documents are kept, but no build is published, so nothing can be searched.",
        documents,
    )
    st.html(markup.notice(t("No build is published yet"), message))
    if not base.settings.console.read_only:
        started = st.button(
            t("Build it now"),
            type="primary",
            icon=":material/database:",
            key="starting_rebuild",
        )
        if started:
            start_rebuilding(base)
            st.rerun()


def empty_base(base: Services) -> None:
    """Offer the sample base and the upload page."""
    files = [UploadedFile(file.name, file.data, file.category) for file in sample_files()]
    message = t(
        "Upload your own documents, or start with the sample base: runbooks in English and Chinese, "
        "written for trying this console."
    )
    st.html(markup.notice(t("The base is empty"), message))
    with st.container(horizontal=True, vertical_alignment="center"):
        if not base.settings.console.read_only:
            started = st.button(
                sample_label(len(files)),
                type="primary",
                icon=":material/auto_stories:",
                key="starting_sample",
            )
            if started:
                start_indexing(base, files)
                st.rerun()
        st.page_link(DOCUMENTS_PAGE, label=t("Upload documents"), icon=":material/upload:")


def sample_label(files: int) -> str:
    """Return the label of the button that indexes the sample base."""
    return counted("Index the sample base ({count} file)", "Index the sample base ({count} files)", files)
