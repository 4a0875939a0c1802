from console import charts
from console.palette import DENSE, FUSED, REST, SPARSE
from console.present.evidence import packing_finding, portions
from console.present.ledger import funnel, funnel_finding
from console.present.slope import slope
from tests.console.fakes import a_lookup, a_scored

HOSTILE = "<a href='javascript:x'>t</a> %{x}"
ROWS = (
    a_scored("a", dense=0.9, sparse=1.0),
    a_scored("b", dense=0.8),
    a_scored("d", sparse=9.0, title=HOSTILE),
    *(a_scored(name, dense=0.5) for name in "efgh"),
)


def lines():
    figure = charts.slope_figure(slope(a_lookup(ROWS)))
    return [trace for trace in figure.data if trace.x[0] is not None]


def test_each_route_has_its_colour_and_the_rest_is_grey():
    colours = [trace.line.color for trace in lines()]
    assert colours.count(REST) == 2
    assert {FUSED, DENSE, SPARSE} <= set(colours)


def test_a_chunk_that_a_route_lacks_is_drawn_below_its_limit_as_an_open_mark():
    line = next(trace for trace in lines() if trace.line.color == SPARSE)
    assert line.y[0] > 20
    assert line.marker.symbol[0].endswith("-open")
    assert line.y[2] == 1


def test_grey_lines_are_not_drawn_where_a_route_lacks_the_chunk():
    assert all(trace.y[2] is None for trace in lines() if trace.line.color == REST)


def test_document_text_in_a_figure_is_escaped():
    line = next(trace for trace in lines() if trace.line.color == SPARSE)
    assert "<a" not in line.hovertemplate
    assert "%{" not in line.hovertemplate
    assert "<a" not in line.text[2]


def test_titles_say_the_finding():
    result = a_lookup(ROWS)
    found = funnel_finding(result.ledger)
    assert charts.funnel_figure(funnel(result.ledger), found).layout.title.text == found
    packed = packing_finding(result.packing)
    figure = charts.packing_figure(portions(result.packing), 6000, packed)
    assert figure.layout.title.text == packed
    assert [bar.x[0] for bar in figure.data] == [item.characters for item in result.packing.packed]


def test_what_the_budget_cut_is_drawn_after_what_was_packed():
    rows = tuple(a_scored(name, dense=0.9, content="word " * 100) for name in "ab")
    result = a_lookup(rows, budget=600)
    figure = charts.packing_figure(portions(result.packing), 600, "x")
    assert sum(bar.x[0] for bar in figure.data) == sum(
        piece.full_characters for piece in portions(result.packing)
    )
    assert figure.data[-1].marker.pattern.shape == "/"
