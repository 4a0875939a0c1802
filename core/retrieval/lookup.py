"""`lookup_knowledge`: the one function behind the console, the command line and any agent.

    question -> navigate -> embed -> retrieve -> fine order -> refine -> pack -> project -> LookupResult

Invariant: the projection that an agent gets and the trace that a person sees are parts of one value
from one run.
"""

import time
from dataclasses import replace

from core.model.lookup import LookupResult, Navigation, Packing, Projection, Refinement, Retrieval
from core.ports import Embedder, KnowledgeSearchPort
from core.retrieval.configuration import Configuration
from core.retrieval.evidence import refine
from core.retrieval.filters import outside_category
from core.retrieval.fine_order import FineOrder, fine_order, with_moves
from core.retrieval.ledger import balance
from core.retrieval.navigation import DomainDictionary, navigate_lookup
from core.retrieval.packing import pack
from core.retrieval.projection import project
from core.retrieval.query import identifier_terms, normalise_query
from core.retrieval.retriever import retrieve


def lookup_knowledge(
    searcher: KnowledgeSearchPort,
    embedder: Embedder,
    query: str,
    configuration: Configuration,
    *,
    trace: bool = True,
    domains: DomainDictionary | None = None,
) -> LookupResult:
    """Look a question up in the knowledge base.

    Args:
        searcher: the build to ask.
        embedder: the model the build was made with.
        query: 1 to 2,000 characters after NFKC and trimming.
        configuration: every setting that shapes the result.
        trace: ask BM25 on its own as well and audit the fusion; changes what is seen, never what is
            returned to the agent.
        domains: its words in the query count as exact terms, and with `configuration.navigate` they may
            set the category; None has no words and sets none.

    Returns:
        Everything the lookup did. `projection` is the agent's part, valid under `projection_schema()`; it
        holds no score and no rank, and never will. `found` says that the evidence is at least RELATED: when
        it is False, nothing may be answered from it, although its least bad pieces may be there.
        `relevance_level` is the best level among the evidence, WEAK without any. `selected_attempt` names
        the search it came from: `filtered` (the category), `unfiltered` (all), `merged` (both).
        `filter_relaxed` says that a category was asked for and others were allowed; kb_scope never relaxes.
        `evidence` is best first, at most `return_n`, `()` when nothing was found; `document_id` names a
        chunk, so two chunks of one document are two pieces; `truncated` says that the excerpt was cut
        at its end for the character budget; `source`, `title` and `breadcrumb` may be None.

    Raises:
        RequestInvalid: the query is empty or too long.
        EmbeddingFailed: the model cannot embed it.
        StoreError: no build is published, it does not fit the settings, or the store does not answer.
    """
    clock = _Laps()
    text = normalise_query(query)
    configuration.request(text, category_filter=None)  # a bad query costs no embedding
    configuration = replace(configuration, domains_hash="" if domains is None else domains.hash)
    words = () if domains is None else domains.words
    build = searcher.identify().name
    navigation = navigate_lookup(searcher, text, configuration, domains)
    asked = _with_category(configuration, navigation)
    if navigation is not None:
        clock.lap("navigate")
    vector = embedder.embed_query(text)
    clock.lap("embed")
    retrieval = retrieve(searcher, text, vector, asked, trace=trace, words=words)
    clock.lap("retrieve")
    terms = identifier_terms(text, words)
    order = fine_order(retrieval.chosen.hits, terms, places=configuration.fine_order_places)
    refinement, packing, projection = _finish(retrieval, order, configuration, clock)
    returned = tuple(item.evidence.hit for item in packing.packed)
    return LookupResult(
        query=text,
        configuration_hash=configuration.hash,
        build=build,
        navigation=navigation,
        retrieval=retrieval,
        refinement=refinement,
        packing=packing,
        projection=projection,
        outside_category=outside_category(returned, asked.category),
        ledger=with_moves(balance(retrieval, refinement, packing), order),
        milliseconds=clock.laps,
    )


def _finish(
    retrieval: Retrieval, order: FineOrder, configuration: Configuration, clock: "_Laps"
) -> tuple[Refinement, Packing, Projection]:
    """Refine, pack and project the chosen attempt."""
    refinement = refine(
        order.hits,
        retrieval.chosen.judgements,
        return_n=configuration.return_n,
        max_chunks_per_document=configuration.max_chunks_per_document,
    )
    clock.lap("refine")
    packing = pack(refinement.kept, budget_characters=configuration.context_budget_characters)
    clock.lap("pack")
    projection = project(packing, retrieval)
    clock.lap("project")
    return refinement, packing, projection


def _with_category(configuration: Configuration, navigation: Navigation | None) -> Configuration:
    """Filter by the category that the query sets; it sets none when one was asked for by hand."""
    if navigation is None or navigation.category is None:
        return configuration
    return replace(configuration, category=navigation.category)


class _Laps:
    """Milliseconds by stage, and `total` since the start."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.laps[stage] = (now - self._last) * 1000
        self.laps["total"] = (now - self._started) * 1000
        self._last = now
