"""A rebuild publishes the whole catalog, or leaves everything as it was and says why."""

import threading
from dataclasses import replace

import pytest

from core.catalog.records import BuildRecord, BuildState, DocumentState
from core.errors import BuildInvalid, EmbeddingFailed, JobCancelled, StoreError, StoreUnavailable
from core.indexing.base import fingerprint
from core.indexing.building import rebuild
from core.indexing.checking import inconsistencies
from core.indexing.deleting import delete_documents
from core.indexing.housekeeping import drop_old_builds, remove_half_built
from core.indexing.rolling_back import roll_back
from core.indexing.uploading import index_files
from core.settings import ChunkingSettings
from tests.core.indexing.material import (
    Embedding,
    Stages,
    a_file,
    found_by_bm25,
    live_counts,
    sections,
    silent,
)


@pytest.fixture
def three(base):
    """A base with three documents of one chunk each, and its report."""
    return index_files(base, [a_file(f"{n}.md", f"# {n}\n\nbody {n}") for n in ("a", "b", "c")], silent)


def names(base):
    return [build.name for build in base.builds.builds()]


def test_a_build_is_named_after_the_collection_and_the_utc_second(base, three):
    assert three.build.startswith("biz_hybrid_20260131T1200")
    assert three.build.endswith("Z")


def test_two_builds_of_one_second_have_two_names(base, three):
    frozen = replace(base, clock=lambda: base.catalog.build_records()[0].started_at)
    report = rebuild(frozen, silent)
    assert report.build == f"{three.build}_2"
    assert rebuild(frozen, silent).build == f"{three.build}_3"


def test_a_rebuild_publishes_a_verified_build_and_records_it(base, three):
    report = rebuild(base, silent)
    assert base.builds.live() == report.build != three.build
    assert (report.documents, report.chunks) == (3, 3)
    assert report.verification.passed
    assert (report.verification.recall, report.verification.probes) == (1.0, 3)
    record = base.catalog.build_records()[0]
    assert (record.name, record.state, record.documents, record.chunks) == (
        report.build,
        BuildState.PUBLISHED,
        3,
        3,
    )
    assert record.fingerprint == fingerprint(base)
    assert record.verification == report.verification
    assert {row.build for row in base.catalog.documents()} == {report.build}
    assert inconsistencies(base) == ()


def test_a_rebuild_with_other_chunk_rules_makes_the_live_build_fit_them(base, three):
    other = replace(
        base,
        settings=base.settings.model_copy(
            update={"chunking": ChunkingSettings(size_tokens=100, overlap_tokens=0)}
        ),
    )
    rebuild(other, silent)
    assert index_files(other, [a_file("d.md")], silent).files[0].chunk_count == 1


def test_stages_come_in_order_and_publish_is_the_last(base, three):
    stages = Stages()
    rebuild(base, stages)
    assert stages.order == ["load", "chunk", "embed", "write", "verify", "publish"]


@pytest.mark.parametrize("stage", ["load", "chunk", "embed", "write", "verify", "publish"])
def test_cancelling_in_any_stage_drops_the_new_build_and_keeps_the_live_one(base, three, stage):
    """lif-01"""
    with pytest.raises(JobCancelled):
        rebuild(base, Stages(cancel_at=stage))
    assert names(base) == [three.build]
    assert base.builds.live() == three.build
    record = base.catalog.build_records()[0]
    assert (record.state, record.reason) == (BuildState.CANCELLED, "Stopped by a person.")
    assert base.catalog.contents(record.name) == {}
    assert inconsistencies(base) == ()


def test_a_model_that_fails_midway_leaves_the_live_build_and_the_reason(base, three, monkeypatch):
    """lif-01"""
    monkeypatch.setattr("core.indexing.preparing.GROUP_CHUNKS", 1)

    def fail(call):
        if call > 2:
            raise EmbeddingFailed("The model broke.")

    broken = replace(base, embedder=Embedding(base.embedder, before=fail))
    stages = Stages()
    with pytest.raises(EmbeddingFailed):
        rebuild(broken, stages)
    assert stages.calls[-1] == ("write", 2, 3)
    assert names(base) == [three.build]
    assert base.catalog.build_records()[0].state is BuildState.FAILED
    assert base.catalog.build_records()[0].reason == "The model broke."
    assert len(found_by_bm25(base, "body")) == 3


def test_a_fault_of_ours_drops_the_new_build_too(base, three):
    def fault(_call):
        raise ZeroDivisionError("division by zero")

    with pytest.raises(ZeroDivisionError):
        rebuild(replace(base, embedder=Embedding(base.embedder, before=fault)), silent)
    assert names(base) == [three.build]
    assert base.catalog.build_records()[0].reason == "ZeroDivisionError: division by zero"


def test_a_group_that_fails_once_is_tried_again_after_a_pause(base, three, pauses):
    """lif-02"""

    def fail_once(call):
        if call == 1:
            raise EmbeddingFailed("for a moment")

    report = rebuild(replace(base, embedder=Embedding(base.embedder, before=fail_once)), silent)
    assert base.builds.live() == report.build
    assert pauses == [0.5]


def test_a_build_that_lost_rows_is_not_published(base, three):
    """lif-02"""

    class Losing:
        def __init__(self, inner):
            self.inner = inner

        def upsert(self, build, chunks, vectors):
            return self.inner.upsert(build, chunks[1:], vectors[1:])

        def __getattr__(self, name):
            return getattr(self.inner, name)

    with pytest.raises(BuildInvalid, match=r"default/a.md has 0 chunks in the store, 1 expected"):
        rebuild(replace(base, writer=Losing(base.writer)), silent)
    assert base.builds.live() == three.build
    assert names(base) == [three.build]


def test_a_document_that_cannot_be_read_again_stops_the_rebuild_and_is_named(base, three):
    """lif-01"""
    base.originals.remove(base.catalog.document("default/b.md").original_hash)
    with pytest.raises(BuildInvalid, match=r"1 of 3 documents cannot be read again.*default/b.md.*missing"):
        rebuild(base, silent)
    assert base.builds.live() == three.build
    assert names(base) == [three.build]


def test_leaving_it_out_on_purpose_publishes_the_rest_and_reports_it(base, three):
    base.originals.remove(base.catalog.document("default/b.md").original_hash)
    report = rebuild(base, silent, leave_out_unreadable=True)
    assert [(file.doc_id, file.outcome.value) for file in report.left_out] == [("default/b.md", "refused")]
    assert live_counts(base) == {"default/a.md": 1, "default/c.md": 1}
    assert base.catalog.document("default/b.md").state is DocumentState.STORED
    assert [found.doc_id for found in inconsistencies(base)] == ["default/b.md"]


def test_originals_that_cannot_be_reached_are_an_error_not_an_empty_base(base, three):
    """lif-01"""

    class Unreachable:
        def get(self, _key):
            raise StoreUnavailable("The folder cannot be read.")

    with pytest.raises(StoreUnavailable):
        rebuild(replace(base, originals=Unreachable()), silent, leave_out_unreadable=True, allow_empty=True)
    assert base.builds.live() == three.build


def test_an_empty_catalog_is_published_only_on_purpose(base):
    """lif-01"""
    with pytest.raises(BuildInvalid, match="no document"):
        rebuild(base, silent)
    assert names(base) == []
    assert base.catalog.build_records() == ()
    report = rebuild(base, silent, allow_empty=True)
    assert (report.documents, report.chunks, report.verification.recall) == (0, 0, None)
    assert base.builds.live() == report.build


def test_only_the_last_three_builds_stay(base, three):
    reports = [rebuild(base, silent) for _ in range(4)]
    assert names(base) == [report.build for report in reports[1:]]
    assert reports[-1].dropped == (reports[0].build,)
    assert base.catalog.contents(reports[0].build) == {}
    assert len(base.catalog.build_records()) == 5


def test_an_old_build_that_cannot_be_dropped_is_a_warning(base, three):
    class Stubborn:
        def __init__(self, inner):
            self.inner = inner

        def drop(self, name):
            raise StoreError("in use")

        def __getattr__(self, name):
            return getattr(self.inner, name)

    for _ in range(2):
        rebuild(base, silent)
    report = rebuild(replace(base, builds=Stubborn(base.builds)), silent)
    assert report.warnings == (f"The old build {three.build} could not be removed: in use",)
    assert base.builds.live() == report.build


def test_documents_that_come_change_or_go_while_it_runs_are_right_in_the_new_build(base, three):
    """lif-04"""

    def meanwhile(call):
        if call == 1:
            index_files(
                base, [a_file("new.md", "# N\n\nfreshly"), a_file("b.md", "# b\n\nrewritten")], silent
            )
            delete_documents(base, ["default/c.md"])

    report = rebuild(replace(base, embedder=Embedding(base.embedder, before=meanwhile)), silent)
    assert base.builds.live() == report.build
    assert live_counts(base) == {"default/a.md": 1, "default/b.md": 1, "default/new.md": 1}
    assert len(found_by_bm25(base, "freshly")) == len(found_by_bm25(base, "rewritten")) == 1
    assert all("body b" not in content for content in found_by_bm25(base, "body b"))
    assert inconsistencies(base) == ()
    assert report.documents == 3


def test_a_document_that_comes_during_verification_is_in_the_published_build(base, three):
    """lif-04"""
    came = []

    def at_verify(stage, done, total):
        if stage == "verify" and done == 1 and not came:
            came.append(True)
            index_files(base, [a_file("late.md", "# L\n\nlately")], silent)

    rebuild(base, at_verify)
    assert len(found_by_bm25(base, "lately")) == 1
    assert inconsistencies(base) == ()


def test_uploads_from_another_thread_during_a_rebuild_are_never_lost(base, three):
    """lif-04"""
    embedding, go_on, uploaded_meanwhile = threading.Event(), threading.Event(), []

    def hold(call):
        if call == 1:
            embedding.set()
            uploaded_meanwhile.append(go_on.wait(20))

    slow = replace(base, embedder=Embedding(base.embedder, before=hold))
    worker = threading.Thread(target=rebuild, args=(slow, silent))
    worker.start()
    assert embedding.wait(20)
    index_files(base, [a_file("dup_a.md", "# D\n\nduplicated")], silent)
    go_on.set()
    worker.join()
    assert uploaded_meanwhile == [True]
    assert base.builds.live() != three.build
    assert len(found_by_bm25(base, "duplicated")) == 1
    assert inconsistencies(base) == ()


def test_a_second_rebuild_waits_for_the_first_and_can_be_cancelled_meanwhile(base, three):
    embedding, go_on = threading.Event(), threading.Event()

    def hold(_call):
        embedding.set()
        go_on.wait(10)

    slow = replace(base, embedder=Embedding(base.embedder, before=hold))
    worker = threading.Thread(target=rebuild, args=(slow, silent))
    worker.start()
    embedding.wait(10)
    with pytest.raises(JobCancelled):
        rebuild(base, Stages(cancel_at="wait"))
    go_on.set()
    worker.join()
    assert len(names(base)) == 2


def test_a_renamed_file_leaves_only_chunks_of_its_new_name(base):
    """lif-03"""
    text = sections("one", "two")
    index_files(base, [a_file("dup_a.md", text)], silent)
    index_files(base, [a_file("dup_z.md", text)], silent)
    delete_documents(base, ["default/dup_a.md"])
    rebuild(base, silent)
    assert live_counts(base) == {"default/dup_z.md": 2}
    delete_documents(base, ["default/dup_z.md"])
    assert live_counts(base) == {}
    rebuild(base, silent, allow_empty=True)
    assert live_counts(base) == {}


def test_what_an_ended_process_left_half_built_is_removed(base, three):
    """lif-01: kill -9 leaves a collection and a record that says BUILDING."""
    base.builds.create("biz_hybrid_20260201T000000Z", fingerprint(base), expected_rows=0)
    now = base.clock()
    base.catalog.record_build(BuildRecord("biz_hybrid_20260201T000000Z", BuildState.BUILDING, now))
    assert remove_half_built(base) == ("biz_hybrid_20260201T000000Z",)
    assert names(base) == [three.build]
    assert base.builds.live() == three.build
    record = base.catalog.build_records()[0]
    assert (record.name, record.state) == ("biz_hybrid_20260201T000000Z", BuildState.FAILED)
    assert "process ended" in record.reason
    assert remove_half_built(base) == ()


def test_a_build_published_just_before_the_end_of_the_process_counts_as_published(base, three):
    record = base.catalog.build_records()[0]
    base.catalog.record_build(replace(record, state=BuildState.BUILDING, finished_at=None))
    base.catalog.save_document(
        replace(
            base.catalog.document("default/a.md"), state=DocumentState.STORED, chunk_count=None, build=None
        )
    )
    assert remove_half_built(base) == ()
    assert base.catalog.build_records()[0].state is BuildState.PUBLISHED
    assert inconsistencies(base) == ()


def test_an_alias_that_moved_before_publishing_failed_goes_back(base, three):
    class Broken:
        def __init__(self, inner):
            self.inner = inner

        def publish(self, name):
            self.inner.publish(name)
            if name != three.build:
                raise StoreError("It does not answer.")

        def __getattr__(self, name):
            return getattr(self.inner, name)

    with pytest.raises(StoreError, match="does not answer"):
        rebuild(replace(base, builds=Broken(base.builds)), silent)
    assert base.builds.live() == three.build
    assert names(base) == [three.build]


def test_a_live_build_that_is_old_is_never_dropped(base, three):
    for _ in range(2):
        rebuild(base, silent)
    roll_back(base, three.build)
    newest = names(base)[-1]
    dropped, warnings = drop_old_builds(base, keep=1)
    assert warnings == ()
    assert three.build not in dropped
    assert names(base) == [three.build, newest]
