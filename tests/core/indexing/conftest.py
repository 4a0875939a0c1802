"""A knowledge base on the reference store, a hashing embedder and a folder of its own."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.adapters.analyzer import ANALYZER
from core.adapters.embedders.hashing import HashingEmbedder, WordCounter
from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.catalog.catalog import Catalog, open_catalog
from core.catalog.originals import open_originals
from core.indexing.base import KnowledgeBase
from core.settings import Settings


class Clock:
    """Moves one second with every look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore("biz_hybrid")


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = open_catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    yield opened
    opened.close()


@pytest.fixture
def pauses() -> list[float]:
    """Seconds that the base waited before it tried again."""
    return []


@pytest.fixture
def base(tmp_path: Path, store: MemoryStore, catalog: Catalog, pauses: list[float]) -> KnowledgeBase:
    return KnowledgeBase(
        settings=Settings(data_dir=tmp_path),
        catalog=catalog,
        originals=open_originals(str(tmp_path / "originals")),
        embedder=HashingEmbedder(),
        token_counter=WordCounter(),
        writer=MemoryWriter(store),
        builds=MemoryBuilds(store),
        searcher=lambda build: MemorySearcher(store, build=build),
        schema=1,
        analyzer=ANALYZER,
        clock=Clock(),
        pause=pauses.append,
    )
