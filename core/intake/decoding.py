"""Bytes -> text, by rules and never by a guess that nobody sees.

The order: a byte order mark; strict UTF-8; UTF-8 with a few broken bytes, each of which becomes
U+FFFD and is counted in a warning; GB18030, strict and only when it reads like Chinese; else
refused. Why no statistical detector: it is wrong on short Chinese files, and a wrong guess is
indexed as garbage that no query finds. A person who knows better names the encoding.

Invariants of the text: every line ends in a single line feed, it holds no NUL and no U+FEFF, and
it can be written as UTF-8.
"""

import codecs
from dataclasses import dataclass
from typing import Final

from core.errors import FileRefused

ENCODINGS: Final = (
    "utf-8", "gb18030", "big5", "utf-16", "utf-32", "windows-1252", "shift_jis", "euc-jp", "euc-kr",
)  # fmt: skip
"""The encodings that a person may choose by hand."""

# UTF-32 stands first: its little-endian mark begins with the one of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ASCII: Final = bytes(range(128))
_GOOD_SHARE: Final = 0.9
_CHINESE_SHARE: Final = 0.6
_SURE_SHARE: Final = 0.8
_SURE_CHARACTERS: Final = 8
_CHOOSE: Final = "Save it as UTF-8, or choose its encoding by hand."


@dataclass(frozen=True, slots=True)
class Decoded:
    """Clean text, how it was read, and what a person should know about it."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(name: str, data: bytes, *, encoding: str | None = None) -> Decoded:
    """Read the bytes of a text file.

    Args:
        name: for messages.
        data: the whole file.
        encoding: chosen by a person, one of `ENCODINGS`; None follows the rules of this module.

    Raises:
        FileRefused: the bytes are no text in any of the encodings that were tried, or hold a NUL.
    """
    decoded = _by_rules(name, data) if encoding is None else _as_chosen(name, data, encoding)
    if "\0" in decoded.text:
        raise FileRefused(
            f"{name} holds NUL characters, so it is not a text file (or it is UTF-16 without a byte "
            f"order mark). {_CHOOSE}"
        )
    text = decoded.text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")
    return Decoded(text, decoded.encoding, decoded.warnings)


def _as_chosen(name: str, data: bytes, encoding: str) -> Decoded:
    if encoding not in ENCODINGS:
        raise FileRefused(
            f"The encoding {encoding!r} chosen for {name} is not known. Choose one of: "
            f"{', '.join(ENCODINGS)}."
        )
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        raise FileRefused(
            f"{name} is not {encoding}: byte {error.start:,} of {len(data):,} cannot be read. Choose "
            "another encoding."
        ) from error


def _by_rules(name: str, data: bytes) -> Decoded:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _after_mark(name, data[len(mark) :], encoding)
    decoded = _as_utf8(data) or _as_gb18030(data)
    if decoded is None:
        raise FileRefused(
            f"{name} is not readable text: it is neither UTF-8 nor GB18030 (tried in that order, and "
            f"there is no byte order mark). {_CHOOSE}"
        )
    return decoded


def _after_mark(name: str, data: bytes, encoding: str) -> Decoded:
    if encoding == "utf-8":
        decoded = _as_utf8(data)
        if decoded is not None:
            return decoded
        raise FileRefused(f"{name} starts with the mark of UTF-8, but its bytes are not UTF-8. {_CHOOSE}")
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        raise FileRefused(
            f"{name} starts with the mark of {encoding}, but byte {error.start:,} of {len(data):,} cannot "
            f"be read so. {_CHOOSE}"
        ) from error


def _as_utf8(data: bytes) -> Decoded | None:
    """Read UTF-8 when at least nine of ten bytes outside ASCII are good; None when it is something else.

    Bytes of ASCII say nothing about the encoding, so they do not count.
    """
    good = data.decode("utf-8", "ignore").encode("utf-8")
    broken = len(data) - len(good)
    good_beyond_ascii = len(good.translate(None, _ASCII))
    if good_beyond_ascii < _GOOD_SHARE * (good_beyond_ascii + broken):
        return None
    text = data.decode("utf-8", "replace")
    replaced = text.count("\ufffd")
    if broken:
        warning = f"{broken:,} undecodable bytes were replaced by U+FFFD; the rest is UTF-8."
        return Decoded(text, "utf-8", (warning,))
    if replaced:
        return Decoded(text, "utf-8", (f"The text holds {replaced:,} replacement characters (U+FFFD).",))
    return Decoded(text, "utf-8")


def _as_gb18030(data: bytes) -> Decoded | None:
    """Read GB18030 when most of it is everyday Chinese; None when it is something else.

    Almost any two bytes are *some* character of GB18030, so that a text of another encoding may decode
    into rare characters. Everyday Chinese lies in the first level of GB 2312 (rows 16 to 55) and in
    its punctuation (rows 1 and 3).
    """
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return None
    beyond_ascii = [character for character in text if character > "\x7f" and character != "\ufeff"]
    everyday = sum(map(_is_everyday, beyond_ascii))
    share = everyday / len(beyond_ascii) if beyond_ascii else 0.0
    if share < _CHINESE_SHARE:
        return None
    if share < _SURE_SHARE or len(beyond_ascii) < _SURE_CHARACTERS:
        warning = (
            f"Read as GB18030: {everyday:,} of {len(beyond_ascii):,} characters outside ASCII are everyday "
            "Chinese. Check the preview; choose the encoding by hand if it looks wrong."
        )
        return Decoded(text, "gb18030", (warning,))
    return Decoded(text, "gb18030")


def _is_everyday(character: str) -> bool:
    try:
        encoded = character.encode("gb2312")
    except UnicodeEncodeError:
        return False
    row = encoded[0] - 0xA0
    return row in (1, 3) or 16 <= row <= 55  # noqa: PLR2004 - the rows named above
