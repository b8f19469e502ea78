from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from snellen import microworld
from snellen.collection import ClassFolders
from snellen.errors import BadInput
from snellen.tools.calls import ToolCall
from snellen.tools.samples import SELECTS, FolderSource, SampleSelection, SampleSource, Selected, WorldSource, select
from snellen.tools.transforms import apply

WORLD = WorldSource(microworld, title="microworld")


@pytest.fixture
def folder(tmp_path: Path) -> FolderSource:
    for name, shade in (("dog", 10), ("polar_bear", 90), ("car", 170)):
        (tmp_path / name).mkdir()
        for number in range(3):
            PIL.Image.new("RGB", (30, 20), (shade, number, 0)).save(tmp_path / name / f"{number}.png")
    (tmp_path / "dog" / "broken.png").write_bytes(b"no picture")
    (tmp_path / "empty").mkdir()
    groups: Callable[[str], list[str]] = lambda name: ["cat", "dog", "polar bear"] if name == "animals" else []  # noqa: E731
    return FolderSource(ClassFolders(tmp_path, open_picture=lambda data, name: _opened(data)), groups=groups)


def _opened(data: bytes) -> PIL.Image.Image:
    import io

    try:
        return PIL.Image.open(io.BytesIO(data)).convert("RGB")
    except OSError as error:
        raise BadInput(str(error)) from error


def chosen(
    name: str = "TextToImageRetrieval",
    *,
    seed: str = "s",
    retrieval: SampleSource | None = WORLD,
    generation: SampleSource | None = WORLD,
    **arguments: str,
) -> Selected:
    return select(ToolCall(name=name, arguments=arguments), SampleSelection(seed, retrieval, generation))


def test_the_same_seed_gives_the_same_picture(folder: FolderSource) -> None:
    for source in (WORLD, folder):
        one, same, other = (chosen(class_name="dog", retrieval=source, seed=seed) for seed in ("1", "1", "2"))
        assert one.picture.tobytes() == same.picture.tobytes()
        assert one.class_name == same.class_name == other.class_name == "dog"
    assert chosen(class_name="dog", seed="1").picture.tobytes() != chosen(class_name="dog", seed="2").picture.tobytes()


def test_groups_and_any_class_give_single_classes(folder: FolderSource) -> None:
    birds = {chosen(class_name="birds", seed=str(n)).class_name for n in range(40)}
    assert 3 < len(birds) <= len(microworld.members("birds"))
    assert birds <= set(microworld.members("a bird"))
    assert len({chosen(class_name="random", seed=str(n)).class_name for n in range(40)}) > 20
    seen = {chosen(class_name="animals", seed=str(n), retrieval=folder).class_name for n in range(30)}
    assert seen == {"dog", "polar bear"}


def test_styles_and_weathers_keep_what_is_shown() -> None:
    plain = chosen(class_name="random")
    sketched = chosen(class_name="random", image_type="pencil sketch")
    assert plain.class_name == sketched.class_name
    style = ToolCall(name="EditImageStyle", arguments={"style": "sketch"})
    assert apply(style, plain.picture, "s", plain.studio).tobytes() == sketched.picture.tobytes()
    snow = ToolCall(name="EditImageWeather", arguments={"weather": "snow"})
    assert apply(snow, plain.picture, "s", plain.studio).tobytes() != plain.picture.tobytes()


def test_a_studio_has_other_pictures_and_things_to_paste() -> None:
    selected = chosen(class_name="dog")
    for name in ("ApplyMixUp", "ApplyCutMix", "PasteGeneratedObjectAtRandomPosition"):
        changed = apply(ToolCall(name=name), selected.picture, "s", selected.studio)
        assert changed.tobytes() != selected.picture.tobytes()
    assert selected.studio is not None
    thing = selected.studio.cut_out("cat", 40, np.random.default_rng(1))
    assert (thing.mode, thing.size) == ("RGBA", (40, 40))
    assert thing.getpixel((0, 0))[3] == 0  # type: ignore[index]


def test_what_cannot_be_retrieved_is_generated(folder: FolderSource) -> None:
    assert chosen(class_name="dog", retrieval=folder).origin.endswith(".png")
    assert chosen(class_name="violin", retrieval=folder).origin == "microworld"
    assert chosen(class_name="dog", image_type="sketch", retrieval=folder).origin == "microworld"
    assert chosen(class_name="dog", retrieval=None).origin == "microworld"
    assert chosen("TextToImageGeneration", class_name="dog", retrieval=folder).origin == "microworld"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"class_name": "unicron"}, "no class 'unicron'"),
        ({"class_name": "elefant"}, "Did you mean elephant"),
        ({"class_name": "dog", "image_type": "fresco"}, "no style 'fresco': there are flat"),
        ({"class_name": ""}, "class_name"),
        ({"class_name": "x" * 500}, "class_name"),
        ({}, "class_name: field required"),
        ({"class_name": "dog", "seed": "1"}, "seed: extra inputs"),
    ],
)
def test_what_there_is_not_is_said(arguments: dict[str, str], told: str) -> None:
    with pytest.raises(BadInput) as refused:
        select(ToolCall(name="TextToImageRetrieval", arguments=arguments), SampleSelection("s", WORLD, WORLD))
    assert told in str(refused.value)


def test_a_folder_alone_says_what_it_lacks(folder: FolderSource) -> None:
    for arguments, told in (
        ({"class_name": "violin"}, "no pictures of 'violin': there are car, dog, empty, polar bear"),
        ({"class_name": "empty"}, "no pictures of 'empty'"),
        ({"class_name": "dog", "image_type": "sketch"}, "of the type 'sketch'"),
    ):
        with pytest.raises(BadInput, match=told):
            chosen(retrieval=folder, generation=None, **arguments)
    with pytest.raises(BadInput, match="Nothing here generates"):
        chosen("TextToImageGeneration", class_name="dog", generation=None)
    selected = chosen(class_name="dog", retrieval=folder, generation=None)
    assert apply(ToolCall(name="ApplyMixUp"), selected.picture, "s", selected.studio).size == (30, 20)
    with pytest.raises(BadInput, match="cannot be made 'sketch'"):
        apply(ToolCall(name="EditImageStyle", arguments={"style": "sketch"}), selected.picture, "s", selected.studio)


def test_the_catalogue_tells_what_each_tool_selects() -> None:
    assert "TextToImageRetrieval(class_name, image_type='photo')\nRetrieve a picture" in str(SELECTS)
