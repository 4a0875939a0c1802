"""The console: page configuration and navigation, nothing else."""

from pathlib import Path

import streamlit as st

from console.markup import STYLE
from console.texts import t

HERE = Path(__file__).parent
st.set_page_config(
    page_title="RankLens", page_icon=str(HERE / "icon.svg"), layout="wide", initial_sidebar_state=220
)
st.logo(HERE / "logo.svg", icon_image=HERE / "icon.svg")
st.html(STYLE)
page = st.navigation(
    {
        t("Find out"): [
            st.Page("views/compare.py", title=t("Compare"), icon=":material/compare_arrows:", default=True),
            st.Page("views/evidence.py", title=t("Evidence"), icon=":material/account_tree:"),
        ],
        t("Keep"): [
            st.Page("views/documents.py", title=t("Documents"), icon=":material/description:"),
            st.Page("views/collection.py", title=t("Collection"), icon=":material/database:"),
        ],
    }
)
page.run()
