from __future__ import annotations

import itertools
import math
import re
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from snellen.errors import BadInput, SnellenError
from snellen.microworld.drawing import draw
from snellen.microworld.scenes import recipe, sample_scene
from snellen.tools.calls import ToolCall
from snellen.tools.transforms import DATA_TYPES, TRANSFORMS, ParameterOutOfRange, apply
from snellen.tools.transforms.pixel import psnr, sharpness
from snellen.tools.transforms.transform import pixels

REQUIRED: dict[str, dict[str, Any]] = {
    "ChangeBrightness": {"brightness_factor": 1.5},
    "ChangeContrast": {"contrast_factor": 0.5},
    "EditImageStyle": {"style": "sketch"},
    "EditImageWeather": {"weather": "snowy"},
    "FlipImage": {"orientation": "vertical"},
    "OverlayColor": {"color": [255, 0, 0], "opacity": 0.5},
    "PasteGeometricShapeAtRandomPosition": {"shape": "triangle"},
    "PasteTextAtRandomPosition": {"text": "Hello, world!"},
    "RotateImage": {"angle": 30},
}
APPENDIX_A = {
    "AddGaussianNoise", "AddJPEGCompression", "ApplyCutMix", "ApplyMixUp", "ChangeBrightness", "ChangeContrast",
    "CropRandomShuffleAndRecompose", "DefocusBlurImage", "EditImageStyle", "EditImageWeather", "FlipImage",
    "Identity", "OverlayColor", "PasteGeneratedObjectAtRandomPosition", "PasteGeometricShapeAtRandomPosition",
    "PasteTextAtRandomPosition", "RotateImage", "ZoomAtRandomPosition",
}  # fmt: skip
NAMES = sorted(tool.name for tool in TRANSFORMS)
SIZES = st.tuples(st.integers(1, 97), st.integers(1, 97))


class Scenes:
    """A studio over one scene of the microworld."""

    def another(self, dice: np.random.Generator) -> Image.Image:
        return scene(str(dice.integers(1_000)))

    def cut_out(self, class_name: str, side: int, dice: np.random.Generator) -> Image.Image:
        return Image.new("RGBA", (side, max(side // 2, 1)), (1, 2, 3, 255))

    def occupied(self) -> list[tuple[int, int, int, int]]:
        return []

    def restyled(self, *, style: str, weather: str) -> Image.Image:
        return scene("a", style=style or "flat", weather=weather or "clear")


def scene(seed: str, **looks: str) -> Image.Image:
    drawn = sample_scene(seed, recipe(["dog", "car", "house"]))
    return draw(type(drawn)(**{**vars(drawn), **looks}))


def noisy(size: tuple[int, int], seed: int = 3) -> Image.Image:
    values = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(values)


def run(name: str, picture: Image.Image, seed: str = "s", **arguments: object) -> Image.Image:
    return apply(ToolCall(name=name, arguments={**REQUIRED.get(name, {}), **arguments}), picture, seed, Scenes())


def tried(name: str, picture: Image.Image, seed: str = "s", **arguments: object) -> Image.Image | str:
    """Return the changed picture, or why it was refused."""
    try:
        return run(name, picture, seed, **arguments)
    except ParameterOutOfRange as error:
        return str(error)


def test_all_of_apex_and_pairbench_are_there() -> None:
    assert set(NAMES) - APPENDIX_A == {"ColorJitter", "ElasticTransform", "GaussianBlur", "PerspectiveShift"}
    assert set(NAMES) >= APPENDIX_A


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bytes_and_leaves_the_picture_alone(name: str) -> None:
    picture = scene("a")
    before = picture.tobytes()
    assert run(name, picture).tobytes() == run(name, picture).tobytes()
    assert picture.tobytes() == before


@pytest.mark.parametrize(
    "name",
    [
        "AddGaussianNoise", "ApplyCutMix", "ApplyMixUp", "ColorJitter", "CropRandomShuffleAndRecompose",
        "ElasticTransform", "PasteGeometricShapeAtRandomPosition", "PasteTextAtRandomPosition", "PerspectiveShift",
        "PasteGeneratedObjectAtRandomPosition", "ZoomAtRandomPosition",
    ],
)  # fmt: skip
def test_another_seed_gives_another_picture(name: str) -> None:
    options = {"grid_size": 4} if name.startswith("Crop") else {}
    assert run(name, scene("a"), "one", **options).tobytes() != run(name, scene("a"), "two", **options).tobytes()


@settings(max_examples=8, deadline=None)
@given(size=SIZES)
@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("Edit")])
def test_odd_sizes_are_kept(name: str, size: tuple[int, int]) -> None:
    changed = tried(name, noisy(size))
    if isinstance(changed, str):
        assert re.search(r"at most \d|between \d|times at most|write less", changed), "the bound is said"
    else:
        assert (changed.mode, changed.size) == ("RGB", size)


@pytest.mark.parametrize("factor", [1.0, 1.4, 2.0])
def test_noise_reaches_the_variance(factor: float) -> None:
    picture = scene("a", weather="foggy")
    before, after = pixels(picture).var(), pixels(run("AddGaussianNoise", picture, variance_factor=factor)).var()
    assert after / before == pytest.approx(factor, rel=0.02)


def test_noise_shows_on_a_flat_picture_and_ends_where_values_end() -> None:
    flat = Image.new("RGB", (40, 40), (120, 120, 120))
    assert pixels(run("AddGaussianNoise", flat, variance_factor=2)).var() == pytest.approx(1e-3 * 255**2, rel=0.05)
    assert pixels(run("AddGaussianNoise", flat, variance_factor=1)).var() == 0
    with pytest.raises(ParameterOutOfRange, match=r"grows \d+\.\d\d times at most"):
        run("AddGaussianNoise", scene("a"), variance_factor=100)


@pytest.mark.parametrize("target", [20.0, 26.0, 32.0])
def test_jpeg_reaches_the_ratio_at_the_best_quality(target: float) -> None:
    picture = scene("a", style="sketch")
    reached = psnr(picture, run("AddJPEGCompression", picture, target_psnr=target))
    assert target - 2 < reached <= target


def test_jpeg_cannot_spoil_a_flat_picture_nor_keep_all_of_a_busy_one() -> None:
    flat = Image.new("RGB", (33, 17), (120, 10, 240))
    for picture, target in ((flat, 10), (noisy((33, 17)), 60)):
        with pytest.raises(ParameterOutOfRange, match=r"between \d+\.\d and"):
            run("AddJPEGCompression", picture, target_psnr=target)


def test_blur_cannot_divide_what_nothing_is_left_of() -> None:
    halves = Image.fromarray(
        np.repeat(np.array([0, 255], dtype=np.uint8), 100)[None, :, None].repeat(200, 0).repeat(3, 2)
    )
    with pytest.raises(ParameterOutOfRange, match="times at most"):
        run("DefocusBlurImage", halves, blur_factor=1e6)


@pytest.mark.parametrize("factor", [1.0, 3.0, 10.0, 100.0])
def test_blur_divides_the_sharpness(factor: float) -> None:
    picture = scene("a")
    before, after = sharpness(picture), sharpness(run("DefocusBlurImage", picture, blur_factor=factor))
    assert after <= before / factor
    assert after == pytest.approx(before / factor, rel=0.15)


def test_brightness_and_contrast_are_what_their_factors_say() -> None:
    picture = scene("a")
    assert pixels(run("ChangeBrightness", picture, brightness_factor=0)).max() == 0
    assert run("ChangeBrightness", picture, brightness_factor=1).tobytes() == picture.tobytes()
    half = pixels(run("ChangeBrightness", picture, brightness_factor=0.5)).astype(float)
    assert np.abs(half - pixels(picture) / 2).max() <= 1
    assert pixels(run("ChangeContrast", picture, contrast_factor=0)).std() == 0
    low = pixels(run("ChangeContrast", picture, contrast_factor=0.5)).astype(float)
    assert low.std() == pytest.approx(pixels(picture).std() / 2, rel=0.05)


def test_an_overlay_is_between_the_picture_and_its_color() -> None:
    picture = scene("a")
    assert run("OverlayColor", picture, opacity=0.0).tobytes() == picture.tobytes()
    assert (pixels(run("OverlayColor", picture, color=[7, 8, 9], opacity=1.0)) == [7, 8, 9]).all()


def test_turns_and_flips_lose_nothing() -> None:
    picture = noisy((31, 20))
    right = run("RotateImage", picture, angle=90)
    assert right.size == (20, 31)
    assert right.getpixel((19, 0)) == picture.getpixel((0, 0))
    assert run("RotateImage", right, angle=-90).tobytes() == picture.tobytes()
    assert run("RotateImage", picture, angle=360).tobytes() == picture.tobytes()
    twice = run("FlipImage", run("FlipImage", picture, orientation="horizontal"), orientation="horizontal")
    assert twice.tobytes() == picture.tobytes()
    upside = run("FlipImage", picture, orientation="vertical")
    assert upside.getpixel((0, 0)) == picture.getpixel((0, 19))


@given(grid=st.integers(2, 5), size=st.tuples(st.integers(5, 40), st.integers(5, 40)), seed=st.text(max_size=3))
@settings(deadline=None)
def test_shuffling_keeps_every_pixel_and_moves_some(grid: int, size: tuple[int, int], seed: str) -> None:
    picture = noisy(size)
    shuffled = run("CropRandomShuffleAndRecompose", picture, seed, grid_size=grid)
    before, after = (np.sort(pixels(p).reshape(-1, 3), axis=0) for p in (picture, shuffled))
    assert (before == after).all()
    assert shuffled.tobytes() != picture.tobytes()


def test_a_zoom_shows_a_part() -> None:
    picture = Image.fromarray(np.tile(np.arange(0, 250, 2, dtype=np.uint8)[None, :, None], (125, 1, 3)))
    part = pixels(run("ZoomAtRandomPosition", picture, zoom_factor=5))
    assert np.ptp(part) == pytest.approx(250 / 5, abs=6)
    assert run("ZoomAtRandomPosition", picture, zoom_factor=1).tobytes() == picture.tobytes()


def test_mixtures_are_made_of_both() -> None:
    picture = scene("a")
    assert run("ApplyMixUp", picture, alpha=1.0).tobytes() == picture.tobytes()
    mixed = pixels(run("ApplyCutMix", picture))
    same = (mixed == pixels(picture)).all(axis=2)
    rows, columns = np.where(~same)
    assert 0 < (~same).mean() < 1
    inside = same[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    assert not inside.all()


def test_pasted_things_are_as_many_and_as_large_as_asked_for() -> None:
    white = Image.new("RGB", (100, 60), (255, 255, 255))
    square = pixels(run("PasteGeometricShapeAtRandomPosition", white, shape="square", size=20))
    assert (square == [255, 0, 0]).all(axis=2).sum() == 400
    outline = pixels(run("PasteGeometricShapeAtRandomPosition", white, shape="square", size=20, fill=False))
    assert 0 < (outline == [255, 0, 0]).all(axis=2).sum() < 200
    thing = pixels(run("PasteGeneratedObjectAtRandomPosition", white, class_name="dog", size=20))
    assert (thing == [1, 2, 3]).all(axis=2).sum() == 200
    text = pixels(run("PasteTextAtRandomPosition", white, text="W" * 12))
    assert (text != 255).any()


@pytest.mark.parametrize(
    ("name", "arguments", "bound"),
    [
        ("PasteGeometricShapeAtRandomPosition", {"size": 160}, "at most 128"),
        ("PasteGeometricShapeAtRandomPosition", {"size": 60, "repeat": 5}, "at most 4"),
        ("PasteGeneratedObjectAtRandomPosition", {"size": 129}, "at most 128"),
        ("PasteGeneratedObjectAtRandomPosition", {"size": 128, "repeat": 2}, "at most 1"),
        ("PasteTextAtRandomPosition", {"text": "danger", "font_size": 512}, r"at most \d\d\."),
        ("PasteTextAtRandomPosition", {"text": "W" * 120, "font_size": 28}, "write less"),
        ("PasteTextAtRandomPosition", {"text": "stop", "font_size": 100, "repeat": 3}, "at most"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_bounds(name: str, arguments: dict[str, Any], bound: str) -> None:
    with pytest.raises(ParameterOutOfRange, match=bound):
        run(name, Image.new("RGB", (128, 128)), **arguments)


@pytest.mark.parametrize("name", sorted({call.name for one in DATA_TYPES.values() for call in one.calls}))
def test_nearly_every_picture_of_the_world_can_be_of_every_type(name: str) -> None:
    calls = [call for one in DATA_TYPES.values() for call in one.calls if call.name == name]
    refused = 0
    for number, call in itertools.product(range(12), calls):
        try:
            apply(call, scene(str(number)), str(number), Scenes())
        except ParameterOutOfRange:
            refused += 1
    assert refused <= 12 * len(calls) / 4


SHAPES = st.fixed_dictionaries(
    {
        "shape": st.sampled_from(["circle", "square", "triangle"]),
        "size": st.none() | st.integers(3, 60),
        "repeat": st.integers(1, 20),
        "fill": st.booleans(),
    }
)


@settings(max_examples=150, deadline=None)
@given(arguments=SHAPES, size=st.tuples(st.integers(12, 90), st.integers(12, 90)), seed=st.text(max_size=3))
def test_shapes_that_are_pasted_can_be_counted_and_measured(
    arguments: dict[str, Any], size: tuple[int, int], seed: str
) -> None:
    side = arguments["size"] or min(size) // 4
    room = ((size[0] + 1) // (side + 1)) * ((size[1] + 1) // (side + 1))
    pasted = tried("PasteGeometricShapeAtRandomPosition", Image.new("RGB", size, (255, 255, 255)), seed, **arguments)
    if isinstance(pasted, str):
        bound = min(size) if side > min(size) else room
        assert pasted.endswith(f"at most {bound}.")
        assert side > min(size) or arguments["repeat"] > room
        return
    drawn = (pixels(pasted) == [255, 0, 0]).all(axis=2).astype(np.uint8)
    count, _, boxes, _ = cv2.connectedComponentsWithStats(drawn, connectivity=8)
    assert count - 1 == arguments["repeat"]
    assert all(abs(int(extent) - side) <= 1 for box in boxes[1:] for extent in box[2:4])


@settings(max_examples=60, deadline=None)
@given(side=st.integers(4, 40), repeat=st.integers(1, 20), seed=st.text(max_size=3))
def test_objects_that_are_pasted_can_be_counted(side: int, repeat: int, seed: str) -> None:
    white = Image.new("RGB", (100, 60), (255, 255, 255))
    options: dict[str, Any] = {"size": side, "repeat": repeat}
    pasted = tried("PasteGeneratedObjectAtRandomPosition", white, seed, **options)
    if isinstance(pasted, str):
        assert repeat > (101 // (side + 1)) * (61 // (side + 1))
        return
    drawn = (pixels(pasted) == [1, 2, 3]).all(axis=2)
    assert cv2.connectedComponents(drawn.astype(np.uint8))[0] - 1 == repeat
    assert drawn.sum() == repeat * side * (side // 2)


@settings(max_examples=60, deadline=None)
@given(text=st.text("aWg. 1", min_size=1, max_size=12), font=st.none() | st.integers(4, 90), repeat=st.integers(1, 4))
def test_all_of_a_text_is_written_as_often_as_asked_for(text: str, font: int | None, repeat: int) -> None:
    def ink(size: tuple[int, int], count: int) -> float:
        call: dict[str, Any] = {"text": text, "font_size": font or 12, "repeat": count, "font_color": [0, 0, 0]}
        written = run("PasteTextAtRandomPosition", Image.new("RGB", size, (255, 255, 255)), **call)
        return float((255 - pixels(written).astype(float)).sum())

    try:
        found = ink((120, 70), repeat)
    except ParameterOutOfRange:
        return
    assert found == pytest.approx(repeat * ink((2_000, 400), 1), rel=0.05, abs=3 * 255)


AMOUNTS: dict[str, tuple[str, float, float]] = {
    "AddGaussianNoise": ("variance_factor", 1, 100),
    "AddJPEGCompression": ("target_psnr", 1, 60),
    "DefocusBlurImage": ("blur_factor", 1, 1e6),
    "ZoomAtRandomPosition": ("zoom_factor", 1, 20),
}


def measured(name: str, before: Image.Image, after: Image.Image) -> float:
    """Measure the amount by which a picture was changed, as the transform's parameter counts it."""
    if name == "AddGaussianNoise":
        return float(pixels(after).var() / pixels(before).var())
    if name == "AddJPEGCompression":
        return psnr(before, after)
    if name == "DefocusBlurImage":
        return sharpness(before) / max(sharpness(after), 1e-9)
    return float(np.ptp(pixels(before)[..., 0])) / max(float(np.ptp(pixels(after)[..., 0])), 1e-9)


@settings(max_examples=40, deadline=None)
@given(share=st.floats(0, 1), number=st.integers(0, 30))
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "DefocusBlurImage" else ()) for name in AMOUNTS]
)
def test_the_amount_that_a_call_says_is_what_was_done_or_it_is_refused(name: str, share: float, number: int) -> None:
    parameter, low, high = AMOUNTS[name]
    amount = low * (high / low) ** share
    ramp = Image.fromarray(np.tile(np.linspace(0, 255, 200).astype(np.uint8)[None, :, None], (200, 1, 3)))
    picture = ramp if name.startswith("Zoom") else scene(str(number), style=("flat", "sketch")[number % 2])
    changed = tried(name, picture, **{parameter: amount})
    if isinstance(changed, str):
        assert re.search(r"at most|between", changed)
        return
    found = measured(name, picture, changed)
    if name == "AddJPEGCompression":  # qualities are whole numbers
        assert amount - 6 < found <= amount
    elif name == "DefocusBlurImage":
        assert found >= amount * 0.999
    else:
        assert found == pytest.approx(amount, rel=0.25 if name.startswith("Zoom") else 0.03)


def test_no_declared_limit_is_passed_in_silence() -> None:
    for tool in TRANSFORMS:
        for name, entry in tool.form.model_json_schema()["properties"].items():
            for kind in [entry, *entry.get("anyOf", ())]:
                for bound, beyond in (("minimum", -1), ("maximum", 1), ("exclusiveMinimum", 0)):
                    if bound in kind:
                        with pytest.raises(BadInput, match=name):
                            tool.read({**REQUIRED.get(tool.name, {}), name: kind[bound] + beyond})


def test_distortions_of_no_extent_change_nothing() -> None:
    picture = scene("a")
    assert run("ElasticTransform", picture, alpha=0.0).tobytes() == picture.tobytes()
    assert run("PerspectiveShift", picture, distortion_scale=0.0).tobytes() == picture.tobytes()
    assert psnr(picture, run("ColorJitter", picture, brightness=0, contrast=0, saturation=0, hue=0)) > 40


def test_without_a_studio_nothing_but_pixels_is_known() -> None:
    for name in ("ApplyMixUp", "EditImageStyle", "PasteGeneratedObjectAtRandomPosition"):
        call = ToolCall(name=name, arguments=REQUIRED.get(name, {}))
        with pytest.raises(SnellenError, match="Nothing is known of this picture"):
            apply(call, scene("a"), "s")


@pytest.mark.parametrize(
    ("name", "arguments", "complaint"),
    [
        ("RotateImage", {}, "angle: field required"),
        ("RotateImage", {"angle": "os.system('x')"}, "angle: input should be a valid integer"),
        ("RotateImage", {"angle": 90, "fill": 1}, "fill: extra inputs"),
        ("ChangeContrast", {"contrast_factor": math.nan}, "contrast_factor"),
        ("ChangeContrast", {"contrast_factor": -1}, "contrast_factor"),
        ("OverlayColor", {"color": [0, 0, 256]}, "color.2"),
        ("FlipImage", {"orientation": "diagonal"}, "orientation"),
        ("PasteTextAtRandomPosition", {"text": "x" * 121}, "text"),
        ("Rotate", {}, "There is no transform 'Rotate'. Did you mean RotateImage"),
        ("__import__", {}, "There is no transform '__import__'"),
    ],
)
def test_calls_are_read_and_refused_in_words(name: str, arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput) as refused:
        apply(ToolCall(name=name, arguments=arguments), scene("a"), "s")
    assert complaint.lower() in str(refused.value).lower()


def test_a_call_is_the_same_however_it_is_written() -> None:
    short = TRANSFORMS.read(ToolCall(name="OverlayColor", arguments={"color": (255, 0, 0)}))
    long = TRANSFORMS.read(ToolCall(name="OverlayColor", arguments={"opacity": 1, "color": [255, 0, 0]}))
    assert short == long
    assert short.model_dump_json() == long.model_dump_json()


def test_the_catalogue_tells_what_each_transform_does() -> None:
    text = str(TRANSFORMS)
    assert "AddJPEGCompression(target_psnr=26.0)\nCompress as JPEG" in text
    assert all(tool.description for tool in TRANSFORMS)
