"""Blocks and sections: what a text is made of before it is cut.

In: the blocks of a text in reading order. Out: sections, each with the path of headings above it.
Invariants: blocks do not overlap; every block is in exactly one section; every section holds at least
one block that is no heading, unless the whole text has none.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import takewhile
from typing import Final

from core.intake.characters import is_blank

_BLANK_LINES: Final = re.compile(r"\n(?:[^\S\n]*\n)+")


class BlockKind(StrEnum):
    """What a block is, and with that how it may be cut when it is too large."""

    HEADING = "heading"
    PROSE = "prose"
    LINES = "lines"
    CODE = "code"
    TABLE = "table"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text that stays whole where it fits.

    Attributes:
        start: offset of its first character.
        end: offset behind its last character; its last line end is not part of it.
        level: of a heading, from 1; 0 for anything else.
        heading: plain text of a heading, "" for an empty one and for anything else.
        header_end: of a table with rows: offset behind the separator line; None for anything else.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    heading: str = ""
    header_end: int | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks under one heading, together with the headings without text that stand before it.

    Attributes:
        path: the headings above its text, outermost first, its own last; empty ones are left out.
        blocks: in reading order; never empty.
        top_level: level of the outermost heading above its text; 0 when there is none.
    """

    path: tuple[str, ...]
    blocks: tuple[Block, ...]
    top_level: int = 0

    @property
    def start(self) -> int:
        """Offset of the first character."""
        return self.blocks[0].start

    @property
    def end(self) -> int:
        """Offset behind the last character."""
        return self.blocks[-1].end


def paragraphs(text: str) -> tuple[Block, ...]:
    """Cut plain text at blank lines."""
    borders = [0]
    for gap in _BLANK_LINES.finditer(text):
        borders += [gap.start(), gap.end()]
    borders.append(len(text))
    pairs = zip(borders[::2], borders[1::2], strict=True)
    return tuple(
        Block(BlockKind.PROSE, start, start + len(text[start:end].rstrip("\n")))
        for start, end in pairs
        if not is_blank(text[start:end])
    )


def sections(blocks: Iterable[Block], *, split_levels: int) -> tuple[Section, ...]:
    """Group blocks by the headings of level 1 to `split_levels`.

    A heading closes every open heading of its own or a deeper level, so going back up and skipping
    levels both give the path that a reader sees. A heading without text of its own joins the section
    after it, because a piece that holds only a heading answers nothing; at the end of the text it
    joins the section before.
    """
    open_headings: list[tuple[int, str]] = []
    groups: list[Section] = []
    waiting: list[Block] = []
    has_text = False
    for block in blocks:
        opens = block.kind is BlockKind.HEADING and block.level <= split_levels
        if opens and has_text:
            groups.append(_section(open_headings, waiting))
            waiting, has_text = [], False
        if opens:
            open_headings = [pair for pair in open_headings if pair[0] < block.level]
            open_headings.append((block.level, block.heading))
        waiting.append(block)
        has_text = has_text or block.kind is not BlockKind.HEADING
    if has_text or (waiting and not groups):
        groups.append(_section(open_headings, waiting))
    elif waiting:
        last = groups.pop()
        groups.append(replace(last, blocks=(*last.blocks, *waiting)))
    return tuple(groups)


def join_small(
    parts: Iterable[Section], tokens: Iterable[int], *, small_tokens: int, limit_tokens: int
) -> tuple[tuple[Section, int], ...]:
    """Join a small section with its neighbour below the nearest heading that both share.

    A few words under a heading of their own answer little and are hard to find. Chapters (headings of
    level 1) share no heading and stay apart; sections that begin at a deeper level share the title.

    Args:
        parts: in reading order.
        tokens: of each section.
        small_tokens: two neighbours are joined when one of them has fewer tokens.
        limit_tokens: most tokens of what is joined.

    Returns:
        Sections in reading order, each with the sum of its tokens; the path is the shared one.
    """
    joined: list[tuple[Section, int]] = []
    for part, count in zip(parts, tokens, strict=True):
        if joined:
            before, count_before = joined[-1]
            path = _shared(before.path, part.path)
            related = bool(path) or 1 not in (before.top_level, part.top_level)
            is_small = min(count_before, count) < small_tokens
            if related and is_small and count_before + count <= limit_tokens:
                whole = replace(before, path=path, blocks=(*before.blocks, *part.blocks))
                joined[-1] = (whole, count_before + count)
                continue
        joined.append((part, count))
    return tuple(joined)


def _section(open_headings: list[tuple[int, str]], blocks: list[Block]) -> Section:
    path = tuple(heading for _, heading in open_headings if heading)
    return Section(path, tuple(blocks), open_headings[0][0] if open_headings else 0)


def _shared(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return tuple(heading for heading, _ in pairs)
