"""Title and breadcrumb, shortened so that most of a chunk is its content.

In: the title of a document and the path of headings of each section. Out: one `Header` for each path.
Invariants: a header takes at most 40 % of the tokens and each field at most 1,024 bytes; the first and
the last level stay, what goes is in the middle and is marked with `…`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.intake.characters import ELLIPSIS, byte_length, grapheme_floor, head_of_bytes
from core.model.documents import search_text
from core.ports import TokenCounter

SEPARATOR: Final = " > "
MAX_FIELD_BYTES: Final = 1024
CONTENT_SHARE: Final = 0.6
"""Of the tokens of a chunk, at least this much belongs to its content."""

_MAX_LEVEL_BYTES: Final = 480
_ENDS: Final = 2


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the content in the searchable text.

    Attributes:
        title: "" only when there is no title at all.
        breadcrumb: levels joined by ` > `; "" at the top.
        tokens: of both together, as they stand in the searchable text.
    """

    title: str
    breadcrumb: str
    tokens: int


def fit_headers(
    title: str, paths: Sequence[tuple[str, ...]], budget_tokens: int, counter: TokenCounter
) -> tuple[Header, ...]:
    """Make the header of each path, in the order of the paths.

    Args:
        title: of the document, in one line.
        paths: headings of each section, outermost first.
        budget_tokens: tokens of a whole chunk without special tokens and prompt.
        counter: counts all headers in one call; only those that are too long are looked at again.
    """
    limit = budget_tokens - math.ceil(budget_tokens * CONTENT_SHARE)
    distinct = list(dict.fromkeys(paths))
    title = _within_bytes(title, MAX_FIELD_BYTES)
    breadcrumbs = [_joined_within_bytes(path) for path in distinct]
    texts = [search_text(title, breadcrumb, "") for breadcrumb in breadcrumbs]
    by_path: dict[tuple[str, ...], Header] = {}
    for path, breadcrumb, tokens in zip(distinct, breadcrumbs, counter.count(texts), strict=True):
        header = Header(title, breadcrumb, tokens)
        by_path[path] = header if tokens <= limit else _shortened(title, path, limit, counter)
    return tuple(by_path[path] for path in paths)


def _shortened(title: str, path: tuple[str, ...], limit: int, counter: TokenCounter) -> Header:
    for breadcrumb in _without_middle(path):
        # Few candidates, and only for the rare header that is too long.
        tokens = counter.count([search_text(title, breadcrumb, "")])[0]
        if tokens <= limit and byte_length(breadcrumb) <= MAX_FIELD_BYTES:
            return Header(title, breadcrumb, tokens)
    share = max(limit // (min(len(path), _ENDS) + 1), 1)
    while True:
        short_title = _within_tokens(title, share, counter)
        ends = [_within_tokens(level, share, counter) for level in path]
        breadcrumb = _joined_within_bytes(_ends_of(ends))
        tokens = counter.count([search_text(short_title, breadcrumb, "")])[0]
        if tokens <= limit or share == 1:
            return Header(short_title, breadcrumb, tokens)
        share = max(share - max((tokens - limit) // 3, 1), 1)


def _without_middle(path: tuple[str, ...]) -> list[str]:
    """Return the breadcrumbs with one, two, ... levels of the middle left out, longest first."""
    return [SEPARATOR.join((path[0], ELLIPSIS, *path[kept:])) for kept in range(2, len(path))]


def _joined_within_bytes(path: tuple[str, ...]) -> str:
    for breadcrumb in (SEPARATOR.join(path), *_without_middle(path)):
        if byte_length(breadcrumb) <= MAX_FIELD_BYTES:
            return breadcrumb
    ends = [_within_bytes(level, _MAX_LEVEL_BYTES) for level in path]
    return SEPARATOR.join(_ends_of(ends))


def _ends_of(levels: Sequence[str]) -> tuple[str, ...]:
    """Keep the first and the last level, with a mark for what is left out."""
    return (levels[0], ELLIPSIS, levels[-1]) if len(levels) > _ENDS else tuple(levels)


def _within_bytes(text: str, limit_bytes: int) -> str:
    if byte_length(text) <= limit_bytes:
        return text
    head = head_of_bytes(text, limit_bytes - byte_length(ELLIPSIS))
    return _cut(text, len(head))


def _within_tokens(text: str, limit_tokens: int, counter: TokenCounter) -> str:
    spans = counter.offsets(text)
    if len(spans) <= limit_tokens:
        return text
    # The mark of the cut takes a token of its own.
    return _cut(text, spans[max(limit_tokens - 1, 0)][0])


def _cut(text: str, position: int) -> str:
    return text[: grapheme_floor(text, position)].rstrip() + ELLIPSIS
