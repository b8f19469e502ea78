from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import PIL.Image
import pytest

import snellen.tools.editing.replace as replace_tool
from snellen.models import loading
from snellen.profiles import Profile, SnellenError, load_profile
from snellen.tools.registry import ToolContext
from snellen.tools.vision import Models, segment
from snellen.values import Picture, PictureStore, Region

PICTURE = PIL.Image.new("RGB", (40, 30), "white")


def _profile(folder: Path, text: str) -> Profile:
    file = folder / "mine.toml"
    file.write_text(text)
    return load_profile(file)


def _context(pictures: PictureStore, models: Models) -> ToolContext:
    return ToolContext(pictures, models, lambda _query, _max, _candidates: [], models.profile)


def test_replace_of_a_profile_without_a_painter_names_the_missing_key(pictures: PictureStore, tmp_path: Path) -> None:
    models = Models(_profile(tmp_path, 'name = "bare"\n'))
    for regions in ([], [Region((0, 0, 9, 9), 1.0)]):
        with pytest.raises(SnellenError, match=r"\[models\.replace\] in .*mine\.toml"):
            replace_tool.replace(_context(pictures, models), pictures.put(PICTURE), regions, "a cat")


def test_a_tool_without_models_says_so() -> None:
    context = ToolContext(None, None, lambda _query, _max, _candidates: [], None)  # type: ignore[arg-type]
    with pytest.raises(SnellenError, match="without models"):
        segment.segment(context, Picture("0", 1, 1))


def test_a_missing_folder_names_the_profile_key(tmp_path: Path) -> None:
    profile = _profile(tmp_path, 'extends = "embedded"\n[models.clip]\nfolder = "nowhere"\n')
    with pytest.raises(SnellenError, match=r"nowhere does not exist: it is models\.clip\.folder in .*mine\.toml"):
        Models(profile).similarity([PICTURE], ["a dog"])


def test_an_empty_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    profile = _profile(tmp_path, 'extends = "embedded"\n[models.clip]\nfolder = "empty"\n')
    with pytest.raises(SnellenError, match=r"models\.clip in .* cannot be loaded from .*empty") as caught:
        Models(profile).similarity([PICTURE], ["a dog"])
    assert "\n" not in str(caught.value)


def test_a_truncated_checkpoint_is_one_sentence(tmp_path: Path, hub_folders: Path) -> None:
    broken = tmp_path / "clip"
    broken.mkdir()
    for file in (hub_folders / "clip").iterdir():
        content = file.read_bytes()
        (broken / file.name).write_bytes(content[: len(content) // 2] if file.suffix == ".safetensors" else content)
    profile = _profile(tmp_path, 'extends = "embedded"\n[models.clip]\nfolder = "clip"\n')
    with pytest.raises(SnellenError, match=r"models\.clip in .* cannot be loaded"):
        Models(profile).similarity([PICTURE], ["a dog"])


def test_weights_that_no_file_holds_are_refused(tmp_path: Path, hub_folders: Path) -> None:
    # A caption checkpoint read as an image-text matcher would leave the matching head random.
    profile = _profile(tmp_path, f'extends = "embedded"\n[models.match]\nfolder = "{hub_folders / "caption"}"\n')
    with pytest.raises(SnellenError, match="weights of BlipForImageTextRetrieval are missing, such as itm_head"):
        Models(profile).match([PICTURE], ["a dog"])


def test_one_folder_may_hold_the_weights_of_several_classes(tmp_path: Path, hub_folders: Path) -> None:
    from safetensors.torch import load_file, save_file

    union = tmp_path / "blip"
    union.mkdir()
    weights: dict[str, object] = {}
    for key in ("vqa", "caption", "match"):
        weights |= load_file(hub_folders / key / "model.safetensors")
        for file in (hub_folders / key).glob("*.json"):
            (union / file.name).write_bytes(file.read_bytes())
    save_file(weights, union / "model.safetensors", metadata={"format": "pt"})
    entries = "".join(f'[models.{key}]\nfolder = "blip"\n' for key in ("vqa", "caption", "match"))
    models = Models(_profile(tmp_path, f'extends = "hub"\ndevice = "cpu"\n{entries}'))
    assert models.answer([PICTURE], ["is there a dog ?"])
    assert models.caption([PICTURE])
    assert 0 <= models.match([PICTURE], ["a dog"])[0] <= 1


def test_half_precision_weights_are_read_in_the_precision_of_the_profile(tmp_path: Path, hub_folders: Path) -> None:
    import torch
    from transformers import CLIPModel

    folder = tmp_path / "clip"
    CLIPModel.from_pretrained(hub_folders / "clip").half().save_pretrained(folder)
    for file in (hub_folders / "clip").glob("*.json"):
        if file.name != "config.json":
            (folder / file.name).write_bytes(file.read_bytes())
    assert json.loads((folder / "config.json").read_text())["dtype"] == "float16"
    models = Models(_profile(tmp_path, 'extends = "embedded"\n[models.clip]\nfolder = "clip"\n'))
    models.similarity([PICTURE], ["a dog"])
    assert models.encoder().checkpoint.model.dtype == torch.float32


def test_threads_that_start_together_load_one_model(hub_profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    load = loading.load_checkpoint

    def counted(profile: Profile, key: str) -> object:
        loads.append(key)
        return load(profile, key)

    monkeypatch.setattr("snellen.models.vision.similarity.load_checkpoint", counted)
    models = Models(hub_profile)
    start = threading.Barrier(4)

    def one(_: int) -> object:
        start.wait()
        return models.similarity([PICTURE], ["a dog"])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(4)))
    assert loads == ["clip"]


@pytest.mark.parametrize(
    ("environment", "remedy"),
    [
        ({"HF_HUB_OFFLINE": "1"}, "unset HF_HUB_OFFLINE to download it, or set models.match.folder"),
        # A port of this machine that nobody listens on: the network is there, the hub is not.
        ({"HF_ENDPOINT": "http://127.0.0.1:9"}, "check the network and the id, or set models.match.folder"),
    ],
)
def test_an_id_that_cannot_be_downloaded_names_key_and_remedy(
    tmp_path: Path, environment: dict[str, str], remedy: str
) -> None:
    program = (
        "import PIL.Image\n"
        "from snellen.profiles import SnellenError, load_profile\nfrom snellen.tools.vision import Models\n"
        "try:\n    Models(load_profile('hub')).match([PIL.Image.new('RGB', (9, 9))], ['a dog'])\n"
        "except SnellenError as error:\n    print('SENTENCE', error)\n"
    )
    clean = {name: value for name, value in os.environ.items() if name not in {"HF_HUB_OFFLINE", "HF_ENDPOINT"}}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=Path(__file__).parents[3],
        env=clean | environment | {"HF_HOME": str(tmp_path)},
    )
    sentences = [line for line in done.stdout.splitlines() if line.startswith("SENTENCE")]
    assert len(sentences) == 1
    assert "models.match in" in sentences[0]
    assert "Salesforce/blip-itm-base-coco" in sentences[0]
    assert remedy in sentences[0]
    assert "Traceback" not in done.stderr


def test_cuda_on_a_machine_without_it_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    (tmp_path / "clip").mkdir()
    profile = _profile(tmp_path, 'extends = "embedded"\ndevice = "cuda"\n[models.clip]\nfolder = "clip"\n')
    with pytest.raises(SnellenError, match="no CUDA device"):
        Models(profile).similarity([PICTURE], ["a dog"])


def test_importing_the_tools_imports_no_model_library() -> None:
    program = (
        "import sys\nfrom snellen.tools.registry import catalogue\ncatalogue()\n"
        "print([name for name in ('torch', 'transformers', 'diffusers', 'faiss') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert done.stdout.strip() == "[]"
