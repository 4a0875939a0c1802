"""Documents: upload, preview, index, find, delete."""

import streamlit as st

from console.components.document_list import document_list
from console.components.guard import guard
from console.components.job_panel import job_panel
from console.components.reports import upload_report
from console.components.starting import empty_base
from console.components.uploads import upload
from console.services import services
from console.texts import t

st.header(t("Documents"), anchor=False)
with guard():
    base = services()
    if base.settings.console.read_only:
        st.caption(t("This console is read-only: documents can be read, not changed."))
    else:
        upload(base)
    job_panel(base)
    upload_report(base)
    if base.catalog.documents():
        document_list(base)
    elif base.jobs.current() is None:
        empty_base(base)
