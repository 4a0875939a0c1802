"""How numbers and times are written; a missing one is a dash, never 0."""

from datetime import UTC, datetime

MISSING = "–"
_SHORTEST_MILLISECONDS = 0.1
_WHOLE_MILLISECONDS = 10
_SECOND = 1000
_MINUTE = 60
_HOUR = 3600
_KILOBYTE = 1000
_MEGABYTE = 1_000_000


def milliseconds(value: float | None) -> str:
    """Write a duration: `<0.1 ms`, `0.4 ms`, `12 ms`, `1.3 s`; None was not run."""
    if value is None:
        return MISSING
    if 0 < value < _SHORTEST_MILLISECONDS:
        return f"<{_SHORTEST_MILLISECONDS} ms"
    if value >= _SECOND:
        return f"{value / _SECOND:.1f} s"
    return f"{value:.0f} ms" if value >= _WHOLE_MILLISECONDS else f"{value:.1f} ms"


def seconds(value: float | None) -> str:
    """Write a span of time: `8 s`, `2 min 05 s`, `1 h 03 min`; None is unknown."""
    if value is None:
        return MISSING
    whole = round(value)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02d} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02d} min"


def moment(value: datetime | None) -> str:
    """Write a point in time in UTC, to the second."""
    if value is None:
        return MISSING
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return f"{aware.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def minute(value: datetime) -> str:
    """Write a point in time in UTC, to the minute, for a column that names the zone."""
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M}"


def cosine(value: float) -> str:
    """Write a dense similarity."""
    return f"{value:.2f}"


def bm25(value: float) -> str:
    """Write a BM25 score."""
    return f"{value:.1f}"


def size(count: int) -> str:
    """Write a file's size in bytes, kB or MB of 1,000."""
    if count < _KILOBYTE:
        return f"{count} B"
    return f"{count / _KILOBYTE:.0f} kB" if count < _MEGABYTE else f"{count / _MEGABYTE:.1f} MB"
