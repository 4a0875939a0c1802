"""The real console in a process of its own, and what a person does on its pages.

In: a data folder. Out: the address of a console that listens, until the block ends. Invariant: the
process that was started is ended, whatever happened in between.
"""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import FilePayload, Locator, Page, expect

ROOT = Path(__file__).resolve().parents[2]
STREAMLIT = Path(sys.executable).with_name("streamlit")
RANKLENS = Path(sys.executable).with_name("ranklens")
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
START_SECONDS = 120.0
STOP_SECONDS = 30.0
PATIENCE_MILLISECONDS = 40_000
"""How long a page may take for one step; far more than it needs on an idle machine."""

SETTLED = '[data-testid="stApp"][data-test-script-state="notRunning"]'
SKELETON = '[data-testid="stSkeleton"]'
ADDRESSES = {"Compare": "", "Evidence": "evidence", "Documents": "documents", "Collection": "collection"}


@dataclass(frozen=True)
class Console:
    """A console that listens, and the data folder it works on."""

    address: str
    data_dir: Path


def data_folder(parent: Path, name: str) -> Path:
    """Make a fresh data folder that shares the converted model with its neighbours."""
    models = parent / "models"
    models.mkdir(exist_ok=True)
    folder = parent / name
    folder.mkdir()
    (folder / "models").symlink_to(models, target_is_directory=True)
    return folder


def environment(data_dir: Path) -> dict[str, str]:
    """Return this process's environment without settings of its own, bound to a data folder.

    The store is named too, so that a `ranklens.toml` in the project cannot lead to another one. Small
    batches let a job report and stop soon.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RANKLENS_")}
    own = {"RANKLENS_DATA_DIR": str(data_dir), "RANKLENS_MILVUS__URI": str(data_dir / "milvus.db")}
    return {**kept, **own, "RANKLENS_EMBEDDING__BATCH_SIZE": "8", "OMP_NUM_THREADS": "1"}


def ranklens(data_dir: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and return what it said."""
    return subprocess.run(
        [str(RANKLENS), *arguments],
        cwd=ROOT,
        env=environment(data_dir),
        capture_output=True,
        text=True,
        check=False,
        timeout=START_SECONDS * 3,
    )


@contextmanager
def serving(data_dir: Path) -> Iterator[str]:
    """Run the console on a free port until the block ends; yields its address without a slash."""
    port = _free_port()
    command = [
        *(str(STREAMLIT), "run", "console/app.py", "--server.headless", "true"),
        *("--server.port", str(port), "--server.fileWatcherType", "none"),
    ]
    with (data_dir / "console.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment(data_dir), stdout=log, stderr=subprocess.STDOUT
        )
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            _stop(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Return when the port takes connections.

    Raises:
        RuntimeError: the process ended, or took too long.
    """
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the console ended with exit code {process.returncode}")
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            # Waiting for the process is the pause; it returns early only when there is nothing to wait for.
            _pause(process, seconds=0.1)
    raise RuntimeError(f"the console does not listen on port {port} after {START_SECONDS} seconds")


def _pause(process: "subprocess.Popen[bytes]", *, seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_SECONDS)


def settle(page: Page) -> None:
    """Wait until the script has run to its end and everything it sent is drawn."""
    expect(page.locator(SETTLED)).to_be_visible(timeout=PATIENCE_MILLISECONDS)
    expect(page.locator(SKELETON)).to_have_count(0, timeout=PATIENCE_MILLISECONDS)


def open_page(page: Page, address: str, name: str, **asked: str) -> None:
    """Open a page of the console by its address, with what is asked in it."""
    page.goto(f"{address}/{ADDRESSES[name]}{'?' if asked else ''}{urlencode(asked)}")
    arrived(page, name)


def go_to(page: Page, name: str) -> None:
    """Open a page by its link in the navigation."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
    arrived(page, name)


def arrived(page: Page, name: str) -> None:
    """Wait until a page stands."""
    heading = page.get_by_role("heading", name=name, exact=True, level=2)
    expect(heading).to_be_visible(timeout=PATIENCE_MILLISECONDS)
    settle(page)


def ask(page: Page, query: str) -> None:
    """Enter a question on Compare or Evidence and wait for the answer."""
    field = page.get_by_label("Query")
    field.fill(query)
    field.press("Enter")
    settle(page)


def fits(page: Page) -> bool:
    """Tell whether nothing on the page makes it scroll sideways."""
    return bool(
        page.evaluate(
            """() => [document.documentElement, document.querySelector('[data-testid="stMain"]')]
            .every(element => element.scrollWidth <= element.clientWidth)"""
        )
    )


def choose_files(page: Page, files: Mapping[str, str]) -> None:
    """Put files into the uploader of Documents and wait for their preview."""
    page.locator('input[type="file"]').set_input_files(
        [
            FilePayload(name=name, mimeType="text/markdown", buffer=text.encode())
            for name, text in files.items()
        ]
    )
    expect(index_button(page)).to_be_visible()
    settle(page)


def index_button(page: Page) -> Locator:
    """Return the button that indexes the chosen files; another one offers the sample base."""
    return page.get_by_role("button", name=re.compile(r"Index \d+ files? \("))


def find_document(page: Page, part: str) -> None:
    """Search the list of Documents so that one document is left, and select it."""
    field = page.get_by_label("Find a document")
    field.fill(part)
    field.press("Enter")
    expect(page.get_by_text("1 of ", exact=False)).to_be_visible()
    settle(page)
    _first_row(page.get_by_test_id("stDataFrame").last)
    expect(page.get_by_role("button", name="Delete", exact=True)).to_be_enabled()


def _first_row(grid: Locator) -> None:
    """Click the mark of the first row; a grid is painted, so there is no element to click."""
    grid.scroll_into_view_if_needed()
    grid.click(position={"x": 16, "y": 35 + 17})


def delete_selected(page: Page) -> None:
    """Delete the selected document, with the confirmation, and wait for the outcome."""
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    expect(page.locator(".rl-outcome")).to_contain_text("Delete ")
    expect(page.get_by_role("dialog")).to_have_count(0)
    settle(page)


def badges(column: Locator, place: int) -> list[str]:
    """Return the badges of a card, places from 0."""
    return column.locator(".rl-card").nth(place).locator(".rl-badge").all_inner_texts()
