"""Commands that keep a lookup: `save` writes it to a file, `replay` asks it again.

In: a question or a saved lookup. Out: a file, or what changed as text or JSON. Invariants: a file that is
there is never written over; `replay` ends with 1 when the two lookups differ, so that a script can ask.
"""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from core.cli.arguments import text_argument
from core.cli.asking import Asking, asked, question_options
from core.cli.connecting import services
from core.errors import BundleInvalid

DIFFERENT = 1


def register(group: click.Group) -> None:
    """Add the commands to the group."""
    for command in (save, replay):
        group.add_command(command)


@click.command(cls=Asking, short_help="Look a question up and save the lookup to a file.")
@question_options
@click.argument("file", type=click.Path(path_type=Path))
def save(
    *,
    query: str,
    file: Path,
    mode: str | None,
    category: str | None,
    policy: str | None,
    kb_scope: str | None,
) -> None:
    """Look QUERY up and write everything about it to FILE as JSON, for `ranklens replay`.

    The file holds the question and the text of every chunk that was found, and no secret of the
    settings. A file that is there already is not written over.
    """
    from core.retrieval.replay.bundles import bundle_of
    from core.retrieval.replay.writing import bundle_json

    query = text_argument("query", query)
    with services() as connected:
        configuration = asked(
            connected.configuration, mode=mode, category=category, policy=policy, kb_scope=kb_scope
        )
        result = connected.lookup(query, configuration)
        surroundings = connected.surroundings(result.build)
    bundle = bundle_of(result, configuration, surroundings, now=datetime.now(UTC))
    _write(file, bundle_json(bundle))
    candidates = f"{len(result.ledger):,} candidates" if len(result.ledger) != 1 else "1 candidate"
    click.echo(f"Saved the lookup in build {result.build} with {candidates} to {_shown(file)}.")


@click.command("replay", short_help="Ask a saved lookup again; show what changed.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print every change as JSON.")
@click.pass_context
def replay(ctx: click.Context, *, file: Path, as_json: bool) -> None:
    """Ask the lookup saved in FILE again, with its own configuration, and print what changed and why.

    Exit code 0 when the two lookups are the same, 1 when they differ.
    """
    from core.cli.comparison_text import comparison_text
    from core.retrieval.replay import running
    from core.retrieval.replay.reading import read_bundle

    bundle = read_bundle(_read(file), _shown(file))
    with services() as connected:
        today = connected.surroundings(connected.live.identify().name)
        found = running.replay(connected.live, connected.embedder, bundle, today, domains=connected.domains)
    if as_json:
        click.echo(json.dumps(asdict(found), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        click.echo(comparison_text(found))
    ctx.exit(0 if found.identical else DIFFERENT)


def _write(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8", newline="\n") as opened:
            try:
                opened.write(text)
            except OSError:
                file.unlink()  # the beginning of a lookup is of no use and would be in the way
                raise
    except FileExistsError as error:
        raise BundleInvalid(
            f"{_shown(file)} is there already. Name another file, or remove that one."
        ) from error
    except OSError as error:
        raise BundleInvalid(
            f"{_shown(file)} cannot be written: {error.strerror}. Name a file in a folder you may write to."
        ) from error


def _read(file: Path) -> bytes:
    from core.retrieval.replay.writing import MOST_BYTES

    try:
        with file.open("rb") as opened:
            return opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise BundleInvalid(
            f"{_shown(file)} cannot be read: {error.strerror}. Name a file that `ranklens save` made."
        ) from error


def _shown(file: Path) -> str:
    """The path as text; bytes that are no UTF-8 are escaped."""
    return str(file).encode("utf-8", "backslashreplace").decode("utf-8")
