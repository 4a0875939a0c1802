"""Where the words of a query stand in a text, for marking them.

In: the query and a text. Out: spans `[start, end)`, in order, apart from each other. A reading aid
on the letters only: it is neither the analyzer of BM25 nor a reason for a score. Words are compared
without case; of a Chinese run the longest parts of at least two characters that the text shares
with it are marked.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]

_WORD = re.compile(r"[A-Za-z0-9\u00c0-\u024f]+(?:[._/-][A-Za-z0-9\u00c0-\u024f]+)*")
_CHINESE = re.compile(r"[\u3400-\u9fff]+")
_COMMON_WORDS = (
    "a an and are as at be but by can do does for from has have how i if in is it its my no not of on or "
    "our so that the then there this to was we what when where which who why will with you your"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_SHORTEST_CHINESE = 2


def matches(query: str, text: str) -> tuple[Span, ...]:
    """Return the spans of `text` that carry a word of `query`; empty when they share none."""
    return _joined(sorted([*_words(query, text), *_chinese(query, text)]))


def _words(query: str, text: str) -> Iterator[Span]:
    wanted = {word for word in _WORD.findall(query.lower()) if word not in _COMMON}
    parts = {part for word in wanted for part in re.split(r"[._/-]", word) if len(part) > 1} - _COMMON
    for found in _WORD.finditer(text):
        if found.group().lower() in wanted | parts:
            yield found.span()
            continue
        for part in re.finditer(r"[^._/-]+", found.group()):
            if part.group().lower() in wanted | parts:
                yield found.start() + part.start(), found.start() + part.end()


def _chinese(query: str, text: str) -> Iterator[Span]:
    runs = _CHINESE.findall(query)
    for found in _CHINESE.finditer(text):
        start = found.start()
        while start < found.end():
            length = max((_shared(run, text[start : found.end()]) for run in runs), default=0)
            if length >= _SHORTEST_CHINESE:
                yield start, start + length
            start += max(length, 1)


def _shared(run: str, text: str) -> int:
    """Return how many characters at the start of `text` stand together in `run`."""
    length = 0
    while length < len(text) and text[: length + 1] in run:
        length += 1
    return length


def _joined(spans: list[Span]) -> tuple[Span, ...]:
    joined: list[Span] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
