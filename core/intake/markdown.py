"""Markdown -> front matter, and Markdown -> blocks.

In: text whose lines end in line feeds. Out: `FrontMatter` (a title and where the body starts), or the
top-level blocks in reading order. Invariants: blocks do not overlap, start and end at line borders, and
every line that holds anything visible lies in exactly one block, also what the parser itself drops (link
definitions, what is nested too deep).

The parser is markdown-it-py, so a `#` counts as a heading exactly where CommonMark says so.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

from core.intake.characters import is_blank, one_line
from core.intake.structure import Block, BlockKind

_MAX_HEADING_CHARACTERS: Final = 2000
_OPENING_LINE: Final = re.compile(r"-{3,}[ \t]*\n")
_KEY_LINE: Final = re.compile(r"\s*[\w-]+[ \t]*:(?:\s|\Z)")
_TITLE_LINE: Final = re.compile(r"(?m)^title[ \t]*:[ \t]*(.+)$")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_KINDS: Final = {
    "heading_open": BlockKind.HEADING,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "list_item_open": BlockKind.LINES,
    "html_block": BlockKind.LINES,
    "hr": BlockKind.RULE,
}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands between two lines of dashes at the very top.

    Attributes:
        title: "" when it gives none.
        body_start: character offset behind it; 0 when there is no front matter.
        warnings: sentences; empty when it could be read.
    """

    title: str = ""
    body_start: int = 0
    warnings: tuple[str, ...] = ()


def front_matter(text: str) -> FrontMatter:
    """Find and read the front matter.

    Lines between dashes that are no YAML mapping and do not begin with a `key:` are text between two
    rules, not front matter. Broken YAML is a warning; a plain `title:` line in it still counts.
    """
    if not _OPENING_LINE.match(text):
        return FrontMatter()
    tokens = _front_matter_parser().parse(text)
    if not tokens or tokens[0].type != "front_matter" or tokens[0].map is None:
        return FrontMatter()
    return _read_front_matter(tokens[0].content, _line_starts(text)[tokens[0].map[1]])


def markdown_blocks(text: str) -> tuple[Block, ...]:
    """Cut Markdown into its top-level blocks; list items stand one by one."""
    environment: dict[str, Any] = {}
    starts = _line_starts(text)
    blocks: list[Block] = []
    line = 0
    for token in _block_tokens(_block_parser().parse(text, environment)):
        first, last = token.map or (line, line)
        first = max(first, line)
        if last <= first:
            continue
        blocks += _unclaimed(text, starts[line], starts[first])
        blocks += _block(text, token, starts[first], starts[last], environment)
        line = last
    blocks += _unclaimed(text, starts[line], len(text))
    return tuple(blocks)


def has_body(text: str, blocks: tuple[Block, ...]) -> bool:
    """Tell whether anything but headings, rules and HTML comments can be read."""
    return any(
        not is_blank(_COMMENT.sub("", text[block.start : block.end]))
        for block in blocks
        if block.kind not in (BlockKind.HEADING, BlockKind.RULE)
    )


def _read_front_matter(content: str, body_start: int) -> FrontMatter:
    try:
        root = yaml.compose(content, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        if not _KEY_LINE.match(content):
            return FrontMatter()
        found = _TITLE_LINE.search(content)
        title = one_line(found.group(1).strip().strip("\"'")) if found else ""
        problem = getattr(error, "problem", None) or "it is nested too deep"
        warning = f"The front matter is not valid YAML ({problem}); nothing but its title line was read."
        return FrontMatter(title, body_start, (warning,))
    if root is not None and not isinstance(root, yaml.MappingNode):
        return FrontMatter()
    return FrontMatter(_title_of(root) if root else "", body_start)


def _title_of(root: yaml.MappingNode) -> str:
    # The text as written: constructing values would turn a title of 1.10 into 1.1.
    for key, value in root.value:
        is_null = value.tag.endswith(":null")
        if key.value == "title" and isinstance(value, yaml.ScalarNode) and not is_null:
            return one_line(value.value)
    return ""


def _block(text: str, token: Token, start: int, end: int, environment: dict[str, Any]) -> list[Block]:
    end = start + len(text[start:end].rstrip("\n"))
    if is_blank(text[start:end]):
        return []
    kind = _KINDS.get(token.type, BlockKind.PROSE)
    if kind is BlockKind.HEADING:
        heading = _plain_heading(token.meta["content"], environment)
        return [Block(kind, start, end, level=int(token.tag[1:]), heading=heading)]
    if kind is BlockKind.TABLE:
        header_end = text.find("\n", text.find("\n", start) + 1)
        return [Block(kind, start, end, header_end=header_end if start < header_end < end else None)]
    return [Block(kind, start, end)]


def _block_tokens(tokens: list[Token]) -> Iterator[Token]:
    """Yield the opening tokens of top-level blocks, and of the items of top-level lists."""
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            token.meta = {"content": tokens[index + 1].content}
        is_item = token.type == "list_item_open" and token.level == 1
        is_top = token.level == 0 and token.nesting >= 0 and not token.type.endswith("_list_open")
        if is_item or is_top:
            yield token


def _unclaimed(text: str, start: int, end: int) -> list[Block]:
    start = end - len(text[start:end].lstrip("\n"))
    if is_blank(text[start:end]):
        return []
    return [Block(BlockKind.PROSE, start, start + len(text[start:end].rstrip("\n")))]


def _plain_heading(content: str, environment: dict[str, Any]) -> str:
    """Reduce a heading to what a reader sees: no marks, no link targets, no back-ticks, no tags."""
    shown: list[str] = []
    for token in _inline_parser().parseInline(content[:_MAX_HEADING_CHARACTERS], environment):
        for child in token.children or []:
            if child.type in ("text", "code_inline", "image", "text_special"):
                shown.append(child.content)
            elif child.type in ("softbreak", "hardbreak"):
                shown.append(" ")
    return one_line("".join(shown))


def _line_starts(text: str) -> list[int]:
    """Return where each line starts, and the end of the text once more for a last line without an end."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    return [min(start, len(text)) for start in starts]


@functools.cache
def _block_parser() -> MarkdownIt:
    # Inline marks matter in headings only, and reading them everywhere takes most of the time.
    return MarkdownIt("commonmark").enable("table").disable("inline")


@functools.cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


@functools.cache
def _front_matter_parser() -> MarkdownIt:
    return MarkdownIt("zero").use(front_matter_plugin).disable("inline")
