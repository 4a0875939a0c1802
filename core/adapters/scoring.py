"""The formulas of the server, in plain Python: BM25, the two fusions, and the dense scores.

In: terms, ranks and scores. Out: scores, higher is better. Invariant: the same numbers as Milvus
gives for the same build, up to the rounding of 32-bit floats.

Sources: BM25 with the smoothed idf of Lucene; reciprocal rank fusion after Cormack, Clarke and
Büttcher (2009); the normalisation of the weighted ranker as the Milvus manual describes it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.model.search import Ranker

BM25_K1 = 1.2
BM25_B = 0.75

WEIGHTED_TOLERANCE = 5e-7


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """What BM25 knows about all rows of a build, filtered or not.

    Attributes:
        documents: number of rows.
        average_length: mean number of terms of a row; 1.0 for a build without terms.
        document_frequency: by term, rows that hold it.
    """

    documents: int
    average_length: float
    document_frequency: Mapping[str, int]


def corpus_statistics(rows: Sequence[Counter[str]]) -> CorpusStatistics:
    """Count a corpus of term counters."""
    frequency = Counter(term for row in rows for term in row)
    total = sum(row.total() for row in rows)
    return CorpusStatistics(len(rows), total / len(rows) if total else 1.0, frequency)


def bm25(query: Counter[str], row: Counter[str], statistics: CorpusStatistics) -> float:
    """Score one row for one query.

    `sum over terms of query_count * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))`
    with `idf = ln((documents - df + 0.5) / (df + 0.5) + 1)`.

    Returns:
        At least 0; 0 exactly when the row holds no term of the query.
    """
    norm = BM25_K1 * (1 - BM25_B + BM25_B * row.total() / statistics.average_length)
    score = 0.0
    for term, weight in query.items():
        tf = row.get(term, 0)
        if tf:
            df = statistics.document_frequency[term]
            idf = math.log((statistics.documents - df + 0.5) / (df + 0.5) + 1)
            score += weight * idf * tf * (BM25_K1 + 1) / (tf + norm)
    return score


def dense_distance(cosine: float, metric: str) -> float:
    """Turn a cosine of unit vectors into what the server returns: the squared distance for L2."""
    return 2.0 - 2.0 * cosine if metric == "L2" else cosine


def cosine_of_distance(distance: float, metric: str) -> float:
    """Turn the server's value for unit vectors into a cosine, clipped to [-1, 1]."""
    cosine = 1.0 - distance / 2.0 if metric == "L2" else distance
    return max(-1.0, min(1.0, cosine))


def normalised(value: float, metric: str) -> float:
    """Bring a route's value into [0, 1] as the weighted ranker does.

    Args:
        value: the server's value: cosine, inner product, squared distance, or BM25 >= 0.
        metric: `COSINE`, `IP`, `L2` or `BM25`.
    """
    if metric == "COSINE":
        return (1.0 + value) * 0.5
    if metric == "IP":
        return 0.5 + math.atan(value) / math.pi
    if metric == "BM25":
        return 2.0 * math.atan(value) / math.pi
    return 1.0 - 2.0 * math.atan(value) / math.pi


def fuse_ranks(routes: Sequence[Sequence[str]], rrf_k: int) -> dict[str, float]:
    """Fuse lists of ids by reciprocal rank: sum over routes of `1 / (rrf_k + rank)`, rank from 1."""
    fused: dict[str, float] = {}
    for route in routes:
        for rank, identifier in enumerate(route, start=1):
            fused[identifier] = fused.get(identifier, 0.0) + 1.0 / (rrf_k + rank)
    return fused


def fuse_weighted(routes: Sequence[tuple[Mapping[str, float], float]]) -> dict[str, float]:
    """Fuse normalised scores: sum over routes of `weight * score`; a missing score adds nothing."""
    fused: dict[str, float] = {}
    for scores, weight in routes:
        for identifier, score in scores.items():
            fused[identifier] = fused.get(identifier, 0.0) + weight * score
    return fused


def tie_order(scores: Sequence[float], keys: Sequence[str], ranker: Ranker) -> list[int]:
    """Order a fused list: highest score first, equal scores by evidence key.

    Reciprocal ranks are equal when they are the same number. Weighted scores are equal within 5e-7 of
    the highest of their group, because two equal vectors get cosines that differ in the last bit.

    Args:
        scores: fused scores as 32-bit floats gave them.
        keys: evidence keys, one for each score.
        ranker: that made the scores.

    Returns:
        Positions in the new order.
    """
    tolerance = WEIGHTED_TOLERANCE if ranker is Ranker.WEIGHTED else 0.0
    ordered: list[int] = []
    group: list[int] = []
    for position in sorted(range(len(scores)), key=lambda index: -scores[index]):
        if group and scores[group[0]] - scores[position] > tolerance:
            ordered += sorted(group, key=lambda index: keys[index])
            group = []
        group.append(position)
    return ordered + sorted(group, key=lambda index: keys[index])
