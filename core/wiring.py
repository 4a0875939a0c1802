"""The one place that names concrete adapters: settings in, connected `Services` out.

    settings -> build(settings) -> Services (closeable)

Invariant: building opens the catalog and reads what the model says of itself, no more. Its weights are
loaded and Milvus is opened when something first needs them, so that a page can say why a store does
not open.
"""

from dataclasses import dataclass
from pathlib import Path

from core.adapters.analyzer import ANALYZER
from core.adapters.embedders import CachingEmbedder, open_embedder
from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.lifecycle import MilvusBuilds
from core.adapters.milvus.schema import SCHEMA_VERSION
from core.adapters.milvus.searcher import MilvusSearcher
from core.adapters.milvus.writer import MilvusWriter
from core.catalog.catalog import Catalog, open_catalog
from core.catalog.originals import open_originals
from core.errors import CategoryUnknown, RequestInvalid, StoreUnavailable
from core.indexing.base import KnowledgeBase, fingerprint
from core.jobs import Jobs
from core.model.lookup import LookupResult
from core.ports import KnowledgeSearchPort
from core.retrieval.calibration import thresholds_for
from core.retrieval.configuration import Configuration
from core.retrieval.lookup import lookup_knowledge
from core.retrieval.navigation import DomainDictionary, read_domains
from core.retrieval.replay.bundles import Surroundings
from core.retrieval.replay.surroundings import effective_settings, library_versions
from core.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that the console and the command line stand on; close it when done.

    Attributes:
        base: the ports of the knowledge base, for uploading and rebuilding.
        live: searches the live build; refuses one that does not fit the settings.
        configuration: what the settings ask for, without a category.
        domains: the domain dictionary of the settings; None when they name none.
    """

    settings: Settings
    base: KnowledgeBase
    jobs: Jobs
    connection: MilvusConnection
    embedder: CachingEmbedder
    live: KnowledgeSearchPort
    configuration: Configuration
    domains: DomainDictionary | None

    @property
    def catalog(self) -> Catalog:
        """What was uploaded, built and run."""
        return self.base.catalog

    def categories(self, *, kb_scope: str | None = None) -> tuple[str, ...]:
        """List the categories of the catalog's documents by name; kb_scope None asks all bases."""
        return tuple(sorted({document.category for document in self.catalog.documents(kb_scope=kb_scope)}))

    def searcher(self, build: str | None = None) -> KnowledgeSearchPort:
        """Return the search port of a named build; None is the live one."""
        if build is None:
            return self.live
        collection = self.settings.milvus.collection
        return MilvusSearcher(self.connection, collection, fingerprint(self.base), build)

    def lookup(
        self,
        query: str,
        configuration: Configuration,
        *,
        trace: bool = True,
        require_known_category: bool = True,
    ) -> LookupResult:
        """Look a question up in the live build; see `lookup_knowledge`.

        Args:
            query: see `lookup_knowledge`.
            configuration: see `lookup_knowledge`.
            trace: see `lookup_knowledge`.
            require_known_category: False leaves a category that no document has to the filter policy.

        Raises:
            CategoryUnknown: no document of the base asked for has the category asked for.
            RequestInvalid: no document of the catalog belongs to the knowledge base asked for.
        """
        self.require_scope(configuration.kb_scope)
        if require_known_category:
            self.require_category(configuration.category, kb_scope=configuration.kb_scope)
        return lookup_knowledge(
            self.live, self.embedder, query, configuration, trace=trace, domains=self.domains
        )

    def surroundings(self, build: str) -> Surroundings:
        """Say what shapes a lookup in a build beside its configuration, for saving and replaying it.

        Raises:
            StoreError: there is no such build, or the store does not answer.
        """
        return Surroundings(
            build=self.base.searcher(build).describe(),
            settings=effective_settings(self.settings, self.configuration),
            versions=library_versions(self.connection.server_version()),
        )

    def require_category(self, category: str | None, *, kb_scope: str | None = None) -> None:
        """Refuse a category that no document has; a person mistyped it. None asks all.

        Only the knowledge base asked for is looked at: its boundary holds for names too.

        Raises:
            CategoryUnknown: names the categories there are.
        """
        if category is None or self.catalog.documents(category=category, kb_scope=kb_scope):
            return
        listed = ", ".join(self.categories(kb_scope=kb_scope)) or "none yet"
        raise CategoryUnknown(
            f"No document has the category '{category}'. The categories of this base: {listed}."
        )

    def require_scope(self, kb_scope: str | None) -> None:
        """Refuse a knowledge base that holds no document; a person mistyped it. None asks all.

        Raises:
            RequestInvalid: names no other knowledge base, because a scope is a boundary of access.
        """
        if kb_scope is None or self.catalog.documents(kb_scope=kb_scope):
            return
        raise RequestInvalid(
            f"No document belongs to the knowledge base '{kb_scope}'. Check its name, or index files "
            "into it."
        )

    def warm_up(self) -> None:
        """Load the model's weights and the live build, so that the first question need not wait for them.

        Without a live build only the model is loaded.

        Raises:
            EmbeddingFailed: the model cannot be loaded.
            StoreError: the store does not answer.
        """
        self.embedder.embed_query("warm up")
        name = self.base.builds.live()
        if name is not None:
            self.base.builds.warm_up(name)

    def close(self) -> None:
        """Stop the worker, then close the model's cache, the store and the catalog."""
        self.jobs.close()
        self.embedder.close()
        self.connection.close()
        self.catalog.close()


def build(settings: Settings, *, model_dir: Path | None = None) -> Services:
    """Connect everything.

    Args:
        settings: checked, with absolute paths.
        model_dir: where the converted model and the cached vectors are kept; None is the data
            folder. Bases beside the main one share its model.

    Raises:
        StoreUnavailable: the data folder or the catalog cannot be opened.
        EmbeddingFailed: what the model says of itself cannot be read.
        SettingsInvalid: the domain dictionary that the settings name cannot be used.
    """
    named = settings.retrieval.navigation.domains
    domains = read_domains(Path(named)) if named else None
    _make_data_folder(settings.data_dir)
    embedder, counter = open_embedder(settings.embedding, model_dir or settings.data_dir)
    token = settings.milvus.token.get_secret_value()
    connection = MilvusConnection(settings.milvus_uri, token, settings.milvus.timeout_seconds)
    collection = settings.milvus.collection

    def searcher_of(name: str) -> KnowledgeSearchPort:
        # A build that is being made needs no comparison with the settings it is made with.
        return MilvusSearcher(connection, collection, None, name)

    base = KnowledgeBase(
        settings=settings,
        catalog=open_catalog(f"sqlite:///{settings.data_dir / 'catalog.db'}"),
        originals=open_originals(str(settings.data_dir / "originals")),
        embedder=embedder,
        token_counter=counter,
        writer=MilvusWriter(connection),
        builds=MilvusBuilds(connection, collection, settings.milvus.index),
        searcher=searcher_of,
        schema=SCHEMA_VERSION,
        analyzer=ANALYZER,
    )
    return Services(
        settings=settings,
        base=base,
        jobs=Jobs(base.catalog),
        connection=connection,
        embedder=embedder,
        live=MilvusSearcher(connection, collection, fingerprint(base)),
        configuration=_configuration(settings, embedder.name, domains),
        domains=domains,
    )


def _make_data_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(
            f"The data folder {folder} cannot be made: {error}. Set data_dir to a folder you may write to."
        ) from error


def _configuration(settings: Settings, model: str, domains: DomainDictionary | None) -> Configuration:
    retrieval, rag = settings.retrieval, settings.rag
    cuts = retrieval.normalization
    return Configuration(
        thresholds=thresholds_for(
            model,
            reference_threshold=cuts.reference_threshold,
            precise_threshold=cuts.precise_threshold,
            related_margin=cuts.related_margin,
            precise_margin=cuts.precise_margin,
        ),
        mode=retrieval.search.mode,
        retrieve_k=rag.retrieve_k,
        ranker=retrieval.hybrid.ranker,
        rrf_k=retrieval.hybrid.rrf_k,
        weight_dense=retrieval.hybrid.weight_dense,
        weight_sparse=retrieval.hybrid.weight_sparse,
        policy=retrieval.filter.policy,
        retry_unfiltered_on_low_quality=retrieval.filter.retry_unfiltered_on_low_quality,
        return_n=rag.return_n,
        max_chunks_per_document=rag.max_chunks_per_document,
        context_budget_characters=rag.context_budget_characters,
        navigate=retrieval.navigation.enabled,
        domains_hash="" if domains is None else domains.hash,
        fine_order_places=retrieval.fine_order.places,
    )
