"""Markdown: the front matter gives the title and is not part of the text."""

from core.intake.characters import is_blank
from core.intake.decoding import decode
from core.intake.markdown import front_matter, has_body, markdown_blocks
from core.intake.readers.reading import Reader, Reading
from core.intake.structure import Block, BlockKind


def read_markdown(name: str, data: bytes, encoding: str | None) -> Reading:
    """Decode the file and take its title from the front matter, else from its first heading."""
    decoded = decode(name, data, encoding=encoding)
    matter = front_matter(decoded.text)
    text = decoded.text[matter.body_start :]
    blocks = markdown_blocks(text)
    return Reading(
        text=text,
        markup="markdown",
        title=matter.title or _first_heading(blocks),
        encoding=decoded.encoding,
        warnings=decoded.warnings + matter.warnings,
        emptiness="" if has_body(text, blocks) else _what_it_holds(decoded.text, text, blocks),
    )


def _first_heading(blocks: tuple[Block, ...]) -> str:
    headings = (block.heading for block in blocks if block.kind is BlockKind.HEADING and block.heading)
    return next(headings, "")


def _what_it_holds(whole: str, text: str, blocks: tuple[Block, ...]) -> str:
    if is_blank(whole):
        return ""
    if is_blank(text):
        return "front matter"
    has_headings = any(block.kind is BlockKind.HEADING for block in blocks)
    return "headings" if has_headings else "rules or comments"


MARKDOWN = Reader(endings=(".md", ".markdown"), read=read_markdown)
