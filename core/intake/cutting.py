"""Where a text may be cut, and how many tokens lie between two places.

In: a text and the token spans of its pieces. Out: offsets. Invariants: a cut never falls inside a
grapheme cluster of reasonable length, every cut lies behind the place it starts from (so cutting
always ends), and each stretch of text is tokenized and scanned a bounded number of times.
"""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import regex

from core.intake.characters import JOINS_THE_ONE_BEFORE, head_of_bytes
from core.ports import TokenCounter

MAX_CONTENT_BYTES: Final = 60_000

_WINDOW_CHARACTERS: Final = 50_000
_MAX_CLUSTER_CHARACTERS: Final = 64
_NOT_INSIDE: Final = f"(?!{JOINS_THE_ONE_BEFORE})"
_LINE: Final = regex.compile(r"(?=\n)")
_SENTENCE: Final = regex.compile(
    rf"(?<![。！？；])[。！？；]++[”’」』）】》\"')\]]*+{_NOT_INSIDE}|(?<![.!?])[.!?]++[\"'”’)\]]*+(?=\s)"
)
_SPACE: Final = regex.compile(r"(?<!\s)(?=\s)")
_SENTENCE_OR_LINE: Final = regex.compile(rf"{_SENTENCE.pattern}|(?=\n)")
_LINES_OF_BLANKS: Final = regex.compile(r"\s*\n")
_BLANKS: Final = regex.compile(rf"[^\S\n]+{_NOT_INSIDE}")
_CLUSTER: Final = regex.compile(r"\X")


@dataclass(frozen=True, slots=True)
class TokenRuler:
    """The token spans of one stretch of a text, in offsets of the whole text.

    A token counts where it ends: tokenizers give a word the blank before it, and a cut behind that
    blank must still count the word.

    Attributes:
        starts: ascending; one for each token.
        ends: ascending; as many.
    """

    starts: Sequence[int]
    ends: Sequence[int]

    def tokens(self, start: int, end: int) -> int:
        """Count the tokens of `[start, end)`."""
        return bisect_right(self.ends, end) - bisect_right(self.ends, start)

    def reach(self, start: int, tokens: int, end: int) -> int:
        """Return the furthest offset up to `end` so that `[start, offset)` has at most `tokens` tokens."""
        after = bisect_right(self.ends, start) + tokens
        return end if after >= len(self.ends) else min(end, max(start, self.starts[after]))

    def back(self, end: int, tokens: int, start: int) -> int:
        """Return the first offset from `start` on so that `[offset, end)` has at most `tokens` tokens."""
        before = bisect_right(self.ends, end) - tokens - 1
        return start if before < 0 else max(start, min(end, self.ends[before]))


def measure(text: str, start: int, end: int, counter: TokenCounter) -> TokenRuler:
    """Tokenize `[start, end)` once, window by window so that a huge text costs little memory."""
    starts, ends = array("q"), array("q")
    place = start
    while place < end:
        stop = min(place + _WINDOW_CHARACTERS, end)
        if stop < end:
            ends_here = (_last_match(pattern, text, place, stop, end) for pattern in (_LINE, _SPACE))
            stop = next((cut for cut in ends_here if cut is not None), stop)
        spans = counter.offsets(text[place:stop])
        starts.extend(accumulate((place + first for first, _ in spans), max))
        ends.extend(accumulate((place + last for _, last in spans), max))
        place = stop
    return TokenRuler(starts, ends)


def fits_bytes(text: str, start: int, end: int, prefix: str = "") -> bool:
    """Tell whether the piece with its prefix stays within 60,000 bytes of UTF-8."""
    if (end - start + len(prefix)) * 4 <= MAX_CONTENT_BYTES:
        return True
    return len(text[start:end].encode("utf-8")) + len(prefix.encode("utf-8")) <= MAX_CONTENT_BYTES


def furthest_in_bytes(text: str, start: int, end: int, prefix: str = "") -> int:
    """Return the furthest offset up to `end` so that the piece with its prefix fits the bytes."""
    head = text[start : min(end, start + MAX_CONTENT_BYTES)]
    return start + len(head_of_bytes(head, MAX_CONTENT_BYTES - len(prefix.encode("utf-8"))))


def last_cut(text: str, start: int, limit: int, end: int, *, by_lines: bool) -> int:
    """Choose where a piece that starts at or before `start` ends, at most at `limit`.

    By lines: behind the last line that fits, else as prose. Prose: behind the last sentence, else the
    last line, of the second half of the window, then of the whole; else before the last blank; else
    between two grapheme clusters. A cluster that is longer than the window stays whole up to 64
    characters and is cut between characters beyond that.

    Args:
        text: the whole text.
        start: the cut lies behind this offset, which is below `end`.
        limit: the furthest offset that fits.
        end: where the block ends.
        by_lines: lines mean something, as in code and tables.

    Returns:
        An offset in `(start, end]`; above `limit` only for one cluster that does not fit at all.
    """
    middle = (start + limit) // 2
    whole = ((_LINE, start),) if by_lines else ()
    halves = ((_SENTENCE, middle), (_LINE, middle))
    anywhere = ((_SENTENCE, start), (_LINE, start), (_SPACE, start))
    for pattern, lowest in (*whole, *halves, *anywhere):
        cut = _last_match(pattern, text, lowest, limit, end)
        if cut is not None:
            return cut
    return _last_cluster(text, start, limit, end)


def next_text(text: str, place: int, end: int) -> int:
    """Skip blank lines, and blanks unless they indent a line; return `end` when nothing follows."""
    lines = _LINES_OF_BLANKS.match(text, place, end)
    if lines:
        return lines.end()
    if place == 0 or text[place - 1] == "\n":
        return place
    blanks = _BLANKS.match(text, place, end)
    return blanks.end() if blanks else place


def first_border(text: str, lowest: int, end: int) -> int | None:
    """Find the first start of a sentence or line at or behind `lowest` and below `end`; None for none."""
    for found in _SENTENCE_OR_LINE.finditer(text, max(0, lowest - _MAX_CLUSTER_CHARACTERS), end):
        if found.end() >= lowest:
            place = next_text(text, found.end(), end)
            return place if place < end else None
    return None


def is_border(text: str, place: int, end: int) -> bool:
    """Tell whether a sentence or a line ends at `place`."""
    window = (max(0, place - _MAX_CLUSTER_CHARACTERS), min(end, place + 1))
    return place == end or any(found.end() == place for found in _SENTENCE_OR_LINE.finditer(text, *window))


def _last_match(pattern: regex.Pattern[str], text: str, lowest: int, limit: int, end: int) -> int | None:
    # One character more than the window, because a sentence end looks at the blank behind it.
    last: int | None = None
    for found in pattern.finditer(text, lowest, min(end, limit + 1)):
        if lowest < found.end() <= limit:
            last = found.end()
    return last


def _last_cluster(text: str, start: int, limit: int, end: int) -> int:
    # A copy of the window: the pattern counts flags back to where its text begins, which takes time
    # with the square of the length in a long run of them.
    window = text[start : min(end, limit + _MAX_CLUSTER_CHARACTERS + 1)]
    last = start
    for cluster in _CLUSTER.finditer(window):
        cluster_end = start + cluster.end()
        if cluster_end > limit:
            if last == start:
                too_long = len(cluster.group()) > _MAX_CLUSTER_CHARACTERS and limit > start
                last = limit if too_long else cluster_end
            break
        last = cluster_end
    return last
