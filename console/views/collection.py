"""Collection: the live build, rebuilding it, and what was verified."""

import streamlit as st

from console.components.guard import guard
from console.components.job_panel import job_panel
from console.components.live_build import build_list, differences, live_build, rebuild_button, verification
from console.components.starting import searchable
from console.services import services
from console.texts import t

st.header(t("Collection"), anchor=False)
with guard():
    base = services()
    if not searchable(base):
        build_list(base)
        st.stop()
    live_build(base)
    differences(base)
    job_panel(base)
    rebuild_button(base)
    verification(base)
    build_list(base)
