"""Saved lookups asked again, on the reference store."""

from dataclasses import replace

import pytest

from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore
from core.errors import CollectionMissing
from core.model.lookup import Stage
from core.retrieval.navigation import Domain, DomainDictionary
from core.retrieval.replay.comparison import Change, ContentChange
from core.retrieval.replay.reading import read_bundle
from core.retrieval.replay.running import replay
from core.retrieval.replay.writing import bundle_json
from tests.core.retrieval.replay.material import (
    EMBEDDER,
    SETTINGS,
    TEXTS,
    VERSIONS,
    a_base,
    around,
    index,
    saved,
)


def replayed(store, bundle, *, domains=None, **surroundings):
    read = read_bundle(bundle_json(bundle), "saved.json")
    return replay(MemorySearcher(store), EMBEDDER, read, around(store, **surroundings), domains=domains)


def test_nothing_changed_on_the_same_base():
    store = a_base()
    found = replayed(store, saved(store))

    assert (found.identical, found.sentence) == (True, "Nothing changed.")
    assert (found.build, found.settings, found.versions) == ((), (), ())
    assert found.differences.projection.same


def test_times_are_shown_by_stage_and_never_compared():
    store = a_base()
    bundle = saved(store)
    slow = {"embed": 1e6, "total": 1e6, "retired": 3.0}
    found = replayed(store, replace(bundle, result=replace(bundle.result, milliseconds=slow)))

    assert found.identical
    assert [(item.name, item.before) for item in found.milliseconds] == [
        ("embed", 1e6), ("retrieve", None), ("refine", None), ("pack", None), ("project", None),
        ("retired", 3.0), ("total", 1e6),
    ]  # fmt: skip
    assert [item.name for item in found.milliseconds if item.after is None] == ["retired"]


def test_a_document_that_was_changed_and_indexed_again_is_named():
    store = a_base()
    bundle = saved(store)
    index(store, "default/disk.md", ["Error E-104 means that the disk is nearly full."])
    found = replayed(store, bundle)

    assert not found.identical
    assert found.differences.contents == (
        ContentChange("default/disk.md#chunk-0", "default/disk.md", ("content",)),
    )
    assert (found.build, found.settings, found.versions) == ((), (), ())
    assert found.sentence.endswith("probably because the chunks of default/disk.md hold something else.")
    assert found.differences.projection.rewritten == ("default/disk.md#chunk-0",)


def test_a_document_that_was_added_shows_in_the_lists_the_ledger_and_the_rows_of_the_build():
    store = a_base()
    bundle = saved(store)
    index(store, "default/new.md", ["A port for E-1042."])
    found = replayed(store, bundle)
    key = "default/new.md#chunk-0"

    assert found.build == (Change("chunks", 4, 5),)
    assert {item.evidence_key for item in found.differences.attempts[0].lists[0].added} == {key}
    assert [(end.before, end.after) for end in found.differences.ends if end.evidence_key == key] == [
        (None, Stage.KEPT)
    ]
    assert "probably because the build differs (chunks)" in found.sentence


def test_a_rebuild_of_the_same_documents_differs_only_in_its_name():
    found = replayed(a_base(build="kb_2"), saved(a_base()))

    assert found.identical
    assert found.build == (Change("name", "kb_1", "kb_2"),)
    assert found.sentence == "The lookup is the same, although the build differs (name)."


def test_settings_and_versions_that_differ_today_are_listed_with_both_values():
    store = a_base()
    found = replayed(
        store,
        saved(store),
        settings={**SETTINGS, "rag.return_n": 3, "embedding.query_prompt": "query: "},
        versions={**VERSIONS, "milvus": "2.7"},
    )

    assert found.identical
    assert found.settings == (
        Change("rag.return_n", 5, 3), Change("embedding.query_prompt", None, "query: "),
    )  # fmt: skip
    assert found.versions == (Change("milvus", "2.6", "2.7"),)


def test_the_saved_configuration_is_used_also_when_its_category_is_gone():
    store = a_base()
    bundle = saved(store, "Milvus listens on port 19530 for clients.", category="ops")
    smaller = a_base({name: TEXTS[name] for name in list(TEXTS)[:1]})
    for stored in smaller.builds.values():
        for name, row in stored.rows.items():
            stored.rows[name] = replace(row, chunk=replace(row.chunk, category="net"))
    found = replayed(smaller, bundle)

    assert Change("selected", "filtered", "unfiltered") in found.differences.decision
    assert Change("category_chunks", None, 0) in found.differences.attempts[0].verdict


def test_the_domain_dictionary_of_today_navigates_a_replay():
    store = a_base()
    domains = DomainDictionary((Domain("ops", ("port",)),))
    found = replayed(store, saved(store, navigate=True), domains=domains)

    assert found.differences.navigation == (Change("matched", "", "ops"), Change("category", None, "ops"))
    assert found.sentence.startswith("What the words of the query say (matched, category) changed first")


def test_a_base_that_is_gone_is_an_error():
    bundle = saved(a_base())
    empty = MemoryStore("kb")

    with pytest.raises(CollectionMissing):
        replay(MemorySearcher(empty), EMBEDDER, bundle, bundle.surroundings)
    assert MemoryBuilds(empty).live() is None
