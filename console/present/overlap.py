"""How alike two ranked lists are.

In: two lists of keys, best first, without repeats. Out: numbers in [0, 1], 1 for equal lists.
Two empty lists have no overlap to speak of: None.
"""

from collections.abc import Sequence

PERSISTENCE = 0.9


def jaccard(left: Sequence[str], right: Sequence[str]) -> float | None:
    """Return the share of keys that both lists hold, among all keys of either; None for none."""
    union = {*left, *right}
    return len({*left} & {*right}) / len(union) if union else None


def rank_biased_overlap(
    left: Sequence[str], right: Sequence[str], persistence: float = PERSISTENCE
) -> float | None:
    """Return the extrapolated rank-biased overlap, which counts agreement at the top most.

    The formula is RBO_EXT for lists of unequal length: equation 32 of Webber, Moffat and Zobel, "A
    similarity measure for indefinite rankings", ACM TOIS 28(4), 2010.

    Args:
        left: keys, best first.
        right: keys, best first.
        persistence: p in (0, 1): the chance that a reader goes on to the next rank.

    Returns:
        None when either list is empty.
    """
    if not left or not right:
        return None
    short, long = sorted((left, right), key=len)
    common = [len({*short[:depth]} & {*long[:depth]}) for depth in range(1, len(long) + 1)]
    at_short, at_long = common[len(short) - 1], common[-1]
    total = sum(found / depth * persistence**depth for depth, found in enumerate(common, start=1))
    total += sum(
        at_short * (depth - len(short)) / (len(short) * depth) * persistence**depth
        for depth in range(len(short) + 1, len(long) + 1)
    )
    tail = (at_long - at_short) / len(long) + at_short / len(short)
    return (1 - persistence) / persistence * total + tail * persistence ** len(long)
