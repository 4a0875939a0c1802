"""Names: what a file may be called, and the identities made of it.

In: the name, category and knowledge base as a person or a folder walk gave them. Out: clean values,
or `FileRefused` with the reason. Invariants: a name never leads out of its folder; one (knowledge
base, name) pair has one doc_id and two pairs never share one; no value holds a control character,
so no doc_id holds a NUL.

Why a doc_id may hold `#chunk-`: an evidence key is `doc_id + "#chunk-" + index`, and an index is
digits only. So the *last* `#chunk-` of a key is always the one that was added, whatever the name
holds, and no two (doc_id, index) pairs share a key. Nothing needs escaping.
"""

import hashlib
import re
import unicodedata
from typing import Final

from core.errors import FileRefused
from core.intake.characters import byte_length, head_of_bytes, is_blank
from core.model.documents import UNCATEGORIZED

MAX_IDENTITY_BYTES: Final = 255
MAX_NAME_BYTES: Final = 1024

_TAIL_DIGITS: Final = 12
_TAIL: Final = re.compile(r"~[0-9a-f]{12}\Z")
_DRIVE: Final = re.compile(r"\A[A-Za-z]:")
_SEPARATORS: Final = re.compile(r"[/\\]")
_BIDI_CONTROLS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_REFUSED_CATEGORIES: Final = {
    "Cc": "a control character",
    "Cs": "half of a surrogate pair",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}


def relative_name(name: str) -> str:
    r"""Check the name of a file and return it in NFC, otherwise as it was given.

    A `\\` is kept for showing; identity reads it as `/` (see `document_id`).

    Raises:
        FileRefused: it is blank, absolute, leads upward, has a part made of dots only, holds a
            control or direction-changing character, or has more than 1,024 bytes.
    """
    clean = _checked(name, "file name")
    shown = ascii(clean)
    if is_blank(clean):
        raise FileRefused("A file without a name was given. Give it a name and upload it again.")
    if byte_length(clean) > MAX_NAME_BYTES:
        raise FileRefused(
            f"The name {shown[:60]}... has {byte_length(clean):,} bytes; at most {MAX_NAME_BYTES:,} are "
            "allowed. Shorten it."
        )
    if _SEPARATORS.match(clean) or _DRIVE.match(clean):
        raise FileRefused(f"The name {shown} is an absolute path. Give a name relative to a folder.")
    parts = _SEPARATORS.split(clean)
    dotted = [part for part in parts if part and not part.strip(". ") and part not in (".", " ")]
    if dotted:
        raise FileRefused(f"The name {shown} has the part {dotted[0]!r}, which can lead out of its folder.")
    if is_blank(parts[-1]) or parts[-1].strip() == ".":
        raise FileRefused(f"The name {shown} ends without a file name. Give the name of a file.")
    return clean


def document_id(kb_scope: str, name: str) -> str:
    r"""Make the identity of a document from clean values.

    `kb_scope + "/" + name`, with `\\` read as `/` and empty and `.` parts left out. What has more than
    255 bytes of UTF-8 is cut at a character and ends in `~` and 12 hex digits of the SHA-256 of the
    whole; so does what already ends that way, or a short name could take the identity of a long one.
    """
    parts = [part for part in _SEPARATORS.split(name) if part not in ("", ".")]
    whole = f"{kb_scope}/{'/'.join(parts)}"
    if byte_length(whole) <= MAX_IDENTITY_BYTES and not _TAIL.search(whole):
        return whole
    digest = hashlib.sha256(whole.encode("utf-8")).hexdigest()[:_TAIL_DIGITS]
    head = head_of_bytes(whole, MAX_IDENTITY_BYTES - _TAIL_DIGITS - 1)
    return f"{head}~{digest}"


def category_name(category: str) -> str:
    """Return a category trimmed and in NFC; a blank one is `uncategorized`.

    Raises:
        FileRefused: it holds a control or direction-changing character or has more than 255 bytes.
    """
    clean = _short_value(category, "category")
    return UNCATEGORIZED if is_blank(clean) else clean


def scope_name(kb_scope: str) -> str:
    r"""Return the name of a knowledge base trimmed and in NFC.

    Raises:
        FileRefused: it is blank, holds `/` or `\\` (which part the base from the name in a doc_id) or a
            control or direction-changing character, or has more than 255 bytes.
    """
    clean = _short_value(kb_scope, "knowledge base")
    if is_blank(clean):
        raise FileRefused("The name of the knowledge base is empty. Name the base the file belongs to.")
    if _SEPARATORS.search(clean):
        raise FileRefused(f"The knowledge base {clean!r} has a slash in its name. Leave it out.")
    return clean


def _short_value(value: str, what: str) -> str:
    clean = _checked(value, what).strip()
    if byte_length(clean) > MAX_IDENTITY_BYTES:
        raise FileRefused(
            f"The {what} {clean[:20]!r}... has {byte_length(clean):,} bytes; at most "
            f"{MAX_IDENTITY_BYTES:,} are allowed. Shorten it."
        )
    return clean


def _checked(value: str, what: str) -> str:
    for character in value:
        kind = _REFUSED_CATEGORIES.get(unicodedata.category(character))
        if character in _BIDI_CONTROLS:
            kind = "a character that turns the reading direction"
        if kind:
            raise FileRefused(
                f"The {what} {value!a} holds {kind} (U+{ord(character):04X}). Rename it without that."
            )
    return unicodedata.normalize("NFC", value)
