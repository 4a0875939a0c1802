"""Commands for an agent: `mcp` serves it, `schema` prints what it gets.

In: options. Out: the protocol's messages, or a JSON Schema, on standard output. Invariant: while `mcp`
serves, nothing but messages is written to standard output.
"""

import json
import signal
from dataclasses import replace

import click

from core.cli.connecting import services


def register(group: click.Group) -> None:
    """Add the commands to the group."""
    for command in (mcp, schema):
        group.add_command(command)


@click.command(short_help="Serve an agent over the Model Context Protocol (stdio).")
@click.option(
    "--kb-scope",
    metavar="NAME",
    help="Serve this knowledge base only; the agent is offered no other and cannot ask another.",
)
def mcp(*, kb_scope: str | None) -> None:
    """Serve the tools lookup_knowledge and why on standard input and output until the client leaves.

    Started by the agent's client, not by hand; docs/agents.md says how. Ctrl+D ends it in a terminal.
    """
    from core.serving.server import serve

    with services() as connected:
        configuration = replace(connected.configuration, kb_scope=kb_scope)
        connected.require_scope(configuration.kb_scope)
        # Python's own handler would wait for the thread that reads standard input. Nothing is written here.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        serve(connected, configuration)


@click.command(short_help="Print the JSON Schema of what an agent gets.")
def schema() -> None:
    """Print the JSON Schema of what lookup_knowledge returns to an agent."""
    from core.retrieval.projection import projection_schema

    click.echo(json.dumps(projection_schema(), ensure_ascii=False, indent=2))
