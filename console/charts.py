"""Plotly figures from the values of `present`; no Streamlit.

In: view-models. Out: figures whose title says the finding. Invariants: document text inside a figure
is escaped, because plotly reads a kind of HTML; a missing rank is drawn in a lane of its own.
"""

from html import escape
from typing import Final

import plotly.graph_objects as go

from console.palette import DENSE, FUSED, REST, SPARSE, STOCK
from console.present.evidence import Portion
from console.present.ledger import FunnelStep
from console.present.slope import Origin, Slope, SlopeLine
from console.texts import t

CONFIG: Final = {"displaylogo": False, "modeBarButtonsToRemove": ["lasso2d", "select2d", "zoom2d", "pan2d"]}
AXES: Final = (0.0, 1.0, 2.0)
_ORIGIN_COLOURS: Final = {Origin.BOTH: FUSED, Origin.DENSE_ONLY: DENSE, Origin.SPARSE_ONLY: SPARSE}
_ORIGIN_SYMBOLS: Final = {Origin.BOTH: "circle", Origin.DENSE_ONLY: "square", Origin.SPARSE_ONLY: "diamond"}
_LABEL_CHARACTERS: Final = 46
_LEGEND: Final = {"orientation": "h", "y": 1.02, "x": 0.0, "yanchor": "bottom", "xanchor": "left"}
_HATCH: Final = {"shape": "/", "size": 5, "solidity": 0.35}


def slope_figure(slope: Slope) -> go.Figure:
    """Draw dense, fused and sparse ranks as three axes, one line per chunk, best rank on top."""
    figure = go.Figure()
    lanes = _lanes(slope)
    for line in slope.lines:
        figure.add_trace(_slope_trace(line, lanes))
    for origin, name in _origin_names(slope).items():
        style = {"color": _ORIGIN_COLOURS[origin], "symbol": _ORIGIN_SYMBOLS[origin], "size": 10}
        figure.add_trace(go.Scatter(x=[None], y=[None], mode="markers+lines", marker=style, name=name))
    lowest = max([slope.limit, *lanes.values()])
    _draw_axes(figure, slope.limit, lowest, has_lane=bool(lanes))
    figure.update_layout(
        title=_title(slope.finding),
        height=min(640, 200 + 17 * int(lowest)),
        margin={"l": 50, "r": 300, "t": 78, "b": 16},
        legend={**_LEGEND, "traceorder": "normal"},
        hoverlabel={"align": "left"},
    )
    return figure


def _lanes(slope: Slope) -> dict[str, float]:
    """Give every kept chunk that an axis lacks a place of its own below the limit."""
    missing = [line for line in slope.lines if line.kept and None in (line.dense, line.fused, line.sparse)]
    return {line.evidence_key: slope.limit + 1.6 + place for place, line in enumerate(missing)}


def _slope_trace(line: SlopeLine, lanes: dict[str, float]) -> go.Scatter:
    ranks = (line.dense, line.fused, line.sparse)
    lane = lanes.get(line.evidence_key)
    heights = [float(rank) if rank is not None else lane for rank in ranks]
    symbol = _ORIGIN_SYMBOLS[line.origin]
    symbols = [symbol if rank is not None else f"{symbol}-open" for rank in ranks]
    label = escape(_shortened(line.name)) if line.kept else ""
    return go.Scatter(
        x=AXES,
        y=heights,
        mode="lines+markers+text",
        text=["", "", label],
        textposition="middle right",
        cliponaxis=False,
        showlegend=False,
        line={
            "color": _ORIGIN_COLOURS[line.origin] if line.kept else REST,
            "width": 2.5 if line.kept else 1,
        },
        marker={"symbol": symbols, "size": 9 if line.kept else 4},
        opacity=1.0 if line.kept else 0.45,
        hovertemplate=_hover(line) + "<extra></extra>",
    )


def _hover(line: SlopeLine) -> str:
    ranks = " · ".join(
        f"{name} {f'#{rank}' if rank is not None else t('not found')}"
        for name, rank in ((t("dense"), line.dense), (t("fused"), line.fused), (t("BM25"), line.sparse))
    )
    half = len(line.excerpt) // 2
    middle = line.excerpt.find(" ", half) if " " in line.excerpt[half:] else half
    parts = (line.name, line.place, line.excerpt[:middle], line.excerpt[middle:])
    shown = [_inert(part) for part in parts if part.strip()]
    return "<br>".join([f"<b>{shown[0]}</b>", ranks, *shown[1:]])


def _inert(text: str) -> str:
    """Escape text for a hover template, where `%{...}` would be filled in."""
    return escape(text).replace("%{", "%&#123;")


def _shortened(text: str) -> str:
    return text if len(text) <= _LABEL_CHARACTERS else text[: _LABEL_CHARACTERS - 1] + "…"


def _origin_names(slope: Slope) -> dict[Origin, str]:
    names = {
        Origin.BOTH: t("found by both"),
        Origin.SPARSE_ONLY: t("BM25 alone"),
        Origin.DENSE_ONLY: t("dense alone"),
    }
    present = {line.origin for line in slope.lines if line.kept}
    return {origin: name for origin, name in names.items() if origin in present}


def _draw_axes(figure: go.Figure, limit: int, lowest: float, *, has_lane: bool) -> None:
    for position, name, colour in zip(
        AXES, (t("dense"), t("fused"), t("BM25")), (DENSE, FUSED, SPARSE), strict=True
    ):
        figure.add_shape(
            type="line", x0=position, x1=position, y0=0.4, y1=limit + 0.6, layer="below",
            line={"color": colour, "width": 3},
        )  # fmt: skip
        figure.add_annotation(
            x=position, y=0.2, text=f"<b>{name}</b>", showarrow=False, yanchor="bottom", font={"size": 13}
        )
    if has_lane:
        figure.add_hline(y=limit + 1, line={"color": REST, "dash": "dot", "width": 1})
    ticks = [1, *range(5, limit + 1, 5)]
    names = [f"#{rank}" for rank in ticks]
    if has_lane:
        ticks, names = [*ticks, limit + 2], [*names, t("not found")]
    figure.update_yaxes(
        range=[lowest + 0.8, -1],
        tickvals=ticks,
        ticktext=names,
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    figure.update_xaxes(range=[-0.08, 2.02], showgrid=False, zeroline=False, visible=False, fixedrange=True)


def funnel_figure(steps: tuple[FunnelStep, ...], finding: str) -> go.Figure:
    """Draw what is left after each stage, and beside it what the stage dropped."""
    names = [step.name for step in steps]
    figure = go.Figure(
        [
            go.Bar(
                y=names, x=[step.left for step in steps], orientation="h", name=t("left"),
                marker={"color": STOCK}, text=[f"{step.left}" for step in steps],
                textposition="auto", hovertemplate="%{y}: %{x}<extra></extra>",
            ),
            go.Bar(
                y=names, x=[step.dropped for step in steps], orientation="h", name=t("dropped here"),
                marker={"color": REST, "pattern": _HATCH}, textposition="outside", cliponaxis=False,
                text=[f"−{step.dropped}" if step.dropped else "" for step in steps],
                hovertemplate=t("dropped here") + ": %{x}<extra></extra>",
            ),
        ]
    )  # fmt: skip
    figure.update_layout(
        title=_title(finding),
        barmode="stack",
        height=330,
        margin={"l": 10, "r": 30, "t": 78, "b": 10},
        legend={**_LEGEND, "traceorder": "normal"},
    )
    figure.update_yaxes(autorange="reversed", fixedrange=True)
    figure.update_xaxes(visible=False, fixedrange=True)
    return figure


def packing_figure(portions: tuple[Portion, ...], budget: int, finding: str) -> go.Figure:
    """Draw the context budget as one bar, filled in pack order; what was cut stands hatched after it."""
    figure = go.Figure()
    for place, portion in enumerate(portions, start=1):
        if portion.characters:
            figure.add_trace(_portion_bar(place, portion, portion.characters, cut=False))
    for place, portion in enumerate(portions, start=1):
        if portion.full_characters > portion.characters:
            figure.add_trace(
                _portion_bar(place, portion, portion.full_characters - portion.characters, cut=True)
            )
    figure.add_vline(x=budget, line={"color": REST, "width": 2, "dash": "dash"})
    figure.add_annotation(
        x=budget, y=1, yref="paper", yanchor="bottom", xanchor="right", showarrow=False,
        text=t("budget {budget:,} characters").format(budget=budget),
    )  # fmt: skip
    figure.update_layout(
        title=_title(finding),
        barmode="stack",
        height=190,
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 70, "b": 30},
    )
    figure.update_yaxes(visible=False, fixedrange=True)
    longest = sum(max(portion.full_characters, portion.characters) for portion in portions)
    figure.update_xaxes(range=[0, max(budget, longest) * 1.04], fixedrange=True, showgrid=False)
    return figure


def _portion_bar(place: int, portion: Portion, characters: int, *, cut: bool) -> go.Bar:
    marker = {"color": REST, "pattern": _HATCH} if cut else {"color": STOCK}
    outline = {**marker, "line": {"width": 2, "color": "rgba(128,128,128,0.35)"}}
    state = t("cut") if cut else t("packed")
    return go.Bar(
        y=[""],
        x=[characters],
        orientation="h",
        marker=outline,
        text=f"{place}" if not cut else "",
        textposition="inside",
        insidetextanchor="middle",
        hovertemplate=f"{place}. {_inert(portion.title)}<br>{characters:,} {state}<extra></extra>",
    )


def _title(finding: str) -> dict[str, object]:
    return {
        "text": escape(finding),
        "x": 0,
        "xanchor": "left",
        "y": 0.98,
        "yanchor": "top",
        "font": {"size": 15},
    }
