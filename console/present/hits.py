"""One hit as it is shown: its name, its place in the document, and a badge for every route.

In: a hit and the search it came from. Out: labels. Invariant: a route without the hit says so in
words, and why (outside its limit, not asked, failed); it never shows a number.
"""

from dataclasses import dataclass

from console.present.units import bm25, cosine
from console.texts import t
from core.model.lookup import Level
from core.model.search import Route, RouteList, RouteScore, RouteState, SearchHit, SearchResponse

_BREADCRUMB_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Badge:
    """What one route says of one hit; `found` is False when it has no number there."""

    route: Route
    label: str
    found: bool


def title_of(hit: SearchHit) -> str:
    """Return the title, else the source, else a word for none."""
    return hit.title or hit.source or t("untitled")


def place_of(hit: SearchHit) -> str:
    """Return the headings that lead to the chunk, without the title; "" directly under the title."""
    breadcrumb, title = hit.breadcrumb or "", hit.title or ""
    if title and breadcrumb == title:
        return ""
    return breadcrumb.removeprefix(f"{title}{_BREADCRUMB_SEPARATOR}") if title else breadcrumb


def heading_characters(hit: SearchHit) -> int:
    """Return how many characters at the start of the content are headings that the breadcrumb shows.

    0 when the row says nothing usable, as a foreign one may, or when nothing else would be left.
    """
    count = hit.metadata.get("heading_characters")
    if type(count) is not int or not 0 <= count < len(hit.content):
        return 0
    return count


def short_key(evidence_key: str) -> str:
    """Write a chunk's key for a narrow column: its position, then its file; other keys stay whole."""
    document, mark, index = evidence_key.rpartition("#chunk-")
    return f"#{index} {document.rsplit('/', 1)[-1]}" if mark else evidence_key


def route_name(route: Route) -> str:
    """Return the name of a route as every page writes it."""
    return {Route.DENSE: t("dense"), Route.SPARSE: t("BM25"), Route.FUSED: t("fused")}[route]


def level_name(level: Level) -> str:
    """Return the name of a level."""
    return {Level.PRECISE: t("precise"), Level.RELATED: t("related"), Level.WEAK: t("weak")}[level]


def badges(hit: SearchHit, response: SearchResponse) -> tuple[Badge, ...]:
    """Return the badges of a hit: dense, BM25 and, in a search that fuses, fused."""
    found = [
        _badge(response.dense, hit.dense, cosine(hit.dense.score) if hit.dense else ""),
        _badge(response.sparse, hit.sparse, bm25(hit.sparse.score) if hit.sparse else ""),
    ]
    if response.fused.state is not RouteState.NOT_RUN:
        found.append(_badge(response.fused, hit.fused, ""))
    return tuple(found)


def _badge(asked: RouteList, score: RouteScore | None, number: str) -> Badge:
    name = route_name(asked.route)
    if score is not None:
        return Badge(asked.route, f"{name} #{score.rank} {number}".rstrip(), found=True)
    return Badge(asked.route, absence(asked), found=False)


def absence(asked: RouteList) -> str:
    """Say why a route has no number for a hit that others found."""
    name = route_name(asked.route)
    if asked.state is RouteState.NOT_RUN:
        return t("{route}: not asked").format(route=name)
    if asked.state is RouteState.FAILED:
        return t("{route}: failed").format(route=name)
    return t("{route}: not found by this route (limit {limit})").format(route=name, limit=asked.limit)
