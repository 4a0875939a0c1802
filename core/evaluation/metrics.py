"""Ordered lists of documents and graded judgments -> nDCG, recall, MRR and precision at k.

Invariants: a list is measured in the order in which it was shown, never by scores, so ties cannot
be re-sorted behind the reader's back; a document counts once, where it appears first; every
number lies in [0, 1]. The formulas are those of ir-measures (trec_eval's definitions).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from core.errors import RequestInvalid


@dataclass(frozen=True, slots=True)
class Scores:
    """How good one list is, or the mean over several; each number in [0, 1].

    Attributes:
        ndcg: nDCG@k, the sum of grade / log2(rank + 1) over the first k ranks, divided by that sum
            for the best possible order. Source: Järvelin and Kekäläinen, Cumulated gain-based
            evaluation of IR techniques, 2002 (with the gain linear in the grade, as in trec_eval).
        recall: relevant documents among the first k, divided by all relevant ones.
        mrr: 1 / rank of the first relevant document; 0 when none is among the first k.
        precision: relevant documents among the first k, divided by k, also when the list is shorter.
    """

    ndcg: float
    recall: float
    mrr: float
    precision: float


def document_of(evidence_key: str) -> str:
    """Return the document of a chunk's evidence key: `a.md#chunk-3` -> `a.md`; other keys stay."""
    return re.sub(r"#chunk-[0-9]+\Z", "", evidence_key)


def first_occurrences(documents: Iterable[str]) -> tuple[str, ...]:
    """Keep each document where it appears first; the order stays."""
    return tuple(dict.fromkeys(documents))


def measure(
    rankings: Mapping[str, Sequence[str]], grades: Mapping[str, Mapping[str, int]], *, k: int
) -> Mapping[str, Scores]:
    """Measure one list for every query that has a relevant document.

    Args:
        rankings: by query id, documents best first; repeated ones count at their first place,
            and k is applied afterwards. A query without a list, or with an empty one, scores 0.
        grades: by query id, the grade of each judged document; 1 and more is relevant. Documents
            that are not judged are not relevant.
        k: how many ranks are looked at, at least 1.

    Returns:
        By query id, in the order of `grades`. A query without a relevant document is not among
        them: no list could be better than another for it.

    Raises:
        RequestInvalid: k is below 1.
    """
    if k < 1:
        raise RequestInvalid(f"k is {k}; it must be at least 1.")
    judged = {query: dict(row) for query, row in grades.items() if any(g > 0 for g in row.values())}
    if not judged:
        return {}
    run = {query: _falling_scores(first_occurrences(rankings.get(query, ()))[:k]) for query in judged}
    return _through_ir_measures(judged, run, k)


def mean(scores: Iterable[Scores]) -> Scores | None:
    """Average each number over the queries; None over no query, which is not the same as 0."""
    items = tuple(scores)
    if not items:
        return None
    return Scores(
        ndcg=fmean(item.ndcg for item in items),
        recall=fmean(item.recall for item in items),
        mrr=fmean(item.mrr for item in items),
        precision=fmean(item.precision for item in items),
    )


def _falling_scores(documents: Sequence[str]) -> dict[str, float]:
    """Give distinct falling scores, because the library sorts by score and breaks ties by name."""
    return {document: float(len(documents) - i) for i, document in enumerate(documents)}


def _through_ir_measures(
    judged: dict[str, dict[str, int]], run: dict[str, dict[str, float]], k: int
) -> dict[str, Scores]:
    import ir_measures  # here, because only an evaluation needs its compiled code

    wanted = {
        "ndcg": ir_measures.nDCG @ k,
        "recall": ir_measures.R @ k,
        "mrr": ir_measures.RR @ k,
        "precision": ir_measures.P @ k,
    }
    names = {measure: name for name, measure in wanted.items()}
    values: dict[str, dict[str, float]] = {query: {} for query in judged}
    for metric in ir_measures.iter_calc(list(wanted.values()), judged, run):
        values[metric.query_id][names[metric.measure]] = float(metric.value)
    return {query: Scores(**row) for query, row in values.items()}
