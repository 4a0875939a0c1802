"""Rows to aligned lines of text, fit for a terminal.

In: cells as text. Out: lines. Invariants: columns line up by the places that characters take on a
screen (a Chinese character takes two, a combining mark none); no cell can move the cursor or turn the
reading direction.
"""

import unicodedata
from collections.abc import Sequence

GAP = "  "
CUT = "…"
LEAST_LAST_COLUMN = 16
"""Places below which a cut last column says too little to be shown."""

_TURNING = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_WITHOUT_WIDTH = frozenset({"Mn", "Me", "Cf"})


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: frozenset[int] = frozenset(),
    width: int | None = None,
) -> str:
    """Write rows in columns under a header and a rule, one a line.

    Args:
        header: one name for each column.
        rows: as many cells each as the header; in the order in which they are to stand.
        numbers: positions of the columns that are set to the right.
        width: places of the screen. The last column is cut to fit, and left out when hardly any of it
            would be seen; the others are always whole. None cuts nothing.
    """
    lines = [[printable(cell) for cell in row] for row in (header, *rows)]
    widths = [max(width_of(line[column]) for line in lines) for column in range(len(header))]
    if width is not None:
        left = width - sum(widths[:-1]) - len(GAP) * (len(widths) - 1)
        if left < min(widths[-1], LEAST_LAST_COLUMN):
            widths = widths[:-1]
        else:
            widths[-1] = min(widths[-1], left)
            lines = [[*line[:-1], _cut(line[-1], widths[-1])] for line in lines]
    lines.insert(1, ["-" * places for places in widths])
    return "\n".join(_line(line, widths, numbers) for line in lines)


def printable(text: str, *, kept: str = "") -> str:
    r"""Replace what would act on a terminal: control characters, and those that turn the direction.

    Args:
        text: from a document, a file name or a store.
        kept: control characters that stay, for example `"\n\t"`.
    """
    return "".join(
        character if character in kept or not _acts(character) else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def width_of(text: str) -> int:
    """Count the places that a text takes on a screen."""
    return sum(map(_places, text))


def _line(cells: Sequence[str], widths: Sequence[int], numbers: frozenset[int]) -> str:
    padded = []
    # A narrow screen may have left the last column without a width.
    for column, (cell, places) in enumerate(zip(cells, widths, strict=False)):
        space = " " * (places - width_of(cell))
        padded.append(space + cell if column in numbers else cell + space)
    return GAP.join(padded).rstrip()


def _cut(text: str, places: int) -> str:
    if width_of(text) <= places:
        return text
    kept, taken = [], 0
    for character in text:
        taken += _places(character)
        if taken > places - 1:
            break
        kept.append(character)
    return "".join(kept).rstrip() + CUT


def _acts(character: str) -> bool:
    return unicodedata.category(character) == "Cc" or character in _TURNING


def _places(character: str) -> int:
    if unicodedata.category(character) in _WITHOUT_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
