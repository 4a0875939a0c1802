"""What one search asks and what it finds.

A `SearchRequest` goes to the store, a `RouteList` comes back from each call, and a
`SearchResponse` holds the lists of one search together. Invariants: higher scores are closer;
ranks start at 1; a route that did not return a hit has no number there (None, never 0).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.errors import RequestInvalid

MAX_RETRIEVE_K = 1000
MAX_QUERY_CHARACTERS = 2000


class SearchMode(StrEnum):
    """Dense vectors alone, or dense and BM25 fused by the server."""

    DENSE = "dense"
    HYBRID = "hybrid"


class Ranker(StrEnum):
    """How the server fuses the two routes."""

    RRF = "rrf"
    WEIGHTED = "weighted"


class Route(StrEnum):
    """The two ways a chunk can be found, and the list that fuses them."""

    DENSE = "dense"
    SPARSE = "sparse"
    FUSED = "fused"


class RouteState(StrEnum):
    """What happened on a route; failed, empty and not run are three different things."""

    OK = "ok"
    EMPTY = "empty"
    FAILED = "failed"
    NOT_RUN = "not_run"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question to the store.

    Attributes:
        query: NFKC, trimmed, 1 to 2,000 characters.
        retrieve_k: hits per route and in the fused list, 1 to 1,000.
        rrf_k: the constant of reciprocal rank fusion, at least 1; used by RRF only.
        weight_dense: in [0, 1]; used by WEIGHTED only.
        weight_sparse: in [0, 1]; used by WEIGHTED only.
        category_filter: None asks all categories.
        kb_scope: None asks all knowledge bases.

    Raises:
        RequestInvalid: a value is outside its range; the message has the value and the range.
    """

    query: str
    mode: SearchMode = SearchMode.HYBRID
    retrieve_k: int = 20
    ranker: Ranker = Ranker.RRF
    rrf_k: int = 60
    weight_dense: float = 1.0
    weight_sparse: float = 0.8
    category_filter: str | None = None
    kb_scope: str | None = None

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise RequestInvalid("The query is empty. Enter a question or a term to look for.")
        if len(self.query) > MAX_QUERY_CHARACTERS:
            raise RequestInvalid(
                f"The query has {len(self.query):,} characters; at most {MAX_QUERY_CHARACTERS:,} "
                "are allowed. Shorten it."
            )
        if not 1 <= self.retrieve_k <= MAX_RETRIEVE_K:
            raise RequestInvalid(
                f"retrieve_k is {self.retrieve_k}; it must lie between 1 and {MAX_RETRIEVE_K:,}."
            )
        if self.rrf_k < 1:
            raise RequestInvalid(f"rrf_k is {self.rrf_k}; it must be at least 1.")
        for name, weight in (
            ("weight_dense", self.weight_dense),
            ("weight_sparse", self.weight_sparse),
        ):
            if not 0.0 <= weight <= 1.0:
                raise RequestInvalid(f"{name} is {weight}; it must lie between 0 and 1.")


@dataclass(frozen=True, slots=True)
class RouteScore:
    """Where a list put a hit.

    `score` is the cosine in [-1, 1] on the dense route, BM25 >= 0 on the sparse one, and the
    server's fused score on the fused list. The three are never compared with each other.
    """

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A chunk as a search found it.

    Attributes:
        id: primary key in the store.
        doc_id: None in a foreign row that carries none.
        chunk_index: None in a foreign row that carries none.
        content: the original text of the chunk, never the embedding text.
        rank: position from 1 in the list the hit was taken from (fused in hybrid mode, else dense).
        dense: None when the dense route did not return it.
        sparse: None when BM25 did not return it, or when BM25 was not asked on its own.
        fused: None in dense mode, or when it fell outside the fused list.
    """

    id: str
    doc_id: str | None
    chunk_index: int | None
    content: str
    title: str | None
    breadcrumb: str | None
    source: str | None
    category: str
    kb_scope: str
    rank: int
    dense: RouteScore | None = None
    sparse: RouteScore | None = None
    fused: RouteScore | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RouteList:
    """The answer of one call to the store.

    Attributes:
        state: OK holds at least one hit; the others hold none.
        hits: in the order the store returned them, ranks 1..n; on the fused list equal scores are
            ordered by evidence key. Each hit carries only this route's own `RouteScore`.
        limit: how many hits were asked for.
        milliseconds: wall-clock time of the call; None when it did not run.
        reason: why it is empty, failed or was not run; "" when OK.
    """

    route: Route
    state: RouteState
    hits: tuple[SearchHit, ...] = ()
    limit: int = 0
    milliseconds: float | None = None
    reason: str = ""


class AuditVerdict(StrEnum):
    """How the server's fusion compares with the same formula computed here."""

    EQUAL = "equal"
    EQUAL_UP_TO_TIES = "equal up to ties"
    DIFFERENT = "different"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class FusionAudit:
    """The fused list recomputed from the two routes and compared with the server's.

    Attributes:
        compared: how many ranks were compared.
        first_difference: a sentence with the rank, both keys and both scores; "" when there is none.
        recomputed: evidence key to (rank, score) as computed here, also for candidates that fell
            outside the server's list.
    """

    verdict: AuditVerdict
    compared: int = 0
    first_difference: str = ""
    recomputed: Mapping[str, RouteScore] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """One search with everything that was seen on the way.

    Attributes:
        hits: the list that counts (fused in hybrid mode, else dense), best first; every hit carries
            the ranks and scores of all routes that were asked.
        dense: the dense route; in hybrid mode the probe beside the hybrid call.
        sparse: BM25 alone; NOT_RUN in dense mode and in hybrid mode without a trace.
        fused: the hybrid call; NOT_RUN in dense mode.
        audit: NOT_CHECKED unless both routes and the fused list were seen.
    """

    request: SearchRequest
    hits: tuple[SearchHit, ...]
    dense: RouteList
    sparse: RouteList
    fused: RouteList
    audit: FusionAudit
