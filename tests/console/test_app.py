"""The whole console on fake services: every page, empty and filled, and when something is wrong."""

from dataclasses import replace

import pytest

from console import services
from core.catalog.records import BuildRecord, BuildState, JobState
from core.errors import CollectionMismatch, SettingsInvalid, StoreLocked, StoreUnavailable
from core.jobs import Job
from core.model.builds import Verification
from core.model.lookup import Stage
from core.sample import EXAMPLE_QUERIES, sample_files
from tests.console.fakes import (
    BUILD,
    MOMENT,
    a_build,
    a_catalog_document,
    a_scored,
    fake_services,
)

PAGES = ["views/compare.py", "views/evidence.py", "views/documents.py", "views/collection.py"]
ROWS = (
    a_scored("a", dense=0.9, sparse=1.0),
    a_scored("b", dense=0.8, category="net"),
    a_scored("d", sparse=9.0, content="Look for E-1043 <script>alert(1)</script>."),
)
DOCUMENTS = (
    a_catalog_document("ops/a.md", title=":red[Title] $a$"),
    a_catalog_document("net/b.md", category="net"),
)
RUNNING = Job("job-1", "rebuild", "Rebuild", JobState.RUNNING, MOMENT, stage="embed", done=5, total=10)


def html(at) -> str:
    return "\n".join(block.proto.body for block in at.get("html"))


def labels(at) -> list[str]:
    return [button.label for button in at.button]


def filled(tmp_path, **more):
    return fake_services(tmp_path, ROWS, documents=DOCUMENTS, **more)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_a_filled_base(open_console, tmp_path, page):
    at = open_console(filled(tmp_path)).run().switch_page(page).run()
    assert not at.exception
    assert len(at.header) == 1
    assert 'role="alert"' not in html(at)


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_base_offers_the_sample_base_on_every_page(open_console, tmp_path, page):
    at = open_console(fake_services(tmp_path, live=False)).run().switch_page(page).run()
    assert not at.exception
    assert "The base is empty" in html(at)
    assert f"Index the sample base ({len(sample_files())} files)" in labels(at)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    "error",
    [
        StoreLocked("Process 42 has the file milvus.db open. Stop it."),
        StoreUnavailable("No answer from <b>host</b>."),
    ],
)
def test_a_store_that_does_not_open_is_a_sentence_with_a_way_on(open_console, tmp_path, page, error):
    base = filled(tmp_path)
    base.base.builds.error = error
    at = open_console(base).run()
    if page != PAGES[0]:
        at = at.switch_page(page).run()
    assert not at.exception
    if page != "views/documents.py":
        assert 'role="alert"' in html(at)
        assert "<b>host</b>" not in html(at)
        assert "Try again" in labels(at)


def test_bad_settings_are_a_sentence_and_the_next_run_tries_again(open_console, tmp_path, monkeypatch):
    base = filled(tmp_path)
    at = open_console(base)

    def refuse():
        raise SettingsInvalid("These settings cannot be used:\n  rag.return_n: 30 is too much")

    monkeypatch.setattr(services, "build", refuse)
    at.run()
    assert not at.exception
    assert "rag.return_n: 30 is too much" in html(at)
    monkeypatch.setattr(services, "build", lambda: base)
    at.button(key="trouble_retry").click().run()
    assert 'role="alert"' not in html(at)


def test_documents_without_a_build_offer_to_build(open_console, tmp_path):
    at = open_console(filled(tmp_path, live=False)).run()
    assert "2 documents are kept, but no build is published" in html(at)
    assert "Build it now" in labels(at)


def test_a_mismatched_build_points_to_collection(open_console, tmp_path):
    base = filled(tmp_path)

    def refuse(query, configuration, *, trace=True):
        raise CollectionMismatch("The build has 384 dimensions, the settings ask for 768. Rebuild.")

    object.__setattr__(base, "lookup", refuse)
    at = open_console(base).run()
    at.text_input(key="q").set_value("pool").run()
    assert not at.exception
    assert "384 dimensions" in html(at)


def test_a_comparison_shows_finding_cards_and_marks(open_console, tmp_path):
    at = open_console(filled(tmp_path)).run()
    at.text_input(key="q").set_value("E-1043").run()
    assert not at.exception
    page = html(at)
    assert (
        "Hybrid brings the agent 1 chunk that dense does not give it: dense does not find it at all" in page
    )
    assert "<mark>E-1043</mark>" in page
    assert "dense: not found by this route (limit 20)" in page
    assert "<script>" not in page


def test_a_rerun_searches_no_more_and_a_change_of_the_base_does(open_console, tmp_path):
    base = filled(tmp_path)
    at = open_console(base).run()
    at.text_input(key="q").set_value("E-1043").run()
    assert len(base.lookups) == 2
    at.run()
    at.switch_page("views/documents.py").run()
    at.switch_page("views/compare.py").run()
    assert len(base.lookups) == 2
    base.base.builds.described = (a_build(name="biz_hybrid_20260201T000000Z"),)
    at.text_input(key="q").set_value("E-1043").run()
    assert len(base.lookups) == 4


def test_one_mode_on_both_sides_needs_one_lookup(open_console, tmp_path):
    base = filled(tmp_path)
    at = open_console(base).run()
    at.segmented_control(key="a").set_value("hybrid").run()
    at.text_input(key="q").set_value("E-1043").run()
    assert len(base.lookups) == 1
    assert "changes nothing here" in html(at)


def test_an_address_opens_the_same_comparison(open_console, tmp_path):
    at = open_console(filled(tmp_path))
    at.query_params.update({"q": "E-1043", "cat": "net", "a": "hybrid", "b": "dense", "show": "found"})
    at.run()
    assert not at.exception
    assert (at.text_input(key="q").value, at.selectbox(key="cat").value) == ("E-1043", "net")
    assert [at.segmented_control(key=key).value for key in ("a", "b", "compare_listing")] == [
        "hybrid",
        "dense",
        "found",
    ]


def test_a_relaxed_filter_is_told(open_console, tmp_path):
    base = fake_services(tmp_path, ROWS[:1], documents=DOCUMENTS)
    at = open_console(base).run()
    at.selectbox(key="cat").set_value("net")
    at.text_input(key="q").set_value("pool").run()
    assert "Category filter “net” relaxed" in html(at)
    assert "outside the category" in html(at)


def test_examples_fill_query_and_category_of_the_sample_base(open_console, tmp_path):
    names = [(file.name, file.category) for file in sample_files()]
    documents = tuple(a_catalog_document(name, category=category) for name, category in names)
    at = open_console(fake_services(tmp_path, ROWS, documents=documents)).run()
    place = next(place for place, example in enumerate(EXAMPLE_QUERIES) if example.category)
    at.button(key=f"example_{place}").click().run()
    assert not at.exception
    assert at.text_input(key="q").value == EXAMPLE_QUERIES[place].query
    assert at.selectbox(key="cat").value == EXAMPLE_QUERIES[place].category


def test_examples_are_not_offered_on_another_base(open_console, tmp_path):
    at = open_console(filled(tmp_path)).run()
    assert not [button for button in at.button if str(button.key).startswith("example_")]


def test_the_evidence_page_shows_the_json_of_the_agent_and_filters_the_ledger(open_console, tmp_path):
    rows = (*ROWS, a_scored("a", index=1, dense=0.85), a_scored("a", index=2, dense=0.84))
    at = open_console(fake_services(tmp_path, rows, documents=DOCUMENTS)).run()
    at.switch_page("views/evidence.py").run()
    at.text_input(key="q").set_value("E-1043").run()
    assert not at.exception
    assert '"document_id": "default/a.md#chunk-0"' in at.code[0].value
    assert len(at.dataframe[0].value) == 5
    at.text_input(key="q").set_value("E-1043")
    at.pills(key="evidence_ledger_end").set_value([Stage.CAP]).run()
    assert at.dataframe[0].value["Chunk"].tolist() == ["#2 a.md"]


def test_a_running_job_shows_numbers_and_can_be_cancelled(open_console, tmp_path):
    base = filled(tmp_path)
    base.jobs.active = RUNNING
    at = open_console(base).run().switch_page("views/collection.py").run()
    assert not at.exception
    assert "embed · 5 of 10" in html(at)
    assert at.button(key="collection_rebuild").disabled
    at.button(key="job_cancel").click().run()
    assert base.jobs.cancelled == ["job-1"]


def test_the_collection_shows_live_build_verification_and_builds(open_console, tmp_path):
    base = filled(tmp_path)
    verified = Verification({"default/ops/a.md": 2}, {"default/ops/a.md": 2}, (), 1.0, 1)
    base.catalog.record_build(
        BuildRecord(BUILD, BuildState.PUBLISHED, MOMENT, MOMENT, 1, 2, None, verified)
    )
    at = open_console(base).run().switch_page("views/collection.py").run()
    assert not at.exception
    assert "✓ passed" in html(at)
    assert at.dataframe[1].value["State"].tolist() == ["● live"]


def test_fragmented_statistics_are_explained(open_console, tmp_path):
    base = filled(tmp_path)
    base.base.builds.in_pieces = True
    at = open_console(base).run().switch_page("views/collection.py").run()
    assert "BM25 statistics are fragmented" in html(at)


def test_a_read_only_console_offers_nothing_that_writes(open_console, tmp_path):
    at = open_console(filled(tmp_path, read_only=True)).run()
    for page in ("views/documents.py", "views/collection.py"):
        at.switch_page(page).run()
        assert not at.exception
        assert not at.file_uploader
        assert labels(at) == []


def test_a_failed_job_tells_its_reason(open_console, tmp_path):
    base = filled(tmp_path)
    base.jobs.past = [
        replace(RUNNING, state=JobState.FAILED, finished_at=MOMENT, message="The disk is full.")
    ]
    at = open_console(base).run().switch_page("views/collection.py").run()
    assert "Rebuild: failed at 2026-01-31 12:00:00 UTC. The disk is full." in html(at)
