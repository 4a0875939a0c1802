"""The command line as a process of its own, with the hashing embedder."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import ROOT

REAL = "from core.cli import main; main()"
HASHING = """
from core import wiring
from tests.core.cli.conftest import hashing_embedder
wiring.open_embedder = hashing_embedder
from core.cli import main; main()
"""
HELD = """
from core import wiring
from core.adapters.embedders import CachingEmbedder, HashingEmbedder, WordCounter

class Held(HashingEmbedder):
    def embed_passages(self, texts, *, progress=None):
        print("embedding", flush=True)
        input()
        raise SystemExit("nobody should have gone on")

def held(_settings, data_dir):
    return CachingEmbedder(Held(), data_dir / "held.db"), WordCounter()

wiring.open_embedder = held
from core.cli import main; main()
"""
"""Says when it begins to embed, and then waits to be stopped."""

HOLDER = """
import sys
from core.adapters.milvus.connection import MilvusConnection
connection = MilvusConnection(sys.argv[1], "", 10.0)
connection.is_lite()
print("open", flush=True)
input()
"""
"""Opens a local store and keeps it open until its input ends."""


def start(code: str, *arguments: str, folder: Path, **environment: str) -> subprocess.Popen[bytes]:
    """Start Python on the code in a working folder, without any of our settings around it."""
    return subprocess.Popen(
        _command(code, arguments),
        cwd=folder,
        env=_environment(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(
    code: str, *arguments: str, folder: Path, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run Python on the code to its end."""
    return subprocess.run(
        _command(code, arguments),
        cwd=folder,
        env=_environment(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def _command(code: str, arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def _environment(more: dict[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RANKLENS_")}
    return {**kept, "PYTHONPATH": str(ROOT), **more}
