"""One lookup per configuration, kept, so that a rerun never searches again.

In: the services, a query and a configuration. Out: a `LookupResult`. Invariant: a kept result is used
only for the same query, configuration and content of the base; an error is never kept.
"""

from dataclasses import replace

import streamlit as st

from console.texts import t
from core.model.lookup import LookupResult
from core.model.search import SearchMode
from core.retrieval.configuration import Configuration
from core.wiring import Services

_KEPT_LOOKUPS = 64


def configured(base: Services, mode: SearchMode, category: str | None) -> Configuration:
    """Return the configuration of the settings with a mode and a category of the page."""
    return replace(base.configuration, mode=mode, category=category)


def content_version(base: Services) -> str:
    """Name what the base holds now: the live build, its rows, and the last job that may have written."""
    live = base.base.builds.live()
    last = [f"{job.id}:{job.state}" for job in base.jobs.latest(1)]
    return " ".join([live or "", *last])


def lookup(base: Services, query: str, configuration: Configuration) -> LookupResult:
    """Look a query up, or return what the same lookup gave before.

    Raises:
        RankLensError: as `lookup_knowledge` does.
    """
    return _kept(query, configuration.hash, content_version(base), base, configuration)


@st.cache_resource(max_entries=_KEPT_LOOKUPS, show_spinner=t("Searching"))
def _kept(
    query: str,
    configuration_hash: str,  # noqa: ARG001 - part of the key
    version: str,  # noqa: ARG001 - part of the key
    _base: Services,
    _configuration: Configuration,
) -> LookupResult:
    return _base.lookup(query, _configuration)
