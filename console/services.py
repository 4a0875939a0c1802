"""The services of this process: built once, shared by every session and page.

In: the settings. Out: `Services`. Invariant: a failed build is not kept, so the next run tries again.
"""

import logging
import threading

import streamlit as st

from core import wiring
from core.errors import RankLensError
from core.settings import load_settings

_LOG = logging.getLogger(__name__)


def build() -> wiring.Services:
    """Wire the core from the present settings.

    Raises:
        RankLensError: the settings, the catalog or the store cannot be used; says which.
    """
    return wiring.build(load_settings())


@st.cache_resource(show_spinner="Opening the knowledge base")
def services() -> wiring.Services:
    """Return the services of this process, built at the first call.

    Jobs that an ended process left active are marked as interrupted then. The model and the live build
    are loaded in the background, so that the first page need not wait for them and the first question
    seldom does.
    """
    built = build()
    built.jobs.recover()
    threading.Thread(target=_warm_up, args=(built,), name="warm-up", daemon=True).start()
    return built


def _warm_up(built: wiring.Services) -> None:
    try:
        built.warm_up()
    except RankLensError as error:
        # Whoever needs the model or the store meets the same error, as a sentence on the page.
        _LOG.info("Warming up stopped: %s", error)
