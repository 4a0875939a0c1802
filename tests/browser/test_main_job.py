"""The main job on an empty base, with real clicks and real files, from the upload to a deletion."""

import csv
import io
import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.serving import (
    Console,
    arrived,
    ask,
    badges,
    choose_files,
    delete_selected,
    find_document,
    go_to,
    index_button,
    open_page,
    settle,
)

pytestmark = pytest.mark.browser

FILES = {
    "queue-backlog.md": "# Queue backlog\n\nThe queue grows and order confirmations arrive late. "
    "Look for MQ-2201 in the log of the mail worker.\n",
    "disk-full.md": "# Disk full\n\nA node with a full disk stops taking pods. "
    "The kubelet reports DiskPressure and evicts what it can.\n",
    "连接池耗尽.md": "# 数据库连接池耗尽\n\n应用日志出现 E-1042，说明连接池已满，先看 db_pool.max_size。\n",
}
REFUSED = "photo.bin has the ending .bin, which is not supported."
QUESTION = "MQ-2201 queue backlog"


def test_the_main_job_from_an_empty_base_to_a_deleted_document(empty_console: Console, page: Page) -> None:
    open_page(page, empty_console.address, "Compare")
    expect(page.get_by_text("The base is empty")).to_be_visible()
    expect(page.get_by_role("button", name="Index the sample base (32 files)")).to_be_enabled()

    first_build = _upload(page)
    _rebuild(page, first_build)
    _compare(page)
    _read_the_evidence(page)
    _delete(page)


def _upload(page: Page) -> str:
    """Index three files, of four that were chosen; return the name of the build this made."""
    go_to(page, "Documents")
    choose_files(page, FILES | {"photo.bin": "\x00"})
    category = page.get_by_role("combobox", name="Category").first
    category.fill("operations")
    category.press("Enter")
    settle(page)
    expect(page.locator(".rl-refused")).to_contain_text(REFUSED)
    card = page.locator(".rl-card")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("Look for MQ-2201 in the log of the mail worker.")
    expect(card.locator(".rl-chip")).to_contain_text("tokens")
    expect(index_button(page)).to_contain_text("Index 3 files (3 chunks)")
    index_button(page).click()

    expect(page.locator(".rl-outcome")).to_contain_text("Index 4 files: done")
    expect(page.get_by_text("× refused 1 · + indexed 3")).to_be_visible()
    expect(page.locator(".rl-refused")).to_contain_text(REFUSED)
    expect(page.get_by_text("3 documents", exact=True)).to_be_visible()
    go_to(page, "Collection")
    return _figure(page, "Live build")


def _rebuild(page: Page, first_build: str) -> None:
    page.get_by_role("button", name="Rebuild").click()
    expect(page.locator(".rl-outcome")).to_contain_text("Rebuild: done")
    settle(page)
    build = _figure(page, "Live build")
    assert build.startswith("biz_hybrid_")
    assert build != first_build
    expect(page.get_by_text(f"of build {build}")).to_be_visible()
    figures = {name: _figure(page, name) for name in ("Verdict", "Expected chunks", "Stored chunks")}
    assert figures == {"Verdict": "✓ passed", "Expected chunks": "3", "Stored chunks": "3"}
    assert _figure(page, "Recall@20 against exact search") == "1.000"


def _figure(page: Page, name: str) -> str:
    """Return the value that stands under a name."""
    return page.locator(".rl-figures div").filter(has=page.get_by_text(name, exact=True)).locator(
        "dd"
    ).inner_text()  # fmt: skip


def _compare(page: Page) -> None:
    go_to(page, "Compare")
    ask(page, QUESTION)
    left, right = (page.locator(".rl-cards").nth(place) for place in (0, 1))
    expect(left.locator(".rl-card .rl-title")).to_have_count(3)
    expect(left.locator(".rl-card .rl-title").first).to_have_text("Queue backlog")
    expect(right.locator(".rl-card .rl-title").first).to_have_text("Queue backlog")

    dense, sparse, fused = badges(right, 0)
    assert dense.startswith("dense #1 0.")
    assert sparse.startswith("BM25 #1 ")
    assert fused == "fused #1"
    assert badges(left, 0) == [dense, "BM25: not asked"]
    # Nothing else shares a word with the question, so BM25 has one hit and fusion keeps dense's order.
    assert [badges(right, place)[1] for place in (1, 2)] == ["BM25: not found by this route (limit 20)"] * 2
    assert [badges(right, place)[0][:8] for place in (1, 2)] == ["dense #2", "dense #3"]
    assert [badges(right, place)[2] for place in (1, 2)] == ["fused #2", "fused #3"]
    expect(page.locator(".rl-finding")).to_have_text(
        "Hybrid changes nothing here: the same 3 chunks in the same order."
    )
    expect(page.locator(".rl-facts").first).to_contain_text(
        "Fusion audit: the server's order is RRF with k = 60 exactly (3 ranks compared)."
    )


def _read_the_evidence(page: Page) -> None:
    page.get_by_test_id("stMain").get_by_role("link", name="Evidence: where every candidate").click()
    arrived(page, "Evidence")
    expect(page.get_by_label("Query")).to_have_value(QUESTION)
    expect(page.get_by_text("3 of 3 candidates reach the agent")).to_be_visible()
    expect(page.get_by_text("kept (3)")).to_be_visible()
    rows = list(csv.DictReader(io.StringIO(_downloaded(page, "Download as CSV"))))
    assert [row["Title"] for row in rows][:1] == ["Queue backlog"]
    assert [(row["Dense #"], row["BM25 #"], row["Fused #"], row["End"]) for row in rows] == [
        ("1", "1", "1", "kept"),
        ("2", "", "2", "kept"),
        ("3", "", "3", "kept"),
    ]
    expect(page.locator(".rl-portions li")).to_have_count(3)
    projected = json.loads(_downloaded(page, "Download as JSON"))
    assert projected["evidence"][0]["document_id"] == "default/queue-backlog.md#chunk-0"
    assert projected["evidence"][0]["category"] == "operations"
    expect(page.get_by_test_id("stCode")).to_contain_text(
        '"document_id": "default/queue-backlog.md#chunk-0"'
    )


def _downloaded(page: Page, button: str) -> str:
    """Press a download button and return the text of the file."""
    with page.expect_download() as downloading:
        page.get_by_test_id("stDownloadButton").filter(has_text=button).get_by_role("button").click()
    return Path(downloading.value.path()).read_text(encoding="utf-8-sig")


def _delete(page: Page) -> None:
    go_to(page, "Documents")
    find_document(page, "queue")
    delete_selected(page)
    expect(page.get_by_text("0 of 2 documents")).to_be_visible()
    go_to(page, "Compare")
    expect(page.get_by_label("Query")).to_have_value(QUESTION)
    for column in (0, 1):
        titles = page.locator(".rl-cards").nth(column).locator(".rl-title")
        expect(titles).to_have_count(2)
        expect(titles.filter(has_text="Queue backlog")).to_have_count(0)
