"""Documents and chunks: what goes into a knowledge base.

A `Document` is clean text with an identity; a `Chunk` is one piece of it as it is stored and
shown. Invariant: identity is derived from names and positions only, so the same file uploaded
twice, or a rebuild in another order, gives the same ids.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

UNCATEGORIZED = "uncategorized"
DEFAULT_KB_SCOPE = "default"


def content_hash(text: str) -> str:
    """Return the SHA-256 of the UTF-8 text, 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def chunk_id(doc_id: str, chunk_index: int) -> str:
    """Derive the primary key of a chunk: 40 hex digits, so user text never enters a key.

    The two parts are joined by a NUL, which no doc_id can hold, so `("a", 11)` and `("a1", 1)`
    never share a key.
    """
    return hashlib.sha256(f"{doc_id}\0{chunk_index}".encode()).hexdigest()[:40]


@dataclass(frozen=True, slots=True)
class Document:
    r"""One loaded file.

    Attributes:
        doc_id: `kb_scope/relative name` in NFC, at most 255 bytes of UTF-8; stable across re-uploads.
        name: the relative name as it was given, with `/` between folders.
        title: front matter `title`, else the first heading, else the file name without ending.
        text: line ends are `\\n`; holds no NUL and no byte order mark; never blank.
        markup: `"markdown"` or `"text"`: how `text` is to be read.
        category: trimmed, NFC, never empty (`uncategorized`).
        kb_scope: which knowledge base; an access boundary; never empty.
        content_hash: of `text`, so equal text under two names or line ends has one hash.
        encoding: how the bytes were read, for example `utf-8` or `gb18030`.
        warnings: sentences for the person who uploaded it; empty when there is nothing to say.
    """

    doc_id: str
    name: str
    title: str
    text: str
    markup: str
    category: str
    kb_scope: str
    content_hash: str
    encoding: str = "utf-8"
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a document, as it is indexed and as it is shown.

    Attributes:
        doc_id: of its document.
        chunk_index: position in the document, from 0, without gaps.
        content: the original text of the piece; what a person and the agent see.
        title: the document's title.
        breadcrumb: the headings above it joined by ` > `, shortened to fit; "" at the top.
        source: the document's relative name.
        category: of its document.
        kb_scope: of its document.
        token_count: tokens of `search_text` in the embedding model, prompt and special tokens included.
        metadata: JSON values only; for example `{"start": 120, "end": 480}`, character offsets of
            `content` in the document's text.
    """

    doc_id: str
    chunk_index: int
    content: str
    title: str
    breadcrumb: str
    source: str
    category: str
    kb_scope: str
    token_count: int
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The primary key."""
        return chunk_id(self.doc_id, self.chunk_index)

    @property
    def search_text(self) -> str:
        """What BM25 reads and the model embeds: title, breadcrumb and content, one a line."""
        return search_text(self.title, self.breadcrumb, self.content)


def search_text(title: str | None, breadcrumb: str | None, content: str) -> str:
    """Join the searchable parts of a chunk; a missing or empty part takes no line."""
    return "\n".join(part for part in (title, breadcrumb, content) if part)
