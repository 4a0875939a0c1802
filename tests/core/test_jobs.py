"""One job at a time, watched, cancelled, and kept over a restart."""

import logging
import threading
from datetime import UTC, datetime

import pytest

from core.catalog.catalog import INTERRUPTED_MESSAGE, open_catalog
from core.catalog.records import JobRecord, JobState
from core.errors import EmbeddingFailed, JobRefused, StoreUnavailable
from core.jobs import PERSIST_SECONDS, REMEMBERED_JOBS, Job, Jobs

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
PATIENCE_SECONDS = 20


class Seconds:
    """A clock that moves only when told."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def catalog(tmp_path):
    opened = open_catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    yield opened
    opened.close()


@pytest.fixture
def seconds():
    return Seconds()


@pytest.fixture
def jobs(catalog, seconds):
    opened = Jobs(catalog, clock=lambda: NOW, seconds=seconds)
    yield opened
    assert opened.close(PATIENCE_SECONDS)


class Held:
    """Work that stops at a gate until the test opens it."""

    def __init__(self, result="finished"):
        self.reached, self.gate, self.result = threading.Event(), threading.Event(), result

    def __call__(self, progress):
        progress("embed", 1, 4)
        self.reached.set()
        self.gate.wait(PATIENCE_SECONDS)
        progress("embed", 2, 4)
        return self.result


def finished(jobs, job_id):
    assert jobs.wait(PATIENCE_SECONDS)
    return jobs.get(job_id)


def test_a_job_runs_in_the_background_and_keeps_its_result(jobs, catalog):
    work = Held()
    job_id = jobs.start("index", "Index 3 files", work)
    assert work.reached.wait(PATIENCE_SECONDS)
    job = jobs.current()
    assert (job.id, job.kind, job.title, job.state) == (job_id, "index", "Index 3 files", JobState.RUNNING)
    assert (job.stage, job.done, job.total, job.finished_at) == ("embed", 1, 4, None)
    work.gate.set()
    job = finished(jobs, job_id)
    assert (job.state, job.result, job.done, job.finished_at) == (JobState.DONE, "finished", 2, NOW)
    assert jobs.current() is None
    assert catalog.job_record(job_id).state is JobState.DONE


def test_a_second_job_is_refused_with_the_name_and_the_start_of_the_first(jobs):
    """lif-04"""
    work = Held()
    first = jobs.start("rebuild", "Rebuild the base", work)
    assert work.reached.wait(PATIENCE_SECONDS)
    with pytest.raises(JobRefused, match='"Rebuild the base" is running since 2026-01-31 12:00:00 UTC'):
        jobs.start("index", "Index", Held())
    work.gate.set()
    finished(jobs, first)
    second = jobs.start("index", "Index", lambda progress: 7)
    assert finished(jobs, second).result == 7


def test_of_many_starts_at_once_one_wins(jobs):
    """lif-04"""
    work, barrier, outcomes = Held(), threading.Barrier(8), []

    def start():
        barrier.wait()
        try:
            outcomes.append(jobs.start("rebuild", "Rebuild", work))
        except JobRefused:
            outcomes.append(None)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work.gate.set()
    assert len([outcome for outcome in outcomes if outcome]) == 1


def test_cancelling_stops_the_work_at_its_next_step_and_says_where(jobs):
    work = Held()
    job_id = jobs.start("index", "Index", work)
    assert work.reached.wait(PATIENCE_SECONDS)
    assert jobs.cancel(job_id) is True
    work.gate.set()
    job = finished(jobs, job_id)
    assert (job.state, job.message) == (
        JobState.CANCELLED,
        'Stopped by a person in stage "embed" at 2 of 4.',
    )
    assert job.result is None
    assert jobs.cancel(job_id) is False


def test_a_cancelled_job_does_not_cancel_the_next(jobs):
    work = Held()
    first = jobs.start("index", "Index", work)
    jobs.cancel(first)
    work.gate.set()
    finished(jobs, first)
    second = jobs.start("index", "Index", lambda progress: progress("load", 1, 1))
    assert finished(jobs, second).state is JobState.DONE


def test_an_error_of_ours_becomes_a_failed_job_with_its_sentence_at_its_step(jobs):
    """lif-01"""

    def work(progress):
        progress("embed", 60, 100)
        raise EmbeddingFailed("The model cannot be loaded.")

    job = finished(jobs, jobs.start("rebuild", "Rebuild", work))
    assert (job.state, job.message) == (JobState.FAILED, "The model cannot be loaded.")
    assert (job.stage, job.done, job.total) == ("embed", 60, 100)


@pytest.mark.parametrize("fault", [KeyError("doc_id"), SystemExit(3)])
def test_any_other_fault_is_a_failed_job_with_its_type_and_a_trace_in_the_log(jobs, caplog, fault):
    def work(progress):
        raise fault

    with caplog.at_level(logging.ERROR, logger="core.jobs"):
        job = finished(jobs, jobs.start("index", "Index", work))
    assert job.state is JobState.FAILED
    assert job.message.startswith(f"An unexpected fault ended this job: {type(fault).__name__}: ")
    assert "Traceback" in caplog.text
    assert jobs.current() is None


def test_rate_and_time_left_come_from_the_steps_of_the_stage(jobs, seconds):
    seen = []

    def work(progress):
        progress("embed", 100, 1000)  # known vectors, no work of this run
        seen.append(jobs.current())
        seconds.now += 5
        progress("embed", 200, 1000)
        seen.append(jobs.current())
        progress("write", 200, 1000)
        seconds.now += 5
        progress("embed", 300, 1000)
        seen.append(jobs.current())

    job = finished(jobs, jobs.start("index", "Index", work))
    assert [(shown.rate, shown.seconds_left) for shown in seen] == [
        (None, None),
        (100 / 5, 800 / 20),
        (200 / 10, 700 / 20),
    ]
    assert (job.rate, job.seconds_left) == (20.0, None)


def test_a_stage_that_begins_anew_is_measured_anew(jobs, seconds):
    def work(progress):
        progress("embed", 10, 10)
        seconds.now += 1
        progress("embed", 2, 4)
        seconds.now += 1
        progress("embed", 3, 4)
        seen.append(jobs.current().rate)

    seen = []
    finished(jobs, jobs.start("index", "Index", work))
    assert seen == [1.0]


def test_an_unknown_total_has_no_time_left():
    job = Job("1", "k", "t", JobState.RUNNING, NOW, "wait", 3, 0, stage_steps=3, stage_seconds=1.0)
    assert (job.rate, job.seconds_left) == (3.0, None)


def test_progress_is_kept_at_each_stage_and_at_most_every_half_second(jobs, catalog, seconds, monkeypatch):
    kept = []
    save = catalog.save_job
    monkeypatch.setattr(
        catalog,
        "save_job",
        lambda record: (kept.append((record.state.value, record.stage, record.done)), save(record)),
    )

    def work(progress):
        for done in range(1, 4):
            progress("load", done, 3)
        progress("embed", 1, 3)
        progress("embed", 2, 3)
        seconds.now += PERSIST_SECONDS
        progress("embed", 3, 3)

    finished(jobs, jobs.start("index", "Index", work))
    assert kept == [
        ("queued", "", 0),
        ("running", "", 0),
        ("running", "load", 1),
        ("running", "embed", 1),
        ("running", "embed", 3),
        ("done", "embed", 3),
    ]


def test_work_goes_on_when_its_progress_cannot_be_kept(jobs, catalog, monkeypatch, caplog):
    job_id = None
    save = catalog.save_job

    def full(record):
        if record.state is not JobState.QUEUED:
            raise StoreUnavailable("The disk is full.")
        save(record)

    monkeypatch.setattr(catalog, "save_job", full)
    job_id = jobs.start("index", "Index", lambda progress: progress("load", 1, 1))
    assert finished(jobs, job_id).state is JobState.DONE
    assert "The disk is full." in caplog.text


def test_a_job_that_cannot_be_kept_is_not_started(jobs, catalog, monkeypatch):
    def full(_record):
        raise StoreUnavailable("The disk is full.")

    monkeypatch.setattr(catalog, "save_job", full)
    with pytest.raises(StoreUnavailable):
        jobs.start("index", "Index", lambda progress: None)
    assert jobs.current() is None


def test_jobs_of_an_ended_process_become_interrupted_at_start(catalog):
    catalog.save_job(JobRecord("old", "rebuild", "Rebuild", JobState.RUNNING, "embed", 6, 10, NOW))
    jobs = Jobs(catalog, clock=lambda: NOW)
    assert jobs.recover() == 1
    job = jobs.get("old")
    assert (job.state, job.message, job.done) == (JobState.INTERRUPTED, INTERRUPTED_MESSAGE, 6)
    assert jobs.current() is None


def test_the_newest_jobs_come_first_with_results_of_this_process_only(jobs, catalog):
    catalog.save_job(JobRecord("old", "index", "Index", JobState.DONE, "", 0, 0, NOW.replace(year=2025)))
    job_id = jobs.start("index", "Index", lambda progress: "kept in memory")
    finished(jobs, job_id)
    assert [(job.id, job.result) for job in jobs.latest()] == [(job_id, "kept in memory"), ("old", None)]
    assert jobs.get("no such job") is None


def test_results_of_long_ago_are_read_from_the_catalog(jobs):
    first = jobs.start("index", "Index", lambda progress: "result")
    finished(jobs, first)
    for _ in range(REMEMBERED_JOBS):
        finished(jobs, jobs.start("index", "Index", lambda progress: None))
    assert (jobs.get(first).state, jobs.get(first).result) == (JobState.DONE, None)


def test_closing_cancels_the_active_job_and_waits_for_it(catalog):
    jobs = Jobs(catalog)
    work = Held()
    job_id = jobs.start("index", "Index", work)
    assert work.reached.wait(PATIENCE_SECONDS)
    assert jobs.close(0.0) is False
    work.gate.set()
    assert jobs.close(PATIENCE_SECONDS) is True
    assert jobs.get(job_id).state is JobState.CANCELLED
