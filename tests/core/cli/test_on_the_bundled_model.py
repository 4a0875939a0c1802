"""The command line with the bundled model: real runbooks, and the sample base."""

import json
import subprocess
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from core import wiring
from core.adapters.embedders.sentence import SentenceTransformerEmbedder
from core.cli.main import run
from core.retrieval.projection import projection_schema
from tests.core.cli.processes import REAL, finish

pytestmark = [pytest.mark.model, pytest.mark.milvus]

STUBS = [
    "_index.md",
    "alertmanager/_index.md",
    "etcd/_index.md",
    "general/_index.md",
    "kube-state-metrics/_index.md",
    "kubernetes/_index.md",
    "node/_index.md",
    "prometheus-operator/_index.md",
    "prometheus/_index.md",
]
WRONG_CATEGORY = ("CoreDNS answers SERVFAIL for names inside the cluster", "--category", "kubernetes")


@pytest.fixture(scope="session")
def raw(shared: Path) -> Path:
    return shared / "data" / "runbooks" / "raw"


@pytest.fixture(scope="session")
def indexed(
    raw: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[bytes]]:
    """A working folder with the runbooks in its base, and how the process ended that indexed them."""
    folder = tmp_path_factory.mktemp("runbooks")
    (folder / "ranklens.toml").touch()
    return folder, finish(REAL, "index", str(raw), "--category-from-folder", folder=folder)


@pytest.fixture(scope="session")
def one_model(model_folder: Path):
    """`open_embedder` that loads the weights once, and remembers vectors, for all tests of the sample."""
    opened = cache(wiring.open_embedder)
    return lambda settings, _data_dir: opened(settings, model_folder)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory, one_model) -> Path:
    """A working folder with the sample base."""
    folder = tmp_path_factory.mktemp("sample")
    (folder / "ranklens.toml").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(wiring, "open_embedder", one_model)
        assert run(["sample"]) == 0
    return folder


@pytest.fixture
def in_sample(place: Path, sample: Path, one_model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sample)
    monkeypatch.setattr(wiring, "open_embedder", one_model)


def without_time(line: str) -> str:
    return line.rpartition(" s.")[0].rpartition(" ")[0]


def test_the_runbooks_go_in_by_folder_and_the_stubs_are_refused_by_name_with_the_reason(indexed):
    _, done = indexed

    # Nothing else on standard error: no library says there what it loads.
    assert (done.returncode, done.stderr) == (0, b"")
    first, live, *refused = done.stdout.decode().splitlines()
    assert without_time(first).startswith("117 files: 108 indexed, 9 refused. ")
    assert live.startswith("Live build: biz_hybrid_")
    assert refused == [
        f"Refused: {name} holds front matter but no text, so there is nothing to index." for name in STUBS
    ]


def test_a_second_run_over_the_runbooks_changes_nothing_says_so_and_embeds_nothing(
    indexed, raw, place, ranklens, monkeypatch
):
    folder, first = indexed
    monkeypatch.chdir(folder)

    def refuse(*_arguments, **_options):
        raise AssertionError("nothing is to be embedded")

    monkeypatch.setattr(SentenceTransformerEmbedder, "embed_passages", refuse)
    again = ranklens("index", str(raw), "--category-from-folder")

    chunks = without_time(first.stdout.decode().splitlines()[0]).rpartition("refused. ")[2]
    assert (again.code, again.err) == (0, "")
    lines = again.out.splitlines()
    assert without_time(lines[0]) == f"117 files: 108 unchanged, 9 refused. {chunks}"
    assert lines[1] == "Nothing changed."
    assert len(lines) == 2 + len(STUBS)


def test_the_base_of_the_runbooks_is_in_order_with_the_folders_as_categories(
    indexed, place, ranklens, monkeypatch
):
    monkeypatch.chdir(indexed[0])

    checked = ranklens("doctor")

    assert checked.code == 0
    assert "Documents in the catalog: 108\n" in checked.out
    assert "Levels: calibrated for this model\n" in checked.out
    listed = checked.out.partition("Categories: ")[2].splitlines()[0]
    assert [part.rpartition(" (")[0] for part in listed.split(", ")] == [
        name.removesuffix("/_index.md") for name in STUBS[1:-2]
    ] + ["prometheus", "prometheus-operator"]


@pytest.mark.usefixtures("in_sample")
@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("KubePodCrashLooping", "kubernetes/pod-crash-looping.md"),
        ("数据库连接池耗尽", "database/数据库连接池耗尽.md"),
    ],
)
def test_the_trace_shows_both_routes_ok_and_a_fusion_audit_that_agrees(ranklens, query, document):
    done = ranklens("search", query, "--trace")

    assert (done.code, done.err) == (0, "")
    lines = [line.strip() for line in done.out.splitlines()]
    (dense,) = (line for line in lines if line.startswith("dense: "))
    (bm25,) = (line for line in lines if line.startswith("BM25: "))
    (audit,) = (line for line in lines if line.startswith("fusion audit: "))
    assert dense.startswith("dense: ok, 20 hits of at most 20, ")
    assert bm25.startswith("BM25: ok, ")
    assert audit.startswith(("fusion audit: equal (20 ranks", "fusion audit: equal up to ties (20 ranks"))
    assert f"default/{document}#chunk-" in done.out.splitlines()[4]


@pytest.mark.usefixtures("in_sample")
def test_two_relevant_chunks_of_one_document_are_kept_and_a_third_is_cut_by_the_cap(ranklens):
    document = "default/kubernetes/pod-crash-looping.md#chunk-"

    projected = json.loads(ranklens("lookup", "KubePodCrashLooping", "--json").out)
    ledger = ranklens("search", "KubePodCrashLooping", "--trace").out.partition("Ledger: ")[2]

    jsonschema.validate(projected, projection_schema())
    kept = [item["document_id"] for item in projected["evidence"] if document in item["document_id"]]
    assert len(kept) == len(set(kept)) == 2
    rows = [line.split(None, 2) for line in ledger.splitlines() if document in line]
    assert sorted(row[1] for row in rows if row[0] == "kept") == sorted(kept)
    assert next(row[2] for row in rows if row[0] == "cap") == (
        "chunk number 3 of its document in this list, the cap is 2"
    )


@pytest.mark.usefixtures("in_sample")
def test_a_query_with_a_wrong_category_falls_back_and_says_so(ranklens):
    text = ranklens("search", *WRONG_CATEGORY).out
    projected = json.loads(ranklens("lookup", *WRONG_CATEGORY, "--json").out)

    relaxed = text.splitlines()[1]
    assert relaxed.startswith(
        "The category filter was relaxed: the chunks of category 'kubernetes' are not good enough"
    )
    assert relaxed.endswith(" of 5 pieces of evidence lie outside the category.")
    jsonschema.validate(projected, projection_schema())
    assert projected["filter_relaxed"] is True
    assert projected["selected_attempt"] == "unfiltered"
    assert projected["found"] is True
    assert projected["evidence"][0]["category"] == "network"
