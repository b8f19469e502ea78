"""Types of data that pictures can be of: the 27 of Udandarao et al. (2024), which APEX examines, and more.

A type is what a transform makes of any picture, with the words that people have for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from snellen.tools.calls import ToolCall

TypeGroup = Literal["geometric", "pixel", "style", "semantic"]


@dataclass(frozen=True)
class DataType:
    """A type of data.

    Attributes:
        name: As reports call it.
        group: Of what kind it is.
        said: What fits "Is the image …?", the plainest first.
        words: Other words by which people mean it, for reading what they ask.
        calls: What makes a picture of the type, from barely to plainly visible.
        keeps: Whether the picture still shows what it showed, apart from where things are.
        places: Whether things are still where they were.
        colours: Whether colours are still what they were.
    """

    name: str
    group: TypeGroup
    said: tuple[str, ...]
    words: tuple[str, ...]
    calls: tuple[ToolCall, ...]
    keeps: bool = True
    places: bool = True
    colours: bool = True


def _calls(name: str, key: str, values: Sequence[Any], **others: Any) -> tuple[ToolCall, ...]:  # noqa: ANN401 - arguments
    return tuple(ToolCall(name=name, arguments={key: value, **others}) for value in values)


def _style(name: str, *words: str, said: str = "") -> DataType:
    calls = _calls("EditImageStyle", "style", [name])
    article = "an" if name[0] in "aeiou" else "a"
    phrases = (said, f"in {article} {name} style") if said else (f"in {article} {name} style",)
    return DataType(f"{name} style", "style", phrases, (name, *words), calls, colours=False)


def _weather(name: str, *words: str) -> DataType:
    calls = _calls("EditImageWeather", "weather", [name])
    return DataType(f"{name} weather", "semantic", (name,), (name, *words), calls, colours=name != "foggy")


def _several(name: str, kind: str, *words: str, class_name: str) -> DataType:
    calls = _calls("PasteGeneratedObjectAtRandomPosition", "repeat", [1, 2], class_name=class_name)
    return DataType(name, "semantic", (f"of several {kind} objects",), words, calls, keeps=False)


def _by_name(*types: DataType) -> dict[str, DataType]:
    return {one.name: one for one in types}


DATA_TYPES: Final = _by_name(
    DataType(
        "left rotation", "geometric", ("rotated to the left", "turned to the left"),
        ("left rotation", "rotation to the left", "rotated left", "counterclockwise rotation"),
        _calls("RotateImage", "angle", [-90]), places=False,
    ),
    DataType(
        "right rotation", "geometric", ("rotated to the right", "turned to the right"),
        ("right rotation", "rotation to the right", "rotated right", "clockwise rotation"),
        _calls("RotateImage", "angle", [90]), places=False,
    ),
    DataType(
        "vertical flip", "geometric", ("flipped vertically", "mirrored from top to bottom"),
        ("vertical flip", "vertical flipping"), _calls("FlipImage", "orientation", ["vertical"]), places=False,
    ),
    DataType(
        "zoom", "geometric", ("zoomed in",), ("zoom", "zooming", "zoomed", "cropping"),
        _calls("ZoomAtRandomPosition", "zoom_factor", [2.0, 3.0]), keeps=False,
    ),
    DataType(
        "patch shuffling", "geometric", ("shuffled", "cut into parts"),
        ("patching and reshuffling", "reshuffling", "shuffling", "shuffle", "patch and reshuffle", "reshuffled"),
        _calls("CropRandomShuffleAndRecompose", "grid_size", [2, 3, 4]), keeps=False,
    ),
    DataType(
        "Gaussian noise", "pixel", ("noisy", "affected by gaussian noise"), ("gaussian noise", "noise", "grain"),
        _calls("AddGaussianNoise", "variance_factor", [1.4, 1.7, 2.0]), colours=False,
    ),
    DataType(
        "JPEG compression", "pixel", ("affected by jpeg compression",),
        ("jpeg compression", "jpeg", "compression", "compressed"),
        _calls("AddJPEGCompression", "target_psnr", [30.0, 28.0, 26.0]), colours=False,
    ),
    DataType(
        "defocus blur", "pixel", ("blurred", "affected by blur"), ("defocus blur", "defocus", "blur", "blurry"),
        _calls("DefocusBlurImage", "blur_factor", [8.0, 15.0, 30.0]), colours=False,
    ),
    DataType(
        "low brightness", "pixel", ("dark", "of low brightness"), ("low brightness", "darkness", "darkened"),
        _calls("ChangeBrightness", "brightness_factor", [0.4, 0.25]), colours=False,
    ),
    DataType(
        "high brightness", "pixel", ("bright", "of high brightness"),
        ("high brightness", "brightened", "overexposure", "overexposed"),
        _calls("ChangeBrightness", "brightness_factor", [1.8, 2.5]), colours=False,
    ),
    DataType(
        "low contrast", "pixel", ("of low contrast",), ("low contrast", "lowered contrast"),
        _calls("ChangeContrast", "contrast_factor", [0.4, 0.25]), colours=False,
    ),
    DataType(
        "high contrast", "pixel", ("of high contrast",), ("high contrast", "raised contrast"),
        _calls("ChangeContrast", "contrast_factor", [2.0, 3.0]), colours=False,
    ),
    _style("sketch", "sketched", "pencil sketch", "sketch-styled"),
    _style("cartoon", "cartoons", "cartoon-styled", "comic"),
    _style("plushie", "plushies", "plush toys", said="styled like a plushie"),
    _style("graffiti", "graffiti-styled"),
    _style("embroidery", "embroidered", "embroidery-styled"),
    _style("origami", "origami-styled", "folded paper"),
    _style("sculpture", "sculptures", "sculpture-styled", "statues"),
    _style("tattoo", "tattoos", "tattoo-styled"),
    DataType(
        "CutMix", "semantic", ("affected by cutmix",), ("cutmix", "cut-mix"),
        _calls("ApplyCutMix", "alpha", [1.0]), keeps=False,
    ),
    DataType(
        "MixUp", "semantic", ("affected by mixup", "blended"), ("mixup", "mix-up", "blending"),
        _calls("ApplyMixUp", "alpha", [0.7, 0.6]), keeps=False,
    ),
    DataType(
        "text", "semantic", ("written on",), ("text", "writing", "typographic attack"),
        _calls("PasteTextAtRandomPosition", "text", ["stop", "danger", "hello"], font_size=28),
    ),
    _weather("snowy", "snow", "snowing"),
    DataType(
        "tiger stripes", "semantic", ("of something with tiger stripes", "covered in tiger stripes"),
        ("tiger stripes", "tiger-striped"), _calls("EditImageStyle", "style", ["tiger stripes"]), colours=False,
    ),
    _several("multi-same", "identical", "multi-same", class_name="same"),
    _several("multi-different", "different", "multi-different", class_name="other"),
)  # fmt: skip
"""The types of Udandarao et al. by name, in their groups: what the paper's figures are about."""

FURTHER_TYPES: Final = _by_name(
    DataType(
        "half turn", "geometric", ("upside down", "rotated by 180 degrees"),
        ("half turn", "turned over", "180 degree rotation"), _calls("RotateImage", "angle", [180]), places=False,
    ),
    DataType(
        "tilt", "geometric", ("tilted", "at an angle"), ("tilt", "tilting", "slanted"),
        _calls("RotateImage", "angle", [-30, 30, -45, 45]), places=False,
    ),
    DataType(
        "horizontal flip", "geometric", ("flipped horizontally", "mirrored from left to right"), ("horizontal flip",),
        _calls("FlipImage", "orientation", ["horizontal"]), places=False,
    ),
    DataType(
        "perspective shift", "geometric", ("seen from aside",), ("perspective shift",),
        _calls("PerspectiveShift", "distortion_scale", [0.3, 0.5]), places=False,
    ),
    DataType(
        "elastic warping", "geometric", ("warped",), ("elastic warping",),
        _calls("ElasticTransform", "alpha", [0.03, 0.05]),
    ),
    DataType(
        "color jitter", "pixel", ("changed in color",), ("color jitter",), _calls("ColorJitter", "hue", [0.1, 0.25]),
        colours=False,
    ),
    *(
        DataType(
            f"{name} overlay", "pixel", (f"tinted {name}",), (f"{name} overlay",),
            _calls("OverlayColor", "opacity", [0.25, 0.4], color=list(rgb)), colours=False,
        )
        for name, rgb in (
            ("red", (255, 0, 0)), ("green", (0, 160, 0)), ("blue", (0, 0, 255)), ("yellow", (255, 220, 0)),
            ("purple", (150, 0, 180)), ("orange", (255, 140, 0)),
        )
    ),
    _style("pastel"),
    _style("mosaic"),
    _style("embossed", "relief"),
    _style("grayscale", "black and white"),
    _style("posterized", "poster"),
    DataType(
        "pasted shape", "semantic", ("partly covered by a shape",), ("shape", "pasted shape", "occlusion"),
        _calls("PasteGeometricShapeAtRandomPosition", "shape", ["square", "circle", "triangle"], size=36),
        keeps=False,
    ),
    _weather("rainy", "rain", "raining"),
    _weather("foggy", "fog", "mist"),
)  # fmt: skip
"""Types that the paper does not have: they are examined where a question names them, and count in no group of it."""

TYPE_GROUPS: Final[tuple[TypeGroup, ...]] = ("geometric", "pixel", "style", "semantic")


def grouped(group: TypeGroup) -> list[DataType]:
    """Return the paper's types of a group, in the order of `DATA_TYPES`."""
    return [one for one in DATA_TYPES.values() if one.group == group]
