"""Values to terminal text: tables and sentences, without colour or control characters.

In: lookup results, reports, descriptions. Out: strings for standard output. Invariant: a number that
a route did not give is printed as `-`, never as 0.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence

from core.model.identity import evidence_key
from core.model.lookup import Attempt, LedgerEntry, LookupResult, Stage
from core.model.search import RouteList, RouteScore, RouteState, SearchHit


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns by display width (a Chinese character takes two places); numbers stay as given."""
    lines = [[_printable(cell) for cell in row] for row in (header, *rows)]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(header))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(
            cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def hits_table(hits: Sequence[SearchHit]) -> str:
    """List hits with the rank and score of every route."""
    rows = [
        (
            str(hit.rank),
            _place(hit.dense, 3),
            _place(hit.sparse, 2),
            _place(hit.fused, 5),
            evidence_key(hit),
            hit.breadcrumb or hit.title or "",
        )
        for hit in hits
    ]
    return table(("rank", "dense", "BM25", "fused", "evidence", "section"), rows)


def lookup_text(result: LookupResult, *, trace: bool) -> str:
    """Print a lookup: the finding in a sentence, the hits, and with `trace` how they came about."""
    chosen = result.retrieval.chosen
    parts = [summary(result), hits_table(chosen.hits) if chosen.hits else "No hit."]
    if trace:
        parts += [attempts_text(result), ledger_text(result.ledger), times_text(result)]
    return "\n\n".join(parts)


def summary(result: LookupResult) -> str:
    """Say what was found, under which filter, and from which build."""
    projection = result.projection
    found = f"{len(projection.evidence)} pieces of evidence, {projection.relevance_level.value}"
    if not projection.found:
        found += " (nothing good enough: found is false)"
    relaxed = ""
    if projection.filter_relaxed:
        relaxed = (
            f"\nThe category filter was relaxed: {result.retrieval.reason}. "
            f"{result.outside_category} of {len(projection.evidence)} lie outside the category."
        )
    return (
        f"{found}. Build {result.build}, configuration {result.configuration_hash}, "
        f"{result.milliseconds['total']:.0f} ms.{relaxed}"
    )


def attempts_text(result: LookupResult) -> str:
    """Print each attempt with its routes and the verdict."""
    lines = ["Attempts"]
    for attempt in result.retrieval.attempts:
        mark = "chosen" if attempt.name == result.retrieval.selected else "not chosen"
        asked = (
            "all categories" if attempt.category_filter is None else f"category {attempt.category_filter}"
        )
        lines.append(f"  {attempt.name} ({mark}): {asked}, {len(attempt.hits)} hits, {attempt.level.value}")
        lines.append(f"    {attempt.reason}")
        lines += [f"    {line}" for line in _routes(attempt)]
    lines.append(f"  Reason: {result.retrieval.reason}.")
    return "\n".join(lines)


def ledger_text(ledger: Sequence[LedgerEntry]) -> str:
    """Print the counts of the ends and every candidate with its end."""
    counts = Counter(entry.end for entry in ledger)
    ends = ", ".join(f"{stage.value} {counts[stage]}" for stage in Stage if counts[stage])
    rows = [(entry.end.value, entry.evidence_key, entry.reason) for entry in ledger]
    return f"Ledger: {len(ledger)} candidates ({ends})\n" + table(("end", "evidence", "why"), rows)


def times_text(result: LookupResult) -> str:
    """Print the milliseconds of each stage."""
    parts = [f"{stage} {value:.1f}" for stage, value in result.milliseconds.items()]
    return "Milliseconds: " + ", ".join(parts)


def _routes(attempt: Attempt) -> list[str]:
    response = attempt.response
    lines = [_route(route) for route in (response.dense, response.sparse, response.fused)]
    audit = response.audit
    difference = f": {audit.first_difference}" if audit.first_difference else ""
    return [*lines, f"fusion audit: {audit.verdict.value} ({audit.compared} ranks compared){difference}"]


def _route(route: RouteList) -> str:
    time = "" if route.milliseconds is None else f", {route.milliseconds:.1f} ms"
    if route.state is RouteState.OK:
        return f"{route.route.value}: {len(route.hits)} hits of at most {route.limit}{time}"
    reason = f" ({route.reason})" if route.reason else ""
    return f"{route.route.value}: {route.state.value.replace('_', ' ')}{reason}{time}"


def _place(score: RouteScore | None, digits: int) -> str:
    return "-" if score is None else f"#{score.rank} {score.score:.{digits}f}"


def _printable(text: str) -> str:
    """Keep a cell on one line and free of control and direction-changing characters."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in {"Cc", "Cf"} else c for c in text
    )


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
