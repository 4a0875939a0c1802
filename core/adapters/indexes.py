"""Which dense index a build gets, and how it is searched.

In: the setting and a number of rows. Out: index type and parameters. Invariant: a filtered search
never misses rows because of too few probes.

Why: with 128 lists and the default number of probes, IVF_FLAT found 1.4 of 5 rows behind a
category filter, which looks like an empty category. So lists follow the row count, half of them are
probed, and all of them behind a filter.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.errors import StoreError

FLAT_UP_TO_ROWS = 50_000
INDEX_SETTINGS = ("auto", "FLAT", "HNSW", "IVF_FLAT", "AUTOINDEX")
METRICS = ("COSINE", "IP", "L2")


@dataclass(frozen=True, slots=True)
class DenseIndex:
    """A dense index as it is created."""

    index_type: str
    parameters: Mapping[str, int] = field(default_factory=dict)


def choose_index(setting: str, expected_rows: int) -> DenseIndex:
    """Choose the dense index of a build.

    Args:
        setting: one of `INDEX_SETTINGS`; `auto` is FLAT to 50,000 rows and HNSW above.
        expected_rows: how many rows the build will hold.

    Raises:
        StoreError: the setting is unknown.
    """
    if setting not in INDEX_SETTINGS:
        raise StoreError(
            f"milvus.index is {setting!r}; it must be one of {', '.join(INDEX_SETTINGS)}. "
            "Correct the setting."
        )
    chosen = setting
    if setting == "auto":
        chosen = "FLAT" if expected_rows <= FLAT_UP_TO_ROWS else "HNSW"
    if chosen == "HNSW":
        return DenseIndex(chosen, {"M": 16, "efConstruction": 200})
    if chosen == "IVF_FLAT":
        return DenseIndex(chosen, {"nlist": max(1, min(65_536, round(4 * math.sqrt(expected_rows))))})
    return DenseIndex(chosen)


def search_parameters(index_type: str, lists: int, limit: int, *, filtered: bool) -> dict[str, int]:
    """Return the parameters of one search.

    Args:
        index_type: of the stored index.
        lists: `nlist` of a stored IVF_FLAT index.
        limit: hits asked for.
        filtered: the search has a filter.
    """
    if index_type == "HNSW":
        return {"ef": max(64, 2 * limit)}
    if index_type == "IVF_FLAT":
        return {"nprobe": lists if filtered else max(1, math.ceil(lists / 2))}
    return {}
