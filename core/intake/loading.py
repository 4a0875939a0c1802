"""Name + bytes -> `Document`, or `FileRefused` with the reason.

Invariants: what comes out has text that a person can see, an identity that is the same on every
upload of the same name, and a hash that is the same for the same text; nothing is cut silently.
"""

import re
from typing import Final

from core.errors import FileRefused
from core.intake.characters import is_blank, one_line
from core.intake.naming import category_name, document_id, relative_name, scope_name
from core.intake.readers import SUPPORTED_ENDINGS, reader_for
from core.intake.readers.reading import Reader
from core.model.documents import Document, content_hash

_MAX_CONTROL_SHARE: Final = 0.1
_CONTROLS: Final = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\x7f]")
_SIGNATURES: Final = (
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a zip archive or an Office file"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "a SQLite database"),
)


def load(
    name: str,
    data: bytes,
    *,
    category: str,
    kb_scope: str,
    limit_bytes: int,
    encoding: str | None = None,
) -> Document:
    """Read one file.

    Args:
        name: relative name, with `/` between folders.
        data: the whole file.
        category: business domain; blank means `uncategorized`.
        kb_scope: knowledge base it belongs to.
        limit_bytes: most bytes a file may have; exactly that many are allowed.
        encoding: chosen by hand, one of `decoding.ENCODINGS`; None finds it by rules.

    Raises:
        FileRefused: the name, category or base cannot be used; the ending is not supported; the file is
            too large, empty, binary, in no known encoding, or holds no text.
    """
    name, category, kb_scope = relative_name(name), category_name(category), scope_name(kb_scope)
    reader = _reader(name)
    _check_bytes(name, data, limit_bytes)
    reading = reader.read(name, data, encoding)
    _check_text(name, reading.text, reading.emptiness)
    return Document(
        doc_id=document_id(kb_scope, name),
        name=name,
        title=reading.title or one_line(_stem(name)),
        text=reading.text,
        markup=reading.markup,
        category=category,
        kb_scope=kb_scope,
        content_hash=content_hash(reading.text),
        encoding=reading.encoding,
        warnings=reading.warnings,
    )


def _reader(name: str) -> Reader:
    reader = reader_for(name)
    supported = ", ".join(SUPPORTED_ENDINGS)
    if reader is None:
        ending = _ending(name)
        kind = f"the ending {ending}" if ending else "no ending"
        raise FileRefused(f"{name} has {kind}, which is not supported. Supported are: {supported}.")
    if is_blank(_stem(name)):
        raise FileRefused(f"{name} has nothing before its ending. Give the file a name.")
    return reader


def refuse_too_large(name: str, byte_count: int, limit_bytes: int) -> None:
    """Refuse a file by its size, so that a huge one need not be read for that.

    Raises:
        FileRefused: it has more bytes than allowed.
    """
    if byte_count > limit_bytes:
        raise FileRefused(
            f"{name} has {byte_count:,} bytes; at most {limit_bytes:,} are allowed. Split it, or raise "
            "console.upload_limit_megabytes."
        )


def _check_bytes(name: str, data: bytes, limit_bytes: int) -> None:
    refuse_too_large(name, len(data), limit_bytes)
    if not data:
        raise FileRefused(f"{name} is empty (0 bytes), so there is no text to index.")
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            raise FileRefused(f"{name} is not text: its first bytes are those of {kind}.")


def _check_text(name: str, text: str, emptiness: str) -> None:
    if emptiness:
        raise FileRefused(f"{name} holds {emptiness} but no text, so there is nothing to index.")
    if is_blank(text):
        raise FileRefused(f"{name} holds nothing but white space, so there is no text to index.")
    controls = len(_CONTROLS.findall(text))
    if controls > _MAX_CONTROL_SHARE * len(text):
        raise FileRefused(
            f"{name} is not text: {controls:,} of its {len(text):,} characters are control characters."
        )


def _base(name: str) -> str:
    return re.split(r"[/\\]", name)[-1]


def _ending(name: str) -> str:
    base = _base(name)
    return base[base.rindex(".") :] if "." in base else ""


def _stem(name: str) -> str:
    base = _base(name)
    return base[: len(base) - len(_ending(name))]
