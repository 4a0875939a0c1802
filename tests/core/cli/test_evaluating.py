"""`evaluate` on Milvus Lite with a hashing embedder."""

from pathlib import Path

import pytest

from core.cli.evaluating import LONGEST_MAIN_NAME, _own_settings
from core.settings import Settings, load_settings

pytestmark = [pytest.mark.milvus, pytest.mark.usefixtures("place", "hashing")]

QUERIES = """\
{"query_id": "q1", "text": "E-104", "kind": "term"}
{"query_id": "q2", "text": "servfail", "kind": "term", "category": "no-such-category"}
"""
JUDGED = "query_id\tdoc_id\tgrade\nq1\tdatabase/pool.md\t1\nq2\tnetwork/dns.md\t1\n"


@pytest.fixture
def judged(place: Path) -> Path:
    """A folder of judged queries with two documents beside them."""
    folder = place / "judged"
    for name, text in (
        ("database/pool.md", "# Pool\n\nError E-104."),
        ("network/dns.md", "# DNS\n\nServfail."),
    ):
        (folder / "raw" / name).parent.mkdir(parents=True)
        (folder / "raw" / name).write_text(text, encoding="utf-8")
    (folder / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
    (folder / "qrels.tsv").write_text(JUDGED, encoding="utf-8")
    return folder


def overall(text: str) -> dict[str, list[str]]:
    """Configuration -> nDCG, recall and MRR over all queries, as printed."""
    cells = [line.split() for line in text.splitlines()]
    return {row[0]: row[3:6] for row in cells if row[1:2] == ["all"]}


def test_three_configurations_are_measured_on_a_base_of_the_folders_own(ranklens, place, judged):
    done = ranklens("evaluate", "judged")

    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "2 files: 2 indexed. 2 chunks."
    # A category that no document has: the fallback saves dense and hybrid, BM25 alone has no policy.
    assert overall(done.out) == {
        "dense": ["1.000", "1.000", "1.000"],
        "BM25": ["0.500", "0.500", "0.500"],
        "hybrid": ["1.000", "1.000", "1.000"],
    }
    assert not (place / "data" / "catalog.db").exists()


def test_the_base_follows_the_folder_also_when_a_document_is_gone_or_cannot_be_read(ranklens, judged):
    ranklens("evaluate", "judged")
    (judged / "raw" / "database" / "pool.md").unlink()
    (judged / "raw" / "empty.md").touch()

    done = ranklens("evaluate", "judged")

    assert done.out.splitlines()[0] == "2 files: 1 unchanged, 1 refused. 1 chunk."
    assert "dense: q1 is in no mean: none of its relevant documents is in the base." in done.out


def test_the_base_follows_the_settings(ranklens, place, judged):
    ranklens("evaluate", "judged")
    (place / "ranklens.toml").write_text("[chunking]\nsize_tokens = 100\n", encoding="utf-8")

    done = ranklens("evaluate", "judged")

    assert (done.code, done.err) == (0, "")
    assert overall(done.out)["hybrid"] == ["1.000", "1.000", "1.000"]


def test_the_live_base_is_asked_on_request_and_for_a_file_of_queries(ranklens, judged):
    ranklens("index", "judged/raw/network", "--category-from-folder")
    asked = judged / "own.jsonl"
    asked.write_text(
        '{"query_id": "q2", "text": "servfail", "judgments": [{"document": "dns.md", "grade": 1}]}\n',
        encoding="utf-8",
    )

    live, file = ranklens("evaluate", "judged", "--live"), ranklens("evaluate", "judged/own.jsonl")

    assert live.out.splitlines()[0].startswith("Query set judged (")
    assert (
        "hybrid: judged documents that are not in the base: 2 (database/pool.md, network/dns.md)."
        in live.out
    )
    assert overall(file.out)["hybrid"] == ["1.000", "1.000", "1.000"]


def test_faults_of_the_query_set_are_listed(ranklens, judged):
    (judged / "queries.jsonl").write_text('{"query_id": "q1"}\nno json\n', encoding="utf-8")

    done = ranklens("evaluate", "judged")

    assert (done.code, done.out) == (2, "")
    assert "queries.jsonl" in done.err
    assert "Traceback" not in done.err


def test_each_folder_has_a_name_of_its_own_however_long_the_main_one_is(tmp_path):
    long = Settings(data_dir=tmp_path, milvus={"uri": "http://host:19530", "collection": "c" * 200})

    first, second = (_own_settings(long, tmp_path / name) for name in ("a", "b"))

    assert first.milvus.collection != second.milvus.collection
    assert first.milvus.collection.startswith("c" * LONGEST_MAIN_NAME + "_evaluation_")
    assert len(first.milvus.collection) <= 200
    assert first.milvus.uri == "http://host:19530"
    assert first.data_dir != second.data_dir


def test_a_base_of_its_own_lies_in_the_data_folder(place):
    settings = load_settings()

    own = _own_settings(settings, place / "judged" / "raw")

    assert own.data_dir.parent == settings.data_dir / "evaluation"
    assert own.milvus_uri == str(own.data_dir / "milvus.db")


def test_a_base_that_cannot_be_opened_is_one_sentence(ranklens, place, judged):
    (place / "data").mkdir()
    (place / "data" / "evaluation").touch()

    done = ranklens("evaluate", "judged")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: The data folder {place / 'data' / 'evaluation'}")
