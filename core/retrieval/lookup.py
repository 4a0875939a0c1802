"""`lookup_knowledge`: the one function behind the console, the command line and any agent.

    question -> embed -> retrieve -> refine -> pack -> project -> LookupResult

Invariant: the projection that an agent gets and the trace that a person sees are parts of one value
from one run.
"""

import time

from core.model.lookup import LookupResult
from core.ports import Embedder, KnowledgeSearchPort
from core.retrieval.configuration import Configuration
from core.retrieval.evidence import refine
from core.retrieval.filters import outside_category
from core.retrieval.ledger import balance
from core.retrieval.packing import pack
from core.retrieval.projection import project
from core.retrieval.query import normalise_query
from core.retrieval.retriever import retrieve


def lookup_knowledge(
    searcher: KnowledgeSearchPort,
    embedder: Embedder,
    query: str,
    configuration: Configuration,
    *,
    trace: bool = True,
) -> LookupResult:
    """Look a question up in the knowledge base.

    Args:
        searcher: the build to ask.
        embedder: the model the build was made with.
        query: 1 to 2,000 characters after NFKC and trimming.
        configuration: every setting that shapes the result.
        trace: ask BM25 on its own as well and audit the fusion; changes what is seen, never what is
            returned to the agent.

    Returns:
        The projection for the agent with everything that led to it.

    Raises:
        RequestInvalid: the query is empty or too long.
        EmbeddingFailed: the model cannot embed it.
        StoreError: no build is published, it does not fit the settings, or the store does not answer.
    """
    clock = _Laps()
    text = normalise_query(query)
    configuration.request(text, category_filter=None)  # a bad query costs no embedding
    build = searcher.identify().name
    vector = embedder.embed_query(text)
    clock.lap("embed")
    retrieval = retrieve(searcher, text, vector, configuration, trace=trace)
    clock.lap("retrieve")
    refinement = refine(
        retrieval.chosen.hits,
        retrieval.chosen.judgements,
        return_n=configuration.return_n,
        max_chunks_per_document=configuration.max_chunks_per_document,
    )
    clock.lap("refine")
    packing = pack(refinement.kept, budget_characters=configuration.context_budget_characters)
    clock.lap("pack")
    projection = project(packing, retrieval)
    clock.lap("project")
    returned = tuple(item.evidence.hit for item in packing.packed)
    return LookupResult(
        query=text,
        configuration_hash=configuration.hash,
        build=build,
        retrieval=retrieval,
        refinement=refinement,
        packing=packing,
        projection=projection,
        outside_category=outside_category(returned, configuration.category),
        ledger=balance(retrieval, refinement, packing),
        milliseconds=clock.laps,
    )


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
