"""The catalog gives back what it was given, in one order, and knows what a build holds."""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.catalog.catalog import open_catalog
from core.catalog.records import (
    BuildContent,
    BuildRecord,
    BuildState,
    CatalogDocument,
    DocumentState,
    JobRecord,
    JobState,
    utc_now,
)
from core.errors import DocumentMissing, StoreUnavailable
from core.model.builds import Fingerprint, Verification

NOW = datetime(2026, 1, 31, 12, 0, 0, 250_000, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)


def a_row(name="ops/a.md", *, title="Title", category="ops", kb_scope="default", original_hash="0" * 64):
    return CatalogDocument(
        doc_id=f"{kb_scope}/{name}",
        name=name,
        title=title,
        category=category,
        kb_scope=kb_scope,
        original_hash=original_hash,
        content_hash="1" * 64,
        byte_count=12,
        version=1,
        uploaded_at=NOW,
        changed_at=NOW,
    )


@pytest.fixture
def catalog(tmp_path):
    opened = open_catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    yield opened
    opened.close()


def test_a_document_comes_back_as_it_was_saved(catalog):
    row = replace(
        a_row(),
        state=DocumentState.INDEXED,
        chunk_count=3,
        build="b",
        indexed_at=LATER,
        encoding="gb18030",
        byte_count=5_000_000_000,
    )
    catalog.save_document(row)
    assert catalog.document(row.doc_id) == row
    assert catalog.document(row.doc_id).uploaded_at.utcoffset() == timedelta(0)


def test_saving_again_replaces_the_row(catalog):
    catalog.save_document(a_row())
    catalog.save_document(replace(a_row(), title="New"))
    assert [row.title for row in catalog.documents()] == ["New"]


def test_a_missing_document_is_an_error_with_its_name(catalog):
    assert catalog.find_document("default/no.md") is None
    with pytest.raises(DocumentMissing, match=r"default/no\.md"):
        catalog.document("default/no.md")


def test_documents_are_listed_by_doc_id_in_code_point_order(catalog):
    for name in ("b.md", "Z.md", "a.md", "政策.md"):
        catalog.save_document(a_row(name))
    assert [row.name for row in catalog.documents()] == ["Z.md", "a.md", "b.md", "政策.md"]


def test_documents_are_filtered_by_base_category_and_part_of_name_or_title(catalog):
    catalog.save_document(a_row("100%.md", title="Limits"))
    catalog.save_document(a_row("1000.md", title="ÄRGER", category="hr"))
    catalog.save_document(a_row("1000.md", title="Other", kb_scope="b"))
    assert [row.doc_id for row in catalog.documents(kb_scope="b")] == ["b/1000.md"]
    assert [row.doc_id for row in catalog.documents(category="hr")] == ["default/1000.md"]
    assert [row.name for row in catalog.documents(contains="0%")] == ["100%.md"]
    assert [row.title for row in catalog.documents(contains="ärger")] == ["ÄRGER"]


def test_a_removed_document_is_gone_and_its_original_free(catalog):
    catalog.save_document(a_row("a.md"))
    catalog.save_document(a_row("b.md"))
    assert catalog.remove_document("default/a.md") is True
    assert catalog.original_in_use("0" * 64) is True
    assert catalog.remove_document("default/b.md") is True
    assert catalog.original_in_use("0" * 64) is False
    assert catalog.remove_document("default/b.md") is False


def test_the_content_key_depends_on_original_name_category_and_encoding_only():
    row = a_row()
    others = [
        replace(row, original_hash="2" * 64),
        replace(row, name="ops/b.md"),
        replace(row, category="hr"),
        replace(row, encoding="gb18030"),
    ]
    assert len({row.content_key, *(other.content_key for other in others)}) == 5
    assert replace(row, title="x", version=9, changed_at=LATER).content_key == row.content_key


def test_marking_indexed_sets_state_count_build_and_time_together(catalog):
    row = a_row()
    catalog.save_document(row)
    catalog.mark_indexed("b1", [(row, 4)], LATER)
    assert catalog.document(row.doc_id) == replace(
        row, state=DocumentState.INDEXED, chunk_count=4, build="b1", indexed_at=LATER
    )
    assert catalog.contents("b1") == {row.doc_id: BuildContent(row.doc_id, row.content_key, 4)}


@pytest.mark.parametrize("change", [{"original_hash": "9" * 64}, {"category": "hr"}, {"encoding": "gbk"}])
def test_marking_an_older_version_indexed_leaves_the_newer_row_stored(catalog, change):
    old = a_row()
    catalog.save_document(replace(old, **change))
    catalog.mark_indexed("b1", [(old, 4)], LATER)
    assert catalog.document(old.doc_id).state is DocumentState.STORED


def test_states_follow_the_build_that_becomes_live(catalog):
    same, changed, new = a_row("same.md"), a_row("changed.md"), a_row("new.md")
    for row in (same, changed, new):
        catalog.save_document(row)
    catalog.save_contents(
        "old", [BuildContent(same.doc_id, same.content_key, 2), BuildContent(changed.doc_id, "f" * 64, 7)]
    )
    catalog.mark_indexed("now", [(row, 3) for row in (same, changed, new)], NOW)
    catalog.mark_live("old", LATER)
    rows = {row.name: (row.state, row.chunk_count, row.build) for row in catalog.documents()}
    assert rows == {
        "same.md": (DocumentState.INDEXED, 2, "old"),
        "changed.md": (DocumentState.STORED, None, None),
        "new.md": (DocumentState.STORED, None, None),
    }


def test_contents_are_forgotten_by_document_or_as_a_whole(catalog):
    kept = [BuildContent(f"default/{name}", "a" * 64, 1) for name in "abc"]
    catalog.save_contents("b1", kept)
    catalog.save_contents("b2", kept)
    catalog.remove_contents("b1", ["default/a"])
    assert sorted(catalog.contents("b1")) == ["default/b", "default/c"]
    catalog.remove_contents("b1")
    assert catalog.contents("b1") == {}
    assert len(catalog.contents("b2")) == 3


def test_a_build_record_comes_back_with_fingerprint_and_verification(catalog):
    fingerprint = Fingerprint(1, "m", "r", "query: ", "passage: ", 64, "COSINE", "{}", "{}")
    verification = Verification({"default/a": 2}, {"default/a": 2}, ("no hit",), 0.975, 50)
    record = BuildRecord("b1", BuildState.PUBLISHED, NOW, LATER, 1, 2, fingerprint, verification)
    catalog.record_build(replace(record, state=BuildState.BUILDING, fingerprint=None, verification=None))
    catalog.record_build(record)
    assert catalog.build_records() == (record,)


def test_build_records_are_listed_newest_first(catalog):
    for name, when in (("b1", NOW), ("b3", LATER), ("b2", NOW)):
        catalog.record_build(BuildRecord(name, BuildState.FAILED, when, when, reason="why"))
    assert [record.name for record in catalog.build_records()] == ["b3", "b2", "b1"]


def test_jobs_are_listed_newest_first_up_to_a_limit(catalog):
    for number in range(4):
        when = NOW + timedelta(seconds=number)
        catalog.save_job(
            JobRecord(str(number), "index", "t", JobState.DONE, "embed", 3, 4, when, when, "Done.")
        )
    assert [record.id for record in catalog.job_records(2)] == ["3", "2"]
    assert catalog.job_record("1").started_at == NOW + timedelta(seconds=1)
    assert catalog.job_record("9") is None


def test_jobs_that_an_ended_process_left_active_become_interrupted(catalog):
    for number, state in enumerate(JobState):
        catalog.save_job(JobRecord(str(number), "index", "t", state, "", 0, 0, NOW))
    assert catalog.interrupt_jobs(LATER) == 2
    states = {record.state for record in catalog.job_records()}
    assert states == set(JobState) - {JobState.QUEUED, JobState.RUNNING}
    assert {r.finished_at for r in catalog.job_records() if r.state is JobState.INTERRUPTED} == {
        LATER,
        None,
    }
    assert catalog.interrupt_jobs(LATER) == 0


def test_notes_are_kept_over_a_restart(catalog, tmp_path):
    assert catalog.note("calibration:m") is None
    catalog.set_note("calibration:m", "1")
    catalog.set_note("calibration:m", "2")
    catalog.close()
    again = open_catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    assert again.note("calibration:m") == "2"
    again.close()


def test_many_threads_can_write_at_once(catalog):
    barrier = threading.Barrier(8)
    faults = []

    def write(number):
        barrier.wait()
        try:
            for turn in range(5):
                catalog.save_document(a_row(f"{number}-{turn}.md"))
                catalog.set_note("shared", str(number))
        except StoreUnavailable as error:
            faults.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(catalog.documents()) == 40


def test_a_database_that_was_damaged_is_an_error_with_its_name(tmp_path):
    file = tmp_path / "catalog.db"
    catalog = open_catalog(f"sqlite:///{file}")
    catalog.close()
    for path in tmp_path.glob("catalog.db*"):
        path.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreUnavailable, match=r"catalog\.db cannot be read or written"):
        catalog.documents()
    catalog.close()


def test_the_present_time_has_a_zone():
    assert utc_now().utcoffset() == timedelta(0)
