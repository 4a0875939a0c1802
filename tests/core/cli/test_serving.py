"""`ranklens schema`, and what `ranklens mcp` refuses before it serves."""

import json
import subprocess
import sys

from core.retrieval.projection import projection_schema
from tests.conftest import ROOT


def test_schema_prints_the_published_file(ranklens):
    printed = ranklens("schema")

    assert printed.code == 0
    assert json.loads(printed.out) == projection_schema()
    assert printed.out == (ROOT / "docs" / "lookup_knowledge.schema.json").read_text(encoding="utf-8")


def test_a_pinned_knowledge_base_that_is_not_there_is_refused_before_serving(place, hashing, ranklens):
    refused = ranklens("mcp", "--kb-scope", "nobody")

    assert refused.code == 2
    assert refused.out == ""
    assert "No document belongs to the knowledge base 'nobody'." in refused.err


def test_a_blank_pinned_knowledge_base_is_refused_and_does_not_mean_all(place, hashing, ranklens):
    refused = ranklens("mcp", "--kb-scope", " ")

    assert refused.code == 2
    assert "kb_scope is blank." in refused.err


def test_the_protocol_is_loaded_by_no_other_command():
    statement = "import sys, core.cli, core.serving.server; print('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
