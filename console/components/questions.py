"""The question of a page: query and category, bound to the URL, and the examples of a first visit.

In: the services. Out: `Question`. Invariant: Compare and Evidence read the same two fields, so a
question goes along when the page changes.
"""

from dataclasses import dataclass

import streamlit as st

from console import markup
from console.present.inert import label
from console.state import Session, Url
from console.texts import t
from core.model.search import MAX_QUERY_CHARACTERS
from core.sample import EXAMPLE_QUERIES, ExampleQuery, sample_files
from core.wiring import Services

ALL = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: `query` is "" when nothing was entered; `category` None asks all."""

    query: str
    category: str | None


def question(base: Services, page: str) -> Question:
    """Draw the two fields of a page and return what they hold."""
    known = (ALL, *base.categories())
    _take_along(page)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    query = left.text_input(
        t("Query"),
        key=Url.QUERY,
        bind="query-params",
        max_chars=MAX_QUERY_CHARACTERS,
        placeholder=t("A question, an error code, a term"),
        icon=":material/search:",
    )
    category = right.selectbox(
        t("Category filter"), known, key=Url.CATEGORY, bind="query-params", format_func=category_name
    )
    return Question((query or "").strip(), category or None)


def _take_along(page: str) -> None:
    """Carry the question to another page, its address included.

    Streamlit does so for what was typed, but at the first change of page it forgets what came from the
    URL. The fields are not drawn yet, so both may still be set.
    """
    if st.session_state.get(Session.ASKED_ON) != page:
        for name in (Url.QUERY, Url.CATEGORY):
            value = st.session_state.get(name)
            if value and name not in st.query_params:
                st.session_state[name] = value
                st.query_params[name] = value
    st.session_state[Session.ASKED_ON] = page


def category_name(category: str) -> str:
    """Return a category as the selection shows it."""
    return category or t("All categories")


def examples(base: Services) -> None:
    """Offer the questions that show what this page is for, when the sample base is there to answer them."""
    names = {document.name for document in base.catalog.documents()}
    if not any(file.name in names for file in sample_files()):
        st.caption(t("Enter a query to see what each configuration finds."))
        return
    shown = [example for example in EXAMPLE_QUERIES if example.category in (None, *base.categories())]
    st.html(markup.lead(t("Ask something, or start with one of these:")))
    for place, (column, example) in enumerate(zip(st.columns(len(shown)), shown, strict=True)):
        with column, st.container(border=True, height="stretch"):
            st.html(markup.example(example.title, example.explanation))
            st.button(
                label(example.query),
                key=f"example_{place}",
                icon=":material/search:",
                on_click=ask,
                args=(example,),
                width="stretch",
            )


def ask(example: ExampleQuery) -> None:
    """Put an example into the fields."""
    st.session_state[Url.QUERY] = example.query
    st.session_state[Url.CATEGORY] = example.category or ALL
