"""The file formats that can be loaded, by the ending of the name.

Invariant: an ending belongs to one reader.
"""

from typing import Final

from core.intake.readers.markdown_text import MARKDOWN
from core.intake.readers.plain_text import PLAIN_TEXT
from core.intake.readers.reading import Reader

READERS: Final = (MARKDOWN, PLAIN_TEXT)

SUPPORTED_ENDINGS: Final = tuple(ending for reader in READERS for ending in reader.endings)
"""Lower case, with the dot, for file dialogs and messages."""


def reader_for(name: str) -> Reader | None:
    """Find the reader for a name, whatever the case of its ending; None when there is none."""
    lowered = name.lower()
    for reader in READERS:
        for ending in reader.endings:
            if lowered.endswith(ending):
                return reader
    return None
