"""Values to terminal text."""

from dataclasses import replace

import pytest

from core.cli.printing import (
    attempts_text,
    build_text,
    index_text,
    ledger_text,
    lookup_text,
    projection_text,
    summary,
    times_text,
)
from core.errors import StoreError
from core.indexing.reports import BuildReport, FileOutcome, FileReport, IndexReport
from core.model.builds import Verification
from core.model.lookup import Level, ProjectedEvidence, Projection
from core.model.search import Route, SearchMode
from core.retrieval.lookup import lookup_knowledge
from tests.builders import a_list
from tests.core.retrieval.scripted import ScriptedEmbedder, ScriptedPort, a_configuration

DENSE = {"a": 0.9, "b": 0.6, "c": 0.2}
SPARSE = {"c": 12.3456}
# k = 60: a 1/61, b 1/62, c 1/63 + 1/61.
FUSED = {"c": 1 / 63 + 1 / 61, "a": 1 / 61, "b": 1 / 62}


def looked_up(answers, **changes):
    return lookup_knowledge(ScriptedPort(answers), ScriptedEmbedder(), "q", a_configuration(**changes))


@pytest.fixture
def hybrid():
    return looked_up(
        {
            (Route.DENSE, None): a_list(Route.DENSE, DENSE),
            (Route.SPARSE, None): a_list(Route.SPARSE, SPARSE),
            (Route.FUSED, None): a_list(Route.FUSED, FUSED),
        },
        return_n=2,
    )


def test_a_number_that_a_route_did_not_give_is_a_dash_and_never_0(hybrid):
    header, rule, *rows = lookup_text(hybrid, trace=False).splitlines()[2:]

    assert header == "rank  dense     BM25      fused       level    end       evidence   section"
    assert rule == "----  --------  --------  ----------  -------  --------  ---------  -------"
    assert rows == [
        "   1  #3 0.200  #1 12.35  #1 0.03227  weak     kept      c#chunk-0  Title",
        "   2  #1 0.900  -         #2 0.01639  precise  kept      a#chunk-0  Title",
        "   3  #2 0.600  -         #3 0.01613  related  return_n  b#chunk-0  Title",
    ]


def test_the_summary_counts_the_evidence_and_names_build_and_configuration(hybrid):
    text = summary(replace(hybrid, milliseconds={"total": 12.4}))

    assert text == (
        f"2 pieces of evidence, precise. Build build, configuration {hybrid.configuration_hash}, 12 ms."
    )


def test_one_piece_of_evidence_is_one_piece_and_a_weak_one_is_not_found():
    result = looked_up({(Route.DENSE, None): a_list(Route.DENSE, {"a": 0.1})}, mode=SearchMode.DENSE)

    assert summary(result).startswith(
        "1 piece of evidence, weak (nothing good enough: found is false). Build"
    )


def test_the_trace_names_the_state_of_each_route_and_the_verdict_of_the_audit(hybrid):
    text = lookup_text(hybrid, trace=True)

    assert "    dense: ok, 3 hits of at most 20, 1.0 ms\n" in text
    assert "    BM25: ok, 1 hit of at most 20, 1.0 ms\n" in text
    assert "    fused: ok, 3 hits of at most 20, 1.0 ms\n" in text
    assert "    fusion audit: equal (3 ranks compared)\n" in text
    assert "Ledger: 3 candidates (return_n 1, kept 2)\n" in text


def test_empty_failed_and_not_run_look_different():
    result = looked_up(
        {
            (Route.DENSE, None): StoreError("The dense index is broken."),
            (Route.FUSED, None): a_list(Route.FUSED, {"a": 1 / 61}),
        }
    )
    dense_only = looked_up({(Route.DENSE, None): a_list(Route.DENSE, DENSE)}, mode=SearchMode.DENSE)

    assert "dense: failed (The dense index is broken.)" in attempts_text(result)
    assert "BM25: empty (The store returned no chunk.), 1.0 ms" in attempts_text(result)
    assert "BM25: not run (dense mode does not ask BM25)" in attempts_text(dense_only)


def test_nothing_found_is_said_and_makes_no_empty_table():
    result = looked_up({})

    text = lookup_text(result, trace=True)

    assert "\n\nNo hit.\n\n" in text
    assert ledger_text(result.ledger) == "Ledger: no candidate."


def test_a_relaxed_filter_shows_with_how_many_hits_lie_outside():
    result = looked_up(
        {
            (Route.DENSE, None): a_list(Route.DENSE, DENSE, category="net"),
            (Route.FUSED, None): a_list(Route.FUSED, {"a": 1 / 61, "b": 1 / 62}, category="net"),
        },
        category="ops",
    )

    line = summary(result).splitlines()[1]

    assert line.startswith("The category filter was relaxed: category 'ops' holds no chunk")
    assert line.endswith("2 of 2 pieces of evidence lie outside the category.")
    assert projection_text(result.projection).splitlines()[0] == (
        "found: true, precise, attempt unfiltered, filter relaxed"
    )


def test_the_total_stands_last_among_the_times(hybrid):
    timed = replace(hybrid, milliseconds={"embed": 1.25, "total": 3.0, "retrieve": 1.75})

    assert times_text(timed) == "Milliseconds: embed 1.2, retrieve 1.8, total 3.0"


def test_the_text_of_a_document_cannot_act_on_the_terminal():
    evidence = ProjectedEvidence(
        "a#chunk-0", None, "T", "T > S\x1b[2J", "ops", "one\x1b]0;x\x07\n\ttwo\u202e", True
    )
    text = projection_text(Projection(True, Level.RELATED, "unfiltered", False, (evidence,)))

    assert text.split("\n\n")[1] == "a#chunk-0 (cut)\nT > S\ufffd[2J\none\ufffd]0;x\ufffd\n\ttwo\ufffd"


@pytest.mark.parametrize(
    ("title", "breadcrumb", "line"),
    [
        ("T", "T > S", "T > S"),
        ("T", "S", "T | S"),
        ("T", None, "T"),
        (None, "S", "S"),
        (None, None, "text"),
    ],
)
def test_a_title_is_not_said_twice(title, breadcrumb, line):
    evidence = ProjectedEvidence("k", None, title, breadcrumb, "ops", "text", False)

    text = projection_text(Projection(True, Level.RELATED, "unfiltered", False, (evidence,)))

    assert text.split("\n\n")[1].split("\n")[1] == line


def test_warnings_and_refusals_of_an_upload_stand_under_its_counts():
    report = IndexReport(
        files=(
            FileReport(
                "a.md", FileOutcome.INDEXED, doc_id="default/a.md", chunk_count=1204, warnings=("Odd.",)
            ),
            FileReport("b.md", FileOutcome.REFUSED, "b.md is empty."),
        ),
        build="build_1",
        milliseconds=1250.0,
        warnings=("Slow.",),
    )

    assert index_text(report).splitlines() == [
        "2 files: 1 indexed, 1 refused. 1,204 chunks. 1.2 s.",
        "Live build: build_1.",
        "Warning for a.md: Odd.",
        "Refused: b.md is empty.",
        "Warning: Slow.",
    ]


def test_a_build_says_what_was_left_out_and_that_nothing_was_measured():
    report = BuildReport(
        build="build_2",
        documents=1,
        chunks=1,
        verification=Verification({}, {}, (), None, 0),
        seconds=2.0,
        left_out=(FileReport("b.md", FileOutcome.REFUSED, "b.md is no longer text."),),
        dropped=("build_0", "build_1"),
        warnings=("One more.",),
    )

    assert build_text(report).splitlines() == [
        "Published build_2: 1 document, 1 chunk in 2.0 s.",
        "Verified: every document whole, both routes answer, recall@20 against exact search not measured.",
        "Left out: b.md is no longer text.",
        "Removed old builds: build_0, build_1.",
        "Warning: One more.",
    ]
