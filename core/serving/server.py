"""The Model Context Protocol over standard input and output.

In: services and the configuration they are asked with. Out: messages on standard output, nothing else
there: what a library prints or logs goes to standard error. Invariants: a call runs in a thread, so that
the protocol answers while a search runs; an error that an agent can cause is a result of the tool with
one sentence, never a traceback. The protocol's SDK is imported when a server is made, no earlier.
"""

import json
import logging
import sys
from contextlib import redirect_stdout
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from core.errors import RankLensError
from core.retrieval.configuration import Configuration
from core.serving.answering import answer
from core.serving.offers import INSTRUCTIONS, Offer, offers
from core.wiring import Services

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext
    from mcp.types import (
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
        Tool,
    )

CALLS_AT_ONCE = 4
"""More calls wait; a search gains nothing from more threads."""

logger = logging.getLogger(__name__)


def serve(services: Services, configuration: Configuration) -> None:
    """Serve one client on standard input and output until it closes its end.

    The model and the live build are loaded meanwhile. Calls that run when the client leaves are
    finished first.

    Args:
        services: of the base.
        configuration: with a kb_scope, agents are offered no other and cannot ask another.
    """
    import anyio

    anyio.run(_serve, services, configuration)


def make_server(services: Services, configuration: Configuration) -> "Server[Any]":
    """Make the server with its tools, without a transport; see `serve`."""
    from anyio import CapacityLimiter, to_thread
    from mcp.server import Server
    from mcp.shared.exceptions import MCPError
    from mcp.types import INVALID_PARAMS, ListToolsResult

    by_name = {offer.name: offer for offer in offers(pinned=configuration.kb_scope is not None)}
    limiter = CapacityLimiter(CALLS_AT_ONCE)

    async def list_tools(
        _context: "ServerRequestContext[Any]", _page: "PaginatedRequestParams | None"
    ) -> "ListToolsResult":
        return ListToolsResult(tools=[_tool(offer) for offer in by_name.values()])

    async def call_tool(
        _context: "ServerRequestContext[Any]", call: "CallToolRequestParams"
    ) -> "CallToolResult":
        if call.name not in by_name:
            raise MCPError(INVALID_PARAMS, f"There is no tool {call.name!r}. Tools: {', '.join(by_name)}.")
        work = partial(answer, services, configuration, by_name[call.name], call.arguments or {})
        try:
            return _answered(await to_thread.run_sync(work, limiter=limiter))
        except RankLensError as error:
            return _refused(error)

    return Server(
        "ranklens",
        version=version("ranklens"),
        title="RankLens",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _serve(services: Services, configuration: Configuration) -> None:
    from anyio import create_task_group
    from mcp.server.stdio import stdio_server

    server = make_server(services, configuration)
    async with stdio_server() as (incoming, outgoing):
        # The SDK moves the descriptor. What Python still held in its own buffer would follow the messages.
        with redirect_stdout(sys.stderr):
            async with create_task_group() as tasks:
                tasks.start_soon(_warm_up, services)
                await server.run(incoming, outgoing, server.create_initialization_options())


async def _warm_up(services: Services) -> None:
    from anyio import to_thread

    try:
        await to_thread.run_sync(services.warm_up)
    except RankLensError as error:
        logger.warning("The first question will wait: %s", error)


def _tool(offer: Offer) -> "Tool":
    from mcp.types import Tool, ToolAnnotations

    return Tool(
        name=offer.name,
        title=offer.title,
        description=offer.description,
        input_schema=offer.input_schema,
        output_schema=dict(offer.output_schema),
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    )


def _answered(value: dict[str, Any]) -> "CallToolResult":
    from mcp.types import CallToolResult, TextContent

    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return CallToolResult(content=[TextContent(text=text)], structured_content=value)


def _refused(error: RankLensError) -> "CallToolResult":
    from mcp.types import CallToolResult, TextContent

    return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
