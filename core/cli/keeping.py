"""Commands that keep the base: `sample`, `index`, `rebuild`, `doctor`.

In: paths and options. Out: a report on standard output and an exit code; progress on standard error.
Invariant: whatever is not indexed is named with the reason.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.cli.arguments import text_argument
from core.cli.connecting import services

if TYPE_CHECKING:
    from core.indexing.reports import IndexReport, UploadedFile
    from core.ports import StageProgress
    from core.wiring import Services

SAMPLE_NOTE = "sample.offered"
SAMPLE_BEGUN = "begun"
SAMPLE_DONE = "1"
"""Kept in the catalog: a sample base that somebody deleted does not come back, and one that was
interrupted is finished."""

NOT_IN_ORDER = 1


def register(group: click.Group) -> None:
    """Add the commands to the group."""
    for command in (sample, index, rebuild, doctor):
        group.add_command(command)


@click.command(short_help="Index the sample base when the base is empty.")
@click.option("--again", is_flag=True, help="Also when documents are there, or the sample was deleted.")
def sample(*, again: bool) -> None:
    """Index the sample knowledge base when the base is empty; does nothing otherwise."""
    from core.cli.printing import index_text
    from core.indexing.reports import UploadedFile
    from core.sample import sample_files

    with services() as connected:
        catalog = connected.catalog
        note = catalog.note(SAMPLE_NOTE)
        if not again and (note == SAMPLE_DONE or (note is None and catalog.documents())):
            click.echo("The base was set up before; the sample is left alone (--again brings it back).")
            return
        catalog.set_note(SAMPLE_NOTE, SAMPLE_BEGUN)
        files = [UploadedFile(item.name, item.data, item.category) for item in sample_files()]
        click.echo(index_text(_index(connected, files)))
        catalog.set_note(SAMPLE_NOTE, SAMPLE_DONE)


@click.command(short_help="Add files or folders; what did not change is left alone.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option("--category", default="", metavar="NAME", help="Category of every file; else uncategorized.")
@click.option(
    "--category-from-folder", is_flag=True, help="Take a file's category from its first folder below PATH."
)
@click.option(
    "--kb-scope",
    default="default",
    show_default=True,
    metavar="NAME",
    help="Knowledge base that the files belong to.",
)
@click.pass_context
def index(
    context: click.Context,
    *,
    paths: tuple[Path, ...],
    category: str,
    category_from_folder: bool,
    kb_scope: str,
) -> None:
    """Add files, or every file of folders, to the base; what did not change is left alone.

    A folder's files are known by their names relative to it: index the same folder again to bring in
    what changed in it. Hidden files are passed over. A file that cannot be read is refused by name,
    and the others go on; exit code 1 when none of them could be taken.
    """
    from core.cli.files import read_paths
    from core.cli.printing import index_text
    from core.indexing.base import upload_limit_bytes
    from core.indexing.reports import FileOutcome

    if category and category_from_folder:
        raise click.UsageError("Give --category or --category-from-folder, not both.")
    with services() as connected:
        found = read_paths(
            paths,
            category=text_argument("category", category),
            category_from_folder=category_from_folder,
            kb_scope=text_argument("kb_scope", kb_scope),
            limit_bytes=upload_limit_bytes(connected.base),
        )
        report = _index(connected, found.files)
    by_name = sorted((*report.files, *found.refused), key=lambda file: file.name)
    report = replace(report, files=tuple(by_name))
    click.echo(index_text(report))
    none_taken = all(file.outcome is FileOutcome.REFUSED for file in report.files)
    context.exit(NOT_IN_ORDER if none_taken else 0)


@click.command(short_help="Build the whole base anew, verify it and publish it.")
@click.option("--allow-empty", is_flag=True, help="Publish a base without documents.")
@click.option("--leave-out-unreadable", is_flag=True, help="Publish without documents that no longer load.")
def rebuild(*, allow_empty: bool, leave_out_unreadable: bool) -> None:
    """Build the whole base anew beside the live one, verify it, and publish it.

    The live build answers until then, and stays when the new one does not pass.
    """
    from core.cli.printing import build_text
    from core.indexing.building import rebuild as rebuild_base

    with services() as connected:
        with progress_line() as progress:
            report = rebuild_base(
                connected.base,
                progress,
                allow_empty=allow_empty,
                leave_out_unreadable=leave_out_unreadable,
            )
        click.echo(build_text(report))


@click.command(short_help="Say what the base stands on, and what is not in order.")
@click.pass_context
def doctor(context: click.Context) -> None:
    """Say what the base stands on, and every document on which catalog and live build disagree.

    Exit code 1 when something is not in order.
    """
    from core.cli.examining import examine

    with services() as connected:
        findings = examine(connected)
    click.echo(findings.text)
    context.exit(0 if findings.in_order else NOT_IN_ORDER)


def _index(connected: "Services", files: Sequence["UploadedFile"]) -> "IndexReport":
    from core.indexing.uploading import index_files

    with progress_line() as progress:
        return index_files(connected.base, files, progress)


@contextmanager
def progress_line() -> Iterator["StageProgress"]:
    """Show the stage and its counts on one line of standard error; nothing when that is no terminal."""
    shown = sys.stderr.isatty()

    def progress(stage: str, done: int, total: int) -> None:
        if shown:
            counts = f"{done:,} of {total:,}" if total else f"{done:,}"
            click.echo(f"\r\033[K{stage} {counts}", nl=False, err=True)

    try:
        yield progress
    finally:
        if shown:
            click.echo("\r\033[K", nl=False, err=True)
