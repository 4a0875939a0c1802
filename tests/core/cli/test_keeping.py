"""`index`, `rebuild`, `sample` and `doctor` on Milvus Lite with a hashing embedder."""

from pathlib import Path

import pytest

from core import wiring
from core.adapters.embedders import HashingEmbedder
from core.catalog.catalog import open_catalog
from core.cli.keeping import SAMPLE_BEGUN, SAMPLE_NOTE
from core.sample import sample_files
from core.settings import load_settings
from tests.core.indexing.material import sections

pytestmark = [pytest.mark.milvus, pytest.mark.usefixtures("place", "hashing")]


@pytest.fixture
def folder(place: Path) -> Path:
    """Two documents of two categories, three chunks in all."""
    for name, text in (
        ("kb/database/pool.md", sections("数据库 连接池 耗尽", "limit E-104")),
        ("kb/network/dns.md", "# DNS\n\nServfail."),
    ):
        (place / name).parent.mkdir(parents=True)
        (place / name).write_text(text, encoding="utf-8")
    return place / "kb"


def documents(place: Path) -> dict[str, tuple[str, str]]:
    """Name -> (category, kb_scope), as the catalog has them."""
    catalog = open_catalog(f"sqlite:///{place / 'data' / 'catalog.db'}")
    rows = {row.doc_id: (row.category, row.kb_scope) for row in catalog.documents()}
    catalog.close()
    return rows


def first_line(text: str) -> str:
    """Without the time it took."""
    return text.splitlines()[0].rpartition(" s.")[0].rpartition(" ")[0]


def test_a_folder_goes_in_and_what_is_refused_is_named_with_the_reason(ranklens, place, folder):
    (folder / "empty.md").touch()
    (folder / "loop").symlink_to(folder)
    (folder / "network" / "photo.png").write_bytes(b"\x89PNG")

    done = ranklens("index", "kb", "--category-from-folder")

    assert (done.code, done.err) == (0, "")
    assert first_line(done.out) == "5 files: 2 indexed, 3 refused. 3 chunks."
    assert done.out.splitlines()[1].startswith("Live build: biz_hybrid_")
    assert done.out.splitlines()[2:] == [
        "Refused: empty.md is empty (0 bytes), so there is no text to index.",
        "Refused: loop is a link to a folder, which is not followed. Give that folder as a path of its "
        "own.",
        "Refused: network/photo.png has the ending .png, which is not supported. Supported are: .md, "
        ".markdown, .txt.",
    ]
    assert documents(place) == {
        "default/database/pool.md": ("database", "default"),
        "default/network/dns.md": ("network", "default"),
    }


def test_a_second_run_changes_nothing_says_so_and_embeds_nothing(ranklens, folder, monkeypatch):
    ranklens("index", "kb")

    def refuse(*_arguments, **_options):
        raise AssertionError("nothing is to be embedded")

    monkeypatch.setattr(HashingEmbedder, "embed_passages", refuse)
    again = ranklens("index", "kb", "kb", "kb/network/dns.md")

    assert again.code == 0
    assert first_line(again.out) == "2 files: 2 unchanged. 3 chunks."
    assert again.out.splitlines()[1:] == ["Nothing changed."]


def test_a_changed_file_replaces_its_document(ranklens, folder):
    ranklens("index", "kb")
    (folder / "database" / "pool.md").write_text("# Pool\n\nShort now.", encoding="utf-8")

    done = ranklens("index", "kb")

    assert first_line(done.out) == "2 files: 1 replaced, 1 unchanged. 2 chunks."
    assert "(made anew)" in done.out.splitlines()[1]


def test_category_and_scope_are_trimmed_the_same_on_write_and_on_query(ranklens, place, folder):
    ranklens("index", "kb/network/dns.md", "--category", " ops ", "--kb-scope", " team ")

    assert documents(place) == {"team/dns.md": ("ops", "team")}
    found = ranklens("search", "Servfail", "--category", "ops  ", "--kb-scope", "  team")
    assert found.code == 0
    assert "team/dns.md#chunk-0" in found.out


def test_a_run_in_which_no_file_could_be_taken_ends_with_1(ranklens, place):
    (place / "empty.md").touch()

    done = ranklens("index", "empty.md")

    assert done.code == 1
    assert done.out.splitlines()[1:] == [
        "Nothing changed.",
        "Refused: empty.md is empty (0 bytes), so there is no text to index.",
    ]


def test_two_ways_to_give_the_category_are_one_too_many(ranklens, folder):
    done = ranklens("index", "kb", "--category", "ops", "--category-from-folder")

    assert done.code == 2
    assert done.err.splitlines()[-1] == "Error: Give --category or --category-from-folder, not both."


def test_a_rebuild_is_verified_published_and_found_in_order_by_the_doctor(ranklens, folder):
    ranklens("index", "kb")

    done = ranklens("rebuild")

    assert (done.code, done.err) == (0, "")
    published, verified = done.out.splitlines()
    assert published.startswith("Published biz_hybrid_")
    assert ": 2 documents, 3 chunks in " in published
    assert verified == (
        "Verified: every document whole, both routes answer, "
        "recall@20 against exact search 1.000 over 3 probes."
    )
    checked = ranklens("doctor")
    assert checked.code == 0
    assert checked.out.splitlines()[-1] == "Everything is in order."


def test_a_rebuild_of_nothing_is_refused_unless_it_is_asked_for(ranklens):
    refused = ranklens("rebuild")

    assert refused.code == 2
    assert refused.err.startswith("Error: The catalog has no document")
    assert ranklens("rebuild", "--allow-empty").code == 0


def test_the_doctor_says_what_the_base_stands_on(ranklens, place, folder):
    ranklens("index", "kb", "--category-from-folder")

    lines = ranklens("doctor").out.splitlines()

    assert lines[:7] == [
        f"Data folder: {place / 'data'}",
        f"Milvus: {place / 'data' / 'milvus.db'}, alias biz_hybrid",
        "Documents in the catalog: 2",
        "Knowledge bases: default (2)",
        "Categories: database (1), network (1)",
        "Model: hashing (64 dimensions, 1)",
        "Levels: not calibrated for this model",
    ]
    assert lines[7] == "Builds:"
    assert lines[8].endswith(": live, 3 chunks, FLAT COSINE, hybrid")


def test_the_doctor_ends_with_1_when_the_catalog_and_the_live_build_disagree(ranklens, folder):
    ranklens("index", "kb")
    services = wiring.build(load_settings())
    services.catalog.remove_document("default/network/dns.md")
    live = services.base.builds.live()
    services.base.writer.delete_document(live, "default/database/pool.md")
    services.base.writer.flush(live)
    services.close()

    done = ranklens("doctor")

    assert done.code == 1
    troubles = [line for line in done.out.splitlines() if line.startswith("Trouble: ")]
    assert troubles[:2] == [
        f'Trouble: "default/database/pool.md" was indexed with 2 chunks, but the live build {live} has 0. '
        "Upload it again or start a rebuild.",
        f'Trouble: The live build {live} has 1 chunks of "default/network/dns.md", which is not in the '
        "catalog. Start a rebuild to be rid of them.",
    ]


def test_the_doctor_of_an_empty_base_ends_with_1_and_says_what_comes_next(ranklens):
    done = ranklens("doctor")

    assert done.code == 1
    assert done.out.splitlines()[-2:] == [
        "Builds: none yet",
        "Trouble: No build is published yet. Index files, or run `ranklens sample`.",
    ]


def test_the_sample_goes_into_an_empty_base_once(ranklens, place):
    first = ranklens("sample")
    again = ranklens("sample")

    count = len(sample_files())
    assert first_line(first.out).startswith(f"{count} files: {count} indexed.")
    assert len(documents(place)) == count
    assert again.out == ("The base was set up before; the sample is left alone (--again brings it back).\n")
    assert first_line(ranklens("sample", "--again").out).startswith(f"{count} files: {count} unchanged.")


def test_the_sample_is_left_out_of_a_base_that_has_documents(ranklens, place, folder):
    ranklens("index", "kb")

    assert ranklens("sample").out.startswith("The base was set up before")
    assert len(documents(place)) == 2


def test_a_sample_that_was_interrupted_is_finished(ranklens, place, folder):
    ranklens("index", "kb/network/dns.md")
    catalog = open_catalog(f"sqlite:///{place / 'data' / 'catalog.db'}")
    catalog.set_note(SAMPLE_NOTE, SAMPLE_BEGUN)
    catalog.close()

    count = len(sample_files())
    assert first_line(ranklens("sample").out).startswith(f"{count} files: {count} indexed.")
