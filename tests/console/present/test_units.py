from datetime import UTC, datetime, timedelta, timezone

from console.present.units import milliseconds, minute, moment, seconds, size


def test_what_was_not_measured_is_a_dash_and_never_zero():
    assert (milliseconds(None), seconds(None), moment(None)) == ("–", "–", "–")


def test_durations_get_the_unit_that_reads_best():
    assert [milliseconds(value) for value in (0.0, 0.02, 9.94, 10.0, 999.0, 1250.0)] == [
        "0.0 ms",
        "<0.1 ms",
        "9.9 ms",
        "10 ms",
        "999 ms",
        "1.2 s",
    ]
    assert [seconds(value) for value in (0.4, 59, 65, 3780)] == ["0 s", "59 s", "1 min 05 s", "1 h 03 min"]


def test_times_are_written_in_utc_whatever_zone_they_come_in():
    east = datetime(2026, 1, 31, 20, 5, 9, tzinfo=timezone(timedelta(hours=8)))
    assert moment(east) == "2026-01-31 12:05:09 UTC"
    assert minute(datetime(2026, 1, 31, 12, 5, 9, tzinfo=UTC)) == "2026-01-31 12:05"


def test_sizes_count_in_thousands():
    assert [size(count) for count in (0, 999, 1000, 1_500_000)] == ["0 B", "999 B", "1 kB", "1.5 MB"]
