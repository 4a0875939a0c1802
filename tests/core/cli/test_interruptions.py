"""Ctrl+C and kill -9 in the middle of indexing, in real processes."""

import signal
from pathlib import Path

import pytest

from core import wiring
from core.indexing.checking import inconsistencies
from core.settings import load_settings
from tests.core.cli.processes import HASHING, HELD, finish, start
from tests.core.indexing.material import live_counts, sections

pytestmark = [pytest.mark.milvus, pytest.mark.usefixtures("hashing")]


@pytest.fixture
def folder(place: Path) -> Path:
    """Two documents of two chunks each."""
    for name in ("a.md", "b.md"):
        (place / name).write_text(sections(f"{name} one", f"{name} two"), encoding="utf-8")
    return place


def stop(folder: Path, *paths: str, by: signal.Signals) -> tuple[int, bytes]:
    """Index until the model is asked, then send a signal; return the exit code and standard error."""
    process = start(HELD, "index", *paths, folder=folder)
    assert process.stdout is not None
    assert process.stdout.readline() == b"embedding\n"
    process.send_signal(by)
    _, err = process.communicate()
    return process.returncode, err


def counts() -> dict[str, int]:
    """Chunks of the live build by document, when it and the catalog agree."""
    services = wiring.build(load_settings())
    try:
        assert inconsistencies(services.base) == ()
        return live_counts(services.base)
    finally:
        services.close()


def test_ctrl_c_ends_with_130_and_one_line_and_the_next_run_completes(folder, ranklens):
    code, err = stop(folder, "a.md", "b.md", by=signal.SIGINT)

    assert (code, err) == (130, b"Stopped. Run the same command again to finish it.\n")
    assert ranklens("doctor").code == 1
    assert ranklens("index", "a.md", "b.md").code == 0
    assert counts() == {"default/a.md": 2, "default/b.md": 2}
    assert ranklens("doctor").code == 0


def test_kill_9_while_the_first_build_is_made_leaves_a_base_that_the_next_run_completes(folder, ranklens):
    code, _ = stop(folder, "a.md", "b.md", by=signal.SIGKILL)

    assert code == -signal.SIGKILL
    done = finish(HASHING, "index", "a.md", "b.md", folder=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert counts() == {"default/a.md": 2, "default/b.md": 2}


def test_kill_9_while_files_go_into_a_live_build_leaves_it_answering_and_the_next_run_completes(
    folder, ranklens
):
    assert ranklens("index", "a.md").code == 0
    (folder / "a.md").write_text(sections("changed"), encoding="utf-8")

    code, _ = stop(folder, "a.md", "b.md", by=signal.SIGKILL)

    assert code == -signal.SIGKILL
    assert "default/a.md#chunk-0" in ranklens("search", "one").out
    checked = ranklens("doctor")
    assert checked.code == 1
    assert checked.out.count("is kept but the live build") == 2
    assert ranklens("index", "a.md", "b.md").code == 0
    assert counts() == {"default/a.md": 1, "default/b.md": 2}
