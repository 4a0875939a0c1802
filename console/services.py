"""The services of this process: built once, shared by every session and page.

In: the settings. Out: `Services`. Invariant: a failed build is not kept, so the next run tries again.
"""

import streamlit as st

from core import wiring
from core.settings import load_settings


def build() -> wiring.Services:
    """Wire the core from the present settings.

    Raises:
        RankLensError: the settings, the catalog or the store cannot be used; says which.
    """
    return wiring.build(load_settings())


@st.cache_resource(show_spinner="Opening the knowledge base")
def services() -> wiring.Services:
    """Return the services of this process, built at the first call.

    Jobs that an ended process left active are marked as interrupted then.
    """
    built = build()
    built.jobs.recover()
    return built
