"""The colours and shapes of the console: one meaning each, on every page.

Based on the Okabe-Ito palette, which stays apart for the common kinds of colour blindness. Every
colour is for marks (lines, bars, borders); text beside it keeps the theme's own colour, so contrast
never depends on it. Invariant: nothing is told by colour alone; a shape or a word goes with it.
"""

from enum import StrEnum
from typing import Final

from core.model.search import Route

DENSE: Final = "#0072b2"
SPARSE: Final = "#d98500"
FUSED: Final = "#aa4499"
RISE: Final = "#009e73"
FALL: Final = "#d55e00"
REST: Final = "#8b9298"
STOCK: Final = "#55758c"

ROUTE_COLOURS: Final = {Route.DENSE: DENSE, Route.SPARSE: SPARSE, Route.FUSED: FUSED}


class Move(StrEnum):
    """Where a chunk went between two lists, from the first to the second."""

    NEW = "new"
    LOST = "lost"
    UP = "up"
    DOWN = "down"
    SAME = "same"


MOVE_SHAPES: Final = {Move.NEW: "+", Move.LOST: "×", Move.UP: "▲", Move.DOWN: "▼", Move.SAME: "="}
