"""What a person typed, and names of files, as text.

In: strings as the system hands them over, in which a byte that the locale cannot read is half of a
surrogate pair. Out: text that can be stored and printed. Invariant: text is UTF-8 whatever the locale.
"""

import os

from core.errors import RequestInvalid


def as_text(given: str) -> str | None:
    """Read a string again as UTF-8 when the locale could not read it; None when it is no UTF-8."""
    try:
        return os.fsencode(given).decode("utf-8") if _has_unread_bytes(given) else given
    except UnicodeDecodeError:
        return None


def text_argument(name: str, given: str) -> str:
    """Return an argument or option as text.

    Raises:
        RequestInvalid: it is not valid UTF-8.
    """
    text = as_text(given)
    if text is None:
        raise RequestInvalid(f"The {name} {given!a} is not valid UTF-8. Type it again.")
    return text


def _has_unread_bytes(given: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in given)
