"""The running job with its bar, and how the last one ended.

In: the services. Out: drawing. Invariant: the state comes from `jobs`, so a reload or a second
browser shows the same; the page runs again once when the job ends, and nothing ticks while none runs.
"""

import streamlit as st

from console import markup
from console.components.guard import guard
from console.present.jobs import outcome, progress_line, share, went_well
from console.texts import t
from core.jobs import Job
from core.wiring import Services

_SECONDS_BETWEEN_LOOKS = 1.0
_JOBS_LOOKED_AT = 20


def job_panel(base: Services) -> None:
    """Show the running job; draws nothing while none runs."""
    job = base.jobs.current()
    if job is not None:
        _running(base, job.id)


@st.fragment(run_every=_SECONDS_BETWEEN_LOOKS)
def _running(base: Services, job_id: str) -> None:
    with guard():
        job = base.jobs.get(job_id)
        if job is None or not job.state.active:
            st.rerun()
        with st.container(border=True, key="job_panel"):
            left, right = st.columns([5, 1], vertical_alignment="center")
            left.html(markup.job(job.title, progress_line(job)))
            if right.button(t("Cancel"), icon=":material/stop_circle:", key="job_cancel", width="stretch"):
                base.jobs.cancel(job.id)
            part = share(job)
            if part is not None:
                st.progress(part)


def newest_finished(base: Services, kinds: tuple[str, ...]) -> Job | None:
    """Return the newest job of these kinds that has ended; None when there is none."""
    ended = (job for job in base.jobs.latest(_JOBS_LOOKED_AT) if not job.state.active)
    return next((job for job in ended if job.kind in kinds), None)


def last_outcome(base: Services, kinds: tuple[str, ...]) -> None:
    """Say how the newest finished job of these kinds ended; draws nothing when there is none."""
    job = newest_finished(base, kinds)
    if job is not None:
        st.html(markup.outcome(outcome(job), good=went_well(job)))
