"""Refuses texts that no model can embed to any purpose.

In: texts for a model. Out: nothing, or `EmbeddingFailed` that names the first bad one. Why: a blank text
still gets a vector of full length, and would then be found by anything.
"""

from collections.abc import Sequence

from core.errors import EmbeddingFailed

SHOWN_CHARACTERS = 40


def refuse_unusable(texts: Sequence[str], *, what: str) -> None:
    """Check that every text shows at least one character and is valid Unicode.

    Args:
        texts: in the order the caller knows them.
        what: the kind of text for the message, `query` or `passage`.

    Raises:
        EmbeddingFailed: a text is empty, holds only spaces and invisible characters, or holds half of
            a surrogate pair.
    """
    for number, text in enumerate(texts, start=1):
        if is_blank(text):
            raise EmbeddingFailed(
                f"The {what} {number} of {len(texts)} is blank ({text[:SHOWN_CHARACTERS]!r}); blank text "
                "has no meaning to embed. Leave it out."
            )
        position = _lone_surrogate(text)
        if position is not None:
            raise EmbeddingFailed(
                f"The {what} {number} of {len(texts)} holds half of a character at position {position} "
                f"({text[position]!r}). Save its file as UTF-8 again."
            )


def is_blank(text: str) -> bool:
    """Say whether nothing in it can be seen; zero-width and control characters count as nothing."""
    stripped = text.strip()
    return not any(character.isprintable() for character in stripped)


def _lone_surrogate(text: str) -> int | None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return error.start
    return None
