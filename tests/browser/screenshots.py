"""Pictures of the pages for the README: `make screenshots`.

In: the sample base in a data folder of its own. Out: `docs/images/<page>-<light|dark>.png`. Invariant:
every picture comes from the real console, in one state that a person reaches by clicking.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, FilePayload, Page, ViewportSize, expect, sync_playwright

from core.sample import EXAMPLE_QUERIES
from tests.browser.serving import (
    CHROMIUM_FLAGS,
    PATIENCE_MILLISECONDS,
    ROOT,
    data_folder,
    open_page,
    ranklens,
    serving,
    settle,
)

FOLDER = ROOT / "docs" / "images"
WIDTH = 1280
MOST_BYTES = 400_000
DRAWN = """() => document.fonts.ready.then(
    () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
)"""
ENGLISH = """# Queue backlog

The queue `mail-out` grows and customers get their order confirmation late.

## Check

Count the workers, then look for MQ-2201 in their log.
"""
CHINESE = """# 消息队列积压

消息队列 `mail-out` 堆积，订单确认邮件发送延迟。

## 处理

先看消费者数量，再看日志里有没有错误码 MQ-2201。
"""
UPLOADS = (
    ("queue-backlog.md", ENGLISH),
    ("消息队列积压.md", CHINESE),
    ("mail-out.bin", "\x00\x01\x02"),
)


def compare(page: Page, address: str) -> None:
    """Show the first example."""
    open_page(page, address, "Compare", q=EXAMPLE_QUERIES[0].query)


def evidence(page: Page, address: str) -> None:
    """Show the pipeline of the first example."""
    open_page(page, address, "Evidence", q=EXAMPLE_QUERIES[0].query)


def documents(page: Page, address: str) -> None:
    """Show files chosen for upload, before they are indexed."""
    open_page(page, address, "Documents")
    page.locator('input[type="file"]').set_input_files(
        [FilePayload(name=name, mimeType="text/markdown", buffer=text.encode()) for name, text in UPLOADS]
    )
    expect(page.get_by_role("button", name="Index 2 files")).to_be_visible()
    settle(page)


def collection(page: Page, address: str) -> None:
    """Show the live build with its verification."""
    open_page(page, address, "Collection")


HEIGHTS: dict[Callable[[Page, str], None], int] = {
    compare: 1180,
    evidence: 1300,
    documents: 1300,
    collection: 900,
}
"""Of each picture in pixels: a page scrolls inside itself, so what is to be seen must fit the window."""


def main() -> int:
    """Write every picture; return 1 when one is too large, with its name on standard error."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.stderr.write("No chromium: `make chromium` installs it where it may.\n")
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as parent:
        data_dir = data_folder(Path(parent), "sample")
        indexed = ranklens(data_dir, ["sample"])
        sys.stdout.write(indexed.stdout + indexed.stderr)
        with serving(data_dir) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
            _warm_up(browser, address)
            written = [
                _picture(browser, address, show, theme) for show in HEIGHTS for theme in ("light", "dark")
            ]
            browser.close()
    return 0 if all(written) else 1


def _warm_up(browser: Browser, address: str) -> None:
    """Ask something once, so that no picture shows the time of loading the model."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MILLISECONDS)
        open_page(page, address, "Compare", q=EXAMPLE_QUERIES[1].query)
        expect(page.locator(".rl-finding")).to_be_visible(timeout=PATIENCE_MILLISECONDS)


def _picture(browser: Browser, address: str, show: Callable[[Page, str], None], theme: str) -> bool:
    with browser.new_context(
        viewport=ViewportSize(width=WIDTH, height=HEIGHTS[show]),
        color_scheme="dark" if theme == "dark" else "light",
    ) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MILLISECONDS)
        show(page, address)
        page.evaluate(DRAWN)
        file = FOLDER / f"{show.__name__}-{theme}.png"
        size = len(page.screenshot(path=file, animations="disabled", caret="hide"))
    sys.stdout.write(f"{file.relative_to(ROOT)}: {size:,} bytes\n")
    if size > MOST_BYTES:
        sys.stderr.write(f"{file.name} has {size:,} bytes; {MOST_BYTES:,} is the most.\n")
    return size <= MOST_BYTES


if __name__ == "__main__":
    sys.exit(main())
