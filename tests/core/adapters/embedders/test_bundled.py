import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.adapters.embedders import bundled
from core.adapters.embedders.bundled import bundled_model, find_weight_file, revision_of
from core.errors import EmbeddingFailed
from tests.core.adapters.embedders.quantized_material import model_file, tensors


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_weight_file_is_converted_once(
    tiny_weight_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bundled_model(tiny_weight_file, tmp_path / "models")
    assert first.folder == tmp_path / "models" / f"multilingual-e5-small-{first.revision}"
    assert len(first.revision) == 12
    monkeypatch.setattr(bundled, "write_model_folder", None)
    monkeypatch.setattr(bundled, "revision_of", None)
    assert bundled_model(tiny_weight_file, tmp_path / "models") == first


def test_the_revision_follows_the_content_and_the_conversion_but_not_the_time(
    tiny_weight_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = revision_of(tiny_weight_file)
    os.utime(tiny_weight_file, (1, 1))
    assert revision_of(tiny_weight_file) == before
    monkeypatch.setattr(bundled, "CONVERSION_VERSION", 2)
    assert revision_of(tiny_weight_file) != before
    monkeypatch.undo()
    tiny_weight_file.write_bytes(model_file(tensors(seed=2)))
    assert revision_of(tiny_weight_file) != before


def test_other_weights_of_the_same_size_get_a_folder_of_their_own(
    tiny_weight_file: Path, tmp_path: Path
) -> None:
    first = bundled_model(tiny_weight_file, tmp_path / "models")
    size = tiny_weight_file.stat().st_size
    tiny_weight_file.write_bytes(model_file(tensors(seed=2)))
    os.utime(tiny_weight_file, ns=(5, 5))
    second = bundled_model(tiny_weight_file, tmp_path / "models")
    assert tiny_weight_file.stat().st_size == size
    assert second.revision != first.revision
    assert names(tmp_path / "models") == sorted([first.folder.name, second.folder.name])


def test_the_same_weights_installed_again_use_the_folder_that_is_there(
    tiny_weight_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bundled_model(tiny_weight_file, tmp_path / "models")
    os.utime(tiny_weight_file, (1, 1))
    monkeypatch.setattr(bundled, "write_model_folder", None)
    assert bundled_model(tiny_weight_file, tmp_path / "models") == first


def test_a_conversion_that_stops_half_way_leaves_no_folder(
    tiny_weight_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(_model: object, folder: Path) -> None:
        (folder / "model.safetensors").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bundled, "write_model_folder", full_disk)
    with pytest.raises(EmbeddingFailed, match=r"No space left on device.*500 MB free"):
        bundled_model(tiny_weight_file, tmp_path / "models")
    assert names(tmp_path / "models") == []
    monkeypatch.undo()
    assert bundled_model(tiny_weight_file, tmp_path / "models").folder.is_dir()


def test_what_a_killed_conversion_left_is_never_used_and_goes_after_an_hour(
    tiny_weight_file: Path, tmp_path: Path
) -> None:
    old, young = (tmp_path / "models" / f".multilingual-e5-small-{word}" for word in ("old", "young"))
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(b"half")
    os.utime(old, (1, 1))
    made = bundled_model(tiny_weight_file, tmp_path / "models")
    assert names(tmp_path / "models") == [young.name, made.folder.name]


@pytest.mark.parametrize("damaged", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json"])
def test_a_folder_with_a_cut_or_lost_file_is_made_again(
    tiny_weight_file: Path, tmp_path: Path, damaged: str
) -> None:
    made = bundled_model(tiny_weight_file, tmp_path / "models")
    file = made.folder / damaged
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert bundled_model(tiny_weight_file, tmp_path / "models") == made
    assert file.read_bytes() == whole
    file.unlink()
    bundled_model(tiny_weight_file, tmp_path / "models")
    assert file.read_bytes() == whole
    assert names(tmp_path / "models") == [made.folder.name]


def test_a_folder_without_its_mark_is_not_trusted(tiny_weight_file: Path, tmp_path: Path) -> None:
    made = bundled_model(tiny_weight_file, tmp_path / "models")
    (made.folder / "ranklens.json").write_text("[]")
    (made.folder / "model.safetensors").write_bytes(b"")
    assert bundled_model(tiny_weight_file, tmp_path / "models") == made
    assert (made.folder / "model.safetensors").stat().st_size > 0


def test_conversions_at_the_same_time_end_in_one_whole_folder(
    tiny_weight_file: Path, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: bundled_model(tiny_weight_file, tmp_path / "models"), range(8)))
    (made,) = found
    assert names(tmp_path / "models") == [made.folder.name]


def test_a_weight_file_without_a_tensor_is_refused_by_its_name(
    tiny_weight_file: Path, tmp_path: Path
) -> None:
    content = tensors()
    del content["l0.q.w"]
    tiny_weight_file.write_bytes(model_file(content))
    with pytest.raises(EmbeddingFailed, match=r"tiny\.bin does not hold a complete model: 'l0\.q\.w'"):
        bundled_model(tiny_weight_file, tmp_path / "models")
    assert names(tmp_path / "models") == []


def test_a_data_folder_that_is_a_file_is_an_error_with_a_way_out(
    tiny_weight_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "models").write_text("")
    with pytest.raises(EmbeddingFailed, match=r"could not be unpacked into .*set data_dir to another"):
        bundled_model(tiny_weight_file, tmp_path / "models")


def test_a_missing_wheel_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "WHEEL_NAME", "a_wheel_that_nobody_has")
    assert find_weight_file() is None


def test_a_wheel_without_the_weights_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "WHEEL_NAME", "json")
    assert find_weight_file() is None
