"""Every text of the console passes here, so that one place can translate it.

In: the English text, with `{name}` fields that the caller fills by `.format(name=...)` afterwards.
Out: the text in the reader's language. Invariant: a text is a literal at the call, never built.
"""


def t(text: str) -> str:
    """Return the text in the reader's language; English has only the text itself."""
    return text


def counted(one: str, many: str, count: int) -> str:
    """Choose the text for a number and fill it in as `{count}`, with thousands separated.

    Args:
        one: the text for exactly one, for example `{count} chunk`.
        many: for every other number, zero included.
        count: at least 0.
    """
    return t(one if count == 1 else many).format(count=f"{count:,}")


def sentence(text: str) -> str:
    """Write a phrase of the core as a sentence: a capital at its start, one full stop at its end."""
    trimmed = text.strip()
    return f"{trimmed[:1].upper()}{trimmed[1:].rstrip('.')}." if trimmed else ""


def chunks(count: int) -> str:
    """Return for example `1 chunk` or `1,204 chunks`."""
    return counted("{count} chunk", "{count} chunks", count)
