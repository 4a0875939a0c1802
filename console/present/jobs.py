"""A job as it is shown while it runs and after it ended.

In: a job. Out: the share done, and sentences. Invariant: nothing is estimated before it was measured;
an unknown total gives no share and no time left.
"""

from console.present.units import moment, seconds
from console.texts import t
from core.catalog.records import JobState
from core.jobs import Job


def share(job: Job) -> float | None:
    """Return how much of the present stage is done, in [0, 1]; None while the total is unknown."""
    return min(1.0, job.done / job.total) if job.total else None


def progress_line(job: Job) -> str:
    """Write stage, counts, rate and time left, as far as they are known."""
    parts = [job.stage or t("waiting")]
    if job.total:
        parts.append(t("{done:,} of {total:,}").format(done=job.done, total=job.total))
    if job.rate:
        parts.append(t("{rate:,.1f} per second").format(rate=job.rate))
    if job.seconds_left is not None:
        parts.append(t("{time} left").format(time=seconds(job.seconds_left)))
    return " · ".join(parts)


def outcome(job: Job) -> str:
    """Say how a job ended, in one line."""
    ended = {
        JobState.DONE: t("{title}: done at {time}."),
        JobState.FAILED: t("{title}: failed at {time}."),
        JobState.CANCELLED: t("{title}: cancelled at {time}."),
        JobState.INTERRUPTED: t("{title}: interrupted; the process ended while it ran."),
    }
    text = ended[job.state].format(title=job.title, time=moment(job.finished_at))
    return text if went_well(job) else f"{text} {job.message}".strip()


def went_well(job: Job) -> bool:
    """Tell whether the job reached its end."""
    return job.state is JobState.DONE
