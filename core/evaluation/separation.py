"""How well a number tells two groups apart, and where to cut.

In: the numbers of both groups. Out: the area under the ROC curve, a cut, and its confusion. Invariants:
cuts are inclusive (a number at the cut counts as positive); ties count half.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

from core.errors import RequestInvalid


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts at a cut: positives at or above it and below it, negatives at or above it and below it."""

    true_positive: int
    false_negative: int
    false_positive: int
    true_negative: int


@dataclass(frozen=True, slots=True)
class Separation:
    """Two groups of numbers of which the first should be the higher.

    Attributes:
        question: what is decided, in words.
        positives: ascending, at least one.
        negatives: ascending, at least one.
    """

    question: str
    positives: tuple[float, ...]
    negatives: tuple[float, ...]

    @property
    def auc(self) -> float:
        """Probability that a positive is above a negative, ties counting half; 0.5 is chance.

        Source: Hanley and McNeil, The meaning and use of the area under a receiver operating
        characteristic curve, 1982.
        """
        wins = sum(
            (bisect_left(self.negatives, value) + bisect_right(self.negatives, value)) / 2
            for value in self.positives
        )
        return wins / (len(self.positives) * len(self.negatives))

    @property
    def best_cut(self) -> float:
        """The cut with the highest true-positive less false-positive rate.

        Of equally good cuts the one in the widest gap between neighbouring numbers; it lies in the
        middle of that gap, so that neither group stands on the edge.

        Source: Youden, Index for rating diagnostic tests, 1950.
        """
        values = sorted({*self.positives, *self.negatives})
        if len(values) == 1:
            return values[0]
        gaps = [((low + high) / 2, high - low) for low, high in pairwise(values)]
        return max(gaps, key=lambda gap: (self._youden(gap[0]), gap[1], gap[0]))[0]

    def confusion(self, cut: float) -> Confusion:
        """Count both groups at a cut."""
        missed = bisect_left(self.positives, cut)
        refused = bisect_left(self.negatives, cut)
        return Confusion(
            true_positive=len(self.positives) - missed,
            false_negative=missed,
            false_positive=len(self.negatives) - refused,
            true_negative=refused,
        )

    def _youden(self, cut: float) -> float:
        found = self.confusion(cut)
        # Rounded, because equally good cuts must not be told apart by the last bit of a division.
        return round(
            found.true_positive / len(self.positives) - found.false_positive / len(self.negatives), 12
        )


def separate(question: str, positives: list[float], negatives: list[float]) -> Separation:
    """Make a separation of unordered numbers.

    Raises:
        RequestInvalid: a group is empty, so there is nothing to tell apart.
    """
    for name, group in (("positive", positives), ("negative", negatives)):
        if not group:
            raise RequestInvalid(f"{question}: there is no {name} example, so no cut can be found.")
    return Separation(question, tuple(sorted(positives)), tuple(sorted(negatives)))


def percentile(values: tuple[float, ...], share: float) -> float:
    """Return the smallest value that at least a share of the ascending values does not exceed.

    Args:
        values: ascending, at least one.
        share: in (0, 1].
    """
    position = -(-len(values) * share // 1)
    return values[max(0, int(position) - 1)]
