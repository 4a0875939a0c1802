"""What the last jobs reported, as tables.

In: the services. Out: drawing. Invariant: a report is kept in memory only, so after a restart the
job's own sentence stands alone.
"""

import streamlit as st

from console import markup
from console.components.actions import DELETE, INDEX
from console.components.job_panel import last_outcome, newest_finished
from console.components.table import table
from console.present.documents import OUTCOME_WIDTHS, outcome_line, outcome_table, refusals, worth_reading
from console.present.inert import label
from core.indexing.reports import IndexReport
from core.wiring import Services


def upload_report(base: Services) -> None:
    """Show how the last upload or deletion ended, file by file."""
    last_outcome(base, (INDEX, DELETE))
    newest = newest_finished(base, (INDEX, DELETE))
    if newest is not None and isinstance(newest.result, IndexReport):
        files = newest.result.files
        with st.expander(label(outcome_line(files)), expanded=worth_reading(files)):
            table(outcome_table(files), OUTCOME_WIDTHS)
            if refused := refusals(files):
                st.html(markup.refusals(refused))
        for warning in newest.result.warnings:
            st.text(warning)
