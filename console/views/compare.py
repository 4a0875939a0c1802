"""Compare: one question, two configurations side by side."""

import streamlit as st

from console.components import comparing
from console.components.guard import COMPARE_PAGE, guard
from console.components.questions import examples, question
from console.components.starting import searchable
from console.services import services
from console.texts import t

st.header(t("Compare"), anchor=False)
with guard():
    base = services()
    if not searchable(base):
        st.stop()
    asked = question(base, COMPARE_PAGE)
    chosen = comparing.choice()
    if not asked.query:
        examples(base)
        st.stop()
    made = comparing.pair(base, asked, chosen)
    comparing.finding(made)
    comparing.columns(made)
    comparing.chart(made)
    comparing.table(made)
