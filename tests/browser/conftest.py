"""What the browser tests need: a real Chromium, driven by Playwright.

Without Chromium they skip; with `RANKLENS_TEST_REQUIRE_BROWSER=1` they fail instead, so that a check
which must have seen the pages cannot pass without having seen them.
"""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.serving import CHROMIUM_FLAGS


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
        yield opened
        opened.close()
