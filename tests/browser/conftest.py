"""What the browser tests need: a real Chromium, driven by Playwright, and the console in a process.

Without Chromium they skip; with `RANKLENS_TEST_REQUIRE_BROWSER=1` they fail instead, so that a check
which must have seen the pages cannot pass without having seen them.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, expect, sync_playwright

from tests.browser.serving import (
    CHROMIUM_FLAGS,
    PATIENCE_MILLISECONDS,
    Console,
    data_folder,
    fits,
    ranklens,
    serving,
)

WIDTH = 1280
DOCUMENTS = {
    "ops/queue-backlog.md": "# Queue backlog\n\nThe queue grows and order confirmations arrive late. "
    "Look for MQ-2201 in the log of the mail worker.\n",
    "ops/disk-full.md": "# Disk full\n\nA node with a full disk stops taking pods. "
    "The kubelet reports DiskPressure and evicts what it can.\n",
    "数据库/连接池耗尽.md": "# 数据库连接池耗尽\n\n日志出现 E-1042，先看 db_pool.max_size。\n",
}


@dataclass
class Seen:
    """What must not happen while a visitor is on the pages."""

    wrong: list[str] = field(default_factory=list)

    def dialog(self, dialog: Dialog) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def error(self, error: Exception) -> None:
        self.wrong.append(f"error on the page: {error}")

    def message(self, message: ConsoleMessage) -> None:
        # At /documents Streamlit looks for its own health check below that address before it finds it.
        if message.type == "error" and "/_stcore/" not in message.location["url"]:
            self.wrong.append(f"console: {message.text}")

    def request(self, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            self.wrong.append(f"request: {request.url}")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the Chromium executable."""
    path = shutil.which("chromium")
    if path is not None:
        return path
    if os.environ.get("RANKLENS_TEST_REQUIRE_BROWSER") == "1":
        pytest.fail("no chromium, and RANKLENS_TEST_REQUIRE_BROWSER=1 asks for one (try `make chromium`)")
    pytest.skip("skipped: no chromium")


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """One headless Chromium for the whole session; a test opens its own context in it."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=chromium, headless=True, args=list(CHROMIUM_FLAGS)
        )
        expect.set_options(timeout=PATIENCE_MILLISECONDS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh visitor at 1280 px.

    Fails the test at its end when anything ran that should not, when a page shows a traceback, or
    when the last page scrolls sideways.
    """
    seen = Seen()
    with browser.new_context(viewport={"width": WIDTH, "height": 1000}) as context:
        opened = context.new_page()
        opened.set_default_timeout(PATIENCE_MILLISECONDS)
        opened.on("dialog", seen.dialog)
        opened.on("pageerror", seen.error)
        opened.on("console", seen.message)
        opened.on("request", seen.request)
        yield opened
        assert seen.wrong == []
        assert "Traceback" not in opened.locator("body").inner_text()
        assert fits(opened)


@pytest.fixture(scope="session")
def data_folders() -> Iterator[Path]:
    """Where data folders lie side by side and share one converted model; removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def filled_console(browser: Browser, data_folders: Path) -> Iterator[Console]:
    """A console on three documents; a test may add to them, and removes what it added."""
    data_dir = data_folder(data_folders, "filled")
    for name, text in DOCUMENTS.items():
        file = data_folders / "documents" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    indexed = ranklens(data_dir, ["index", str(data_folders / "documents"), "--category-from-folder"])
    assert indexed.returncode == 0, indexed.stderr
    with serving(data_dir) as address:
        yield Console(address, data_dir)


@pytest.fixture
def empty_console(browser: Browser, data_folders: Path) -> Iterator[Console]:
    """A console on a data folder that holds nothing yet."""
    data_dir = data_folder(data_folders, "empty")
    with serving(data_dir) as address:
        yield Console(address, data_dir)
    shutil.rmtree(data_dir)
