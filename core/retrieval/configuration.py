"""Everything that shapes a lookup beside the question and the base, in one frozen value.

In: settings, or a person's choices on a page. Out: a `Configuration` whose hash is shown beside
every result. Invariant: two lookups with equal hashes on one build give equal results.
"""

import hashlib
import json
import unicodedata
from dataclasses import asdict, dataclass

from core.errors import RequestInvalid
from core.model.lookup import FilterPolicy
from core.model.search import Ranker, SearchMode, SearchRequest
from core.retrieval.levels import Thresholds


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings of one lookup.

    Attributes:
        category: the category asked for, trimmed and in NFC as it is stored; None asks all.
        kb_scope: the knowledge base asked, likewise; None asks all. It never relaxes.
        return_n: most hits that refining keeps, 1 to `retrieve_k`.
        max_chunks_per_document: at least 1.
        context_budget_characters: most code points that packing uses.
        navigate: let the words of the query set the category when none is asked for.
        domains_hash: names the domain dictionary in use, since its words shape levels and order even
            without `navigate`; "" without one. `lookup_knowledge` fills it in.
        fine_order_places: most places that a hit moves up because its title or breadcrumb holds a term
            of the query; 0 leaves the order as it is.

    Raises:
        RequestInvalid: a number is outside its range, or a name is blank.
    """

    thresholds: Thresholds
    mode: SearchMode = SearchMode.HYBRID
    retrieve_k: int = 20
    ranker: Ranker = Ranker.RRF
    rrf_k: int = 60
    weight_dense: float = 1.0
    weight_sparse: float = 0.8
    policy: FilterPolicy = FilterPolicy.FALLBACK
    retry_unfiltered_on_low_quality: bool = True
    category: str | None = None
    kb_scope: str | None = None
    return_n: int = 5
    max_chunks_per_document: int = 2
    context_budget_characters: int = 6000
    navigate: bool = False
    domains_hash: str = ""
    fine_order_places: int = 0

    def __post_init__(self) -> None:
        for name, value in (("category", self.category), ("kb_scope", self.kb_scope)):
            object.__setattr__(self, name, _clean_name(name, value))
        self.request("any", category_filter=None)  # refuses what a search would refuse
        if not 1 <= self.return_n <= self.retrieve_k:
            raise RequestInvalid(
                f"return_n is {self.return_n}; it must lie between 1 and retrieve_k ({self.retrieve_k})."
            )
        if self.max_chunks_per_document < 1:
            raise RequestInvalid(
                f"max_chunks_per_document is {self.max_chunks_per_document}; it must be at least 1."
            )
        if self.context_budget_characters < 1:
            raise RequestInvalid(
                f"context_budget_characters is {self.context_budget_characters}; it must be at least 1."
            )
        if self.fine_order_places < 0:
            raise RequestInvalid(f"fine_order_places is {self.fine_order_places}; it must be at least 0.")

    @property
    def hash(self) -> str:
        """12 hex digits over every value."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()[:12]

    def request(self, query: str, *, category_filter: str | None) -> SearchRequest:
        """Make the request for one attempt.

        Raises:
            RequestInvalid: the query or a number is outside its range.
        """
        return SearchRequest(
            query=query,
            mode=self.mode,
            retrieve_k=self.retrieve_k,
            ranker=self.ranker,
            rrf_k=self.rrf_k,
            weight_dense=self.weight_dense,
            weight_sparse=self.weight_sparse,
            category_filter=category_filter,
            kb_scope=self.kb_scope,
        )


def _clean_name(name: str, value: str | None) -> str | None:
    """Bring a name to the form it is stored in; a blank one is a fault, or it would pass for none."""
    if value is None:
        return None
    clean = unicodedata.normalize("NFC", value).strip()
    if not clean:
        raise RequestInvalid(f"{name} is blank. Name one, or leave it out to ask all.")
    return clean
