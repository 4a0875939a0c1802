"""The command group, and the one place where an error becomes a sentence and exit code 2.

In: the arguments. Out: an exit code; what was found on standard output, what went wrong on standard
error. Invariant: an error that a person can cause shows as one sentence, never as a traceback. Each
command imports what it needs when it runs, so that `--help` loads no model and no store.
"""

import io
import sys
from collections.abc import Sequence

import click

from core.cli import asking, explaining, keeping, lensing, replaying, serving
from core.errors import RankLensError

WRONG = 2
INTERRUPTED = 130
"""What a shell reports for a command that Ctrl+C ended."""


class InOrderOfUse(click.Group):
    """A group whose help lists the commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """List the names."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was asked for; Ctrl+C ends it with a sentence."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Stopped. Run the same command again to finish it.", err=True)
            ctx.exit(INTERRUPTED)


@click.group(cls=InOrderOfUse, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ranklens")
def commands() -> None:
    """See, explain and safely change what an agent retrieves from a knowledge base.

    Settings come from ranklens.toml in the working folder or above it, and from RANKLENS_...
    variables. Exit codes: 0 done, 1 something is not in order, 2 an error in one sentence.
    """


keeping.register(commands)
asking.register(commands)
explaining.register(commands)
lensing.register(commands)
replaying.register(commands)
serving.register(commands)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        arguments: without the program's name; None takes those of the process.
    """
    try:
        ended = commands.main(arguments, prog_name="ranklens", standalone_mode=False)
    except click.Abort:
        click.echo("Stopped.", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except RankLensError as error:
        click.echo(f"Error: {_shown(error)}", err=True)
        return WRONG
    return ended if isinstance(ended, int) else 0


def main() -> None:
    """Run the command line as a process: text leaves as UTF-8, and the exit code says how it ended."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal reads its own encoding. A file or pipe gets UTF-8 in every locale.
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    sys.exit(run())


def _shown(error: RankLensError) -> str:
    from core.cli.tables import printable

    return printable(str(error), kept="\n")
