"""The question, made comparable: normalising, and the terms in it that look like identifiers.

In: the text a person or an agent typed. Out: text that every later stage uses as it is, and the
words in it that name one thing. Invariants: normalising twice changes nothing; a word stands in a text
only as a whole, whatever its case and width.
"""

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TypeAlias

_Span: TypeAlias = tuple[int, int]

_WORD_CHARACTERS = frozenset(string.ascii_letters + string.digits + "_")
_WORD = re.compile(r"[A-Za-z0-9_]+(?:[.\-/]+[A-Za-z0-9_]+)*")
_CAMEL_CASE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]")
_JOINED = re.compile(r"[A-Za-z0-9][_.\-]+[A-Za-z0-9]")


def normalise_query(text: str) -> str:
    """Bring a query to NFKC (full-width letters become plain ones) and trim it.

    NFKC once can leave a form that a second trim would change, so trimming comes last. The length
    is checked by `SearchRequest`, after this.
    """
    return unicodedata.normalize("NFKC", text).strip()


def identifier_terms(query: str, words: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the words of a query that name one thing exactly, without repeats.

    A word counts when it has a digit, an inner `_`, `-` or `.`, or is written in CamelCase: error
    codes, parameter names, alert names. Other words count only when the dictionary has them.

    Args:
        query: normalised.
        words: of the domain dictionary; one inside a longer term of the query does not count.

    Returns:
        The identifiers as the query writes them, in its order, then the words as the dictionary writes
        them, in the order of the query.
    """
    found = dict.fromkeys(_WORD.findall(query))
    identifiers = tuple(word for word in found if _looks_like_identifier(word))
    terms = {fold(word): word for word in identifiers}
    for word in words_in(query, (*identifiers, *words)):
        terms.setdefault(fold(word), word)
    named = tuple(word for word in terms.values() if word not in identifiers)
    return (*identifiers, *named)


def _looks_like_identifier(word: str) -> bool:
    has_digit = any(character.isdigit() for character in word)
    is_number = word.replace(".", "").replace("-", "").isdigit() and len(word) < 3  # noqa: PLR2004 - "a 3 step plan"
    return (has_digit and not is_number) or bool(_CAMEL_CASE.search(word) or _JOINED.search(word))


def is_lexically_complete(terms: tuple[str, ...], searchable: str) -> bool:
    """Tell whether every identifier-like term stands in a text as a whole; see `stands_in`.

    False without terms: a query that names nothing exactly cannot be complete.
    """
    text = fold(searchable)
    return bool(terms) and all(stands_in(fold(term), text) for term in terms)


def fold(text: str) -> str:
    """Bring a text to the form in which words are compared: NFKC, without case, single spaces."""
    caseless = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", caseless).split())


def stands_in(term: str, text: str) -> bool:
    """Tell whether a term stands in a text as a whole; both folded.

    Neither its start nor its end may lie between two ASCII letters, digits or underscores: `E-104` is
    not in `E-1042`. A Chinese word may touch anything.
    """
    return next(_occurrences(term, text), None) is not None


def words_in(query: str, words: Iterable[str]) -> tuple[str, ...]:
    """Return those words that stand in a query as a whole, in the order of the query.

    The longest wins: a word that stands only inside a longer one of them does not count. Words
    that begin together keep the order given; words that differ in case or width count each.

    Args:
        query: as typed or normalised.
        words: none of them blank.
    """
    text = fold(query)
    spans = {word: tuple(_occurrences(fold(word), text)) for word in dict.fromkeys(words)}
    outermost = _outermost(span for found in spans.values() for span in found)
    starts = {
        word: min((start for start, end in found if (start, end) in outermost), default=None)
        for word, found in spans.items()
    }
    present = [(start, word) for word, start in starts.items() if start is not None]
    return tuple(word for _, word in sorted(present, key=lambda item: item[0]))


def _occurrences(term: str, text: str) -> Iterator[_Span]:
    start = text.find(term)
    while start >= 0:
        end = start + len(term)
        if not (_is_inside_word(text, start) or _is_inside_word(text, end)):
            yield start, end
        start = text.find(term, start + 1)


def _is_inside_word(text: str, place: int) -> bool:
    sides = text[max(place - 1, 0) : place + 1]
    return 0 < place < len(text) and _WORD_CHARACTERS.issuperset(sides)


def _outermost(spans: Iterable[_Span]) -> set[_Span]:
    """Keep the spans that lie inside no other."""
    kept: set[_Span] = set()
    reach = 0
    for start, end in sorted(set(spans), key=lambda span: (span[0], -span[1])):
        if end > reach:
            kept.add((start, end))
            reach = end
    return kept
