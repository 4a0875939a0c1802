"""The line that shows how far a command is."""

import pytest

from core.cli.keeping import progress_line


def test_the_line_shows_stage_and_counts_and_is_cleared_also_when_the_work_stops(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)

    def work() -> None:
        with progress_line() as progress:
            progress("embed", 1200, 5000)
            progress("wait", 3, 0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()

    clear = "\r\x1b[K"
    assert capsys.readouterr().err == f"{clear}embed 1,200 of 5,000{clear}wait 3{clear}"


def test_nothing_is_written_when_nobody_watches(capsys):
    with progress_line() as progress:
        progress("embed", 1, 2)

    assert capsys.readouterr().err == ""
