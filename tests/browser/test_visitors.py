"""What must hold for whoever comes to the console: copied addresses, hostile text, other processes."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.serving import (
    ADDRESSES,
    PATIENCE_MILLISECONDS,
    Console,
    arrived,
    ask,
    choose_files,
    delete_selected,
    find_document,
    fits,
    go_to,
    index_button,
    open_page,
    ranklens,
    settle,
)

pytestmark = pytest.mark.browser

HOSTILE_NAME = "<img src=x onerror=alert(3)> :red[x] $a$.md"
HOSTILE_TITLE = "<script>alert(1)</script> :red[title] $b$"
HOSTILE_HEADING = "`<script>alert(1)</script>` :red[title] $b$"
HOSTILE_LINE = (
    "ZZ-7777 costs $5 to $10 ![x](http://192.0.2.1/x.png) <img src=http://192.0.2.1/y.png onerror=alert(2)>"
)


def test_a_copied_address_shows_the_same_comparison_to_somebody_else(
    browser: Browser, filled_console: Console, page: Page
) -> None:
    open_page(page, filled_console.address, "Compare")
    ask(page, "E-1042")
    page.get_by_role("radiogroup", name="Left").get_by_role("radio", name="hybrid").click()
    page.get_by_role("radio", name="Everything found").click()
    settle(page)
    page.wait_for_url(lambda address: "a=hybrid" in address and "show=found" in address)
    with browser.new_context() as elsewhere:
        other = elsewhere.new_page()
        other.set_default_timeout(PATIENCE_MILLISECONDS)
        other.goto(page.url)
        arrived(other, "Compare")
        expect(other.get_by_label("Query")).to_have_value("E-1042")
        for shown in (".rl-finding", ".rl-cards >> nth=0", ".rl-cards >> nth=1"):
            expect(other.locator(shown)).to_have_text(page.locator(shown).inner_text(), use_inner_text=True)


@pytest.mark.parametrize("way", ["navigation", "link of the page"])
def test_a_question_from_an_address_goes_along_to_the_evidence_and_into_its_address(
    filled_console: Console, page: Page, way: str
) -> None:
    open_page(page, filled_console.address, "Compare", q="E-1042", cat="数据库")
    if way == "navigation":
        go_to(page, "Evidence")
    else:
        page.get_by_test_id("stMain").get_by_role("link", name="Evidence: ").click()
        arrived(page, "Evidence")
    expect(page.get_by_label("Query")).to_have_value("E-1042")
    expect(page.get_by_role("combobox", name="Category filter")).to_have_value("数据库")
    page.wait_for_url("**/evidence?q=E-1042&cat=*")


@pytest.mark.parametrize("name", list(ADDRESSES))
def test_no_page_scrolls_sideways_at_1280_pixels(filled_console: Console, page: Page, name: str) -> None:
    asked = {"q": "MQ-2201"} if name in ("Compare", "Evidence") else {}
    open_page(page, filled_console.address, name, **asked)
    assert fits(page)


def test_another_process_is_told_who_holds_the_file(filled_console: Console, page: Page) -> None:
    open_page(page, filled_console.address, "Collection")
    expect(page.get_by_text("Live build", exact=True)).to_be_visible()
    found = ranklens(filled_console.data_dir, ["search", "E-1042"])
    assert found.returncode == 2
    assert f"The local store {filled_console.data_dir / 'milvus.db'} is in use by process" in found.stderr
    assert "milvus-lite server" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_hostile_document_is_shown_as_typed_and_runs_nothing(filled_console: Console, page: Page) -> None:
    open_page(page, filled_console.address, "Documents")
    choose_files(page, {HOSTILE_NAME: f"# {HOSTILE_HEADING}\n\n{HOSTILE_LINE}\n"})
    expect(page.locator(".rl-card .rl-title")).to_have_text(HOSTILE_TITLE)
    expect(page.locator(".rl-card .rl-text")).to_contain_text(HOSTILE_LINE)
    index_button(page).click()
    expect(page.get_by_text("+ indexed 1")).to_be_visible()
    find_document(page, "onerror")
    expect(page.get_by_role("heading", name=HOSTILE_TITLE, exact=True)).to_be_visible()
    expect(page.get_by_text(f"default/{HOSTILE_NAME}", exact=True)).to_be_visible()

    go_to(page, "Compare")
    ask(page, "ZZ-7777")
    card = page.locator(".rl-cards").nth(1).locator(".rl-card").filter(has_text="BM25 #1")
    expect(card.locator(".rl-title")).to_have_text(HOSTILE_TITLE)
    expect(card.locator(".rl-meta")).to_contain_text(HOSTILE_NAME)
    expect(card.locator(".rl-text")).to_contain_text(HOSTILE_LINE)
    go_to(page, "Evidence")
    expect(page.locator(".rl-portions")).to_contain_text(HOSTILE_TITLE)
    expect(page.get_by_test_id("stCode")).to_contain_text(HOSTILE_LINE)
    for foreign in ("script", "img"):
        assert page.get_by_test_id("stMain").locator(foreign).count() == 0

    go_to(page, "Documents")
    find_document(page, "onerror")
    delete_selected(page)
