"""The question, made comparable: normalising, and the terms in it that look like identifiers.

In: the text a person or an agent typed. Out: text that every later stage uses as it is. Invariant:
normalising twice changes nothing.
"""

import re
import unicodedata

_WORD = re.compile(r"[A-Za-z0-9_]+(?:[.\-/]+[A-Za-z0-9_]+)*")
_CAMEL_CASE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]")
_JOINED = re.compile(r"[A-Za-z0-9][_.\-]+[A-Za-z0-9]")


def normalise_query(text: str) -> str:
    """Bring a query to NFKC (full-width letters become plain ones) and trim it.

    NFKC once can leave a form that a second trim would change, so trimming comes last. The length
    is checked by `SearchRequest`, after this.
    """
    return unicodedata.normalize("NFKC", text).strip()


def identifier_terms(query: str) -> tuple[str, ...]:
    """Return the words of a query that name one thing exactly, in order, without repeats.

    A word counts when it has a digit, an inner `_`, `-` or `.`, or is written in CamelCase: error
    codes, parameter names, alert names. Plain words and Chinese text never count.
    """
    words = dict.fromkeys(_WORD.findall(query))
    return tuple(word for word in words if _looks_like_identifier(word))


def _looks_like_identifier(word: str) -> bool:
    has_digit = any(character.isdigit() for character in word)
    is_number = word.replace(".", "").replace("-", "").isdigit() and len(word) < 3  # noqa: PLR2004 - "a 3 step plan"
    return (has_digit and not is_number) or bool(_CAMEL_CASE.search(word) or _JOINED.search(word))


def is_lexically_complete(terms: tuple[str, ...], searchable: str) -> bool:
    """Tell whether every identifier-like term stands in a text; case and width do not count.

    False without terms: a query that names nothing exactly cannot be complete. A term counts only
    where no ASCII letter, digit or underscore touches it, so `E-104` is not in `E-1042`.
    """
    if not terms:
        return False
    text = unicodedata.normalize("NFKC", searchable)  # as the query was
    return all(
        re.search(rf"(?<![A-Za-z0-9_]){re.escape(term)}(?![A-Za-z0-9_])", text, re.IGNORECASE)
        for term in terms
    )
