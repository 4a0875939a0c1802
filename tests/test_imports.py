"""The command line starts fast: what is heavy is imported only when it is needed."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "pymilvus", "pandas", "streamlit", "transformers", "sentence_transformers", "ir_measures")
REPORT = f"import sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"


def loaded_after(statement: str) -> list[str]:
    """Return the heavy modules that a fresh interpreter holds after the statement."""
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}; {REPORT}"], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    "module", ["core", "core.cli", "core.settings", "core.wiring", "core.evaluation.running"]
)
def test_importing_loads_nothing_heavy(module):
    assert loaded_after(f"import {module}") == []


def test_the_entry_point_of_the_command_line_loads_nothing_heavy():
    assert loaded_after("from core.cli import main; assert callable(main)") == []


def test_heavy_modules_would_be_seen():
    assert loaded_after("import ir_measures") == ["ir_measures"]
