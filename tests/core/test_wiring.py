"""Settings in, connected services out."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import wiring
from core.adapters.embedders import CachingEmbedder, HashingEmbedder, WordCounter
from core.errors import (
    CategoryUnknown,
    CollectionMismatch,
    CollectionMissing,
    RequestInvalid,
    StoreUnavailable,
)
from core.indexing.building import rebuild
from core.indexing.deleting import delete_documents
from core.indexing.uploading import index_files
from core.model.lookup import FilterPolicy
from core.model.search import Ranker, SearchMode
from core.settings import Settings
from core.wiring import Services, build
from tests.core.indexing.material import a_file, sections, silent


class Embedding(HashingEmbedder):
    """Remembers which queries it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[str] = []

    def embed_query(self, text: str):
        self.queries.append(text)
        return super().embed_query(text)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Embedding:
    embedding = Embedding()
    monkeypatch.setattr(
        wiring,
        "open_embedder",
        lambda _settings, data_dir: (CachingEmbedder(embedding, data_dir / "vectors.db"), WordCounter()),
    )
    return embedding


@pytest.fixture
def services(tmp_path: Path, model: Embedding):
    built = build(Settings(data_dir=tmp_path / "data"))
    yield built
    built.close()


def index(services: Services, *files) -> None:
    index_files(services.base, files, silent)


def names(result) -> set[str]:
    return {item.document_id.partition("#")[0] for item in result.projection.evidence}


def test_building_makes_the_data_folder_and_opens_neither_model_nor_store(services, model, tmp_path):
    assert sorted(path.name for path in (tmp_path / "data").iterdir() if "catalog" not in path.name) == []
    assert model.queries == []


def test_a_data_folder_that_cannot_be_made_is_said_with_the_way_out(tmp_path, model):
    (tmp_path / "taken").touch()

    with pytest.raises(StoreUnavailable, match=r"taken/data cannot be made: .*Set data_dir"):
        build(Settings(data_dir=tmp_path / "taken" / "data"))


def test_the_model_can_be_kept_beside_another_base(tmp_path, monkeypatch):
    asked = []

    def opened(_settings, folder):
        asked.append(folder)
        return CachingEmbedder(HashingEmbedder(), folder / "vectors.db"), WordCounter()

    monkeypatch.setattr(wiring, "open_embedder", opened)
    settings = Settings(data_dir=tmp_path / "base")
    build(settings, model_dir=tmp_path / "main").close()
    build(settings).close()

    assert asked == [tmp_path / "main", tmp_path / "base"]


def test_the_configuration_is_what_the_settings_say(tmp_path, model):
    settings = Settings(
        data_dir=tmp_path,
        retrieval={
            "search": {"mode": "dense"},
            "hybrid": {"ranker": "weighted", "rrf_k": 10, "weight_dense": 0.5, "weight_sparse": 0.25},
            "filter": {"policy": "strict", "retry_unfiltered_on_low_quality": False},
            "normalization": {"reference_threshold": 0.4, "precise_threshold": 0.7},
        },
        rag={
            "retrieve_k": 9,
            "return_n": 3,
            "max_chunks_per_document": 1,
            "context_budget_characters": 500,
        },
    )
    services = build(settings)
    services.close()
    made = services.configuration

    assert (made.mode, made.ranker, made.policy) == (SearchMode.DENSE, Ranker.WEIGHTED, FilterPolicy.STRICT)
    assert (made.rrf_k, made.weight_dense, made.weight_sparse) == (10, 0.5, 0.25)
    assert (made.retrieve_k, made.return_n, made.max_chunks_per_document) == (9, 3, 1)
    assert made.context_budget_characters == 500
    assert made.retry_unfiltered_on_low_quality is False
    assert (made.thresholds.reference_threshold, made.thresholds.precise_threshold) == (0.4, 0.7)
    assert (made.category, made.kb_scope) == (None, None)


@pytest.mark.milvus
def test_without_a_build_a_lookup_says_so_and_warming_up_loads_the_model_alone(services, model):
    with pytest.raises(CollectionMissing, match="No build is published"):
        services.lookup("q", services.configuration)

    services.warm_up()

    assert model.queries == ["warm up"]


@pytest.mark.milvus
def test_warming_up_readies_the_live_build(services, monkeypatch):
    index(services, a_file())
    warmed = []
    monkeypatch.setattr(type(services.base.builds), "warm_up", lambda _self, name: warmed.append(name))

    services.warm_up()

    assert warmed == [services.base.builds.live()]


@pytest.mark.milvus
def test_a_bad_query_costs_no_embedding(services, model):
    with pytest.raises(RequestInvalid, match="The query is empty"):
        services.lookup("  ", services.configuration)

    assert model.queries == []


@pytest.mark.milvus
def test_a_lookup_finds_what_was_indexed_also_after_closing_and_building_again(tmp_path, model):
    settings = Settings(data_dir=tmp_path)
    first = build(settings)
    index(first, a_file("a.md", "# Disk\n\nThe disk is full."))
    first.close()

    second = build(settings)
    try:
        result = second.lookup("disk is full", second.configuration)
    finally:
        second.close()

    assert names(result) == {"default/a.md"}
    assert result.build == second.base.builds.live()
    second.close()


@pytest.mark.milvus
def test_categories_are_listed_by_name_for_all_bases_or_one(services):
    index(
        services,
        a_file("a.md", category="ops"),
        a_file("b.md", category="net"),
        a_file("a.md", category="tenant", kb_scope="other"),
    )

    assert services.categories() == ("net", "ops", "tenant")
    assert services.categories(kb_scope="other") == ("tenant",)
    assert services.categories(kb_scope="nobody") == ()


@pytest.mark.milvus
def test_a_mistyped_category_or_base_is_refused_before_anything_is_asked(services, model):
    index(services, a_file("a.md", category="ops"), a_file("a.md", category="tenant", kb_scope="other"))
    asked = services.configuration

    with pytest.raises(CategoryUnknown, match=r"category 'opz'.*of this base: ops, tenant\.$"):
        services.lookup("q", replace(asked, category="opz"))
    with pytest.raises(CategoryUnknown, match=r"category 'tenant'.*of this base: ops\.$"):
        services.lookup("q", replace(asked, category="tenant", kb_scope="default"))
    with pytest.raises(
        RequestInvalid, match="No document belongs to the knowledge base 'nobody'"
    ) as refused:
        services.lookup("q", replace(asked, kb_scope="nobody"))
    assert "other" not in str(refused.value)
    assert model.queries == []


@pytest.mark.milvus
def test_the_knowledge_base_never_relaxes_while_the_category_does(services):
    index(
        services,
        a_file("a.md", "# Pool\n\nError E-104 in the pool.", category="ops"),
        a_file("a.md", "# Pool\n\nError E-104 in the pool.", category="tenant", kb_scope="other"),
    )
    configuration = replace(services.configuration, category="tenant", kb_scope="default")

    result = services.lookup("E-104", configuration, require_known_category=False)

    assert result.projection.filter_relaxed is True
    assert "category 'tenant' holds no chunk" in result.retrieval.reason
    assert names(result) == {"default/a.md"}
    assert {entry.hit.kb_scope for entry in result.ledger} == {"default"}


@pytest.mark.milvus
def test_a_document_that_was_deleted_is_not_found_any_more(services):
    index(services, a_file("a.md", "# Pool\n\nError E-104."), a_file("b.md", "# Disk\n\nError E-105."))

    delete_documents(services.base, ["default/a.md"])
    after_delete = services.lookup("E-104", services.configuration)
    rebuild(services.base, silent)
    after_rebuild = services.lookup("E-104", services.configuration)

    assert names(after_delete) == names(after_rebuild) == {"default/b.md"}


@pytest.mark.milvus
def test_a_named_build_is_searched_beside_the_live_one(services):
    index(services, a_file("a.md", sections("first")))
    old = services.base.builds.live()
    index(services, a_file("b.md", sections("second")))
    rebuild(services.base, silent)

    assert services.searcher(old).describe().name == old
    assert services.searcher().describe().name == services.base.builds.live() != old
    assert services.searcher() is services.live


@pytest.mark.milvus
def test_a_build_that_does_not_fit_the_settings_is_refused_by_name_too(tmp_path, model):
    first = build(Settings(data_dir=tmp_path))
    index(first, a_file())
    name = first.base.builds.live()
    first.close()

    other = build(Settings(data_dir=tmp_path, chunking={"size_tokens": 100}))
    try:
        for searcher in (other.live, other.searcher(name)):
            with pytest.raises(CollectionMismatch, match=name):
                searcher.describe()
    finally:
        other.close()
