from pathlib import Path

import numpy as np

from core.adapters.embedders import open_embedder
from core.settings import EmbeddingSettings


def test_opening_touches_nothing_until_a_value_is_asked_for(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    embedder, _counter = open_embedder(EmbeddingSettings(), data_dir)
    embedder.close()
    assert not data_dir.exists()


def test_a_folder_is_embedded_counted_and_remembered(tiny_folder: Path, tmp_path: Path) -> None:
    settings = EmbeddingSettings(model=str(tiny_folder), batch_size=4)
    embedder, counter = open_embedder(settings, tmp_path / "data")
    first = embedder.embed_passages(["a", "b 数据"])
    embedder.close()
    again, _ = open_embedder(settings, tmp_path / "data")
    assert np.array_equal(again.embed_passages(["a", "b 数据"]), first)
    again.close()
    assert counter.count(["b 数据"]) == [4]  # ▁ b ▁ 数据
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["vectors.db"]
