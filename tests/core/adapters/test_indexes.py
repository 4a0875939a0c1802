import pytest

from core.adapters.indexes import DenseIndex, choose_index, search_parameters
from core.errors import StoreError


@pytest.mark.parametrize(
    ("setting", "rows", "expected"),
    [
        ("auto", 0, DenseIndex("FLAT")),
        ("auto", 50_000, DenseIndex("FLAT")),
        ("auto", 50_001, DenseIndex("HNSW", {"M": 16, "efConstruction": 200})),
        ("FLAT", 90_000, DenseIndex("FLAT")),
        ("AUTOINDEX", 5, DenseIndex("AUTOINDEX")),
        ("IVF_FLAT", 0, DenseIndex("IVF_FLAT", {"nlist": 1})),
        ("IVF_FLAT", 10_000, DenseIndex("IVF_FLAT", {"nlist": 400})),
    ],
)
def test_the_index_follows_the_setting_and_the_row_count(
    setting: str, rows: int, expected: DenseIndex
) -> None:
    assert choose_index(setting, rows) == expected


def test_an_unknown_index_is_named_with_the_known_ones() -> None:
    with pytest.raises(StoreError, match=r"'FLATT'.*auto, FLAT, HNSW"):
        choose_index("FLATT", 1)


def test_a_filter_makes_ivf_probe_every_list() -> None:
    assert search_parameters("IVF_FLAT", 41, 20, filtered=True) == {"nprobe": 41}
    assert search_parameters("IVF_FLAT", 41, 20, filtered=False) == {"nprobe": 21}


def test_hnsw_looks_at_more_candidates_than_it_returns() -> None:
    assert search_parameters("HNSW", 0, 20, filtered=True) == {"ef": 64}
    assert search_parameters("HNSW", 0, 1000, filtered=False) == {"ef": 2000}
    assert search_parameters("FLAT", 0, 20, filtered=True) == {}
