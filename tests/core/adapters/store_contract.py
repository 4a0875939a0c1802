"""What every `KnowledgeWritePort` and `BuildPort` must do: contract classes without the prefix `Test`.

A subclass gives a fixture `store`: a `StorePorts` under a collection name of its own.
"""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import CollectionMissing, StoreError, WriteRejected
from tests.core.adapters.store_material import (
    DIMENSION,
    StorePorts,
    a_fingerprint,
    ask,
    contents,
    texts,
    vector_of,
    vectors_of,
)


class WriteContract:
    """`KnowledgeWritePort`."""

    @pytest.fixture
    def build(self, store: StorePorts) -> str:
        name = store.name("w")
        store.builds.create(name, a_fingerprint(), expected_rows=10)
        return name

    def test_a_shorter_new_version_leaves_no_chunk_of_the_old(self, store: StorePorts, build: str) -> None:
        """mil-13: no ghost rows, before and after a flush."""
        old = texts("old one", "old two", "old three", doc_id="default/政策.md")
        new = texts("new one", doc_id="default/政策.md")
        for flush_between in (False, True):
            store.writer.upsert(build, old, vectors_of(old))
            if flush_between:
                store.writer.flush(build)
            assert store.writer.upsert(build, new, vectors_of(new)) == 1
            searcher = store.searcher(build=build)
            assert contents(searcher.search_dense(ask("q"), vector_of("old three"))) == ["new one"]
            assert searcher.search_sparse(ask("old")).hits == ()
            assert store.builds.chunk_counts(build) == {"default/政策.md": 1}

    def test_deleting_tells_how_many_there_were(self, store: StorePorts, build: str) -> None:
        """mil-13: an id that does not exist counts 0, whatever the store says it deleted."""
        chunks = [*texts("a", "b", doc_id="d/1"), *texts("c", doc_id="d/2")]
        store.writer.upsert(build, chunks, vectors_of(chunks))
        assert store.writer.delete_document(build, "nope") == 0
        assert store.writer.delete_document(build, "d/1") == 2
        assert store.writer.delete_document(build, "d/1") == 0
        assert store.builds.chunk_counts(build) == {"d/2": 1}

    def test_writing_twice_keeps_one_row_for_each_key(self, store: StorePorts, build: str) -> None:
        """mil-12: also twice within one call, where the last counts."""
        chunks = texts("first", "second")
        for _ in range(2):
            store.writer.upsert(build, chunks, vectors_of(chunks))
        again = [*chunks, replace(chunks[0], content="last")]
        assert store.writer.upsert(build, again, vectors_of(again)) == 2
        searcher = store.searcher(build=build)
        assert searcher.count() == 2
        assert sorted(contents(searcher.search_dense(ask("q"), vector_of("q")))) == ["last", "second"]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"category": "数" * 86}, r"category takes 258 bytes.*255"),
            ({"doc_id": "数" * 86}, r"doc_id takes 258 bytes.*255"),
            ({"content": "数" * 22_000}, r"content takes 66,000 bytes.*65,535"),
            ({"title": "x" * 1_025}, r"title takes 1,025 bytes.*1,024"),
            ({"category": ""}, "must not be empty"),
            ({"content": "\ud800"}, "not valid Unicode"),
            ({"metadata": {"x": "y" * 70_000}}, "metadata takes"),
        ],
    )
    def test_a_row_that_does_not_fit_rejects_the_call_before_anything_is_written(
        self, store: StorePorts, build: str, change: dict[str, object], message: str
    ) -> None:
        """mil-01: bytes of UTF-8 count on every back end."""
        good = texts("good")
        bad = replace(texts("bad", doc_id="d/bad")[0], **change)
        with pytest.raises(WriteRejected, match=message):
            store.writer.upsert(build, [*good, bad], np.tile(vector_of("v"), (2, 1)))
        assert store.builds.chunk_counts(build) == {}

    def test_a_value_that_just_fits_is_kept(self, store: StorePorts, build: str) -> None:
        """mil-01: 255 bytes in 85 characters."""
        chunks = texts("x", category="数" * 85)
        store.writer.upsert(build, chunks, vectors_of(chunks))
        assert store.searcher(build=build).count(category="数" * 85) == 1

    @pytest.mark.parametrize(
        ("vector", "message"),
        [
            (np.full(DIMENSION, np.nan), "not finite"),
            (np.zeros(DIMENSION), "length 0.0000"),
            (np.full(DIMENSION, 1.0), "length 4.0000"),
            (np.ones(3) / np.sqrt(3), r"\(1, 3\).*16"),
        ],
    )
    def test_a_bad_vector_is_refused(
        self, store: StorePorts, build: str, vector: np.ndarray, message: str
    ) -> None:
        """emb-03: no NaN and no zero vector ever gets in."""
        with pytest.raises(WriteRejected, match=message):
            store.writer.upsert(build, texts("x"), vector.astype(np.float32).reshape(1, -1))
        assert store.builds.chunk_counts(build) == {}

    def test_as_many_vectors_as_chunks(self, store: StorePorts, build: str) -> None:
        with pytest.raises(WriteRejected, match="2 chunks came with 1 vectors"):
            store.writer.upsert(build, texts("a", "b"), vectors_of(texts("a")))

    def test_nothing_to_write_is_fine(self, store: StorePorts, build: str) -> None:
        assert store.writer.upsert(build, [], np.zeros((0, DIMENSION), dtype=np.float32)) == 0

    def test_an_unknown_build_is_missing(self, store: StorePorts) -> None:
        with pytest.raises(CollectionMissing):
            store.writer.upsert(store.name("nope"), texts("a"), vectors_of(texts("a")))
        with pytest.raises(CollectionMissing):
            store.writer.delete_document(store.name("nope"), "d")


class BuildContract:
    """`BuildPort`."""

    def test_a_fresh_store_has_no_build_and_nothing_live(self, store: StorePorts) -> None:
        assert (store.builds.builds(), store.builds.live()) == ((), None)

    def test_publishing_moves_the_alias_and_searches_follow_at_once(self, store: StorePorts) -> None:
        """mil-09: swap first, then drop the old one."""
        searcher = store.filled("1", texts("old"))
        assert contents(searcher.search_dense(ask("q"), vector_of("q"))) == ["old"]
        store.filled("2", texts("new", "newer"))
        assert store.builds.live() == store.name("2")
        assert len(searcher.search_dense(ask("q"), vector_of("q")).hits) == 2
        assert searcher.describe().name == store.name("2")
        assert contents(store.searcher(build=store.name("1")).search_dense(ask("q"), vector_of("q"))) == [
            "old"
        ]
        store.builds.drop(store.name("1"))
        assert [build.name for build in store.builds.builds()] == [store.name("2")]
        assert searcher.count() == 2

    def test_publishing_the_live_build_again_changes_nothing(self, store: StorePorts) -> None:
        searcher = store.filled("1", texts("a"))
        store.builds.publish(store.name("1"))
        assert (store.builds.live(), searcher.count()) == (store.name("1"), 1)

    def test_the_live_build_cannot_be_dropped_by_either_name(self, store: StorePorts) -> None:
        """mil-09: dropping through the alias would delete what is behind it."""
        searcher = store.filled("1", texts("a"))
        with pytest.raises(StoreError, match="live"):
            store.builds.drop(store.name("1"))
        for name in (store.collection, store.name("nope"), "something_else"):
            with pytest.raises(StoreError, match="no build"):
                store.builds.drop(name)
        assert searcher.count() == 1

    def test_a_build_is_described_with_its_fingerprint(self, store: StorePorts) -> None:
        fingerprint = a_fingerprint(chunk_rules='{"größe": "320 数"}', query_prompt='a "b" \\ ')
        store.filled("1", texts("a", "b"), fingerprint=fingerprint)
        store.builds.create(store.name("2"), a_fingerprint(metric="L2"), expected_rows=50_001)
        first, second = store.builds.builds()
        assert (first.name, first.live, first.fingerprint, first.hybrid_ready, first.chunks) == (
            store.name("1"), True, fingerprint, True, 2,
        )  # fmt: skip
        assert (first.index_type, first.metric, first.dimension, first.missing_fields) == (
            "FLAT", "COSINE", DIMENSION, (),
        )  # fmt: skip
        assert (second.live, second.index_type, second.metric, second.chunks) == (False, "HNSW", "L2", 0)
        assert store.searcher(build=store.name("2")).describe() == second

    @pytest.mark.parametrize("suffix", ["知识", "a-b", "a/../b", "x" * 255, "", "a b"])
    def test_a_name_that_a_server_would_refuse_is_refused_everywhere(
        self, store: StorePorts, suffix: str
    ) -> None:
        """mil-10: [A-Za-z_][A-Za-z0-9_]{0,254}, and it starts with the collection's name."""
        name = store.name(suffix) if suffix else "1kb"
        with pytest.raises(StoreError, match="cannot be the name of a build"):
            store.builds.create(name, a_fingerprint(), expected_rows=1)
        assert store.builds.builds() == ()

    def test_two_builds_of_one_name_are_refused(self, store: StorePorts) -> None:
        store.builds.create(store.name("1"), a_fingerprint(), expected_rows=1)
        with pytest.raises(StoreError, match="already"):
            store.builds.create(store.name("1"), a_fingerprint(), expected_rows=1)

    def test_a_build_that_is_not_there_cannot_be_published(self, store: StorePorts) -> None:
        with pytest.raises(CollectionMissing, match="no build"):
            store.builds.publish(store.name("nope"))
        assert store.builds.live() is None

    def test_every_row_is_paged_through_once(self, store: StorePorts) -> None:
        """mil-08: after deletes and rewrites, ids seen = live ids, and as many as are counted."""
        chunks = [c for n in range(50) for c in texts(*(f"t{n} {i}" for i in range(5)), doc_id=f"d/{n:02}")]
        searcher = store.filled("1", chunks)
        name = store.name("1")
        for n in range(10):
            store.writer.delete_document(name, f"d/{n:02}")
        again = [chunk for chunk in chunks if chunk.doc_id in ("d/20", "d/21")]
        store.writer.upsert(name, again, vectors_of(again))
        seen = dict(store.builds.rows(name, batch=37))
        assert len(list(store.builds.rows(name, batch=37))) == len(seen) == searcher.count() == 200
        assert set(seen) == {chunk.id for chunk in chunks if chunk.doc_id >= "d/10"}
        assert store.builds.chunk_counts(name) == {f"d/{n:02}": 5 for n in range(10, 50)}
        kept = chunks[-1]
        assert seen[kept.id] == pytest.approx(vector_of(kept.content), abs=1e-6)

    def test_warming_up_leaves_a_build_that_answers(self, store: StorePorts) -> None:
        store.filled("1", texts("alpha"))
        store.builds.warm_up(store.name("1"))
        assert contents(store.searcher().search_sparse(ask("alpha"))) == ["alpha"]

    def test_one_flush_is_not_fragmented(self, store: StorePorts) -> None:
        store.filled("1", texts("alpha"))
        assert store.builds.fragmented(store.name("1")) is False
