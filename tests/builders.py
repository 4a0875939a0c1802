"""One line per value in tests: builders with defaults that do not matter to the test."""

from collections.abc import Mapping
from dataclasses import replace

from core.model.documents import Chunk, Document, content_hash
from core.model.lookup import Judgement, Level
from core.model.search import Route, RouteList, RouteScore, RouteState, SearchHit


def a_document(
    text: str = "# Title\n\nSome text.",
    *,
    name: str = "ops/a.md",
    category: str = "ops",
    kb_scope: str = "default",
    markup: str = "markdown",
    title: str = "Title",
) -> Document:
    return Document(
        doc_id=f"{kb_scope}/{name}",
        name=name,
        title=title,
        text=text,
        markup=markup,
        category=category,
        kb_scope=kb_scope,
        content_hash=content_hash(text),
    )


def a_chunk(
    content: str = "Some text.",
    *,
    doc_id: str = "default/ops/a.md",
    chunk_index: int = 0,
    title: str = "Title",
    breadcrumb: str = "",
    source: str = "ops/a.md",
    category: str = "ops",
    kb_scope: str = "default",
    token_count: int = 10,
) -> Chunk:
    return Chunk(
        doc_id=doc_id,
        chunk_index=chunk_index,
        content=content,
        title=title,
        breadcrumb=breadcrumb,
        source=source,
        category=category,
        kb_scope=kb_scope,
        token_count=token_count,
    )


def a_hit(
    doc_id: str | None = "default/ops/a.md",
    chunk_index: int | None = 0,
    *,
    rank: int = 1,
    content: str = "Some text.",
    title: str | None = "Title",
    breadcrumb: str | None = None,
    source: str | None = "ops/a.md",
    category: str = "ops",
    kb_scope: str = "default",
    dense: tuple[int, float] | None = None,
    sparse: tuple[int, float] | None = None,
    fused: tuple[int, float] | None = None,
    hit_id: str | None = None,
) -> SearchHit:
    return SearchHit(
        id=f"id-{doc_id}-{chunk_index}" if hit_id is None else hit_id,
        doc_id=doc_id,
        chunk_index=chunk_index,
        content=content,
        title=title,
        breadcrumb=breadcrumb,
        source=source,
        category=category,
        kb_scope=kb_scope,
        rank=rank,
        dense=RouteScore(*dense) if dense else None,
        sparse=RouteScore(*sparse) if sparse else None,
        fused=RouteScore(*fused) if fused else None,
    )


def a_list(
    route: Route, scores: Mapping[str, float], *, limit: int = 20, category: str = "ops"
) -> RouteList:
    """The answer of one call: chunk 0 of each named document, in the order given."""
    hits = tuple(
        replace(
            a_hit(name, 0, rank=rank, category=category, content=f"Content of {name}."),
            **{route.value: RouteScore(rank, score)},
        )
        for rank, (name, score) in enumerate(scores.items(), start=1)
    )
    return RouteList(route, RouteState.OK if hits else RouteState.EMPTY, hits, limit, 1.0)


def a_judgement(level: Level = Level.RELATED, similarity: float | None = 0.6) -> Judgement:
    return Judgement(level, similarity, None, lexically_complete=False, reason="as given")
