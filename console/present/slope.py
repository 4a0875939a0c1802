"""How fusion carries chunks from the two routes into one list: the lines of the slope chart.

In: a `LookupResult` that fused. Out: lines with a rank on each axis, None where the axis lacks the
chunk. Invariant: what reaches the agent is always among the lines; the others fill up to the most.
"""

from dataclasses import dataclass
from enum import StrEnum

from console.present.hits import heading_characters, place_of, title_of
from console.present.ledger import LedgerRow, ledger_rows
from console.texts import counted, t
from core.model.identity import evidence_key
from core.model.lookup import LookupResult, Stage
from core.model.search import RouteState, SearchHit

MOST_LINES = 20
_EXCERPT_CHARACTERS = 160


class Origin(StrEnum):
    """Which routes found a chunk."""

    BOTH = "both"
    DENSE_ONLY = "dense"
    SPARSE_ONLY = "sparse"


@dataclass(frozen=True, slots=True)
class SlopeLine:
    """One chunk; ranks from 1, None where the list does not hold it."""

    evidence_key: str
    name: str
    place: str
    excerpt: str
    dense: int | None
    fused: int | None
    sparse: int | None
    origin: Origin
    kept: bool


@dataclass(frozen=True, slots=True)
class Slope:
    """The lines, kept ones last so that they are drawn on top, and what they show in one sentence."""

    lines: tuple[SlopeLine, ...]
    limit: int
    finding: str


def slope(result: LookupResult) -> Slope | None:
    """Make the lines of a lookup; None when nothing was fused."""
    response = result.retrieval.chosen.response
    if response.fused.state is not RouteState.OK:
        return None
    hits = {evidence_key(entry.hit): entry.hit for entry in result.ledger}
    lines = [
        _line(row, hits[row.evidence_key])
        for row in ledger_rows(result)
        if row.end not in (Stage.DEDUP, Stage.RETRIEVE)
    ]
    kept = [line for line in lines if line.kept]
    rest = sorted((line for line in lines if not line.kept), key=_nearest)[: max(0, MOST_LINES - len(kept))]
    return Slope(lines=(*reversed(rest), *kept), limit=response.fused.limit, finding=finding(kept))


def _line(row: LedgerRow, hit: SearchHit) -> SlopeLine:
    dense, sparse = row.dense, row.sparse
    origin = Origin.BOTH
    if sparse is None:
        origin = Origin.DENSE_ONLY
    elif dense is None:
        origin = Origin.SPARSE_ONLY
    return SlopeLine(
        evidence_key=row.evidence_key,
        name=title_of(hit),
        place=place_of(hit),
        excerpt=" ".join(hit.content[heading_characters(hit) :].split())[:_EXCERPT_CHARACTERS],
        dense=dense.rank if dense else None,
        fused=row.fused.rank if row.fused else None,
        sparse=sparse.rank if sparse else None,
        origin=origin,
        kept=row.end is Stage.KEPT,
    )


def _nearest(line: SlopeLine) -> int:
    """Order by the best rank on any axis."""
    return min(rank for rank in (line.fused, line.dense, line.sparse, 10**6) if rank is not None)


def finding(kept: list[SlopeLine]) -> str:
    """Say what fusion did for the chunks that reach the agent: n lines, so dense alone ends at rank n."""
    if not kept:
        return t("No chunk reaches the agent")
    total = counted("{count} chunk", "{count} chunks", len(kept))
    unseen = sum(line.origin is Origin.SPARSE_ONLY for line in kept)
    lifted = sum(line.dense is not None and line.dense > len(kept) for line in kept)
    if unseen and lifted:
        text = t("BM25 brings {unseen} of {total} to the agent and lifts {lifted} from below dense #{last}")
    elif unseen:
        text = t("BM25 brings {unseen} of {total} to the agent; dense does not find them")
    elif lifted:
        text = t("Fusion lifts {lifted} of {total} to the agent from below dense #{last}")
    else:
        text = t("Dense alone has all {total} for the agent at its top; fusion only orders them")
    return text.format(unseen=unseen, lifted=lifted, total=total, last=len(kept))
