"""Two lookups side by side: the modes, the finding, the cards, the chart and the table.

In: the services and a question. Out: drawing. Invariant: one lookup per configuration; everything
shown comes from those two values.
"""

from dataclasses import dataclass

import streamlit as st

from console import charts, markup
from console.components.guard import EVIDENCE_PAGE
from console.components.lookups import configured, lookup
from console.components.questions import Question
from console.components.table import download
from console.components.table import table as show_table
from console.present import conditions
from console.present.compare import Comparison, Listing, cards, compare, headline, overlap
from console.present.slope import slope
from console.present.tables import CHANGE_WIDTHS, change_table
from console.state import Session, Url
from console.texts import t
from core.model.lookup import LookupResult
from core.model.search import SearchMode
from core.wiring import Services


@dataclass(frozen=True, slots=True)
class Choice:
    """Which two modes are compared, and which list of each."""

    left: SearchMode
    right: SearchMode
    listing: Listing


@dataclass(frozen=True, slots=True)
class Pair:
    """Two lookups of one question and what changes between them."""

    question: Question
    left: LookupResult
    right: LookupResult
    comparison: Comparison


def choice() -> Choice:
    """Draw the choice of modes and list, bound to the URL."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        left = _mode(Url.LEFT, t("Left"), SearchMode.DENSE)
        right = _mode(Url.RIGHT, t("Right"), SearchMode.HYBRID)
        listing = _listing()
    return Choice(left, right, listing)


def _mode(key: Url, name: str, default: SearchMode) -> SearchMode:
    chosen = st.segmented_control(
        name,
        tuple(SearchMode),
        default=default,
        required=True,
        key=key,
        bind="query-params",
        format_func=str,
    )
    return chosen or default


def _listing() -> Listing:
    """Choose the list; the URL has its name, not the words shown, which depend on the language."""
    asked = st.query_params.get(Url.LISTING, Listing.AGENT)
    default = Listing(asked) if asked in tuple(Listing) else Listing.AGENT
    chosen = st.segmented_control(
        t("Compare"),
        tuple(Listing),
        default=default,
        required=True,
        format_func=listing_name,
        key=Session.LISTING,
        persist_state="session",
    )
    listing = chosen or default
    if listing is Listing.AGENT:
        st.query_params.pop(Url.LISTING, None)
    else:
        st.query_params[Url.LISTING] = listing
    return listing


def listing_name(listing: Listing) -> str:
    """Return what a list is called."""
    return t("What the agent gets") if listing is Listing.AGENT else t("Everything found")


def pair(base: Services, question: Question, chosen: Choice) -> Pair:
    """Look the question up once per side and compare.

    Raises:
        RankLensError: as `lookup_knowledge` does.
    """
    left = lookup(base, question.query, configured(base, chosen.left, question.category))
    right = lookup(base, question.query, configured(base, chosen.right, question.category))
    comparison = compare(
        left, right, chosen.listing, left_name=str(chosen.left), right_name=str(chosen.right)
    )
    return Pair(question, left, right, comparison)


def finding(made: Pair) -> None:
    """Draw the headline, the conditions under it, and the way to the evidence."""
    st.html(markup.finding(headline(made.comparison), quiet=made.comparison.same))
    right = made.right.retrieval.chosen.response
    audit = conditions.audit_line(right) or conditions.audit_line(made.left.retrieval.chosen.response)
    st.html(
        markup.facts(
            [overlap(made.comparison), audit, *_filters(made), *conditions.route_troubles(right)],
        )
    )
    # Without an address of its own: one would empty the fields that are bound to the URL.
    st.page_link(
        EVIDENCE_PAGE,
        label=t("Evidence: where every candidate of this query ended"),
        icon=":material/account_tree:",
    )


def _filters(made: Pair) -> list[str]:
    sides = ((made.comparison.left_name, made.left), (made.comparison.right_name, made.right))
    verdicts = [(name, conditions.filter_verdict(result, made.question.category)) for name, result in sides]
    if verdicts[0][1] == verdicts[1][1]:
        return [verdict for _, verdict in verdicts[:1] if verdict]
    return [f"{name}: {verdict}" for name, verdict in verdicts if verdict]


def columns(made: Pair) -> None:
    """Draw the two columns of cards."""
    left, right = st.columns(2)
    with left:
        _column(made, made.left, right=False)
    with right:
        _column(made, made.right, right=True)


def _column(made: Pair, result: LookupResult, *, right: bool) -> None:
    name = made.comparison.right_name if right else made.comparison.left_name
    shown = cards(result, made.comparison, right=right, category=made.question.category)
    stamp = t("configuration {hash}").format(hash=result.configuration_hash)
    st.html(markup.column_head(name, stamp, conditions.time_line(result)))
    st.html(markup.hit_list(shown, result.query))


def chart(made: Pair) -> None:
    """Draw how fusion carries the chunks, for the right side, else for the left one."""
    lines = slope(made.right) or slope(made.left)
    if lines is None:
        st.caption(t("Neither side fused two routes, so there is no slope chart."))
        return
    st.plotly_chart(
        charts.slope_figure(lines), key="compare_slope", config=charts.CONFIG, alt=lines.finding
    )


def table(made: Pair) -> None:
    """Draw every chunk of either list as a row, with a download."""
    rows = change_table(made.left, made.right, made.comparison)
    detail = [name for name in rows.columns if name.startswith(t("End with"))]
    show_table(rows.drop(columns=[*detail, t("Evidence key")]), CHANGE_WIDTHS)
    download(rows, "ranklens-compare.csv")
