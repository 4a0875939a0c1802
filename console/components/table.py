"""A table as every page shows it.

In: a `DataFrame` of `present`. Out: drawing; missing cells as a dash; long tables scroll inside.
"""

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

import pandas as pd
import streamlit as st
from streamlit.column_config import Column, NumberColumn
from streamlit.elements.lib.column_types import ColumnConfig

from console.present.tables import SCORE_FORMATS, csv
from console.present.units import MISSING
from console.texts import t

_ROW_PIXELS = 35
_TALL_PIXELS = 520
_NARROW_PIXELS = 62
NO_WIDTHS: Final[Mapping[str, int]] = MappingProxyType({})


def table(
    rows: pd.DataFrame, widths: Mapping[str, int] = NO_WIDTHS, *, most_pixels: int = _TALL_PIXELS
) -> None:
    """Draw a table without its index; `widths` in pixels by column name, a long one scrolls inside."""
    st.dataframe(
        rows,
        hide_index=True,
        placeholder=MISSING,
        height=_height(rows, most_pixels),
        column_config=_columns(rows, widths),
    )


def selectable_table(
    rows: pd.DataFrame, key: str, identities: Sequence[str], widths: Mapping[str, int] = NO_WIDTHS
) -> int | None:
    """Draw a table of which one row can be chosen; return its position, None when none is.

    A choice is kept by position, so it is dropped when `identities`, one of each row, change: else what
    moved up would stand chosen in place of what was deleted.
    """
    listed = hashlib.sha256("\n".join(identities).encode()).hexdigest()
    chosen = st.dataframe(
        rows,
        hide_index=True,
        placeholder=MISSING,
        height=_height(rows, _TALL_PIXELS),
        column_config=_columns(rows, widths),
        key=f"{key}_{listed}",
        on_select="rerun",
        selection_mode="single-row",
    )
    places = [place for place in chosen.selection.rows if place < len(rows)]
    return places[0] if places else None


def _columns(rows: pd.DataFrame, widths: Mapping[str, int]) -> dict[str, ColumnConfig]:
    """Give numbers little room, so that a table fits a narrow window without scrolling sideways."""
    numeric = {name for name in rows.columns if pd.api.types.is_numeric_dtype(rows[name])}
    pixels = {t(name): width for name, width in widths.items()} | dict.fromkeys(numeric, _NARROW_PIXELS)
    formats = {t(name): form for name, form in SCORE_FORMATS.items()}
    return {
        name: NumberColumn(width=pixels[name], format=formats[name])
        if name in formats
        else Column(width=pixels[name])
        for name in rows.columns
        if name in pixels
    }


def _height(rows: pd.DataFrame, most_pixels: int) -> int | Literal["content"]:
    return "content" if (len(rows) + 1) * _ROW_PIXELS <= most_pixels else most_pixels


def download(rows: pd.DataFrame, file_name: str) -> None:
    """Offer a table as CSV."""
    st.download_button(
        t("Download as CSV"),
        data=csv(rows),
        file_name=file_name,
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
