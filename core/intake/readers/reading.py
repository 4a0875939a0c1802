"""What a reader of one file format is, and what it gives.

Invariant: a reader turns bytes into text or refuses the file; it knows nothing of names beyond
messages, of categories, or of chunks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Reading:
    """The text of a file.

    Attributes:
        text: its lines end in line feeds; it holds no NUL and no U+FEFF.
        markup: `"markdown"` or `"text"`: how `text` is to be read from here on.
        title: what the file itself names as its title; "" when it names none.
        encoding: how the bytes were read.
        warnings: sentences for the person who uploaded it.
        emptiness: what the file holds instead of text, for example `front matter`; "" when it holds
            text, or white space only.
    """

    text: str
    markup: str
    title: str
    encoding: str
    warnings: tuple[str, ...] = ()
    emptiness: str = ""


Read: TypeAlias = Callable[[str, bytes, str | None], Reading]
"""Called with (name for messages, bytes, encoding chosen by hand or None); raises `FileRefused`."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One file format.

    Attributes:
        endings: lower case, with the dot, for example `(".md", ".markdown")`.
        read: turns the bytes of such a file into a `Reading`.
    """

    endings: tuple[str, ...]
    read: Read
