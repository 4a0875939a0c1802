"""Evidence: what became of every candidate of one lookup."""

import streamlit as st

from console.components import tracing
from console.components.guard import EVIDENCE_PAGE, guard
from console.components.lookups import configured, lookup
from console.components.questions import examples, question
from console.components.starting import searchable
from console.services import services
from console.texts import t

st.header(t("Evidence"), anchor=False)
with guard():
    base = services()
    if not searchable(base):
        st.stop()
    asked = question(base, EVIDENCE_PAGE)
    mode = tracing.configuration_choice(base.configuration.mode)
    if not asked.query:
        examples(base)
        st.stop()
    result = lookup(base, asked.query, configured(base, mode, asked.category))
    tracing.stamp(result)
    tracing.funnel_section(result)
    tracing.attempts_section(result)
    tracing.ledger_section(result)
    tracing.packing_section(result)
    tracing.twins_section(result)
    tracing.projection_section(result)
