"""The collection behind the alias: what is live, how it was verified, which builds there are.

In: the services. Out: drawing, and a rebuild job when the button is pressed.
"""

import streamlit as st

from console import markup
from console.components.actions import REBUILD, ROLL_BACK, start_rebuilding, start_rolling_back
from console.components.job_panel import last_outcome
from console.components.lookups import content_version
from console.components.table import selectable_table, table
from console.present.builds import (
    build_table,
    fragmented_sentence,
    live_figures,
    verification_figures,
    verification_table,
)
from console.present.inert import label
from console.state import Session
from console.texts import counted, t
from core.indexing.checking import inconsistencies
from core.indexing.reports import Inconsistency
from core.wiring import Services

_MOST_SENTENCES = 5
_VERIFICATION_PIXELS = 320


def live_build(base: Services) -> None:
    """Draw the live build in figures; draws nothing when none is live."""
    builds = base.base.builds
    for build in builds.builds():
        if build.live:
            fragmented = builds.fragmented(build.name)
            st.html(
                markup.figures(live_figures(build, len(base.catalog.documents()), fragmented=fragmented))
            )
            if fragmented:
                st.html(markup.notice(t("BM25 statistics are fragmented"), fragmented_sentence()))


def rebuild_button(base: Services) -> None:
    """Draw the button that starts a rebuild, and how the last one ended."""
    if not base.settings.console.read_only:
        empty = not base.catalog.documents()
        started = st.button(
            t("Rebuild"),
            icon=":material/sync:",
            type="primary",
            key="collection_rebuild",
            disabled=empty or base.jobs.current() is not None,
            help=t("Makes a new build from the catalog, verifies it, then moves the alias. The live build "
                   "keeps answering until then."),
        )  # fmt: skip
        if started:
            start_rebuilding(base)
            st.rerun()
    last_outcome(base, (REBUILD, ROLL_BACK))


def verification(base: Services) -> None:
    """Draw the checks of the newest build that was verified."""
    verified = [record for record in base.catalog.build_records() if record.verification]
    st.subheader(t("Verification"), anchor=False)
    if not verified or verified[0].verification is None:
        st.caption(t("No build was verified yet."))
        return
    newest = verified[0].verification
    st.caption(t("of build {name}").format(name=verified[0].name))
    st.html(markup.figures(verification_figures(newest)))
    for failure in newest.probe_failures:
        st.text(failure)
    table(verification_table(newest), most_pixels=_VERIFICATION_PIXELS)


def build_list(base: Services) -> None:
    """Draw every build that was started, newest first; a kept one can be made live again."""
    st.subheader(t("Builds"), anchor=False)
    records = base.catalog.build_records()
    if not records:
        st.caption(t("No build was started yet."))
        return
    live, kept = base.base.builds.live(), [build.name for build in base.base.builds.builds()]
    place = selectable_table(
        build_table(records, live, kept), Session.BUILDS, [record.name for record in records]
    )
    if base.settings.console.read_only:
        return
    name = records[place].name if place is not None else None
    if name is None or name not in kept or name == live:
        st.caption(t("Select a kept build to make it live again."))
        return
    if st.button(
        t("Roll back to {name}").format(name=label(name)),
        icon=":material/undo:",
        key="roll_back",
        disabled=base.jobs.current() is not None,
    ):
        start_rolling_back(base, name)
        st.rerun()


def differences(base: Services) -> None:
    """Say which documents the live build and the catalog do not agree on; draws nothing when they do."""
    found = _differences(content_version(base), base)
    if found:
        heading = counted("{count} document differs", "{count} documents differ", len(found))
        st.html(markup.notice(heading, "\n".join(item.sentence for item in found[:_MOST_SENTENCES])))


@st.cache_resource(max_entries=4, show_spinner=False)
def _differences(version: str, _base: Services) -> tuple[Inconsistency, ...]:  # noqa: ARG001 - part of the key
    return inconsistencies(_base.base)
