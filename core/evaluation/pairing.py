"""Two evaluations of the same queries -> wins, losses, ties, and the queries that differ most.

Invariant: only queries that both could score are paired, and the three counts add up to them.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from core.evaluation.query_sets import Query
from core.evaluation.running import Evaluation, check_comparable


@dataclass(frozen=True, slots=True)
class Difference:
    """One query under both: nDCG@k of the first and of the second."""

    query: Query
    first: float
    second: float

    @property
    def gain(self) -> float:
        """What the second adds; below 0 when it is worse."""
        return self.second - self.first


@dataclass(frozen=True, slots=True)
class Pairing:
    """How the second evaluation did against the first, query by query.

    Attributes:
        wins: queries on which the second has the higher nDCG.
        losses: queries on which it has the lower one.
        ties: queries on which both are equal.
        p_value: of the two-sided sign test, in (0, 1]: how probable a split at least this uneven is
            if neither were better; ties are left out. None when every query is a tie.
        differences: every paired query, the greatest difference first, then by query id.
    """

    wins: int
    losses: int
    ties: int
    p_value: float | None
    differences: tuple[Difference, ...]


def pair(first: Evaluation, second: Evaluation, *, kind: str | None = None) -> Pairing:
    """Compare two evaluations query by query on nDCG@k.

    Args:
        first: the present state.
        second: what is weighed against it.
        kind: pairs only queries of this kind; None pairs those of the overall mean.

    Raises:
        RequestInvalid: they were measured with different queries or a different k.
    """
    check_comparable("the first", first, "the second", second)
    later = {result.query.query_id: result.scores for result in second.results}
    pairs = [
        Difference(result.query, result.scores.ndcg, other.ndcg)
        for result in first.results
        if _belongs(result.query, kind)
        and result.scores is not None
        and (other := later[result.query.query_id]) is not None
    ]
    wins = sum(difference.gain > 0 for difference in pairs)
    losses = sum(difference.gain < 0 for difference in pairs)
    return Pairing(
        wins=wins,
        losses=losses,
        ties=len(pairs) - wins - losses,
        p_value=sign_test(wins, losses),
        differences=tuple(sorted(pairs, key=lambda d: (-abs(d.gain), d.query.query_id))),
    )


def sign_test(wins: int, losses: int) -> float | None:
    """Return the two-sided p-value of the exact sign test; None without a win or a loss.

    p = min(1, 2 * sum over i = 0..min(wins, losses) of C(n, i) / 2^n) with n = wins + losses.

    Source: Dixon and Mood, The statistical sign test, 1946.
    """
    decided = wins + losses
    if decided == 0:
        return None
    tail = sum(comb(decided, i) for i in range(min(wins, losses) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**decided)))


def _belongs(query: Query, kind: str | None) -> bool:
    return not query.wrong_category if kind is None else query.kind == kind
