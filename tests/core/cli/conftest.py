"""A working folder of its own, and the command line run in this process."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core import wiring
from core.adapters.embedders import CachingEmbedder, HashingEmbedder, WordCounter
from core.cli.main import run

Run = Callable[..., "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it wrote, also past Python (file descriptors 1 and 2)."""

    code: int
    out: str
    err: str


def hashing_embedder(_settings, data_dir: Path):
    """In place of `open_embedder`: no model, the same cache."""
    return CachingEmbedder(HashingEmbedder(), data_dir / "vectors.db"), WordCounter()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with default settings."""
    for name in [name for name in os.environ if name.startswith("RANKLENS_")]:
        monkeypatch.delenv(name)
    (tmp_path / "ranklens.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this process use the hashing embedder."""
    monkeypatch.setattr(wiring, "open_embedder", hashing_embedder)


@pytest.fixture
def ranklens(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run one command in this process."""

    def command(*arguments: str) -> Outcome:
        capfd.readouterr()
        code = run(arguments)
        written = capfd.readouterr()
        return Outcome(code, written.out, written.err)

    return command
