"""Plain text: the bytes are decoded and nothing is read into them."""

from core.intake.decoding import decode
from core.intake.readers.reading import Reader, Reading


def read_plain_text(name: str, data: bytes, encoding: str | None) -> Reading:
    """Decode the file; it names no title of its own."""
    decoded = decode(name, data, encoding=encoding)
    return Reading(decoded.text, "text", "", decoded.encoding, decoded.warnings)


PLAIN_TEXT = Reader(endings=(".txt",), read=read_plain_text)
