"""Changes of pictures that were found or painted: by models, since nothing but their pixels is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.models.vision.segmentation import is_ground
from snellen.tools.transforms import ANY, OTHER, SAME

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image

    from snellen.models.vision.segmentation import Segment
    from snellen.tools.samples.select import Selected
    from snellen.tools.vision import Models

_TRIED: Final = 8
"""Pictures that are tried for one of another class, or with a thing that can be cut out."""
_PROMPTS: Final = {
    "sketch": "a pencil sketch of {}", "plushie": "a plush toy of {}", "graffiti": "graffiti of {} on a wall",
    "embroidery": "an embroidery of {} on cloth", "origami": "{} folded from origami paper",
    "sculpture": "a stone sculpture of {}", "tattoo": "a tattoo of {} on skin",
    "tiger stripes": "a photo of {} covered in tiger stripes", "pastel": "a pastel drawing of {}",
    "embossed": "an embossed relief of {}", "grayscale": "a black and white photo of {}",
    "posterized": "a posterized picture of {}",
}  # fmt: skip
"""Styles that are said otherwise than as "a cartoon of a dog"."""


def prompt_for(class_name: str, image_type: str = "photo", *, weather: str = "") -> str:
    """Return the words that a picture of a class is painted after.

    Args:
        class_name: The class, without an article.
        image_type: A type of picture or a style, such as "photo", "pencil sketch" or "plushie".
        weather: Such as "snowy"; empty for any.
    """
    style = " ".join(image_type.casefold().split())
    form = _PROMPTS.get(style, f"{_with_article(style)} of {{}}".replace("{}", "\0"))
    thing = _with_article(class_name)
    painted = form.replace("{}", thing).replace("\0", thing)
    return f"{painted}, {weather} weather" if weather else painted


def _with_article(words: str) -> str:
    return f"{'an' if words[:1].lower() in tuple('aeiou') else 'a'} {words}"


@dataclass(frozen=True)
class PhotoStudio:
    """Changes a picture that was found or painted; see `snellen.tools.transforms.Studio`.

    Attributes:
        picture: RGB.
        class_name: What it shows.
        select: Another picture of a class, by a seed.
        models: Of the profile; None where there are none, and then things are neither cut out nor restyled.
        outlined: A thing of a class on nothing, by a seed, where the source knows outlines.
        repaint: Paints a prompt from nothing, where no model changes pictures.
        number: Chooses what is painted.
    """

    picture: PIL.Image.Image
    class_name: str
    select: Callable[[str, str], Selected]
    models: Models | None = None
    outlined: Callable[[str, int], PIL.Image.Image | None] | None = None
    repaint: Callable[[str], PIL.Image.Image] | None = None
    number: int = 0

    def another(self, dice: np.random.Generator) -> PIL.Image.Image:
        """Return a picture of anything."""
        return self.select(ANY, _seed(dice)).picture

    def cut_out(self, class_name: str, side: int, dice: np.random.Generator) -> PIL.Image.Image:
        """Cut a thing out of another picture, by its annotated outline or by the profile's segmenter.

        Raises:
            BadInput: There is no such picture, or nothing in it can be told from its background.
        """
        for _ in range(_TRIED):
            chosen = self.select(self.class_name if class_name == SAME else _any(class_name), _seed(dice))
            if class_name == OTHER and chosen.class_name == self.class_name:
                continue
            known = self.outlined and self.outlined(chosen.class_name, int(dice.integers(2**31)))
            thing = known or self._segmented(chosen)
            if thing is not None:
                return _fitted(thing, side)
        msg = f"Nothing in {_TRIED} pictures of {class_name[:80]!r} could be cut out of its background."
        raise BadInput(msg)

    def occupied(self) -> Sequence[tuple[int, int, int, int]]:
        """Return the boxes of what the segmenter takes for things; nothing where the profile has none."""
        return [one.box for one in self._things(self.picture)]

    def restyled(self, *, style: str, weather: str) -> PIL.Image.Image:
        """Change the picture with the profile's text-to-image model, or paint the same anew where that paints.

        Raises:
            BadInput: There is nothing to do it with.
        """
        prompt = prompt_for(self.class_name, style or "photo", weather=weather)
        if self.models is not None and self.models.profile.models.text_to_image is not None:
            return self.models.restyle([self.picture], [prompt], seeds=[self.number])[0]
        if self.repaint is not None:
            return self.repaint(prompt)
        msg = (
            f"A picture of a folder cannot be made {(style or weather)[:80]!r} without a model that changes pictures: "
            "set [models.text_to_image] in the profile."
        )
        raise BadInput(msg)

    def _segmented(self, chosen: Selected) -> PIL.Image.Image | None:
        """Cut the thing out that a picture is of: the one that is called so, or else the largest."""
        things = self._things(chosen.picture)
        if not things:
            return None
        called = [one for one in things if one.name.casefold() == chosen.class_name.casefold()]
        one = max(called or things, key=lambda each: int(each.inside().sum()))
        thing = chosen.picture.convert("RGB").crop(one.box)
        thing.putalpha(one.mask.crop(one.box))
        return thing

    def _things(self, picture: PIL.Image.Image) -> list[Segment]:
        if self.models is None or self.models.profile.models.seg is None:
            return []
        return [one for one in self.models.segment([picture])[0] if not is_ground(one.name)]


def _any(class_name: str) -> str:
    return ANY if class_name == OTHER else class_name


def _fitted(thing: PIL.Image.Image, side: int) -> PIL.Image.Image:
    """Scale a thing so that its longer side is `side` pixels."""
    scale = side / max(thing.size)
    return thing.resize((max(round(thing.width * scale), 1), max(round(thing.height * scale), 1)))


def _seed(dice: np.random.Generator) -> str:
    return str(dice.integers(2**62))
