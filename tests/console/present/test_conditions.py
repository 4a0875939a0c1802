from dataclasses import replace

from console.present.conditions import audit_line, filter_verdict, route_troubles, stage_times, time_line
from core.model.search import AuditVerdict, FusionAudit, Route, RouteList, RouteState, SearchMode
from tests.console.fakes import a_lookup, a_scored

ROWS = (a_scored("a", dense=0.9, sparse=1.0), a_scored("b", dense=0.8, category="net"))


def audited(verdict, **more):
    response = a_lookup(ROWS).retrieval.chosen.response
    return replace(response, audit=FusionAudit(verdict, **more))


def test_the_audit_line_names_formula_and_ranks_compared():
    assert audit_line(audited(AuditVerdict.EQUAL, compared=2)) == (
        "Fusion audit: the server's order is RRF with k = 60 exactly (2 ranks compared)."
    )


def test_a_different_order_shows_the_first_difference():
    line = audit_line(audited(AuditVerdict.DIFFERENT, compared=2, first_difference="Rank 1: a, not b."))
    assert line == "Fusion audit: the server's order is not RRF with k = 60. Rank 1: a, not b."


def test_a_dense_lookup_has_no_audit():
    assert audit_line(a_lookup(ROWS, SearchMode.DENSE).retrieval.chosen.response) is None


def test_without_a_category_there_is_no_filter_verdict():
    assert filter_verdict(a_lookup(ROWS), None) is None


def test_a_relaxed_filter_says_how_many_chunks_lie_outside():
    verdict = filter_verdict(a_lookup(ROWS, category="none"), "none")
    assert verdict is not None
    assert verdict.startswith("Category filter “none” relaxed: ")
    assert verdict.endswith(". 2 returned chunks lie outside it.")


def test_a_kept_filter_gives_its_reason():
    verdict = filter_verdict(a_lookup(ROWS, category="net"), "net")
    assert verdict is not None
    assert verdict.startswith("Category filter “net” kept: ")


def test_calls_that_did_not_run_have_no_time():
    assert "BM25" not in time_line(a_lookup(ROWS, SearchMode.DENSE))
    assert time_line(a_lookup(ROWS)).endswith("dense 1.5 ms · BM25 1.5 ms · fused 1.5 ms")


def test_stages_come_in_the_order_of_the_line_without_the_total():
    assert stage_times({"total": 9.0, "pack": 1.0, "embed": 2.0}) == (("embed", 2.0), ("pack", 1.0))


def test_failed_and_empty_routes_are_told_apart():
    response = replace(
        a_lookup(ROWS).retrieval.chosen.response,
        sparse=RouteList(Route.SPARSE, RouteState.FAILED, reason="no index"),
        dense=RouteList(Route.DENSE, RouteState.EMPTY, reason="nothing passes"),
    )
    assert route_troubles(response) == ("Dense found nothing: nothing passes", "BM25 failed: no index")
