from dataclasses import replace
from datetime import timedelta

from console.present.builds import (
    build_table,
    hybrid_state,
    live_figures,
    verification_figures,
    verification_table,
)
from core.catalog.records import BuildRecord, BuildState
from core.model.builds import Verification
from tests.console.fakes import MOMENT, a_build

GOOD = Verification({"a": 2, "b": 1}, {"a": 2, "b": 1}, (), 1.0, 3)
BAD = Verification({"a": 2}, {"a": 1, "ghost": 4}, ("BM25 does not find it.",), None, 0)


def test_a_whole_build_passes():
    figures = dict(verification_figures(GOOD))
    assert figures["Verdict"] == "✓ passed"
    assert figures["Probe queries"] == "3 asked, all found"
    assert figures["Recall@20 against exact search"] == "1.000"


def test_ghosts_and_short_documents_are_counted_and_listed_first():
    figures = dict(verification_figures(BAD))
    assert (figures["Verdict"], figures["Ghosts"], figures["Documents that differ"]) == (
        "× not passed",
        "1",
        "2",
    )
    assert figures["Recall@20 against exact search"] == "–"
    assert verification_table(BAD)["Verdict"].tolist() == ["× differs", "× ghost"]


def test_a_dense_only_build_says_what_it_lacks():
    build = replace(a_build(hybrid_ready=False), missing_fields=("sparse_vector",))
    assert hybrid_state(build) == "not possible: lacks sparse_vector"
    assert dict(live_figures(build, 2, fragmented=True))["BM25 statistics"] == "fragmented"


def test_the_list_tells_the_live_build_from_kept_and_removed_ones():
    made = [
        BuildRecord(name, BuildState.PUBLISHED, MOMENT, MOMENT + timedelta(seconds=65)) for name in "abc"
    ]
    made.append(BuildRecord("d", BuildState.FAILED, MOMENT, reason="No documents."))
    rows = build_table(made, "a", ["a", "b"])
    assert rows["State"].tolist() == ["● live", "○ kept", "removed", "failed"]
    assert rows["Took"].tolist() == ["1 min 05 s"] * 3 + ["–"]
    assert rows["Chunks"].isna().tolist() == [False, False, False, True]
