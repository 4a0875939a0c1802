from console.present.jobs import outcome, progress_line, share
from core.catalog.records import JobState
from core.jobs import Job
from tests.console.fakes import MOMENT


def test_an_unknown_total_gives_no_share_and_no_time_left():
    job = Job("1", "rebuild", "Rebuild", JobState.RUNNING, MOMENT, stage="wait")
    assert share(job) is None
    assert progress_line(job) == "wait"


def test_rate_and_time_left_come_from_measured_steps():
    job = Job(
        "1",
        "rebuild",
        "Rebuild",
        JobState.RUNNING,
        MOMENT,
        stage="embed",
        done=50,
        total=150,
        stage_steps=50,
        stage_seconds=10.0,
    )
    assert share(job) == 50 / 150
    assert progress_line(job) == "embed · 50 of 150 · 5.0 per second · 20 s left"


def test_a_failed_job_gives_its_reason():
    job = Job(
        "1", "rebuild", "Rebuild", JobState.FAILED, MOMENT, finished_at=MOMENT, message="The disk is full."
    )
    assert outcome(job) == "Rebuild: failed at 2026-01-31 12:00:00 UTC. The disk is full."
