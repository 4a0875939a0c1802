"""Evaluations -> plain text for a terminal.

Invariant: what was not measured is a dash, never a 0.
"""

from collections.abc import Iterable, Mapping, Sequence

from core.cli.tables import table
from core.evaluation.running import ComparisonRow, Evaluation, compare

MISSING = "-"
STALE_SHOWN = 10
NUMBERS = frozenset(range(2, 8))
"""Positions of the columns after `configuration` and `kind`."""


def report(evaluations: Mapping[str, Evaluation]) -> str:
    """Write the comparison of several configurations and what it leaves out; "" for none.

    Args:
        evaluations: by the name of the configuration; of the same queries and k.

    Raises:
        RequestInvalid: they cannot be compared.
    """
    if not evaluations:
        return ""
    first = next(iter(evaluations.values()))
    title = f"Query set {first.query_set} ({first.query_set_hash[:12]}), judged by document"
    notes = [line for name, evaluation in evaluations.items() for line in _notes(name, evaluation)]
    rows = comparison_table(compare(evaluations), first.k)
    return "\n".join([title, "", rows, *([""] if notes else []), *notes])


def comparison_table(rows: Sequence[ComparisonRow], k: int) -> str:
    """Write rows in columns, one a line under a header; text to the left, numbers to the right.

    Args:
        rows: in the order in which they are to stand.
        k: the cut-off for the header.
    """
    header = ("configuration", "kind", "n", f"nDCG@{k}", f"Recall@{k}", f"MRR@{k}", f"P@{k}", "p50 ms")
    cells = [
        (
            row.configuration,
            row.kind,
            str(row.count),
            *(_number(value, 3) for value in (row.ndcg, row.recall, row.mrr, row.precision)),
            _number(row.p50_milliseconds, 1),
        )
        for row in rows
    ]
    return table(header, cells, numbers=NUMBERS)


def _notes(name: str, evaluation: Evaluation) -> Iterable[str]:
    for result in evaluation.left_out:
        yield f"{name}: {result.query.query_id} is in no mean: {result.left_out}."
    missing = sorted({judgment.document for judgment in evaluation.stale})
    if missing:
        shown = ", ".join(missing[:STALE_SHOWN])
        more = f" and {len(missing) - STALE_SHOWN} more" if len(missing) > STALE_SHOWN else ""
        yield f"{name}: judged documents that are not in the base: {len(missing)} ({shown}{more})."


def _number(value: float | None, decimals: int) -> str:
    return MISSING if value is None else f"{value:.{decimals}f}"
