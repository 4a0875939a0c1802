"""The tables `[retrieval.*]` of `ranklens.toml`, and what every table of it is made of.

In: the values of one table. Out: a frozen section. Invariant: a value outside its range, or a name that
does not exist, is a fault.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.model.lookup import FilterPolicy
from core.model.search import MAX_RETRIEVE_K, Ranker, SearchMode

Cosine = Annotated[float, Field(ge=-1.0, le=1.0)]
Weight = Annotated[float, Field(ge=0.0, le=1.0)]
Margin = Annotated[float, Field(ge=-100.0, le=100.0)]


class Section(BaseModel):
    """A table of the file: frozen, and an unknown name in it is a fault."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SearchSettings(Section):
    """`dense` is the way back when hybrid search is in doubt."""

    mode: SearchMode = SearchMode.HYBRID


class HybridSettings(Section):
    """How the server fuses."""

    ranker: Ranker = Ranker.RRF
    rrf_k: Annotated[int, Field(ge=1, le=16384)] = 60
    weight_dense: Weight = 1.0
    weight_sparse: Weight = 0.8


class FilterSettings(Section):
    """What happens when a category filter gives poor results."""

    policy: FilterPolicy = FilterPolicy.FALLBACK
    retry_unfiltered_on_low_quality: bool = True


class NormalizationSettings(Section):
    """Cuts of the levels; None takes the shipped calibration of the embedding model.

    Thresholds are cosines, margins standard deviations above the query's background.
    """

    reference_threshold: Cosine | None = None
    precise_threshold: Cosine | None = None
    related_margin: Margin | None = None
    precise_margin: Margin | None = None

    @model_validator(mode="after")
    def _precise_is_not_lower(self) -> "NormalizationSettings":
        reference, precise = self.reference_threshold, self.precise_threshold
        if reference is not None and precise is not None and precise < reference:
            raise ValueError(
                f"precise_threshold is {precise}; it must be at least reference_threshold ({reference})"
            )
        return self


class NavigationSettings(Section):
    """The domain dictionary, a file of categories with their words; "" for none.

    Its words count as exact terms in any case. `enabled` lets those of a query set its category when none
    is asked for.
    """

    domains: str = ""
    enabled: bool = False

    @model_validator(mode="after")
    def _enabled_has_a_dictionary(self) -> "NavigationSettings":
        if self.enabled and not self.domains:
            raise ValueError("enabled is true, so domains must name the file of a domain dictionary")
        return self


class FineOrderSettings(Section):
    """How far a hit moves up when its title or breadcrumb holds an exact term of the query; 0 is off."""

    places: Annotated[int, Field(ge=0, le=MAX_RETRIEVE_K)] = 0


class RetrievalSettings(Section):
    """Everything about finding."""

    search: SearchSettings = SearchSettings()
    hybrid: HybridSettings = HybridSettings()
    filter: FilterSettings = FilterSettings()
    normalization: NormalizationSettings = NormalizationSettings()
    navigation: NavigationSettings = NavigationSettings()
    fine_order: FineOrderSettings = FineOrderSettings()
