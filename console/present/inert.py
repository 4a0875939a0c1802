"""Document text where Streamlit or a spreadsheet would read it as instructions.

In: text from documents, file names or settings. Out: the same text, with no meaning left in it.
Invariant: what a person sees is the text as it was written. (HTML has its own module, `markup`.)
"""

import re

_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def label(text: str) -> str:
    r"""Escape text for a Streamlit label, which is Markdown with `:red[...]` and `$...$`.

    Every ASCII punctuation character gets a backslash, which CommonMark allows for all of them;
    line breaks become spaces.
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def cell(text: str) -> str:
    """Keep a spreadsheet from running a downloaded cell: a formula's start gets an apostrophe before it."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
