"""Retrieve: search under a filter policy.

In: a query with its vector and a configuration. Out: a `Retrieval`, every attempt in it with its
hits, level and reason. Invariant: every attempt asks the same knowledge base; the background, the
yardstick of the levels, is the query's dense list without a category in that knowledge base.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.model.identity import evidence_key
from core.model.lookup import (
    Attempt,
    Background,
    Evidence,
    FilterPolicy,
    Judgement,
    Level,
    Retrieval,
)
from core.model.search import RouteList, RouteState, SearchHit, SearchResponse
from core.ports import KnowledgeSearchPort, Vector
from core.retrieval.configuration import Configuration
from core.retrieval.evidence import refine
from core.retrieval.filters import FILTERED, MERGED, UNFILTERED, choose, merge, should_retry_unfiltered
from core.retrieval.fine_order import fine_order
from core.retrieval.levels import judge, measure_background
from core.retrieval.query import identifier_terms
from core.retrieval.searching import search


def retrieve(
    port: KnowledgeSearchPort,
    query: str,
    vector: Vector,
    configuration: Configuration,
    *,
    trace: bool,
    words: tuple[str, ...] = (),
) -> Retrieval:
    """Run the attempts that the policy asks for and choose one.

    Args:
        port: the store.
        query: normalised.
        vector: of the query.
        configuration: mode, limits, filter, policy and thresholds.
        trace: see `searching.search`.
        words: of the domain dictionary; those in the query count as exact terms.

    Raises:
        RequestInvalid: the query or a number is outside its range.
        StoreError: see `KnowledgeSearchPort`.
    """
    terms = identifier_terms(query, words)
    open_request = configuration.request(query, category_filter=None)
    if configuration.category is None:
        started = time.perf_counter()
        response = search(port, open_request, vector, trace=trace)
        background = measure_background(response.dense.hits)
        yardstick = _Yardstick(background, configuration, terms)
        only = _attempt(UNFILTERED, response, yardstick, started=started)
        return _only(only, "no category was asked for", background)

    dense = port.search_dense(open_request, vector)
    background = measure_background(dense.hits, milliseconds=dense.milliseconds or 0.0)
    yardstick = _Yardstick(background, configuration, terms)
    started = time.perf_counter()
    request = configuration.request(query, category_filter=configuration.category)
    filtered = _attempt(FILTERED, search(port, request, vector, trace=trace), yardstick, started=started)
    if filtered.level is Level.WEAK:
        held = port.count(category=configuration.category, kb_scope=configuration.kb_scope)
        filtered = replace(filtered, category_chunks=held)
    if not should_retry_unfiltered(filtered, configuration):
        return _only(filtered, _kept_reason(filtered, configuration), background)
    started = time.perf_counter()
    response = search(port, open_request, vector, trace=trace, dense=dense)
    unfiltered = _attempt(UNFILTERED, response, yardstick, started=started)
    return _decided(filtered, unfiltered, yardstick, configuration)


@dataclass(frozen=True, slots=True)
class _Yardstick:
    """What every hit of one lookup is judged by."""

    background: Background
    configuration: Configuration
    terms: tuple[str, ...]

    def judge(self, hit: SearchHit) -> Judgement:
        return judge(hit, self.background, self.configuration.thresholds, self.terms)

    def kept(
        self, hits: tuple[SearchHit, ...], judgements: Mapping[str, Judgement]
    ) -> tuple[Evidence, ...]:
        places = self.configuration.fine_order_places
        return refine(
            fine_order(hits, self.terms, places=places).hits,
            judgements,
            return_n=self.configuration.return_n,
            max_chunks_per_document=self.configuration.max_chunks_per_document,
        ).kept


def _only(attempt: Attempt, reason: str, background: Background) -> Retrieval:
    return Retrieval(
        attempts=(attempt,),
        selected=attempt.name,
        reason=reason,
        filter_relaxed=False,
        background=background,
    )


def _decided(
    filtered: Attempt, unfiltered: Attempt, yardstick: _Yardstick, configuration: Configuration
) -> Retrieval:
    background = yardstick.background
    if configuration.policy is FilterPolicy.PARALLEL:
        merged = _merged(filtered, unfiltered, yardstick)
        return Retrieval(
            attempts=(filtered, unfiltered, merged),
            selected=MERGED,
            reason="both ran, and each hit stands at its better rank",
            filter_relaxed=True,
            background=background,
        )
    name, reason = choose(filtered, unfiltered)
    return Retrieval(
        attempts=(filtered, unfiltered),
        selected=name,
        reason=reason,
        filter_relaxed=name == UNFILTERED,
        background=background,
    )


def _attempt(name: str, response: SearchResponse, yardstick: _Yardstick, *, started: float) -> Attempt:
    judgements = _judged(response.hits, yardstick)
    level, reason = _verdict(yardstick.kept(response.hits, judgements), response.dense)
    return Attempt(
        name=name,
        category_filter=response.request.category_filter,
        response=response,
        level=level,
        judgements=judgements,
        category_chunks=None,
        reason=reason,
        milliseconds=(time.perf_counter() - started) * 1000,
    )


def _judged(hits: tuple[SearchHit, ...], yardstick: _Yardstick) -> dict[str, Judgement]:
    # Of two copies of a chunk the better-ranked one is judged last, so its judgement stays.
    return {evidence_key(hit): yardstick.judge(hit) for hit in reversed(hits)}


def _verdict(kept: tuple[Evidence, ...], dense: RouteList) -> tuple[Level, str]:
    """Take the level of the best hit that refining keeps, and say by which numbers.

    Why only those: a good hit beyond return_n or the cap never reaches the agent, so it must not keep
    a filter that gives the agent nothing good.
    """
    if not kept:
        return Level.WEAK, "no hit" if not dense.reason else f"no hit: {dense.reason}"
    best = max(kept, key=lambda item: (item.judgement.level.order, _similarity(item.hit)))
    judgement = best.judgement
    reason = f"best kept hit {best.evidence_key}: {judgement.reason}"
    if dense.state is RouteState.FAILED:
        reason = f"the dense route failed, so no similarity is known ({dense.reason}); {reason}"
    return judgement.level, reason


def _similarity(hit: SearchHit) -> float:
    return -1.0 if hit.dense is None else hit.dense.score


def _merged(filtered: Attempt, unfiltered: Attempt, yardstick: _Yardstick) -> Attempt:
    hits = merge(filtered.hits, unfiltered.hits)
    judgements = _judged(hits, yardstick)
    level, reason = _verdict(yardstick.kept(hits, judgements), unfiltered.response.dense)
    return Attempt(
        name=MERGED,
        category_filter=None,
        response=replace(unfiltered.response, hits=hits),
        level=level,
        judgements=judgements,
        category_chunks=None,
        reason=reason,
        milliseconds=filtered.milliseconds + unfiltered.milliseconds,
    )


def _kept_reason(filtered: Attempt, configuration: Configuration) -> str:
    if filtered.level is not Level.WEAK:
        return f"the filter holds good chunks ({filtered.reason})"
    if configuration.policy is FilterPolicy.STRICT:
        return f"the policy is strict, so the filter stays ({filtered.reason})"
    return f"retrying without the filter is switched off ({filtered.reason})"
