"""The pipeline of one lookup: funnel, attempts, ledger, duplicates, packing, projection, times.

In: a `LookupResult`. Out: drawing, one function per section.
"""

import streamlit as st

from console import charts, markup
from console.components.table import download, table
from console.present import conditions
from console.present.evidence import (
    attempt_cards,
    background_line,
    packing_finding,
    portions,
    route_counts,
)
from console.present.ledger import funnel, funnel_finding, ledger_rows, stage_name, twins
from console.present.tables import LEDGER_WIDTHS, ledger_table
from console.present.units import MISSING, milliseconds
from console.state import Session, Url
from console.texts import counted, sentence, t
from core.model.lookup import LookupResult, Stage
from core.model.search import SearchMode
from core.retrieval.projection import projection_json


def configuration_choice(default: SearchMode) -> SearchMode:
    """Draw the choice of the configuration that is traced."""
    chosen = st.segmented_control(
        t("Configuration"),
        tuple(SearchMode),
        default=default,
        required=True,
        key=Url.CONFIGURATION,
        bind="query-params",
        format_func=str,
    )
    return chosen or default


def stamp(result: LookupResult) -> None:
    """Draw what this run was made with."""
    times = " · ".join(
        f"{name} {milliseconds(value)}" for name, value in conditions.stage_times(result.milliseconds)
    )
    st.html(
        markup.figures(
            (
                (t("Configuration"), result.configuration_hash),
                (t("Build"), result.build),
                (t("Hits by route"), route_counts(result)),
                (t("Total"), milliseconds(result.milliseconds.get("total"))),
            )
        )
    )
    st.html(markup.facts([times]))


def funnel_section(result: LookupResult) -> None:
    """Draw what is left after each stage."""
    steps = funnel(result.ledger)
    found = funnel_finding(result.ledger)
    st.plotly_chart(
        charts.funnel_figure(steps, found), key="evidence_funnel", config=charts.CONFIG, alt=found
    )


def attempts_section(result: LookupResult) -> None:
    """Draw the attempts and which one was returned."""
    st.subheader(t("Attempts"), anchor=False)
    st.html(markup.facts([sentence(result.retrieval.reason), background_line(result)]))
    st.html(markup.attempts(attempt_cards(result)))
    audit = conditions.audit_line(result.retrieval.chosen.response)
    st.html(markup.facts([audit, *conditions.route_troubles(result.retrieval.chosen.response)]))


def ledger_section(result: LookupResult) -> None:
    """Draw one row per candidate, filtered by its end."""
    st.subheader(t("Ledger"), anchor=False)
    rows = ledger_rows(result)
    present = [stage for stage in (Stage.KEPT, *Stage) if any(row.end is stage for row in rows)]
    ends = st.pills(
        t("End"),
        tuple(dict.fromkeys(present)),
        selection_mode="multi",
        format_func=lambda stage: f"{stage_name(stage)} ({sum(row.end is stage for row in rows)})",
        key=Session.LEDGER_END,
        label_visibility="collapsed",
    )
    shown = [row for row in rows if not ends or row.end in ends]
    listed = ledger_table(shown)
    table(listed.drop(columns=[t("Fused"), t("Evidence key")]), LEDGER_WIDTHS)
    download(listed, "ranklens-ledger.csv")


def twins_section(result: LookupResult) -> None:
    """Draw each duplicate beside the copy that stands for it."""
    found = twins(result)
    if not found:
        st.subheader(t("Duplicates"), anchor=False)
        st.caption(t("No candidate was dropped as the duplicate of another."))
        return
    st.subheader(counted("{count} duplicate", "{count} duplicates", len(found)), anchor=False)
    for twin in found:
        left, right = st.columns(2)
        rank = MISSING if twin.kept_rank is None else f"#{twin.kept_rank}"
        left.html(
            markup.quoted(t("stands for both: {rank}").format(rank=rank), twin.kept_content or MISSING)
        )
        right.html(markup.quoted(f"{twin.evidence_key}: {twin.reason}", twin.dropped_content))


def packing_section(result: LookupResult) -> None:
    """Draw the budget in pack order."""
    packing = result.packing
    pieces, found = portions(packing), packing_finding(packing)
    st.subheader(t("Packing"), anchor=False)
    figure = charts.packing_figure(pieces, packing.budget_characters, found)
    st.plotly_chart(figure, key="evidence_packing", config=charts.CONFIG, alt=found)
    st.html(markup.portions(pieces))


def projection_section(result: LookupResult) -> None:
    """Draw the projection exactly as the agent gets it."""
    st.subheader(t("What the agent gets"), anchor=False)
    text = projection_json(result.projection)
    st.code(text, language="json", wrap_lines=True, height=420)
    st.download_button(
        t("Download as JSON"),
        data=text.encode("utf-8"),
        file_name="ranklens-projection.json",
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
    )
