"""A query set and a function that ranks documents -> an evaluation; evaluations -> a table.

Invariants: every query of the set is ranked and has one result; a query that cannot be scored
says why and is in no mean; queries that are asked with a wrong category on purpose have a mean of
their kind but are not part of the overall one, since a strict filter must fail them.
"""

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from core.errors import RequestInvalid
from core.evaluation.metrics import Scores, first_occurrences, mean, measure
from core.evaluation.query_sets import Judgment, Query, QuerySet, normal_name, stale_judgments
from core.ports import Progress

OVERALL = "all"
NOT_JUDGED = "no relevant document is judged"
NOT_IN_BASE = "none of its relevant documents is in the base"

Rank: TypeAlias = Callable[[Query], Sequence[str]]
"""Relative names of documents, best first; a document may appear once for each of its chunks."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What one query found and how good that was.

    Attributes:
        ranking: the first k different documents, best first, NFC.
        repeated: items of the ranked list whose document stood further up already.
        scores: None when it cannot be scored; `left_out` says why.
        left_out: `NOT_JUDGED`, `NOT_IN_BASE`, or "" when it is scored.
        milliseconds: wall-clock time of ranking it.
    """

    query: Query
    ranking: tuple[str, ...]
    repeated: int
    scores: Scores | None
    left_out: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class KindMean:
    """The mean over the queries of one kind.

    Attributes:
        kind: as in the query set; `all` for the overall mean.
        count: queries in the mean.
        left_out: queries that were ranked but cannot be scored.
        scores: None when `count` is 0.
        p50_milliseconds: half of the ranked queries took at most this long (nearest rank); None
            when none was ranked.
        p95_milliseconds: 95 of 100 took at most this long; None as above.
    """

    kind: str
    count: int
    left_out: int
    scores: Scores | None
    p50_milliseconds: float | None
    p95_milliseconds: float | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run of a query set, at the level of documents.

    Attributes:
        k: ranks that were looked at.
        results: one for each query, in the order of the set.
        overall: over all queries but those asked with a wrong category.
        by_kind: every kind, by name.
        stale: relevant judgments whose document is not in the base; empty when that was not checked.
    """

    query_set: str
    query_set_hash: str
    k: int
    results: tuple[QueryResult, ...]
    overall: KindMean
    by_kind: tuple[KindMean, ...]
    stale: tuple[Judgment, ...]

    @property
    def left_out(self) -> tuple[QueryResult, ...]:
        """The results that are in no mean."""
        return tuple(result for result in self.results if result.scores is None)


@dataclass(frozen=True, slots=True)
class _Run:
    query: Query
    documents: tuple[str, ...]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One line of a comparison: how a configuration did on one kind of query.

    The scores are None when no query of that kind could be scored, the time when none was ranked.
    """

    configuration: str
    kind: str
    count: int
    ndcg: float | None
    recall: float | None
    mrr: float | None
    precision: float | None
    p50_milliseconds: float | None


def evaluate(
    query_set: QuerySet,
    rank: Rank,
    k: int,
    *,
    documents: Collection[str] | None = None,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Evaluation:
    """Rank every query of a set and measure the lists.

    Args:
        query_set: holds at least one query.
        rank: called once for each query, in the order of the set; what it raises goes through.
            It should return enough chunks for k different documents.
        k: ranks that are looked at, at least 1.
        documents: relative names of the documents in the base. A query of which no relevant
            document is among them is left out and reported: its 0 would look like bad retrieval.
            While one of them is there, the missing ones stay in the denominator. None checks nothing.
        progress: called with (done, total) after each query; may raise `JobCancelled`.
        clock: seconds that only go up.

    Raises:
        RequestInvalid: k is below 1, or the set holds no query.
    """
    if not query_set.queries:
        raise RequestInvalid(f"The query set {query_set.name!r} holds no query. Add some first.")
    stale = () if documents is None else stale_judgments(query_set, documents)
    grades = query_set.grades()
    reasons = _reasons(grades, {(judgment.query_id, judgment.document) for judgment in stale})
    runs = tuple(_runs(query_set.queries, rank, progress, clock))
    scores = measure(
        {run.query.query_id: run.documents for run in runs},
        {query_id: row for query_id, row in grades.items() if not reasons[query_id]},
        k=k,
    )
    results = tuple(
        QueryResult(
            query=run.query,
            ranking=first_occurrences(run.documents)[:k],
            repeated=len(run.documents) - len(first_occurrences(run.documents)),
            scores=scores.get(run.query.query_id),
            left_out=reasons[run.query.query_id],
            milliseconds=run.milliseconds,
        )
        for run in runs
    )
    return _evaluation(query_set, k, results, stale)


def compare(evaluations: Mapping[str, Evaluation]) -> tuple[ComparisonRow, ...]:
    """Set the means of several configurations side by side.

    Args:
        evaluations: by the name of the configuration.

    Returns:
        For the overall mean first and then for each kind, a row for every configuration in the
        order given; empty when there is none.

    Raises:
        RequestInvalid: they were measured with different queries or a different k.
    """
    if not evaluations:
        return ()
    named = list(evaluations.items())
    for name, evaluation in named[1:]:
        check_comparable(named[0][0], named[0][1], name, evaluation)
    return tuple(
        _row(name, row)
        for rows in zip(*([e.overall, *e.by_kind] for _, e in named), strict=True)
        for (name, _), row in zip(named, rows, strict=True)
    )


def check_comparable(name: str, evaluation: Evaluation, other_name: str, other: Evaluation) -> None:
    """Refuse to compare two evaluations that did not ask the same.

    Raises:
        RequestInvalid: the queries, the judgments or k differ; says which.
    """
    if evaluation.query_set_hash != other.query_set_hash:
        raise RequestInvalid(
            f"{name!r} was measured with query set {evaluation.query_set!r} "
            f"({evaluation.query_set_hash[:12]}) and {other_name!r} with {other.query_set!r} "
            f"({other.query_set_hash[:12]}). Run both with the same set."
        )
    if evaluation.k != other.k:
        raise RequestInvalid(
            f"{name!r} was measured at k = {evaluation.k} and {other_name!r} at k = {other.k}. "
            "Run both with the same k."
        )


def _reasons(grades: Mapping[str, Mapping[str, int]], stale: Collection[tuple[str, str]]) -> dict[str, str]:
    reasons = {}
    for query_id, row in grades.items():
        relevant = [document for document, grade in row.items() if grade > 0]
        reason = "" if relevant else NOT_JUDGED
        if relevant and all((query_id, document) in stale for document in relevant):
            reason = NOT_IN_BASE
        reasons[query_id] = reason
    return reasons


def _runs(
    queries: Sequence[Query], rank: Rank, progress: Progress | None, clock: Callable[[], float]
) -> Iterator[_Run]:
    for done, query in enumerate(queries, start=1):
        started = clock()
        ranked = rank(query)
        milliseconds = (clock() - started) * 1000
        yield _Run(query, tuple(normal_name(document) for document in ranked), milliseconds)
        if progress is not None:
            progress(done, len(queries))


def _evaluation(
    query_set: QuerySet, k: int, results: tuple[QueryResult, ...], stale: tuple[Judgment, ...]
) -> Evaluation:
    kinds = sorted({query.kind for query in query_set.queries})
    return Evaluation(
        query_set=query_set.name,
        query_set_hash=query_set.hash,
        k=k,
        results=results,
        overall=_kind_mean(OVERALL, [r for r in results if not r.query.wrong_category]),
        by_kind=tuple(_kind_mean(kind, [r for r in results if r.query.kind == kind]) for kind in kinds),
        stale=stale,
    )


def _kind_mean(kind: str, results: Sequence[QueryResult]) -> KindMean:
    scored = [result.scores for result in results if result.scores is not None]
    times = [result.milliseconds for result in results]
    return KindMean(
        kind=kind,
        count=len(scored),
        left_out=len(results) - len(scored),
        scores=mean(scored),
        p50_milliseconds=_percentile(times, 50),
        p95_milliseconds=_percentile(times, 95),
    )


def _percentile(values: Iterable[float], percent: int) -> float | None:
    ordered = sorted(values)
    return ordered[math.ceil(len(ordered) * percent / 100) - 1] if ordered else None


def _row(configuration: str, row: KindMean) -> ComparisonRow:
    scores = row.scores
    return ComparisonRow(
        configuration=configuration,
        kind=row.kind,
        count=row.count,
        ndcg=scores.ndcg if scores else None,
        recall=scores.recall if scores else None,
        mrr=scores.mrr if scores else None,
        precision=scores.precision if scores else None,
        p50_milliseconds=row.p50_milliseconds,
    )
