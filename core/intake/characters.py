"""Small questions about characters that every stage of the intake answers in the same way.

Text in, text or a truth value out. Invariant: a character is blank when nobody can see it, so text
made of blanks only is no text; nothing here cuts inside a character.
"""

import unicodedata
from typing import Final

import regex

ELLIPSIS: Final = "…"

JOINS_THE_ONE_BEFORE: Final = r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]"
"""A pattern for characters that belong to the grapheme cluster of the character before them."""

# White space, control and format characters, and the letters that have no shape: the Hangul
# fillers and the empty Braille cell.
_VISIBLE: Final = r"[^\s\p{Cc}\p{Cf}\p{Zs}\u115f\u1160\u2800\u3164\uffa0]"


def is_blank(text: str) -> bool:
    """Tell whether nobody can see anything of the text; "" is blank."""
    return regex.search(_VISIBLE, text) is None


def one_line(text: str) -> str:
    """Make a title of any text: control characters and lone surrogates go, white space is one space."""
    kept = "".join(
        " " if character.isspace() else character
        for character in text
        if character.isspace() or unicodedata.category(character) not in ("Cc", "Cs")
    )
    return " ".join(kept.replace("\ufeff", "").split())


def byte_length(text: str) -> int:
    """Count the bytes of the text in UTF-8."""
    return len(text.encode("utf-8"))


def head_of_bytes(text: str, limit_bytes: int) -> str:
    """Return the longest head of whole characters that has at most `limit_bytes` bytes in UTF-8."""
    if len(text) * 4 <= limit_bytes:
        return text
    return text.encode("utf-8")[:limit_bytes].decode("utf-8", "ignore")


def grapheme_floor(text: str, position: int) -> int:
    """Return the last border between grapheme clusters at or before `position`, counted from 0."""
    border = 0
    for cluster in regex.finditer(r"\X", text):
        if cluster.end() > position:
            break
        border = cluster.end()
    return border
