"""A server process for tests: the served functions over the reference store and the hashing embedder.

Run as `python -m tests.core.serving.tiny_server FOLDER [KB_SCOPE]`. Its embedder prints, which must not
reach the protocol, and holds questions that start with MEET until two of them are there.
"""

import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from core.adapters.analyzer import ANALYZER
from core.adapters.embedders import CachingEmbedder, HashingEmbedder, WordCounter
from core.adapters.memory import MemoryBuilds, MemorySearcher, MemoryStore, MemoryWriter
from core.catalog.catalog import open_catalog
from core.catalog.originals import open_originals
from core.indexing.base import KnowledgeBase
from core.indexing.reports import UploadedFile
from core.indexing.uploading import index_files
from core.jobs import Jobs
from core.retrieval.configuration import Configuration
from core.retrieval.levels import Thresholds
from core.serving.server import serve
from core.settings import Settings
from core.wiring import Services

MEET = "meet"
MEETING_SECONDS = 30
NOISE = "printed by a library"
HIDDEN = "The vault code of the secret base is E-9000."
FILES = (
    ("ports.md", "# Ports\n\nMilvus listens on port 19530 for clients.", "ops", "open"),
    ("errors.md", "# 错误码\n\n错误码E-1042说明：连接池已满，请增大 max_connections。", "ops", "open"),
    ("leave.md", "# Leave\n\nSick leave needs a note from a doctor.", "hr", "open"),
    ("vault.md", f"# Vault\n\n{HIDDEN}", "vaults", "secret"),
)
CUTS = Thresholds("hashing", True, 0.3, 0.6, related_margin=-100.0, precise_margin=-100.0)


class NoisyEmbedder(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.meeting = threading.Barrier(2, timeout=MEETING_SECONDS)

    def embed_query(self, text: str):
        print(NOISE)  # noqa: T201 - what libraries do
        if text.startswith(MEET):
            self.meeting.wait()
        return super().embed_query(text)


def tiny_services(folder: Path) -> Services:
    store = MemoryStore("biz_hybrid")
    embedder = CachingEmbedder(NoisyEmbedder(), folder / "vectors.db")
    base = KnowledgeBase(
        settings=Settings(data_dir=folder),
        catalog=open_catalog(f"sqlite:///{folder / 'catalog.db'}"),
        originals=open_originals(str(folder / "originals")),
        embedder=embedder,
        token_counter=WordCounter(),
        writer=MemoryWriter(store),
        builds=MemoryBuilds(store),
        searcher=lambda build: MemorySearcher(store, build=build),
        schema=1,
        analyzer=ANALYZER,
    )
    files = [UploadedFile(name, text.encode(), category, scope) for name, text, category, scope in FILES]
    index_files(base, files, lambda _stage, _done, _total: None)
    return Services(
        settings=base.settings,
        base=base,
        jobs=Jobs(base.catalog),
        connection=SimpleNamespace(close=lambda: None),
        embedder=embedder,
        live=MemorySearcher(store),
        configuration=Configuration(CUTS),
        domains=None,
    )


def main(folder: str, kb_scope: str | None = None) -> None:
    services = tiny_services(Path(folder))
    serve(services, replace(services.configuration, kb_scope=kb_scope))
    services.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
