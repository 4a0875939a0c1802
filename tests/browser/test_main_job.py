"""The main job with real clicks: upload, rebuild, compare, read the badges, open Evidence, delete.

One console process serves the whole file; the tests run in the order of the job and each says what it
needs in the data folder, so that one alone fails with the step that is missing.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser.serving import (
    PATIENCE_MILLISECONDS,
    ask,
    data_folder,
    go_to,
    open_page,
    ranklens,
    serving,
    settle,
)

pytestmark = pytest.mark.browser

FILES = {
    "queue-backlog.md": "# Queue backlog\n\nThe queue grows and order confirmations arrive late. "
    "Look for MQ-2201 in the log of the mail worker.\n",
    "数据库连接池耗尽.md": "# 数据库连接池耗尽\n\n应用日志出现 E-1042，说明连接池已满。\n",
    "disk-full.md": "# Disk full\n\nA node with a full disk stops taking pods. "
    "The kubelet reports DiskPressure and evicts what it can.\n",
}
HOSTILE_NAME = "hostile :red[x] $a$.md"
HOSTILE = (
    "# <script>alert(1)</script> :red[title]\n\nMQ-7777 costs $5 to $10 ![x](http://192.0.2.1/x.png) "
    "<img src=x onerror=alert(2)> a_b_c | d\n"
)


@dataclass(frozen=True)
class Console:
    address: str
    data_dir: Path


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    folder = data_folder(tmp_path_factory.mktemp("console"), "data")
    with serving(folder) as address:
        yield Console(address, folder)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh visitor at 1280 px; a dialog, a page error or a request to elsewhere fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MILLISECONDS)
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    wrong: list[str] = []
    opened.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    opened.on("pageerror", lambda error: wrong.append(f"page error: {error}"))
    opened.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))
            else wrong.append(f"request: {request.url}")
        ),
    )
    yield opened
    text = opened.locator("body").inner_text()
    too_wide = opened.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    context.close()
    assert wrong == []
    assert "Traceback" not in text
    assert not too_wide


def upload(page: Page, files: dict[str, str], *, category: str) -> None:
    """Choose files, give them a category, and index those that can be."""
    page.locator('input[type="file"]').set_input_files(
        [
            FilePayload(name=name, mimeType="text/markdown", buffer=text.encode())
            for name, text in files.items()
        ]
    )
    settle(page)
    box = page.get_by_role("combobox", name="Category").first
    box.fill(category)
    box.press("Enter")
    settle(page)
    page.get_by_role("button", name=re.compile(r"^Index \d+ files? \(")).click()


def test_an_empty_base_says_what_to_do_next(console: Console, page: Page) -> None:
    open_page(page, console.address, "Compare")
    expect(page.get_by_text("sample", exact=False).first).to_be_visible()


def test_three_files_are_previewed_and_indexed_and_a_fourth_is_refused_by_name(
    console: Console, page: Page
) -> None:
    open_page(page, console.address, "Documents")
    page.locator('input[type="file"]').set_input_files(
        [
            FilePayload(
                name="queue-backlog.md", mimeType="text/markdown", buffer=FILES["queue-backlog.md"].encode()
            )
        ]
    )
    expect(page.get_by_text("Preview: 1 chunk", exact=False)).to_be_visible()
    expect(page.get_by_text("MQ-2201", exact=False).first).to_be_visible()
    page.reload()
    settle(page)
    upload(page, {**FILES, "empty.md": " \n"}, category="ops")
    expect(page.get_by_text("indexed 3", exact=False).first).to_be_visible()
    assert len(ranklens_documents(console)) == 3


def ranklens_documents(console: Console) -> list[str]:
    """Name the documents of the catalog, read beside the console."""
    from core.catalog.catalog import open_catalog

    catalog = open_catalog(f"sqlite:///{console.data_dir / 'catalog.db'}")
    try:
        return [document.name for document in catalog.documents()]
    finally:
        catalog.close()


def test_a_rebuild_is_verified_and_published(console: Console, page: Page) -> None:
    open_page(page, console.address, "Collection")
    before = page.get_by_text("biz_hybrid_", exact=False).first.inner_text()
    page.get_by_role("button", name="Rebuild", exact=True).click()
    expect(page.get_by_role("heading", name="Verification")).to_be_visible()
    expect(page.get_by_text(before, exact=True).first).to_be_hidden()
    expect(page.get_by_text("biz_hybrid_", exact=False).first).to_be_visible()
    expect(page.get_by_role("button", name="Rebuild", exact=True)).to_be_enabled()


def test_the_badges_say_where_each_route_put_a_hit_and_evidence_shows_the_agents_json(
    console: Console, page: Page
) -> None:
    open_page(page, console.address, "Compare")
    ask(page, "MQ-2201")
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text("BM25 #1", exact=False).first).to_be_visible()
    expect(main.get_by_text("fused #1", exact=False).first).to_be_visible()
    expect(main.get_by_text("dense #", exact=False).first).to_be_visible()
    expect(main.get_by_text("Fusion audit", exact=False).first).to_contain_text("exactly")
    expect(main.get_by_text("not found by this route", exact=False).first).to_be_visible()
    main.get_by_role("link", name="Evidence: where every candidate of this query ended").click()
    expect(page.get_by_role("heading", name="Evidence", exact=True, level=2)).to_be_visible()
    settle(page)
    for heading in ("Attempts", "Ledger", "Packing", "What the agent gets"):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    expect(page.get_by_text("default/queue-backlog.md#chunk-0", exact=False).first).to_be_visible()


def test_a_copied_address_shows_the_same_comparison_to_somebody_else(console: Console, page: Page) -> None:
    open_page(page, console.address, "Compare")
    ask(page, "E-1042")
    headline = page.locator(".rl-finding").first.inner_text()
    address = page.url
    with page.context.browser.new_context() as other:
        second = other.new_page()
        second.set_default_timeout(PATIENCE_MILLISECONDS)
        second.goto(address)
        settle(second)
        expect(second.locator(".rl-finding").first).to_have_text(headline)
        expect(second.get_by_label("Query")).to_have_value("E-1042")


def test_another_process_is_told_who_holds_the_file(console: Console) -> None:
    found = ranklens(console.data_dir, ["search", "E-1042"])
    assert found.returncode == 2
    assert "Traceback" not in found.stderr
    assert "is in use by process" in found.stderr
    assert found.stdout == ""


def test_the_text_of_a_hostile_document_is_shown_as_typed_and_runs_nothing(
    console: Console, page: Page
) -> None:
    open_page(page, console.address, "Documents")
    upload(page, {HOSTILE_NAME: HOSTILE}, category="ops")
    expect(page.get_by_text("indexed 1", exact=False).first).to_be_visible()
    go_to(page, "Compare")
    ask(page, "MQ-7777")
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text(HOSTILE_NAME, exact=False).first).to_be_visible()
    expect(main.get_by_text("<script>alert(1)</script> :red[title]", exact=False).first).to_be_visible()
    expect(
        main.get_by_text("costs $5 to $10 ![x](http://192.0.2.1/x.png)", exact=False).first
    ).to_be_visible()


def test_a_deleted_document_is_gone_from_the_list_and_from_every_answer(
    console: Console, page: Page
) -> None:
    open_page(page, console.address, "Documents")
    page.get_by_label("Find a document").fill("disk-full")
    page.get_by_label("Find a document").press("Enter")
    settle(page)
    grid = page.get_by_test_id("stDataFrame").last
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 14, box["y"] + 52)
    settle(page)
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete it", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    settle(page)
    expect(page.get_by_role("button", name="Rebuild", exact=True)).to_be_hidden()
    page.wait_for_function("() => !document.querySelector('.st-key-job_panel')")
    assert "disk-full.md" not in ranklens_documents(console)
    go_to(page, "Compare")
    ask(page, "DiskPressure")
    expect(page.get_by_test_id("stMain").get_by_text("disk-full.md", exact=False)).to_have_count(0)


def test_the_projected_json_on_the_page_is_json(console: Console, page: Page) -> None:
    open_page(page, console.address, "Evidence", q="E-1042")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download as JSON").click()
    projected = json.loads(Path(downloading.value.path()).read_text(encoding="utf-8"))
    assert projected["evidence"][0]["document_id"] == "default/数据库连接池耗尽.md#chunk-0"
    assert "score" not in json.dumps(projected)
