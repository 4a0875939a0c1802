"""Files, questions and faulty parts for the tests of indexing."""

from collections.abc import Callable, Sequence
from pathlib import Path

from core.errors import JobCancelled
from core.indexing.base import KnowledgeBase
from core.indexing.reports import UploadedFile
from core.model.search import SearchRequest
from core.ports import Progress, Vectors


def silent(_stage: str, _done: int, _total: int) -> None:
    """A progress callback that nobody watches."""


def a_file(
    name: str = "ops/a.md",
    text: str = "# Disk\n\nThe disk is full.",
    *,
    category: str = "ops",
    kb_scope: str = "default",
) -> UploadedFile:
    return UploadedFile(name, text.encode(), category, kb_scope)


def sections(*bodies: str) -> str:
    """Markdown that gives one chunk for each body: two of them do not fit into 320 tokens."""
    filler = " ".join(["filler"] * 200)
    return "\n\n".join(f"## Part {number}\n\n{body}\n\n{filler}" for number, body in enumerate(bodies))


def live_counts(base: KnowledgeBase) -> dict[str, int]:
    live = base.builds.live()
    return {} if live is None else dict(base.builds.chunk_counts(live))


def found_by_bm25(base: KnowledgeBase, query: str) -> list[str]:
    """Contents that BM25 finds in the live build."""
    live = base.builds.live()
    return [hit.content for hit in base.searcher(live).search_sparse(SearchRequest(query=query)).hits]


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


class Embedding:
    """An embedder that does something before it embeds; counts its calls and texts."""

    def __init__(self, inner, before: Callable[[int], None] = lambda _call: None) -> None:
        self.inner = inner
        self.before = before
        self.calls = 0
        self.texts = 0
        self.name, self.revision, self.dimension = inner.name, inner.revision, inner.dimension
        self.query_prompt, self.passage_prompt = inner.query_prompt, inner.passage_prompt

    def embed_query(self, text: str):
        return self.inner.embed_query(text)

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        self.calls += 1
        self.texts += len(texts)
        self.before(self.calls)
        return self.inner.embed_passages(texts, progress=progress)


class Stages:
    """A progress callback that remembers, and cancels at the first call of one stage."""

    def __init__(self, cancel_at: str | None = None) -> None:
        self.calls: list[tuple[str, int, int]] = []
        self.cancel_at = cancel_at

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.calls.append((stage, done, total))
        if stage == self.cancel_at:
            raise JobCancelled("Stopped by a person.")

    @property
    def order(self) -> list[str]:
        return list(dict.fromkeys(stage for stage, _, _ in self.calls))
