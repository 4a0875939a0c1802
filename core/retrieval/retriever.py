"""Retrieve: search under a filter policy.

In: a query with its vector and a configuration. Out: a `Retrieval`, every attempt in it with its
hits, level and reason. Invariant: every attempt asks the same knowledge base; the background, the
yardstick of the levels, is the query's dense list without a category in that knowledge base.
"""

import time
from dataclasses import dataclass, replace

from core.model.identity import evidence_key
from core.model.lookup import Attempt, Background, FilterPolicy, Judgement, Level, Retrieval
from core.model.search import RouteList, SearchHit, SearchResponse
from core.ports import KnowledgeSearchPort, Vector
from core.retrieval.configuration import Configuration
from core.retrieval.filters import FILTERED, MERGED, UNFILTERED, choose, merge, should_retry_unfiltered
from core.retrieval.levels import Thresholds, judge, measure_background
from core.retrieval.query import identifier_terms
from core.retrieval.searching import search


def retrieve(
    port: KnowledgeSearchPort, query: str, vector: Vector, configuration: Configuration, *, trace: bool
) -> Retrieval:
    """Run the attempts that the policy asks for and choose one.

    Args:
        port: the store.
        query: normalised.
        vector: of the query.
        configuration: mode, limits, filter, policy and thresholds.
        trace: see `searching.search`.

    Raises:
        RequestInvalid: the query or a number is outside its range.
        StoreError: see `KnowledgeSearchPort`.
    """
    terms = identifier_terms(query)
    open_request = configuration.request(query, category_filter=None)
    if configuration.category is None:
        started = time.perf_counter()
        response = search(port, open_request, vector, trace=trace)
        background = measure_background(response.dense.hits)
        yardstick = _Yardstick(background, configuration.thresholds, terms)
        only = _attempt(UNFILTERED, response, yardstick, started=started)
        return _only(only, "no category was asked for", background)

    dense = port.search_dense(open_request, vector)
    background = measure_background(dense.hits, milliseconds=dense.milliseconds or 0.0)
    yardstick = _Yardstick(background, configuration.thresholds, terms)
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
    return _decided(filtered, unfiltered, background, configuration)


@dataclass(frozen=True, slots=True)
class _Yardstick:
    """What every hit of one lookup is judged by."""

    background: Background
    thresholds: Thresholds
    terms: tuple[str, ...]

    def judge(self, hit: SearchHit) -> Judgement:
        return judge(hit, self.background, self.thresholds, self.terms)


def _only(attempt: Attempt, reason: str, background: Background) -> Retrieval:
    return Retrieval(
        attempts=(attempt,),
        selected=attempt.name,
        reason=reason,
        filter_relaxed=False,
        background=background,
    )


def _decided(
    filtered: Attempt, unfiltered: Attempt, background: Background, configuration: Configuration
) -> Retrieval:
    if configuration.policy is FilterPolicy.PARALLEL:
        merged = _merged(filtered, unfiltered)
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
    # Of two copies of a chunk the better-ranked one is judged last, so its judgement stays.
    judgements = {evidence_key(hit): yardstick.judge(hit) for hit in reversed(response.hits)}
    level, reason = _verdict(response.hits, judgements, response.dense)
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


def _verdict(
    hits: tuple[SearchHit, ...], judgements: dict[str, Judgement], dense: RouteList
) -> tuple[Level, str]:
    """Take the level of the best hit, and say by which numbers."""
    if not hits:
        return Level.WEAK, "no hit" if not dense.reason else f"no hit: {dense.reason}"
    best = max(hits, key=lambda hit: (judgements[evidence_key(hit)].level.order, _similarity(hit)))
    judgement = judgements[evidence_key(best)]
    return judgement.level, f"best hit {evidence_key(best)}: {judgement.reason}"


def _similarity(hit: SearchHit) -> float:
    return -1.0 if hit.dense is None else hit.dense.score


def _merged(filtered: Attempt, unfiltered: Attempt) -> Attempt:
    hits = merge(filtered.hits, unfiltered.hits)
    judgements = {**filtered.judgements, **unfiltered.judgements}
    best = max((filtered, unfiltered), key=lambda attempt: attempt.level.order)
    return Attempt(
        name=MERGED,
        category_filter=None,
        response=replace(unfiltered.response, hits=hits),
        level=best.level,
        judgements=judgements,
        category_chunks=None,
        reason=best.reason,
        milliseconds=filtered.milliseconds + unfiltered.milliseconds,
    )


def _kept_reason(filtered: Attempt, configuration: Configuration) -> str:
    if filtered.level is not Level.WEAK:
        return f"the filter holds good chunks ({filtered.reason})"
    if configuration.policy is FilterPolicy.STRICT:
        return f"the policy is strict, so the filter stays ({filtered.reason})"
    return f"retrying without the filter is switched off ({filtered.reason})"
