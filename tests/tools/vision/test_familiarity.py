from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from snellen.models.vision.familiarity import Familiarity, Statistics, fit, read
from snellen.profiles import SnellenError, load_profile
from snellen.tools.vision import Models


def _world(count: int, seed: int, width: int = 24) -> np.ndarray:
    """Samples that vary much in some directions and little in others."""
    random = np.random.default_rng(seed)
    spread = np.geomspace(3.0, 0.05, width)
    return (random.normal(size=(count, width)) * spread + 1.0).astype(np.float32)


@pytest.fixture
def statistics(tmp_path: Path) -> Statistics:
    return fit(_world(600, 1), tmp_path / "world.safetensors", held_out=_world(400, 2), quantile=0.99)


def test_the_quantile_of_held_out_pictures_is_familiar(statistics: Statistics) -> None:
    distances = statistics.distances(_world(2000, 3))
    assert 0.97 <= np.mean(distances <= statistics.threshold) <= 1.0
    assert np.mean(distances) == pytest.approx(1.0, abs=0.2)


def test_a_shift_in_a_quiet_direction_is_unfamiliar(statistics: Statistics) -> None:
    loud, quiet = np.ones((2, 24), dtype=np.float32)
    loud[0] += 1.5  # half a standard deviation there
    quiet[-1] += 1.5  # thirty of them here
    assert statistics.score(loud).familiar
    assert not statistics.score(quiet).familiar


def test_a_file_gives_back_what_was_fitted(statistics: Statistics, tmp_path: Path) -> None:
    again = read(tmp_path / "world.safetensors")
    np.testing.assert_array_equal(again.mean, statistics.mean)
    np.testing.assert_array_equal(again.whitening, statistics.whitening)
    assert again.threshold == statistics.threshold
    assert read(tmp_path / "world.safetensors", threshold=7.5).threshold == 7.5


def test_fewer_pictures_than_features_still_give_finite_distances(tmp_path: Path) -> None:
    statistics = fit(_world(10, 1), tmp_path / "small.safetensors", held_out=_world(5, 2))
    assert np.isfinite(statistics.distances(_world(20, 3))).all()


def test_equal_pictures_still_give_finite_distances(tmp_path: Path) -> None:
    statistics = fit(np.ones((9, 4)), tmp_path / "flat.safetensors", held_out=np.ones((2, 4)))
    assert statistics.distances(np.ones((1, 4))) == pytest.approx(0.0)


def test_held_out_pictures_are_needed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="held-out"):
        fit(_world(10, 1), tmp_path / "none.safetensors", held_out=_world(0, 2))


@pytest.mark.parametrize("content", [None, b"", b"not a safetensors file"])
def test_a_broken_file_is_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "broken.safetensors"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SnellenError, match=r"broken\.safetensors cannot be read"):
        read(file)


def test_the_warning_names_the_remedy() -> None:
    warning = Familiarity(9.0, 2.0).warning("embedded")
    assert warning is not None
    assert "the profile hub" in warning
    assert Familiarity(1.0, 2.0).warning("embedded") is None


def test_models_judge_pictures_by_the_profile(
    hub_folders: Path, tmp_path: Path, noise: Callable[[int], PIL.Image.Image]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        f'extends = "hub"\ndevice = "cpu"\n[models.clip]\nfolder = "{hub_folders / "clip"}"\n'
        '[familiarity]\nfile = "world.safetensors"\n'
    )
    models = Models(load_profile(file))
    features = models.appearances([noise(number) for number in range(24)])
    fit(features[:16], tmp_path / "world.safetensors", held_out=features[16:], quantile=1.0)
    flat = PIL.Image.new("RGB", (80, 80), (250, 0, 250))
    assert models.warning(noise(20)) is None
    warning = models.warning(flat)
    assert warning is not None
    assert "'mine'" in warning


def test_statistics_of_another_checkpoint_are_refused(
    hub_folders: Path, tmp_path: Path, noise: Callable[[int], PIL.Image.Image]
) -> None:
    fit(_world(60, 1), tmp_path / "world.safetensors", held_out=_world(40, 2))
    text = f'extends = "embedded"\n[models.clip]\nfolder = "{hub_folders / "clip"}"\n[familiarity]\nfile = '
    (tmp_path / "other.toml").write_text(f'{text}"world.safetensors"\n')
    with pytest.raises(SnellenError, match="fitted with another CLIP checkpoint"):
        Models(load_profile(tmp_path / "other.toml")).familiarity(noise(1))
    (tmp_path / "silent.toml").write_text(f'{text}""\n')
    assert Models(load_profile(tmp_path / "silent.toml")).familiarity(noise(1)) is None


def test_without_statistics_nothing_is_said(hub_models: Models, noise: Callable[[int], PIL.Image.Image]) -> None:
    assert hub_models.familiarity(noise(1)) is None
    assert hub_models.warning(noise(1)) is None
