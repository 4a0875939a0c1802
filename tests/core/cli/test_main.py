"""The command group: help, exit codes, and how text leaves the process."""

import os
import subprocess
import sys
from importlib.metadata import version

import click
import pytest

from core.cli.main import commands, run
from core.errors import StoreError
from tests.core.cli.processes import HASHING, finish, start


def test_the_help_lists_the_commands_in_the_order_of_use_each_in_one_whole_line(ranklens):
    done = ranklens("--help")

    lines = done.out.partition("Commands:\n")[2].splitlines()
    order = ["sample", "index", "rebuild", "doctor", "search", "lookup", "evaluate"]
    assert [line.split()[0] for line in lines][: len(order)] == order
    assert not any(line.endswith("...") for line in lines)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("command", sorted(commands.commands))
def test_each_command_has_a_help_that_names_every_option_with_its_meaning(ranklens, command):
    done = ranklens(command, "--help")

    assert done.code == 0
    assert done.out.startswith(f"Usage: ranklens {command} [OPTIONS]")
    options = [one for one in commands.commands[command].params if isinstance(one, click.Option)]
    assert all(option.help for option in options)
    assert all(option.opts[0] in done.out for option in options)


def test_the_version_is_the_installed_one(ranklens):
    assert ranklens("--version").out == f"ranklens, version {version('ranklens')}\n"


def test_an_unknown_command_is_code_2(ranklens):
    done = ranklens("serch")

    assert done.code == 2
    assert "No such command 'serch'" in done.err


def test_an_error_becomes_one_sentence_that_cannot_act_on_the_terminal(ranklens, monkeypatch):
    def fail(_path, *, live):
        raise StoreError("The store said \x1b[31mno\x1b[0m.\n  And more.")

    monkeypatch.setattr("core.cli.evaluating.evaluate_path", fail)

    done = ranklens("evaluate", "x")

    assert (done.code, done.out) == (2, "")
    assert done.err == "Error: The store said \ufffd[31mno\ufffd[0m.\n  And more.\n"


def test_a_fault_of_ours_is_not_hidden(monkeypatch):
    def fail(_path, *, live):
        raise ZeroDivisionError

    monkeypatch.setattr("core.cli.evaluating.evaluate_path", fail)

    with pytest.raises(ZeroDivisionError):
        run(["evaluate", "x"])


@pytest.mark.milvus
def test_text_in_a_file_is_utf8_in_every_locale(place):
    (place / "池.md").write_text("# 数据库连接池\n\n耗尽 E-104", encoding="utf-8")
    # Python's own way out, UTF-8 mode in the C locale, is switched off, as in other 8-bit locales.
    strict = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "latin-1"}

    indexed = finish(HASHING, "index", ".", folder=place, **strict)
    found = finish(HASHING, "lookup", "耗尽 E-104", "--json", folder=place, **strict)

    assert (indexed.returncode, indexed.stderr) == (0, b"")
    assert (found.returncode, found.stderr) == (0, b"")
    assert '"document_id": "default/池.md#chunk-0"' in found.stdout.decode("utf-8")


def test_a_reader_that_leaves_early_gets_no_traceback(place):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", "from core.cli import main; main()", "--help"],
        cwd=place,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)

    assert done.stderr == b""


def test_a_base_that_is_not_there_is_one_sentence_of_a_real_process(place):
    process = start(HASHING, "search", "hi", folder=place)
    out, err = process.communicate()

    assert process.returncode == 2
    assert out == b""
    assert err.decode() == (
        f"Error: No build is published under biz_hybrid at {place / 'data' / 'milvus.db'}. Index files, or "
        "rebuild the collection.\n"
    )
