from console.present.slope import MOST_LINES, Origin, slope
from core.model.search import SearchMode
from tests.console.fakes import a_lookup, a_scored


def test_a_dense_lookup_has_no_slope():
    assert slope(a_lookup((a_scored("a", dense=0.9),), SearchMode.DENSE)) is None


def test_a_line_has_no_rank_on_an_axis_that_lacks_the_chunk():
    lines = slope(a_lookup((a_scored("a", dense=0.9), a_scored("d", sparse=9.0)))).lines
    by_name = {line.name: (line.dense, line.fused, line.sparse, line.origin) for line in lines}
    assert by_name == {
        "Title a": (1, 1, None, Origin.DENSE_ONLY),
        "Title d": (None, 2, 1, Origin.SPARSE_ONLY),
    }


def test_the_finding_counts_what_bm25_alone_brought():
    made = slope(a_lookup((a_scored("a", dense=0.9), a_scored("d", sparse=9.0))))
    assert made.finding == "BM25 brings 1 of 2 chunks to the agent; dense does not find them"


def test_the_finding_counts_what_fusion_lifted_over_the_end_of_the_dense_list():
    rows = (*(a_scored(name, dense=0.9) for name in "abcde"), a_scored("z", dense=0.1, sparse=9.0))
    assert slope(a_lookup(rows)).finding == "Fusion lifts 1 of 5 chunks to the agent from below dense #5"


def test_at_most_twenty_lines_and_what_reaches_the_agent_is_among_them():
    rows = tuple(a_scored(f"n{place:02}", dense=0.9 - place / 100) for place in range(20))
    rows += tuple(a_scored(f"s{place:02}", sparse=9.0 - place / 10) for place in range(20))
    made = slope(a_lookup(rows))
    assert len(made.lines) == MOST_LINES
    assert sum(line.kept for line in made.lines) == 5
    assert all(line.kept for line in made.lines[-5:])
