"""`ranklens mcp` as a client starts it: Milvus Lite, the bundled model, a data folder."""

import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from core.retrieval.projection import projection_schema

RANKLENS = str(Path(sys.executable).with_name("ranklens"))

INDEXING = """
from core.indexing.reports import UploadedFile
from core.indexing.uploading import index_files
from core.settings import load_settings
from core.wiring import build

files = [
    UploadedFile("team.md", b"# Refunds\\n\\nRefunds are paid within five working days.", "money", "team"),
    UploadedFile("board.md", b"# Merger\\n\\nThe merger with Acme is announced in May.", "money", "board"),
]
services = build(load_settings())
index_files(services.base, files, lambda _stage, _done, _total: None)
services.close()
"""
"""One process for both bases, because it loads the model once; Milvus Lite frees its file when it ends."""


@pytest.mark.model
@pytest.mark.milvus
def test_the_command_serves_an_indexed_base_and_keeps_to_its_knowledge_base(tmp_path, connect):
    (tmp_path / "ranklens.toml").touch()
    subprocess.run((sys.executable, "-c", INDEXING), cwd=tmp_path, check=True, capture_output=True)

    with connect(RANKLENS, "mcp", "--kb-scope", "team", cwd=tmp_path) as agent:
        found = agent.call("lookup_knowledge", query="How long do refunds take?").structured_content
        hidden = agent.call("lookup_knowledge", query="When is the merger with Acme?").structured_content
        why = agent.call("why", query="refund", expected="board/board.md").structured_content

    jsonschema.validate(found, projection_schema())
    assert [item["document_id"] for item in found["evidence"]] == ["team/team.md#chunk-0"]
    assert "Acme" not in str(hidden)
    assert why["ending"]["end"] == "not_in_build"
