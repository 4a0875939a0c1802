"""Files and functions stay small enough to be read in one go."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(path for folder in ("core", "console") for path in (ROOT / folder).rglob("*.py"))
FILE_LINES = 300
FUNCTION_LINES = 40

ALLOWED: dict[str, str] = {}
"""`path` or `path::function` that may be longer -> the reason why it cannot be cut."""


def functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each function with its lines, the docstring not counted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= node.body[0].end_lineno - node.body[0].lineno + 1
            yield node.name, lines


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_and_its_functions_are_short(path):
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text(encoding="utf-8")
    sizes = [(name, len(text.splitlines()), FILE_LINES)]
    sizes += [(f"{name}::{f}", lines, FUNCTION_LINES) for f, lines in functions(ast.parse(text))]

    assert [size for size in sizes if size[1] > size[2] and size[0] not in ALLOWED] == []


def test_every_exception_has_a_reason_and_a_place():
    for place, reason in ALLOWED.items():
        path, _, function = place.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")

        assert reason
        assert not function or function in dict(functions(ast.parse(text)))
