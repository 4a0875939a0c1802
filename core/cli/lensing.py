"""The command `tokens`: a question and a chunk as BM25 sees them.

In: a question and an evidence key. Out: text or JSON on standard output. Invariant: what the store
cannot tell is "not known" in text and null in JSON, never 0.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict

import click

from core.cli.arguments import text_argument
from core.cli.asking import Asking
from core.cli.connecting import services
from core.cli.tables import printable, table
from core.model.token_lens import QueryTerm, SharedTerm, Term, TokenLens

NOT_KNOWN = "not known"
ABSENT = "-"


def register(group: click.Group) -> None:
    """Add the command to the group."""
    group.add_command(tokens)


@click.command(cls=Asking, short_help="Show the terms that BM25 makes of a question and of a chunk.")
@click.argument("question", metavar="QUERY")
@click.option(
    "--chunk",
    metavar="EVIDENCE_KEY",
    help="Show this chunk's terms too, and what each shared one adds to its BM25 score.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def tokens(*, question: str, chunk: str | None, as_json: bool) -> None:
    """Show QUERY as BM25 sees it: its terms, and how many chunks of the live build hold each.

    Terms are cut by the analyzer of the build. [Brackets] mark words that it drops.
    """
    from core.retrieval.token_lens import look_through

    typed = text_argument("question", question)
    key = None if chunk is None else text_argument("evidence key", chunk)
    with services() as connected:
        lens = look_through(connected.live, typed, key)
    if as_json:
        click.echo(json.dumps(asdict(lens), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        click.echo(lens_text(lens))


def lens_text(lens: TokenLens) -> str:
    """Print a lens: the terms, the table of the question's terms, the chunk, then the warnings."""
    parts = [f"Build {lens.build}, {lens.build_chunks:,} chunks.", _terms_text("Question", lens.terms)]
    if lens.query_terms:
        parts.append(_query_table(lens))
    if lens.chunk is not None:
        parts += [_terms_text(f"Chunk {lens.chunk.evidence_key}", lens.chunk.terms), _score_text(lens)]
    parts += [f"Warning: {warning.sentence}" for warning in lens.warnings]
    return printable("\n\n".join(parts), kept="\n")


def _terms_text(name: str, terms: Sequence[Term]) -> str:
    """Write terms in order; dropped punctuation is only counted, or a page would be full of it."""
    marks = sum(term.dropped and not term.is_word for term in terms)
    kept = sum(not term.dropped for term in terms)
    words = sum(term.dropped and term.is_word for term in terms)
    shown = (
        f"[{term.text}]" if term.dropped else term.text
        for term in terms
        if term.is_word or not term.dropped
    )
    counts = f"{kept:,} kept, {words:,} stop words and {marks:,} marks dropped"
    return f"{name}: {counts}\n  {' '.join(shown) or '(none)'}"


def _query_table(lens: TokenLens) -> str:
    header = ("term", "in question", "chunks with it")
    if lens.chunk is None:
        return table(header, [_query_cells(term) for term in lens.query_terms], numbers=frozenset({1, 2}))
    shared = {term.text: term for term in lens.chunk.shared}
    rows = [(*_query_cells(term), *_chunk_cells(shared.get(term.text))) for term in lens.query_terms]
    return table((*header, "in chunk", "BM25 part"), rows, numbers=frozenset({1, 2, 3, 4}))


def _query_cells(term: QueryTerm) -> tuple[str, str, str]:
    frequency = NOT_KNOWN if term.document_frequency is None else f"{term.document_frequency:,}"
    return (term.text, str(term.times), frequency)


def _chunk_cells(term: SharedTerm | None) -> tuple[str, str]:
    if term is None:
        return ("0", ABSENT)
    return (str(term.times_in_chunk), NOT_KNOWN if term.part is None else f"{term.part:.4f}")


def _score_text(lens: TokenLens) -> str:
    if lens.chunk is None or not lens.chunk.shared:
        return "BM25 score: 0, no shared term."
    unknown = [term.text for term in lens.chunk.shared if term.part is None]
    head = f"BM25 score: {lens.chunk.score:.4f}, the sum of the parts"
    if not unknown:
        return f"{head}."
    return f"{head}; {', '.join(unknown)} together: {lens.chunk.unexplained:.4f}."
