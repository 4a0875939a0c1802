"""Values to terminal text: tables and sentences, without colour or control characters.

In: lookup results, reports, descriptions. Out: strings for standard output. Invariant: a number that
a route did not give is printed as `-`, never as 0.
"""

from collections import Counter
from collections.abc import Sequence

from core.cli.tables import printable, table
from core.indexing.reports import BuildReport, FileOutcome, IndexReport
from core.model.identity import evidence_key
from core.model.lookup import Attempt, LedgerEntry, LookupResult, Projection, Stage
from core.model.search import Route, RouteList, RouteScore, RouteState


def hits_table(result: LookupResult, *, width: int | None = None) -> str:
    """List the hits of the chosen attempt with the numbers of every route, their level and their end."""
    chosen = result.retrieval.chosen
    ends = {(entry.evidence_key, entry.hit.rank): entry.end.value for entry in result.ledger}
    rows = []
    for hit in chosen.hits:
        key = evidence_key(hit)
        rows.append(
            (
                str(hit.rank),
                _place(hit.dense, 3),
                _place(hit.sparse, 2),
                _place(hit.fused, 5),
                chosen.judgements[key].level.value,
                ends.get((key, hit.rank), ""),
                key,
                hit.breadcrumb or hit.title or "",
            )
        )
    header = ("rank", "dense", "BM25", "fused", "level", "end", "evidence", "section")
    return table(header, rows, numbers=frozenset({0}), width=width)


def lookup_text(result: LookupResult, *, trace: bool, width: int | None = None) -> str:
    """Print a lookup: the finding in a sentence, the hits, and with `trace` how they came about.

    Args:
        result: with the trace of its routes.
        trace: print the attempts, the ledger and the times too.
        width: places of the screen, to which the tables are cut; None cuts nothing.
    """
    chosen = result.retrieval.chosen
    parts = [summary(result)]
    if result.navigation is not None:
        parts.append(printable(f"Navigation: {result.navigation.reason.rstrip('.')}."))
    parts.append(hits_table(result, width=width) if chosen.hits else "No hit.")
    if trace:
        parts += [attempts_text(result), ledger_text(result.ledger), times_text(result)]
    return "\n\n".join(parts)


def summary(result: LookupResult) -> str:
    """Say what was found, under which filter, and from which build."""
    projection = result.projection
    pieces = counted(len(projection.evidence), "piece", "pieces")
    found = f"{pieces} of evidence, {projection.relevance_level.value}"
    if not projection.found:
        found += " (nothing good enough: found is false)"
    relaxed = ""
    if projection.filter_relaxed:
        relaxed = printable(
            f"The category filter was relaxed: {result.retrieval.reason}. "
            f"{result.outside_category} of {pieces} of evidence lie outside the category."
        )
    return (
        f"{found}. Build {result.build}, configuration {result.configuration_hash}, "
        f"{result.milliseconds['total']:.0f} ms.{relaxed and chr(10) + relaxed}"
    )


def attempts_text(result: LookupResult) -> str:
    """Print each attempt with its routes and the verdict."""
    lines = ["Attempts"]
    for attempt in result.retrieval.attempts:
        mark = "chosen" if attempt.name == result.retrieval.selected else "not chosen"
        asked = (
            "all categories" if attempt.category_filter is None else f"category {attempt.category_filter}"
        )
        hits = counted(len(attempt.hits), "hit", "hits")
        lines.append(f"  {attempt.name} ({mark}): {asked}, {hits}, {attempt.level.value}")
        lines.append(f"    {attempt.reason}")
        lines += [f"    {line}" for line in _routes(attempt)]
    lines.append(f"  Reason: {result.retrieval.reason}.")
    return printable("\n".join(lines), kept="\n")


def ledger_text(ledger: Sequence[LedgerEntry]) -> str:
    """Print the counts of the ends and every candidate with its end."""
    counts = Counter(entry.end for entry in ledger)
    ends = ", ".join(f"{stage.value} {counts[stage]}" for stage in Stage if counts[stage])
    rows = [(entry.end.value, entry.evidence_key, entry.reason) for entry in ledger]
    if not rows:
        return "Ledger: no candidate."
    head = f"Ledger: {counted(len(ledger), 'candidate', 'candidates')} ({ends})"
    return f"{head}\n{table(('end', 'evidence', 'why'), rows)}"


def times_text(result: LookupResult) -> str:
    """Print the milliseconds of each stage in the order of the line, and their total."""
    stages = sorted(result.milliseconds.items(), key=lambda item: item[0] == "total")
    parts = [f"{stage} {value:.1f}" for stage, value in stages]
    return "Milliseconds: " + ", ".join(parts)


def projection_text(projection: Projection) -> str:
    """Print what an agent gets, for a person to read."""
    relaxed = ", filter relaxed" if projection.filter_relaxed else ""
    head = (
        f"found: {str(projection.found).lower()}, {projection.relevance_level.value}, "
        f"attempt {projection.selected_attempt}{relaxed}"
    )
    parts = [head]
    for item in projection.evidence:
        cut = " (cut)" if item.truncated else ""
        # A breadcrumb mostly begins with the title, which is then not said twice.
        named = [item.title] if item.title and not (item.breadcrumb or "").startswith(item.title) else []
        where = " | ".join([*named, *([item.breadcrumb] if item.breadcrumb else [])])
        parts.append("\n".join([item.document_id + cut, *([where] if where else []), item.excerpt]))
    return printable("\n\n".join(parts), kept="\n\t")


def index_text(report: IndexReport) -> str:
    """Print the counts of an upload, then every file that was refused or has a warning."""
    counts = Counter(file.outcome for file in report.files)
    lines = [f"{files_text(report)} {report.milliseconds / 1000:.1f} s."]
    if not counts[FileOutcome.INDEXED] and not counts[FileOutcome.REPLACED]:
        lines.append("Nothing changed.")
    elif report.build:
        lines.append(f"Live build: {report.build}{' (made anew)' if report.rebuilt else ''}.")
    for file in report.files:
        if file.outcome is FileOutcome.REFUSED:
            lines.append(f"Refused: {file.reason}")
        lines += [f"Warning for {file.name}: {warning}" for warning in file.warnings]
    return printable("\n".join([*lines, *(f"Warning: {it}" for it in report.warnings)]), kept="\n")


def files_text(report: IndexReport) -> str:
    """Count the files of an upload by what became of them, and their chunks."""
    counts = Counter(file.outcome for file in report.files)
    ends = ", ".join(f"{counts[outcome]:,} {outcome.value}" for outcome in FileOutcome if counts[outcome])
    chunks = counted(sum(file.chunk_count for file in report.files), "chunk", "chunks")
    return f"{counted(len(report.files), 'file', 'files')}: {ends}. {chunks}."


def build_text(report: BuildReport) -> str:
    """Print what was built and what its verification found."""
    check = report.verification
    recall = "not measured" if check.recall is None else f"{check.recall:.3f} over {check.probes} probes"
    lines = [
        f"Published {report.build}: {counted(report.documents, 'document', 'documents')}, "
        f"{counted(report.chunks, 'chunk', 'chunks')} in {report.seconds:.1f} s.",
        f"Verified: every document whole, both routes answer, recall@20 against exact search {recall}.",
    ]
    lines += [f"Left out: {file.reason}" for file in report.left_out]
    if report.dropped:
        lines.append(f"Removed old builds: {', '.join(report.dropped)}.")
    return printable("\n".join([*lines, *(f"Warning: {it}" for it in report.warnings)]), kept="\n")


def counted(number: int, one: str, many: str) -> str:
    """Write a number with its noun: `1 file`, `1,204 files`."""
    return f"{number:,} {one if number == 1 else many}"


def _routes(attempt: Attempt) -> list[str]:
    response = attempt.response
    lines = [_route(route) for route in (response.dense, response.sparse, response.fused)]
    audit = response.audit
    difference = f": {audit.first_difference}" if audit.first_difference else ""
    compared = counted(audit.compared, "rank", "ranks")
    return [*lines, f"fusion audit: {audit.verdict.value} ({compared} compared){difference}"]


def _route(route: RouteList) -> str:
    name = "BM25" if route.route is Route.SPARSE else route.route.value
    state = route.state.value.replace("_", " ")
    time = "" if route.milliseconds is None else f", {route.milliseconds:.1f} ms"
    if route.state is RouteState.OK:
        hits = counted(len(route.hits), "hit", "hits")
        return f"{name}: {state}, {hits} of at most {route.limit:,}{time}"
    reason = f" ({route.reason})" if route.reason else ""
    return f"{name}: {state}{reason}{time}"


def _place(score: RouteScore | None, digits: int) -> str:
    return "-" if score is None else f"#{score.rank} {score.score:.{digits}f}"
