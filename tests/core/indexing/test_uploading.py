"""Files into the live build: what is refused, kept, replaced and left alone."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from core.catalog.records import DocumentState
from core.errors import CollectionMismatch, EmbeddingFailed, FileRefused, JobCancelled
from core.indexing.checking import inconsistencies
from core.indexing.reports import FileOutcome
from core.indexing.uploading import index_files, preview
from core.model.documents import chunk_id
from core.settings import ChunkingSettings, ConsoleSettings
from tests.core.indexing.material import (
    Embedding,
    Stages,
    a_file,
    files_in,
    found_by_bm25,
    live_counts,
    sections,
    silent,
)


def outcomes(report):
    return [(file.name, file.outcome) for file in report.files]


def test_the_first_upload_creates_verifies_and_publishes_the_first_build(base):
    report = index_files(base, [a_file("a.md"), a_file("b.md", sections("one", "two"))], silent)
    assert outcomes(report) == [("a.md", FileOutcome.INDEXED), ("b.md", FileOutcome.INDEXED)]
    assert report.build == base.builds.live() is not None
    assert report.rebuilt is True
    assert live_counts(base) == {"default/a.md": 1, "default/b.md": 2}
    assert base.catalog.build_records()[0].verification.passed
    assert inconsistencies(base) == ()


def test_a_first_upload_embeds_each_chunk_once_and_once_more_to_verify(base):
    watched = replace(base, embedder=Embedding(base.embedder))
    index_files(watched, [a_file("a.md"), a_file("b.md", sections("one", "two"))], silent)
    assert (watched.embedder.calls, watched.embedder.texts) == (2, 6)


def test_the_first_build_holds_what_the_catalog_had_before(base, store):
    index_files(base, [a_file("a.md")], silent)
    store.builds.clear()
    store.live = None
    index_files(base, [a_file("b.md")], silent)
    assert live_counts(base) == {"default/a.md": 1, "default/b.md": 1}


def test_a_second_upload_goes_into_the_live_build(base):
    first = index_files(base, [a_file("a.md")], silent)
    second = index_files(base, [a_file("b.md", sections("one", "two"))], silent)
    assert second.build == first.build
    assert second.rebuilt is False
    assert second.files[0].chunk_count == 2
    row = base.catalog.document("default/b.md")
    assert (row.state, row.chunk_count, row.build) == (DocumentState.INDEXED, 2, first.build)
    assert inconsistencies(base) == ()


def test_a_refused_file_leaves_nothing_and_the_rest_goes_on(base, tmp_path):
    """int-09"""
    files = [a_file("empty.txt", ""), a_file("white.md", " \u3000\u00a0\u200b\ufeff\n"), a_file("good.md")]
    report = index_files(base, files, silent)
    assert [file.outcome for file in report.files] == [
        FileOutcome.REFUSED,
        FileOutcome.REFUSED,
        FileOutcome.INDEXED,
    ]
    assert all("no text" in file.reason and file.doc_id is None for file in report.files[:2])
    assert [row.name for row in base.catalog.documents()] == ["good.md"]
    assert len(files_in(tmp_path / "originals")) == 1
    assert live_counts(base) == {"default/good.md": 1}


def test_the_empty_files_of_the_cases_are_refused_by_reason(base, shared, tmp_path):
    """int-09"""
    folder = shared / "cases" / "files"
    names = ["empty.txt", "whitespace_only.md", "docx_empty.docx"]
    files = [replace(a_file(name), data=(folder / name).read_bytes()) for name in names]
    report = index_files(base, [*files, a_file("good.md")], silent)
    assert [file.outcome.value for file in report.files] == ["refused", "refused", "refused", "indexed"]
    assert all(file.reason for file in report.files[:3])
    assert len(files_in(tmp_path / "originals")) == 1


def test_only_refused_files_make_no_build(base):
    report = index_files(base, [a_file("empty.txt", "")], silent)
    assert (report.build, report.rebuilt) == (None, False)
    assert base.builds.builds() == ()


def test_the_same_file_again_does_no_work(base):
    index_files(base, [a_file()], silent)
    watched = replace(base, embedder=Embedding(base.embedder))
    before = base.catalog.document("default/ops/a.md")
    report = index_files(watched, [a_file()], silent)
    assert outcomes(report) == [("ops/a.md", FileOutcome.UNCHANGED)]
    assert report.files[0].reason == "The same file is in the live build since 2026-01-31 12:00 UTC."
    assert report.files[0].chunk_count == 1
    assert watched.embedder.calls == 0
    assert base.catalog.document("default/ops/a.md") == before


def test_a_file_whose_chunks_were_lost_is_written_again(base):
    index_files(base, [a_file()], silent)
    base.writer.delete_document(base.builds.live(), "default/ops/a.md")
    report = index_files(base, [a_file()], silent)
    assert outcomes(report) == [("ops/a.md", FileOutcome.INDEXED)]
    assert inconsistencies(base) == ()


def test_a_new_category_replaces_the_chunks_and_counts_as_a_new_version(base):
    index_files(base, [a_file(category="ops")], silent)
    report = index_files(base, [a_file(category="hr")], silent)
    assert outcomes(report) == [("ops/a.md", FileOutcome.REPLACED)]
    searcher = base.searcher(base.builds.live())
    assert (searcher.count(category="ops"), searcher.count(category="hr")) == (0, 1)
    assert base.catalog.document("default/ops/a.md").version == 2


def test_a_shorter_version_leaves_no_tail_and_its_old_original_goes(base, tmp_path):
    """int-21"""
    old = a_file("政策.md", sections("报销上限 一百元", "流程", "附录 名单"))
    new = a_file("政策.md", sections("报销上限 二百元"))
    index_files(base, [old], silent)
    first = base.catalog.document("default/政策.md")
    assert any("附录" in content for content in found_by_bm25(base, "附录"))
    report = index_files(base, [new], silent)
    second = base.catalog.document("default/政策.md")
    assert outcomes(report) == [("政策.md", FileOutcome.REPLACED)]
    assert live_counts(base) == {"default/政策.md": 1}
    assert not any("附录" in content for content in found_by_bm25(base, "附录"))
    assert not any("一百元" in content for content in found_by_bm25(base, "一百元"))
    assert len(base.catalog.documents()) == 1
    assert (first.version, second.version) == (1, 2)
    assert second.changed_at > first.changed_at
    assert second.uploaded_at == first.uploaded_at
    assert files_in(tmp_path / "originals") == [second.original_hash]


def test_the_two_versions_of_the_case_leave_only_the_second(base, shared):
    """int-21"""
    folder = shared / "cases" / "files"
    versions = [(folder / f"same_name_v{n}" / "政策.md").read_bytes() for n in (1, 2)]
    for data in versions:
        index_files(base, [replace(a_file("政策.md"), data=data)], silent)
    assert len(base.catalog.documents()) == 1
    expected = preview(base, replace(a_file("政策.md"), data=versions[1])).chunks
    live = base.builds.live()
    assert {key for key, _ in base.builds.rows(live)} == {chunk.id for chunk in expected}
    assert not any("一百元" in content for content in found_by_bm25(base, "一百元"))


def test_one_file_in_two_bases_is_two_documents(base):
    """int-23"""
    report = index_files(base, [a_file(kb_scope="a"), a_file(kb_scope="b")], silent)
    assert [file.doc_id for file in report.files] == ["a/ops/a.md", "b/ops/a.md"]
    assert live_counts(base) == {"a/ops/a.md": 1, "b/ops/a.md": 1}


@pytest.mark.parametrize("turn", range(20))
def test_two_threads_with_one_file_give_one_document_and_one_set_of_chunks(base, turn):
    """int-24"""
    if turn % 2:
        index_files(base, [a_file("other.md", "# Other\n\nSomething else.")], silent)
    barrier = threading.Barrier(2)
    reports = []

    def upload():
        barrier.wait()
        reports.append(index_files(base, [a_file("dup.md", sections("one", "two", "three"))], silent))

    threads = [threading.Thread(target=upload) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    files = [report.files[0] for report in reports]
    assert {file.doc_id for file in files} == {"default/dup.md"}
    assert sorted(file.outcome.value for file in files) == ["indexed", "unchanged"]
    assert live_counts(base)["default/dup.md"] == 3
    live = base.builds.live()
    ids = {key for key, _ in base.builds.rows(live)}
    assert {chunk_id("default/dup.md", index) for index in range(3)} <= ids
    assert [row.name for row in base.catalog.documents()].count("dup.md") == 1
    assert inconsistencies(base) == ()


def test_two_files_of_one_name_in_one_upload_keep_the_later_and_say_so(base):
    report = index_files(base, [a_file("a.md", "# A\n\nfirst"), a_file("a.md", "# A\n\nsecond")], silent)
    assert [file.outcome for file in report.files] == [FileOutcome.REFUSED, FileOutcome.INDEXED]
    assert "later file of this upload" in report.files[0].reason
    assert len(found_by_bm25(base, "second")) == 1
    assert found_by_bm25(base, "first") == []


def test_a_document_whose_name_holds_a_chunk_mark_has_its_own_chunks(base):
    """chk-18"""
    files = [a_file("a.md", sections("one", "two")), a_file("a.md#chunk-1.md", sections("three"))]
    index_files(base, files, silent)
    assert live_counts(base) == {"default/a.md": 2, "default/a.md#chunk-1.md": 1}
    assert len({key for key, _ in base.builds.rows(base.builds.live())}) == 3


def test_the_order_of_the_files_changes_no_chunk_id(base, store):
    """chk-18"""
    files = [a_file(f"{name}.md", sections(name, name * 2)) for name in ("x", "y", "z")]
    index_files(base, files, silent)
    forward = {key for key, _ in base.builds.rows(base.builds.live())}
    store.builds.clear()
    store.live = None
    index_files(base, files[::-1], silent)
    assert {key for key, _ in base.builds.rows(base.builds.live())} == forward


def test_original_and_row_are_there_before_anything_is_written(base):
    """A kill during the first embedding leaves everything that a rebuild needs."""
    index_files(base, [a_file("first.md")], silent)
    seen = []

    def look(_call):
        row = base.catalog.document("default/b.md")
        seen.append((row.state, base.originals.get(row.original_hash)))

    watched = replace(base, embedder=Embedding(base.embedder, before=look))
    index_files(watched, [a_file("b.md", "# B\n\nText.")], silent)
    assert seen == [(DocumentState.STORED, b"# B\n\nText.")]


def test_a_failing_model_leaves_documents_stored_and_a_second_try_brings_them_in(base, pauses):
    index_files(base, [a_file("a.md")], silent)

    def fail(_call):
        raise EmbeddingFailed("out of memory")

    broken = replace(base, embedder=Embedding(base.embedder, before=fail))
    with pytest.raises(EmbeddingFailed, match="out of memory"):
        index_files(broken, [a_file("b.md")], silent)
    assert pauses == [0.5, 2.0]
    assert base.catalog.document("default/b.md").state is DocumentState.STORED
    assert [found.sentence for found in inconsistencies(base)] == [
        f'"default/b.md" is kept but the live build {base.builds.live()} lacks this version. '
        "Upload it again or start a rebuild."
    ]
    assert outcomes(index_files(base, [a_file("b.md")], silent)) == [("b.md", FileOutcome.INDEXED)]
    assert inconsistencies(base) == ()


def test_a_cancelled_upload_keeps_what_was_written_and_marks_the_rest(base, monkeypatch):
    monkeypatch.setattr("core.indexing.preparing.GROUP_CHUNKS", 1)
    index_files(base, [a_file("first.md")], silent)
    with pytest.raises(JobCancelled):
        index_files(base, [a_file("a.md"), a_file("b.md")], Stages(cancel_at="write"))
    states = {row.name: row.state.value for row in base.catalog.documents()}
    assert states["first.md"] == "indexed"
    assert sorted(states.values()).count("stored") >= 1
    assert {i.doc_id for i in inconsistencies(base)} == {
        f"default/{name}" for name, state in states.items() if state == "stored"
    }


def test_a_version_deleted_while_it_was_embedded_is_not_written(base):
    index_files(base, [a_file("first.md")], silent)
    watched = replace(
        base,
        embedder=Embedding(base.embedder, before=lambda _: base.catalog.remove_document("default/b.md")),
    )
    report = index_files(watched, [a_file("b.md")], silent)
    assert report.files[0].outcome is FileOutcome.REFUSED
    assert "deleted while" in report.files[0].reason
    assert live_counts(base) == {"default/first.md": 1}


def test_a_version_replaced_while_it_was_embedded_is_not_written(base):
    index_files(base, [a_file("first.md")], silent)
    newer = a_file("b.md", "# B\n\nnewer")
    watched = replace(
        base,
        embedder=Embedding(base.embedder, before=lambda _: index_files(base, [newer], silent)),
    )
    report = index_files(watched, [a_file("b.md", "# B\n\nolder")], silent)
    assert report.files[0].outcome is FileOutcome.REFUSED
    assert "newer upload" in report.files[0].reason
    assert len(found_by_bm25(base, "newer")) == 1
    assert found_by_bm25(base, "older") == []
    assert inconsistencies(base) == ()


class PoisonedEmbedder(Embedding):
    """Gives a vector without length to every text that holds a word."""

    def embed_passages(self, texts, *, progress=None):
        vectors = super().embed_passages(texts, progress=progress)
        bad = [row for row, text in enumerate(texts) if "poison" in text]
        vectors[bad] = np.nan
        return vectors


def test_a_document_that_the_store_refuses_is_withdrawn_and_the_others_are_written(base, tmp_path):
    index_files(base, [a_file("first.md")], silent)
    poisoned = replace(base, embedder=PoisonedEmbedder(base.embedder))
    files = [a_file("a.md"), a_file("bad.md", "# Bad\n\npoison"), a_file("c.md")]
    report = index_files(poisoned, files, silent)
    assert [file.outcome.value for file in report.files] == ["indexed", "refused", "indexed"]
    assert "not finite" in report.files[1].reason
    assert live_counts(base) == {"default/first.md": 1, "default/a.md": 1, "default/c.md": 1}
    assert base.catalog.find_document("default/bad.md") is None
    # All three good files have the same bytes.
    assert len(files_in(tmp_path / "originals")) == 1
    assert inconsistencies(base) == ()


def test_a_refused_replacement_leaves_the_version_before_it_alone(base):
    index_files(base, [a_file("a.md", "# A\n\nharmless")], silent)
    poisoned = replace(base, embedder=PoisonedEmbedder(base.embedder))
    report = index_files(poisoned, [a_file("a.md", "# A\n\npoison")], silent)
    assert report.files[0].outcome is FileOutcome.REFUSED
    assert report.files[0].reason.endswith("The version before it stays as it was.")
    assert len(found_by_bm25(base, "harmless")) == 1
    assert base.catalog.document("default/a.md").version == 1
    assert inconsistencies(base) == ()


def test_a_live_build_of_other_settings_is_not_written_to(base):
    index_files(base, [a_file("a.md")], silent)
    other = replace(
        base,
        settings=base.settings.model_copy(
            update={"chunking": ChunkingSettings(size_tokens=100, overlap_tokens=0)}
        ),
    )
    with pytest.raises(CollectionMismatch, match=r"chunk_rules .*320.*, now .*100.*Start a rebuild"):
        index_files(other, [a_file("b.md")], silent)
    assert base.catalog.find_document("default/b.md") is None


def test_statistics_in_pieces_are_made_whole_by_a_rebuild_that_embeds_from_the_cache(base):
    first = index_files(base, [a_file("a.md")], silent)
    pieces = {first.build}
    fragmented = replace(base, builds=Fragmented(base.builds, pieces))
    report = index_files(fragmented, [a_file("b.md")], silent)
    assert report.rebuilt is True
    assert report.build not in pieces
    assert live_counts(base) == {"default/a.md": 1, "default/b.md": 1}
    assert inconsistencies(base) == ()


def test_a_rebuild_that_cannot_make_statistics_whole_is_a_warning(base, tmp_path):
    first = index_files(base, [a_file("a.md", "# A\n\nunique")], silent)
    key = base.catalog.document("default/a.md").original_hash
    base.originals.remove(key)
    fragmented = replace(base, builds=Fragmented(base.builds, {first.build}))
    report = index_files(fragmented, [a_file("b.md")], silent)
    assert report.files[0].outcome is FileOutcome.INDEXED
    assert report.build == first.build
    assert "in pieces" in report.warnings[0]
    assert "default/a.md" in report.warnings[0]


class Fragmented:
    """A build port that calls some builds fragmented."""

    def __init__(self, inner, names):
        self.inner, self.names = inner, names

    def fragmented(self, name):
        return name in self.names

    def __getattr__(self, name):
        return getattr(self.inner, name)


def test_progress_tells_the_stages_in_order_and_counts_to_the_end(base):
    index_files(base, [a_file("first.md")], silent)
    stages = Stages()
    index_files(base, [a_file("a.md", sections("one", "two")), a_file("b.md")], stages)
    assert stages.order == ["load", "chunk", "embed", "write"]
    assert stages.calls[-1] == ("write", 3, 3)
    assert ("load", 2, 2) in stages.calls
    assert ("embed", 3, 3) in stages.calls


def test_a_preview_stores_nothing(base, tmp_path):
    shown = preview(base, a_file("a.md", sections("one", "two")))
    assert [chunk.chunk_index for chunk in shown.chunks] == [0, 1]
    assert shown.document.doc_id == "default/a.md"
    assert base.catalog.documents() == ()
    assert not (tmp_path / "originals").exists()


def test_a_file_above_the_limit_of_the_settings_is_refused(base):
    small = replace(
        base,
        settings=base.settings.model_copy(update={"console": ConsoleSettings(upload_limit_megabytes=1)}),
    )
    with pytest.raises(FileRefused, match="1,048,577 bytes; at most 1,048,576"):
        preview(small, a_file("a.txt", "x" * (1024 * 1024 + 1)))
