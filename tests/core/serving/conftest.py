"""The SDK's own client, connected to server processes over standard input and output."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import StdioServerParameters
from mcp.client import Client

from tests.conftest import ROOT


class Agent:
    """A connected client with blocking calls."""

    def __init__(self, portal, client) -> None:
        self.portal = portal
        self.client = client

    def tools(self):
        return {tool.name: tool for tool in self.portal.call(self.client.list_tools).tools}

    def call(self, tool: str, **arguments: object):
        return self.portal.call(self.client.call_tool, tool, arguments)

    def start(self, tool: str, **arguments: object):
        return self.portal.start_task_soon(self.client.call_tool, tool, arguments)

    def refusal(self, tool: str, **arguments: object) -> str:
        result = self.call(tool, **arguments)
        assert result.is_error
        assert result.structured_content is None
        (content,) = result.content
        return content.text


@contextmanager
def connected(
    command: str, *arguments: str, cwd: Path = ROOT, env: dict[str, str] | None = None, mode: str = "auto"
) -> Iterator[Agent]:
    parameters = StdioServerParameters(command=command, args=list(arguments), cwd=cwd, env=env)
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        client = stack.enter_context(
            portal.wrap_async_context_manager(Client(parameters, mode=mode, read_timeout_seconds=120))
        )
        yield Agent(portal, client)


@pytest.fixture(scope="session")
def connect() -> Callable[..., object]:
    """Return a context manager: a command and its arguments to a connected `Agent`."""
    return connected


def tiny_command(folder: Path, *more: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "tests.core.serving.tiny_server", str(folder), *more)


@pytest.fixture(scope="session")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """A client of the tiny server that may ask every knowledge base."""
    with connected(*tiny_command(tmp_path_factory.mktemp("served"))) as opened:
        yield opened


@pytest.fixture(scope="session")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """A client of the tiny server that serves the knowledge base `open` only."""
    with connected(*tiny_command(tmp_path_factory.mktemp("pinned"), "open")) as opened:
        yield opened
