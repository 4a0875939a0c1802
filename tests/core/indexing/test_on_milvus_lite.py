"""The same lifecycle on a real Milvus Lite file, also over a kill -9."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.lifecycle import MilvusBuilds
from core.adapters.milvus.schema import SCHEMA_VERSION
from core.adapters.milvus.searcher import MilvusSearcher
from core.adapters.milvus.writer import MilvusWriter
from core.catalog.records import BuildState, DocumentState
from core.indexing.building import rebuild
from core.indexing.checking import inconsistencies
from core.indexing.deleting import delete_documents
from core.indexing.reports import FileOutcome
from core.indexing.rolling_back import roll_back
from core.indexing.uploading import index_files
from core.model.search import SearchRequest
from tests.conftest import ROOT
from tests.core.indexing.material import a_file, found_by_bm25, live_counts, sections, silent

pytestmark = pytest.mark.milvus


def on_milvus(base, connection):
    return replace(
        base,
        writer=MilvusWriter(connection),
        builds=MilvusBuilds(connection, "biz_hybrid"),
        searcher=lambda build: MilvusSearcher(connection, "biz_hybrid", build=build),
        schema=SCHEMA_VERSION,
    )


@pytest.fixture
def milvus(base, tmp_path):
    connection = MilvusConnection(str(tmp_path / "milvus.db"), "", 10.0)
    yield on_milvus(base, connection)
    connection.close()


def bm25_scores(base, query):
    hits = base.searcher(base.builds.live()).search_sparse(SearchRequest(query=query)).hits
    return {hit.id: hit.sparse.score for hit in hits}


def test_upload_replace_delete_rebuild_and_roll_back_keep_store_and_catalog_equal(milvus):
    files = [a_file(f"{n}.md", sections(f"磁盘 {n} 已满", f"disk alert E-10{n}")) for n in range(3)]
    first = index_files(milvus, files, silent)
    assert [file.outcome for file in first.files] == [FileOutcome.INDEXED] * 3
    assert inconsistencies(milvus) == ()

    shorter = a_file("0.md", sections("网络 中断"))
    second = index_files(milvus, [shorter, a_file("3.md", sections("fourth"))], silent)
    assert [file.outcome.value for file in second.files] == ["replaced", "indexed"]
    assert second.rebuilt is True
    assert milvus.builds.fragmented(second.build) is False
    assert live_counts(milvus) == {f"default/{n}.md": count for n, count in enumerate((1, 2, 2, 1))}
    assert all("E-100" not in content for content in found_by_bm25(milvus, "E-100"))

    delete_documents(milvus, ["default/1.md"])
    assert all("E-101" not in content for content in found_by_bm25(milvus, "E-101"))
    report = rebuild(milvus, silent)
    assert report.verification.passed
    assert report.verification.recall == 1.0
    assert live_counts(milvus) == {"default/0.md": 1, "default/2.md": 2, "default/3.md": 1}
    assert inconsistencies(milvus) == ()

    # The first build got the second upload too, before it was made whole; only the deletion came later.
    assert roll_back(milvus, first.build) == ()
    assert live_counts(milvus) == {"default/0.md": 1, "default/2.md": 2, "default/3.md": 1}


def test_scores_after_three_uploads_equal_those_after_one_rebuild(milvus):
    for n in range(3):
        index_files(milvus, [a_file(f"{n}.md", sections(f"disk {n}", "network disk", "cpu"))], silent)
    after_uploads = bm25_scores(milvus, "disk network")
    rebuild(milvus, silent)
    assert bm25_scores(milvus, "disk network") == pytest.approx(after_uploads)
    assert len(after_uploads) == 6


KILLED = """
import os, signal, sys
from pathlib import Path
from dataclasses import replace
from core.adapters.analyzer import ANALYZER
from core.adapters.embedders.hashing import HashingEmbedder, WordCounter
from core.adapters.milvus.connection import MilvusConnection
from core.adapters.milvus.schema import SCHEMA_VERSION
from core.catalog.catalog import open_catalog
from core.catalog.originals import open_originals
from core.indexing.base import KnowledgeBase
from core.indexing.building import rebuild
from core.indexing.uploading import index_files
from core.settings import Settings
from tests.core.indexing.material import Embedding, a_file, silent
from tests.core.indexing.test_on_milvus_lite import on_milvus

folder, when = Path(sys.argv[1]), sys.argv[2]
connection = MilvusConnection(str(folder / "milvus.db"), "", 10.0)
plain = KnowledgeBase(
    settings=Settings(data_dir=folder), catalog=open_catalog(f"sqlite:///{folder / 'catalog.db'}"),
    originals=open_originals(str(folder / "originals")), embedder=HashingEmbedder(),
    token_counter=WordCounter(), writer=None, builds=None, searcher=None, schema=1, analyzer=ANALYZER)
base = on_milvus(plain, connection)
index_files(base, [a_file("a.md", "# A\\n\\nalpha")], silent)

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def at_verify(stage, done, total):
    if stage == "verify":
        die()

if when == "while an upload embeds":
    index_files(replace(base, embedder=Embedding(base.embedder, before=die)),
                [a_file("b.md", "# B\\n\\nbeta")], silent)
elif when == "while a rebuild verifies":
    rebuild(base, at_verify)
else:
    class Dying:
        def __init__(self, inner): self.inner = inner
        def upsert(self, *a): self.inner.upsert(*a); die()
        def __getattr__(self, name): return getattr(self.inner, name)
    index_files(replace(base, writer=Dying(base.writer)), [a_file("b.md", "# B\\n\\nbeta")], silent)
"""


@pytest.mark.parametrize(
    ("when", "names"),
    [
        ("while an upload embeds", ["a.md", "b.md"]),
        ("between writing and flushing", ["a.md", "b.md"]),
        ("while a rebuild verifies", ["a.md"]),
    ],
)
def test_a_killed_process_loses_no_upload_and_leaves_the_live_build(base, tmp_path, when, names):
    """lif-01"""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), when],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    connection = MilvusConnection(str(tmp_path / "milvus.db"), "", 10.0)
    milvus = on_milvus(base, connection)
    live = milvus.builds.live()
    assert [row.name for row in milvus.catalog.documents()] == names
    assert len(found_by_bm25(milvus, "alpha")) == 1
    stored = [row.name for row in milvus.catalog.documents() if row.state is DocumentState.STORED]
    assert stored == names[1:]
    assert {i.doc_id for i in inconsistencies(milvus)} == {f"default/{name}" for name in stored}

    later = replace(milvus, clock=lambda: milvus.catalog.build_records()[0].started_at)
    report = rebuild(later, silent)
    assert report.build != live
    assert live_counts(milvus) == {f"default/{name}": 1 for name in names}
    assert inconsistencies(milvus) == ()
    assert BuildState.BUILDING not in {record.state for record in milvus.catalog.build_records()}
    published = [r.name for r in milvus.catalog.build_records() if r.state is BuildState.PUBLISHED]
    assert sorted(build.name for build in milvus.builds.builds()) == sorted(published)
    connection.close()
