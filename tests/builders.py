"""One line per value in tests: builders with defaults that do not matter to the test."""

from core.model.documents import Chunk, Document, content_hash
from core.model.search import RouteScore, SearchHit


def a_document(text: str = "# Title\n\nSome text.", *, name: str = "ops/a.md", category: str = "ops",
               kb_scope: str = "default", markup: str = "markdown", title: str = "Title") -> Document:
    return Document(
        doc_id=f"{kb_scope}/{name}", name=name, title=title, text=text, markup=markup,
        category=category, kb_scope=kb_scope, content_hash=content_hash(text),
    )


def a_chunk(content: str = "Some text.", *, doc_id: str = "default/ops/a.md", chunk_index: int = 0,
            title: str = "Title", breadcrumb: str = "", source: str = "ops/a.md", category: str = "ops",
            kb_scope: str = "default", token_count: int = 10) -> Chunk:
    return Chunk(
        doc_id=doc_id, chunk_index=chunk_index, content=content, title=title, breadcrumb=breadcrumb,
        source=source, category=category, kb_scope=kb_scope, token_count=token_count,
    )


def a_hit(doc_id: str | None = "default/ops/a.md", chunk_index: int | None = 0, *, rank: int = 1,
          content: str = "Some text.", title: str | None = "Title", breadcrumb: str | None = None,
          source: str | None = "ops/a.md", category: str = "ops", kb_scope: str = "default",
          dense: tuple[int, float] | None = None, sparse: tuple[int, float] | None = None,
          fused: tuple[int, float] | None = None, hit_id: str | None = None) -> SearchHit:
    return SearchHit(
        id=hit_id or f"id-{doc_id}-{chunk_index}", doc_id=doc_id, chunk_index=chunk_index,
        content=content, title=title, breadcrumb=breadcrumb, source=source, category=category,
        kb_scope=kb_scope, rank=rank,
        dense=RouteScore(*dense) if dense else None,
        sparse=RouteScore(*sparse) if sparse else None,
        fused=RouteScore(*fused) if fused else None,
    )
