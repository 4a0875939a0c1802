"""Every filter that is sent to Milvus, built and escaped here.

In: values as people typed them. Out: an expression. Invariant: a value never changes the meaning of
a filter; it matches rows with exactly that value, or none.

Why no filter templates: Milvus Lite does not fill them in. Why not JSON escapes for control
characters: Milvus Lite's parser knows only those of the table below and takes the rest as they are.
"""

from collections.abc import Sequence

from core.errors import RequestInvalid

MAX_VALUE_BYTES = 65_535

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def quoted(value: str) -> str:
    """Return a string literal.

    Raises:
        RequestInvalid: the value is no valid Unicode or takes more than 65,535 bytes.
    """
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise RequestInvalid(
            f"A filter value is not valid Unicode ({error.reason}). Type it again."
        ) from error
    if size > MAX_VALUE_BYTES:
        raise RequestInvalid(
            f"A filter value takes {size:,} bytes; at most {MAX_VALUE_BYTES:,} are allowed."
        )
    return f'"{value.translate(_ESCAPES)}"'


def equals(field: str, value: str) -> str:
    """Match rows whose field is exactly the value; NULL never matches."""
    return f"{field} == {quoted(value)}"


def any_of(field: str, values: Sequence[str]) -> str:
    """Match rows whose field is one of the values; an empty list matches nothing."""
    return f"{field} in [{', '.join(map(quoted, values))}]"


def either(*conditions: str) -> str:
    """Join conditions with `or`, at least one of them."""
    return " or ".join(f"({condition})" for condition in conditions)


def every(*conditions: str) -> str:
    """Join conditions with `and`; "" for none, which asks all rows."""
    return " and ".join(condition for condition in conditions if condition)


def scope_filter(category: str | None, kb_scope: str | None) -> str:
    """Build the filter of a request; None asks all, "" is the result when both do."""
    return every(
        equals("kb_scope", kb_scope) if kb_scope is not None else "",
        equals("category", category) if category is not None else "",
    )
