"""What the last jobs reported, as tables.

In: the services. Out: drawing. Invariant: a report is kept in memory only, so after a restart the
job's own sentence stands alone.
"""

import streamlit as st

from console.components.actions import DELETE, INDEX
from console.components.job_panel import last_outcome, newest_finished
from console.components.table import table
from console.present.documents import outcome_table
from core.indexing.reports import IndexReport
from core.wiring import Services


def upload_report(base: Services) -> None:
    """Show how the last upload or deletion ended, file by file."""
    last_outcome(base, (INDEX, DELETE))
    newest = newest_finished(base, (INDEX, DELETE))
    if newest is not None and isinstance(newest.result, IndexReport):
        table(outcome_table(newest.result.files))
        for warning in newest.result.warnings:
            st.text(warning)
