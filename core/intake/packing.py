"""One section -> pieces that fit.

In: the blocks of a section and a ruler over it. Out: pieces in reading order. Invariants: the new
parts of the pieces, joined, hold every visible character of the section once; a piece begins with at
most `overlap_tokens` of the piece before it; a table that is cut shows its header in every piece; no
piece ends in a heading while text of its section follows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from core.intake.characters import is_blank
from core.intake.cutting import (
    MAX_CONTENT_BYTES,
    TokenRuler,
    first_border,
    fits_bytes,
    furthest_in_bytes,
    is_border,
    last_cut,
    next_text,
)
from core.intake.structure import Block, BlockKind, Section

Span: TypeAlias = tuple[int, int]
"""Offsets `[start, end)`."""

_BY_LINES: Final = (BlockKind.LINES, BlockKind.CODE, BlockKind.TABLE)
_REPEATABLE: Final = (BlockKind.PROSE, BlockKind.LINES)
_MAX_REPEATED_CHARACTERS: Final = MAX_CONTENT_BYTES // 16


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the text that becomes one chunk.

    Attributes:
        start: offset of its first character, what it repeats of the piece before included.
        end: offset behind its last character.
        table_header: where the header lines of the table stand that it goes on with; None for others.
    """

    start: int
    end: int
    table_header: Span | None = None

    def prefix(self, text: str) -> str:
        """Return the repeated table header with its line end, or ""."""
        return f"{text[slice(*self.table_header)]}\n" if self.table_header else ""

    def content(self, text: str) -> str:
        """Return the text of the piece, the repeated table header included."""
        return self.prefix(text) + text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A block together with the headings that stand right before it."""

    start: int
    block: Block

    @property
    def end(self) -> int:
        return self.block.end


@dataclass(frozen=True, slots=True)
class Packer:
    """The text, its ruler and the limits of one section.

    Attributes:
        room_tokens: most tokens of a piece, at least 1.
        overlap_tokens: most tokens that a piece repeats of the one before; at most half the room counts.
    """

    text: str
    ruler: TokenRuler
    room_tokens: int
    overlap_tokens: int

    def pack(self, section: Section) -> tuple[Piece, ...]:
        """Fill pieces with whole blocks, and cut the blocks that do not fit alone."""
        pieces: list[Piece] = []
        current: Piece | None = None
        repeatable_from = section.end
        for unit in self._units(section):
            if current and self._fits(longer := replace(current, end=unit.end)):
                current = longer
            else:
                lowest = max(repeatable_from, current.start + 1) if current else unit.start
                if current and self._is_small_lead_in(current, unit):
                    unit, lowest = _Unit(current.start, unit.block), current.start  # noqa: PLW2901 - it grows
                elif current:
                    pieces.append(current)
                *done, current = self._begin(unit, lowest)
                pieces += done
            # Overlap stops at headings, tables and code: half of them would mislead.
            if unit.block.kind not in _REPEATABLE:
                repeatable_from = section.end
            elif unit.start < unit.block.start or repeatable_from > unit.start:
                repeatable_from = unit.block.start
        pieces += [current] if current else []
        trimmed = (self._trimmed(piece) for piece in pieces)
        return tuple(piece for piece in trimmed if not is_blank(self.text[piece.start : piece.end]))

    def _units(self, section: Section) -> Iterator[_Unit]:
        start: int | None = None
        for block in section.blocks:
            start = next_text(self.text, block.start, block.end) if start is None else start
            if block.kind is not BlockKind.HEADING:
                yield _Unit(start, block)
                start = None
        if start is not None:
            yield _Unit(start, section.blocks[-1])

    def _begin(self, unit: _Unit, lowest: int) -> list[Piece]:
        """Start a new piece with the unit; the last one of the result may still grow."""
        free = self.room_tokens - self.ruler.tokens(unit.start, unit.end)
        for start in (self._repeat_from(unit.start, lowest, free), unit.start):
            if self._fits(whole := Piece(start, unit.end)):
                return [whole]
        return list(self._cut(unit, lowest))

    def _cut(self, unit: _Unit, lowest: int) -> Iterator[Piece]:
        repeats = unit.block.kind in _REPEATABLE
        header = self._table_header(unit.block)
        body_start = unit.block.header_end or unit.block.start
        fresh = unit.start
        piece = Piece(self._repeat_from(fresh, lowest, self.overlap_tokens), unit.end)
        while not self._fits(piece):
            cut = self._end_of(piece, fresh, unit)
            if piece.start < fresh and not is_border(self.text, cut, unit.end):
                # A whole sentence is worth more than what is repeated before a broken one.
                piece = replace(piece, start=fresh)
                cut = self._end_of(piece, fresh, unit)
            yield replace(piece, end=cut)
            lowest = max(unit.block.start, piece.start + 1)
            fresh = next_text(self.text, cut, unit.end)
            if fresh >= unit.end:
                return
            start = self._repeat_from(fresh, lowest, self.overlap_tokens) if repeats else fresh
            piece = Piece(start, unit.end, header if fresh > body_start else None)
        yield piece

    def _end_of(self, piece: Piece, fresh: int, unit: _Unit) -> int:
        """Choose where a piece ends that begins inside the unit and does not reach its end."""
        limit = max(fresh, self._limit(piece))
        if self.ruler.tokens(limit, unit.end) * 4 < self.room_tokens:
            # Two even pieces read better than a full one and a scrap.
            limit = max(fresh, min(limit, self._half(piece)))
        body_start = unit.block.header_end or unit.block.start
        behind = body_start if fresh < body_start < limit else fresh
        return last_cut(self.text, behind, limit, unit.end, by_lines=unit.block.kind in _BY_LINES)

    def _table_header(self, block: Block) -> Span | None:
        """Find the lines that every piece of a table repeats; None when they take over half the room."""
        if block.header_end is None:
            return None
        too_many_tokens = self.ruler.tokens(block.start, block.header_end) * 2 > self.room_tokens
        too_long = (block.header_end - block.start) > _MAX_REPEATED_CHARACTERS
        return None if too_many_tokens or too_long else (block.start, block.header_end)

    def _repeat_from(self, fresh: int, lowest: int, free_tokens: int) -> int:
        """Return where a piece starts that repeats the end of the one before; `fresh` for no overlap."""
        tokens = min(self.overlap_tokens, free_tokens, self.room_tokens // 2)
        if tokens <= 0 or lowest >= fresh:
            return fresh
        furthest = max(lowest, fresh - _MAX_REPEATED_CHARACTERS)
        border = first_border(self.text, self.ruler.back(fresh, tokens, furthest), fresh)
        return fresh if border is None else border

    def _header_tokens(self, piece: Piece) -> int:
        return self.ruler.tokens(*piece.table_header) if piece.table_header else 0

    def _fits(self, piece: Piece) -> bool:
        tokens = self._header_tokens(piece) + self.ruler.tokens(piece.start, piece.end)
        if tokens > self.room_tokens:
            return False
        return fits_bytes(self.text, piece.start, piece.end, piece.prefix(self.text))

    def _is_small_lead_in(self, piece: Piece, unit: _Unit) -> bool:
        """Tell whether the piece should go on into a block that must be cut anyway."""
        tokens = self.ruler.tokens(piece.start, piece.end)
        is_small = piece.table_header is None and tokens * 2 <= self.room_tokens
        return is_small and not self._fits(Piece(unit.start, unit.end))

    def _half(self, piece: Piece) -> int:
        tokens = self.ruler.tokens(piece.start, piece.end)
        return self.ruler.reach(piece.start, (tokens + 1) // 2, piece.end)

    def _limit(self, piece: Piece) -> int:
        room = self.room_tokens - self._header_tokens(piece)
        reach = self.ruler.reach(piece.start, room, piece.end)
        return furthest_in_bytes(self.text, piece.start, reach, piece.prefix(self.text))

    def _trimmed(self, piece: Piece) -> Piece:
        start = next_text(self.text, piece.start, piece.end)
        return replace(piece, start=start, end=start + len(self.text[start : piece.end].rstrip()))
