"""Commands that ask a base: `search`, `lookup`, `evaluate`, `calibrate`.

In: a question, or a path to judged queries. Out: text or JSON on standard output. Invariant: a number
that was not measured is `-` in text and null in JSON.
"""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from core.cli.arguments import text_argument
from core.cli.connecting import services

if TYPE_CHECKING:
    from core.model.lookup import LookupResult
    from core.retrieval.configuration import Configuration

C = TypeVar("C", bound=Callable[..., object])

_OPTIONS = (
    click.argument("query"),
    click.option(
        "--mode",
        type=click.Choice(["dense", "hybrid"]),
        help="Default: retrieval.search.mode of the settings.",
    ),
    click.option("--category", metavar="NAME", help="Ask this category first."),
    click.option(
        "--policy",
        type=click.Choice(["strict", "fallback", "parallel"]),
        help="What a poor answer of the category leads to. Default: retrieval.filter.policy.",
    ),
    click.option("--kb-scope", metavar="NAME", help="Ask this knowledge base only."),
)


class Asking(click.Command):
    """A command whose argument is a question, which may start like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; an unknown option may have been meant as the question."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            hint = f'A question that starts with "-" goes last, after "--": {ctx.command_path} -- QUERY'
            raise click.UsageError(f"{error.format_message()} {hint}", error.ctx) from error


def question_options(command: C) -> C:
    """Give a command the question and the options of a lookup; see `asked` for what they mean."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def register(group: click.Group) -> None:
    """Add the commands to the group."""
    for command in (search, lookup, evaluate, calibrate):
        group.add_command(command)


@click.command(cls=Asking, short_help="Look a question up; show the hits and how they came about.")
@question_options
@click.option("--trace", is_flag=True, help="Show the attempts, both routes, the ledger and the times.")
@click.option("--json", "as_json", is_flag=True, help="Print everything, the trace too, as JSON.")
def search(
    *,
    query: str,
    mode: str | None,
    category: str | None,
    policy: str | None,
    kb_scope: str | None,
    trace: bool,
    as_json: bool,
) -> None:
    """Look QUERY up and print the hits with the rank and score of every route.

    The column "end" says which hits an agent gets (kept), and what dropped the others.
    """
    from core.cli.printing import lookup_text

    result = _look_up(query, mode=mode, category=category, policy=policy, kb_scope=kb_scope, trace=True)
    if as_json:
        click.echo(json.dumps(asdict(result), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        click.echo(lookup_text(result, trace=trace, width=_screen_width()))


@click.command(cls=Asking, short_help="Print what an agent gets for a question.")
@question_options
@click.option("--json", "as_json", is_flag=True, help="Print the JSON that an agent gets.")
def lookup(
    *,
    query: str,
    mode: str | None,
    category: str | None,
    policy: str | None,
    kb_scope: str | None,
    as_json: bool,
) -> None:
    """Print what an agent gets for QUERY: the evidence, without ranks and scores."""
    from core.cli.printing import projection_text
    from core.retrieval.projection import projection_json

    result = _look_up(query, mode=mode, category=category, policy=policy, kb_scope=kb_scope, trace=False)
    click.echo(projection_json(result.projection) if as_json else projection_text(result.projection))


@click.command(short_help="Measure dense, BM25 and hybrid on judged queries.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--live", is_flag=True, help="Ask the live base in place of one made from the folder's raw/.")
def evaluate(*, path: Path, live: bool) -> None:
    """Compare dense, BM25 and hybrid on judged queries and print the table.

    PATH is a JSON Lines file of judged queries, or a folder with queries.jsonl and qrels.tsv. When the
    folder holds documents under raw/, they are indexed into a base of their own in the data folder.
    """
    from core.cli.evaluating import evaluate_path

    click.echo(evaluate_path(path, live=live))


@click.command(short_help="Measure the cuts of the relevance levels.")
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--unrelated",
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="Questions whose answers are in none of the bases: a JSON Lines file, or a folder with one.",
)
def calibrate(*, folders: tuple[Path, ...], unrelated: Path) -> None:
    """Measure the cuts of the relevance levels for the configured embedding model.

    The sample base is always measured; each of FOLDERS adds its documents under raw/ and the judged
    questions beside them. They are indexed into bases of their own; the live base is not touched.
    """
    from core.cli.calibrating import calibrate_folders

    click.echo(calibrate_folders(folders, unrelated))


def asked(
    chosen: "Configuration",
    *,
    mode: str | None,
    category: str | None,
    policy: str | None,
    kb_scope: str | None,
) -> "Configuration":
    """Put the options of a lookup over the configuration of the settings; None keeps what is there.

    Raises:
        RequestInvalid: a name is not valid UTF-8 or blank.
    """
    from core.model.lookup import FilterPolicy
    from core.model.search import SearchMode

    return replace(
        chosen,
        mode=chosen.mode if mode is None else SearchMode(mode),
        policy=chosen.policy if policy is None else FilterPolicy(policy),
        category=None if category is None else text_argument("category", category),
        kb_scope=None if kb_scope is None else text_argument("kb_scope", kb_scope),
    )


def _look_up(
    query: str,
    *,
    mode: str | None,
    category: str | None,
    policy: str | None,
    kb_scope: str | None,
    trace: bool,
) -> "LookupResult":
    query = text_argument("query", query)
    with services() as connected:
        configuration = asked(
            connected.configuration, mode=mode, category=category, policy=policy, kb_scope=kb_scope
        )
        return connected.lookup(query, configuration, trace=trace)


def _screen_width() -> int | None:
    """Places of the terminal; None when the text goes to a file or another program."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
