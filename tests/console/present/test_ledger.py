import itertools

from console.present.ledger import FunnelStep, funnel, funnel_finding, ledger_rows
from core.model.lookup import Stage
from core.model.search import RouteScore
from tests.console.fakes import a_lookup, a_scored

# 3 of one document (cap 2), 4 more; limit 5 per list, so BM25's d and e push some out of the fused list.
ROWS = (
    *(a_scored("a", dense=0.9 - index / 100, index=index) for index in range(3)),
    a_scored("b", dense=0.8),
    a_scored("c", dense=0.7),
    a_scored("d", sparse=5.0),
    a_scored("e", sparse=4.0),
)


def test_the_funnel_starts_with_all_candidates_and_ends_with_what_is_kept():
    result = a_lookup(ROWS, retrieve_k=5, return_n=3)
    steps = funnel(result.ledger)
    assert (steps[0].left, steps[-1].left) == (7, len(result.packing.packed)) == (7, 3)


def test_what_enters_a_stage_is_what_it_passes_on_and_what_it_drops():
    steps = funnel(a_lookup(ROWS, retrieve_k=5, return_n=3).ledger)
    assert all(before.left == after.left + after.dropped for before, after in itertools.pairwise(steps))
    assert steps[2] == FunnelStep("in the list that counts", 5, 2)


def test_an_empty_ledger_says_that_no_route_found_anything():
    assert funnel_finding(()) == "No route found a candidate."


def test_the_finding_names_the_stage_that_dropped_most():
    rows = tuple(a_scored(name, dense=0.9) for name in "abcdefg")
    assert funnel_finding(a_lookup(rows).ledger) == (
        "5 of 7 candidates reach the agent; most of the others end after return_n (2)"
    )


def test_a_candidate_outside_the_fused_list_keeps_the_numbers_of_its_routes():
    rows = ledger_rows(a_lookup(ROWS, retrieve_k=5, return_n=3))
    outside = {row.evidence_key: row for row in rows if row.end is Stage.FUSE}
    assert len(outside) == 2
    last = outside["default/c.md#chunk-0"]
    assert (last.dense, last.sparse, last.fused) == (RouteScore(5, 0.7), None, None)


def test_every_candidate_has_one_row():
    result = a_lookup(ROWS, retrieve_k=5)
    assert len(ledger_rows(result)) == len(result.ledger) == 7
