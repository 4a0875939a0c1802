"""Long work in the browser: it can be watched, cancelled, and leaves the live build as it was."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.serving import (
    Console,
    choose_files,
    delete_selected,
    find_document,
    go_to,
    index_button,
    open_page,
    settle,
)

pytestmark = pytest.mark.browser

WORDS = "amber basalt cedar delta ember fjord granite harbor indigo juniper kelp lagoon marble nectar onyx"
SECTIONS = 400
LONG = "# Long\n" + "".join(
    f"\n## Section {place}\n\n{f'{WORDS} {place}. ' * 4}\n" for place in range(SECTIONS)
)
"""Too much to embed before somebody has pressed a button: each section is a chunk of its own."""


def test_an_upload_and_a_rebuild_are_cancelled_and_the_live_build_stays(
    filled_console: Console, page: Page
) -> None:
    open_page(page, filled_console.address, "Collection")
    live = page.locator(".rl-figures dd").first.inner_text()
    go_to(page, "Documents")
    choose_files(page, {"long.md": LONG})
    expect(index_button(page)).to_contain_text(f"({SECTIONS} chunks)")
    index_button(page).click()
    _cancel(page, "Index 1 file: cancelled")
    expect(page.locator(".rl-outcome")).to_contain_text('Stopped by a person in stage "')

    go_to(page, "Collection")
    page.get_by_role("button", name="Rebuild").click()
    _cancel(page, "Rebuild: cancelled")
    settle(page)
    expect(page.locator(".rl-figures dd").first).to_have_text(live)
    expect(page.get_by_role("button", name="Rebuild")).to_be_enabled()

    go_to(page, "Documents")
    find_document(page, "long.md")
    delete_selected(page)
    expect(page.get_by_text("0 of 3 documents")).to_be_visible()


def _cancel(page: Page, outcome: str) -> None:
    """Watch the job until it counts, then cancel it and wait for the sentence about its end."""
    panel = page.locator(".st-key-job_panel")
    expect(panel.locator(".rl-job")).to_contain_text(" of ")
    panel.get_by_role("button", name="Cancel").click()
    expect(page.locator(".rl-outcome")).to_contain_text(outcome)
    expect(panel).to_have_count(0)
