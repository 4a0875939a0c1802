"""Long work in the background, one piece at a time, that a person can watch and cancel.

In: a function that takes a progress callback. Out: frozen `Job` snapshots. Invariants: at most one
job is active in a process; what is shown survives a page reload (memory) and the process (catalog);
however the work ends, the job ends with a state and a sentence.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime

from core.catalog.catalog import Catalog
from core.catalog.records import JobRecord, JobState, utc_now
from core.errors import JobCancelled, JobRefused, RankLensError, StoreError
from core.ports import StageProgress

PERSIST_SECONDS = 0.5
CLOSE_SECONDS = 10.0
REMEMBERED_JOBS = 20
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """A job at one moment.

    Attributes:
        kind: for example `index` or `rebuild`.
        title: what it does, for a person.
        stage: verb of the stage it is in or ended in; "" before the first.
        done: steps of that stage.
        total: 0 when unknown.
        started_at: when it was accepted.
        finished_at: None while it is active.
        message: how it ended; "" while it is active.
        result: what the work returned; None before that and after a restart of the process.
        stage_steps: steps done since the stage was first reported in this process.
        stage_seconds: time in which they were done.
    """

    id: str
    kind: str
    title: str
    state: JobState
    started_at: datetime
    stage: str = ""
    done: int = 0
    total: int = 0
    finished_at: datetime | None = None
    message: str = ""
    result: object = None
    stage_steps: int = 0
    stage_seconds: float = 0.0

    @property
    def rate(self) -> float | None:
        """Steps per second of the present stage; None until there is something to measure."""
        if self.stage_steps <= 0 or self.stage_seconds <= 0:
            return None
        return self.stage_steps / self.stage_seconds

    @property
    def seconds_left(self) -> float | None:
        """Seconds to the end of the present stage at that rate; None when unknown or not running."""
        rate = self.rate
        if rate is None or self.total <= 0 or self.state is not JobState.RUNNING:
            return None
        return max(self.total - self.done, 0) / rate


class Jobs:
    """The jobs of this process and those before it.

    Args:
        catalog: where they are kept.
        clock: the present time, aware UTC.
        seconds: a clock that only goes forward.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        clock: Callable[[], datetime] = utc_now,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._catalog = catalog
        self._clock = clock
        self._seconds = seconds
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._active_id: str | None = None
        self._worker: threading.Thread | None = None
        self._cancelled = threading.Event()

    def recover(self) -> int:
        """Mark jobs that an ended process left active as INTERRUPTED; return how many. Call at start."""
        return self._catalog.interrupt_jobs(self._clock())

    def start(self, kind: str, title: str, work: Callable[[StageProgress], object]) -> str:
        """Start work in the background; return the job's id.

        Raises:
            JobRefused: another job is active; says which and since when.
            StoreUnavailable: the catalog cannot be written; nothing was started.
        """
        with self._lock:
            active = self._active()
            if active is not None:
                raise JobRefused(
                    f'"{active.title}" is running since {active.started_at:%Y-%m-%d %H:%M:%S} UTC, and '
                    "only one job runs at a time. Wait until it ends, or cancel it."
                )
            job = Job(uuid.uuid4().hex, kind, title, JobState.QUEUED, self._clock())
            self._catalog.save_job(_record(job))
            self._cancelled = threading.Event()
            self._jobs = dict([*self._jobs.items(), (job.id, job)][-REMEMBERED_JOBS:])
            self._active_id = job.id
            self._worker = threading.Thread(
                target=self._run, args=(job.id, work, self._cancelled), name=f"job-{kind}", daemon=True
            )
            self._worker.start()
        return job.id

    def current(self) -> Job | None:
        """Return the active job, or None."""
        with self._lock:
            return self._active()

    def get(self, job_id: str) -> Job | None:
        """Return a job of this process or an earlier one, or None when there is none."""
        with self._lock:
            job = self._jobs.get(job_id)
        if job is not None:
            return job
        record = self._catalog.job_record(job_id)
        return _job(record) if record else None

    def latest(self, limit: int = 20) -> tuple[Job, ...]:
        """List the newest jobs, newest first."""
        records = self._catalog.job_records(limit)
        with self._lock:
            return tuple(self._jobs.get(record.id) or _job(record) for record in records)

    def cancel(self, job_id: str) -> bool:
        """Ask the active job to stop at its next step; False when this job is not active."""
        with self._lock:
            if self._active_id != job_id:
                return False
            self._cancelled.set()
            return True

    def wait(self, timeout_seconds: float) -> bool:
        """Wait for the active job; False when it has not ended in time."""
        with self._lock:
            worker = self._worker
        if worker is None:
            return True
        worker.join(timeout_seconds)
        return not worker.is_alive()

    def close(self, timeout_seconds: float = CLOSE_SECONDS) -> bool:
        """Cancel the active job and wait for it; False when it has not ended in time."""
        with self._lock:
            self._cancelled.set()
        return self.wait(timeout_seconds)

    def _active(self) -> Job | None:
        return self._jobs.get(self._active_id) if self._active_id is not None else None

    def _run(
        self, job_id: str, work: Callable[[StageProgress], object], cancelled: threading.Event
    ) -> None:
        watch = _Watch(self, job_id, cancelled, self._seconds)
        self.update(job_id, lambda job: replace(job, state=JobState.RUNNING), persist=True)
        result: object = None
        try:
            result = work(watch.progress)
            state, message = JobState.DONE, "Done."
        except JobCancelled as error:
            state, message = JobState.CANCELLED, str(error)
        except RankLensError as error:
            state, message = JobState.FAILED, str(error)
        # The top of the worker thread: whatever the fault, the job must end and free its place.
        except BaseException as error:  # noqa: BLE001
            _LOG.exception("Job %s met an unexpected fault", job_id)
            state = JobState.FAILED
            message = (
                f"An unexpected fault ended this job: {type(error).__name__}: {error}. The log has the "
                "details."
            )
        self._finish(job_id, state, message, result)

    def _finish(self, job_id: str, state: JobState, message: str, result: object) -> None:
        with self._lock:
            job = self._jobs[job_id]
        ended = replace(job, state=state, message=message, result=result, finished_at=self._clock())
        # Kept before it shows as ended, so that nobody sees an end that a restart would forget.
        self._persist(ended)
        with self._lock:
            self._jobs[job_id] = ended
            self._active_id = None

    def update(self, job_id: str, change: Callable[[Job], Job], *, persist: bool) -> None:
        """Change the snapshot of the active job; for its own progress only."""
        with self._lock:
            job = change(self._jobs[job_id])
            self._jobs[job_id] = job
        if persist:
            self._persist(job)

    def _persist(self, job: Job) -> None:
        # Work goes on when its progress cannot be written; the memory still has it.
        try:
            self._catalog.save_job(_record(job))
        except StoreError as error:
            _LOG.warning("The state of job %s could not be kept: %s", job.id, error)


@dataclass(frozen=True, slots=True)
class _Span:
    """When a stage was first reported, at which count, and the count now."""

    started: float
    first_done: int
    done: int


class _Watch:
    """Turns progress calls of one job into snapshots, and cancellation into `JobCancelled`."""

    def __init__(
        self, jobs: Jobs, job_id: str, cancelled: threading.Event, seconds: Callable[[], float]
    ) -> None:
        self._jobs = jobs
        self._id = job_id
        self._cancelled = cancelled
        self._seconds = seconds
        self._stage: str | None = None
        self._spans: dict[str, _Span] = {}
        self._kept_at = 0.0

    def progress(self, stage: str, done: int, total: int) -> None:
        """See `StageProgress`."""
        now = self._seconds()
        span = self._spans.get(stage)
        # Stages may take turns (embed, write, embed ...); one that counts from the front began anew.
        if span is None or done < span.done:
            span = _Span(now, done, done)
        self._spans[stage] = replace(span, done=done)
        keep = stage != self._stage or now - self._kept_at >= PERSIST_SECONDS
        self._stage = stage
        if keep:
            self._kept_at = now
        self._jobs.update(
            self._id,
            lambda job: replace(
                job,
                stage=stage,
                done=done,
                total=total,
                stage_steps=done - span.first_done,
                stage_seconds=now - span.started,
            ),
            persist=keep,
        )
        if self._cancelled.is_set():
            where = f"{done} of {total}" if total else "its start"
            raise JobCancelled(f'Stopped by a person in stage "{stage}" at {where}.')


def _record(job: Job) -> JobRecord:
    return JobRecord(**{field.name: getattr(job, field.name) for field in fields(JobRecord)})


def _job(record: JobRecord) -> Job:
    return Job(**asdict(record))
