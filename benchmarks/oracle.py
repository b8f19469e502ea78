# ruff: noqa: SLF001, A002, ARG002, ANN401 - it stands in for tools inside the interpreter, with their arguments
"""Vision tools that see perfectly: they answer from the description of the scene, so that only reasoning can go wrong.

For benchmarks and tests of reasoners alone; programs run on the real interpreter with the real editing tools.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from PIL import Image, ImageChops

from snellen.errors import BadInput
from snellen.microworld.concepts import plural, vocabulary
from snellen.microworld.drawing import draw, truths
from snellen.microworld.facts import list_names
from snellen.microworld.scenes import STYLES, TINTS, WEATHERS, Scene, SceneObject, caption, place
from snellen.models.vision.name_expansion import Expansion
from snellen.profiles import load_profile
from snellen.scoring.detection import iou
from snellen.tools import registry
from snellen.tools.program import StepRecord, inputs_for, load, run
from snellen.tools.registry import ToolContext, catalogue
from snellen.tools.vision.describe import read_property, same_property
from snellen.values import Picture, Region, Untaught, Value

cropping: Any = importlib.import_module("snellen.tools.editing.crop")
selecting: Any = importlib.import_module("snellen.tools.vision.select")

SEEN = 0.5
"""Share of an object's box that a crop must show for the object to be seen in it."""


@dataclass(frozen=True)
class View:
    """What a picture shows: a part of a scene."""

    scene: Scene
    box: tuple[int, int, int, int]

    def objects(self) -> list[tuple[SceneObject, tuple[int, int, int, int]]]:
        """Return the visible objects with their boxes in this picture's pixels."""
        x0, y0, x1, y1 = self.box
        found = []
        for item, truth in zip(self.scene.objects, truths(self.scene), strict=True):
            left, top = max(truth.box[0], x0), max(truth.box[1], y0)
            right, bottom = min(truth.box[2], x1), min(truth.box[3], y1)
            whole = (truth.box[2] - truth.box[0]) * (truth.box[3] - truth.box[1])
            if max(right - left, 0) * max(bottom - top, 0) >= SEEN * whole:
                found.append((item, (left - x0, top - y0, right - x0, bottom - y0)))
        return found


class Oracle:
    """The truth about the pictures of one task, as tools."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self.profile = load_profile("embedded")
        self.expansion = Expansion.read(self.profile.facts_path())
        self.pictures: dict[str, Image.Image] = {}
        self.views: dict[str, View] = {}
        self.inputs: dict[str, Picture] = {}
        for name, scene in zip(inputs_for(len(scenes)), scenes, strict=True):
            picture = self.put(draw(scene))
            self.views[picture.id] = View(scene, (0, 0, picture.width, picture.height))
            self.inputs[name] = picture
        self.context = ToolContext(
            pictures=self,
            models=None,
            list_knowledge=lambda query, most, _: list_names(query, most),
            profile=self.profile,
        )

    def put(self, picture: Image.Image) -> Picture:
        """Store a picture; each gets its own id, so that equal crops of different places stay apart."""
        name = f"picture-{len(self.pictures)}"
        self.pictures[name] = picture
        return Picture(name, *picture.size)

    def get(self, picture_id: str) -> Image.Image:
        """Return a stored picture."""
        return self.pictures[picture_id]

    def run(self, program: str, overrides: Mapping[str, Value] | None = None) -> list[StepRecord]:
        """Run a program and return its records; the last one carries the error where one step failed.

        Args:
            program: The program.
            overrides: Outputs of steps by their address, which are taken instead of the truth.
        """
        kinds = inputs_for(len(self.inputs))
        with self.seeing():
            return list(run(load(program, kinds), self.inputs, self.context, overrides=overrides))

    @contextmanager
    def seeing(self) -> Iterator[None]:
        """Put perfect sight in the place of the vision tools."""
        before, cut = dict(registry._TOOLS) if catalogue() else {}, cropping._cut
        try:
            for name, function in self._tools().items():
                registry._TOOLS[name] = replace(registry._TOOLS[name], function=function)
            for name in ("COLORPOP", "BGBLUR", "EMOJI", "TAG"):
                registry._TOOLS[name] = replace(before[name], function=self._keeping(before[name].function))
            cropping._cut = self._cut(cut)
            yield
        finally:
            registry._TOOLS.update(before)
            cropping._cut = cut

    def _keeping(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def edited(context: ToolContext, image: Picture, **arguments: Any) -> Picture:
            changed: Picture = function(context, image=image, **arguments)
            self.views[changed.id] = self.views[image.id]
            return changed

        return edited

    def _cut(self, cut: Callable[..., Picture]) -> Callable[..., Picture]:
        def tracked(context: ToolContext, image: Picture, box: tuple[int, int, int, int]) -> Picture:
            part, whole = cut(context, image, box), self.views[image.id]
            left, top = max(box[0], 0) + whole.box[0], max(box[1], 0) + whole.box[1]
            self.views[part.id] = View(whole.scene, (left, top, left + part.width, top + part.height))
            return part

        return tracked

    def _tools(self) -> dict[str, Callable[..., Any]]:
        return {
            "LOC": self._locate, "CLASSIFY": self._classify, "SELECT": self._select,
            "FACEDET": lambda context, image: self._locate(context, image, "face"),
            "SEG": self._segmented, "REPLACE": self._replaced,
            "THINGS": lambda context, image: self._locate(context, image, "object"), "NAME": self._named,
            "CAPTION": self._captioned, "BACKGROUND": self._background, "SAME": self._same, "MASK": self._masked,
            "VQA": lambda _, image, question: answer(self.views[image.id], question),
            "KNOWS": lambda _, name: not self.expansion.untaught(name),
        }  # fmt: skip

    def _locate(self, _: ToolContext, image: Picture, object: str) -> list[Region]:
        unknown = self.expansion.untaught(object)
        if unknown and not _expanded(object):
            return Untaught(", ".join(unknown))
        names = _expanded(object)
        tint, rest = [*object.split(" ", 1), ""][:2]
        tinted = tint in TINTS and not names
        names = _expanded(rest) if tinted else names
        return [
            Region(box, 1.0, f"{tint} {item.concept}" if tinted else item.concept, picture=image.id)
            for item, box in self.views[image.id].objects()
            if item.concept in names and (not tinted or item.tint == tint)
        ]

    def _segmented(self, context: ToolContext, image: Picture) -> list[Region]:
        return [*self._locate(context, image, "object"), *self._background(context, image)]

    def _item(self, image: str, region: Region) -> SceneObject | None:
        """Return the thing that a region shows, the one that it overlaps most."""
        shown = [(iou(box, region.box), place, item) for place, (item, box) in enumerate(self.views[image].objects())]
        best = max(shown, key=lambda one: one[:2], default=None)
        return best[2] if best is not None and best[0] > 0 else None

    def _named(self, _: ToolContext, image: Picture, object: list[Region]) -> list[Region]:
        items = [self._item(image.id, region) for region in object]
        return [replace(r, label=i.concept if i else "") for r, i in zip(object, items, strict=True)]

    def _captioned(self, _: ToolContext, image: Picture, object: list[Region] | None = None) -> str:
        view = self.views[image.id]
        items = [item for item, _ in view.objects()]
        if object == []:
            msg = "CAPTION(object=…) got no region to describe"
            raise BadInput(msg)
        if object is not None:
            items = [item for region in object[:1] if (item := self._item(image.id, region))]
        return caption(replace(view.scene, objects=tuple(items)))

    def _background(self, _: ToolContext, image: Picture) -> list[Region]:
        covered = self._masks(image)
        mask = self.put(ImageChops.invert(covered)).id
        label = self.views[image.id].scene.pattern
        return [Region((0, 0, image.width, image.height), 1.0, label, mask, image.id, ground=True)]

    def _masks(self, image: Picture, box: tuple[int, int, int, int] | None = None) -> Image.Image:
        """Return the mask of all things of a picture, or of the one with this box."""
        view = self.views[image.id]
        covered = Image.new("L", (image.width, image.height))
        for _, shown in view.objects():
            if box is None or iou(shown, box) >= SEEN:
                covered.paste(255, shown)
        return covered

    def _masked(self, _: ToolContext, image: Picture, object: list[Region]) -> list[Region]:
        return [replace(region, mask=self.put(self._masks(image, region.box)).id) for region in object]

    def _same(self, context: ToolContext, object: list[Region], other: list[Region], by: str = "label") -> bool:
        if read_property(by) != "colour" or not object or not other:
            return same_property(context, object, other, by)
        one, two = (self._item(each[0].picture, each[0]) for each in (object, other))
        return one is not None and two is not None and (one.tint or one.concept) == (two.tint or two.concept)

    def _classify(self, _: ToolContext, image: Picture, object: list[Region], categories: list[str]) -> list[Region]:
        labelled = []
        for region in object:
            name = self._name_of(image, region)
            category = next((each for each in categories if name in _expanded(each)), None)
            labelled += [replace(region, label=category)] if category else []
        return labelled

    def _name_of(self, image: Picture, region: Region) -> str:
        boxes = {box: item.concept for item, box in self.views[image.id].objects()}
        return boxes.get(region.box, "")

    def _select(
        self, _: ToolContext, image: Picture, object: list[Region], query: str, category: str | None = None
    ) -> list[Region]:
        named = [region for region in object if self._name_of(image, region) in _expanded(query)]
        place = selecting._place(query)
        if named or place is None or not object:
            return named
        words = query.casefold().split()
        return [min([each for each in object if self._name_of(image, each) in words] or object, key=place)]

    def _replaced(self, context: ToolContext, image: Picture, object: list[Region], prompt: str) -> Picture:
        picture = self.get(image.id).copy()
        for number, region in enumerate(object):
            noise = np.random.default_rng(number).integers(0, 255, (*picture.size, 3), dtype=np.uint8)
            x0, y0, x1, y1 = region.box
            picture.paste(Image.fromarray(noise).crop((0, 0, x1 - x0, y1 - y0)), (x0, y0))
        changed = self.put(picture)
        self.views[changed.id] = self.views[image.id]
        return changed


def answer(view: View, question: str) -> str:
    """Answer one of the simple questions that a small VQA model is taught; ``unknown`` where it is none of them."""
    low, scene = question.lower().strip(" ?."), view.scene
    shown = [item for item, _ in view.objects()]
    if "background" in low:
        return scene.colour if "color" in low else scene.pattern
    for cue, value, options in (("weather", scene.weather, WEATHERS), ("style", scene.style, STYLES)):
        if cue in low:
            return value
        asked = re.fullmatch(r"is (?:it|the picture) (\w+)", low)
        if asked and asked[1] in options:
            return "yes" if asked[1] == value else "no"
    if low.startswith("what is in the ") and not low.endswith("picture"):
        quadrant = low.removeprefix("what is in the ")
        return next((item.concept for item in scene.objects if place(item) == quadrant), "nothing")
    return _of_things(low, shown)


def _of_things(low: str, shown: list[SceneObject]) -> str:
    if re.fullmatch(r"what (?:[\w ]+ )?is (?:this|shown|in the picture)", low):
        return max(shown, key=lambda item: item.side).concept if shown else "nothing"
    exists = re.fullmatch(r"(?:is|are) there (?:an?|any)? ?(?:(\w+) )?([\w ]+?)", low)
    if exists:
        tint, name = (exists[1], exists[2]) if exists[1] in TINTS else ("", f"{exists[1] or ''} {exists[2]}".strip())
        return "yes" if any(i.concept in _expanded(name) and (not tint or i.tint == tint) for i in shown) else "no"
    about = next((i for i in shown if re.search(rf"\b(?:{i.concept}|{plural(i.concept)})\b", low)), None)
    about = about or next((i for i in shown if _is_under_group(i, low)), None)
    if about is None:
        return "unknown"
    if re.search(r"\b(small|large)\b", low):
        return about.size
    if "color" in low or any(tint in low.split() for tint in TINTS):
        return about.tint or "unknown"
    return place(about) if low.startswith("where") else "unknown"


def _is_under_group(item: SceneObject, low: str) -> bool:
    words, groups = vocabulary(), vocabulary().groups
    own = [name for name in groups if words.belongs(words.concept(item.concept), name)]
    return bool(re.search(r"\b(object|thing)\b", low)) or any(groups[name].singular in low for name in own)


@cache
def _expanded(name: str) -> frozenset[str]:
    expansion = Expansion.read(load_profile("embedded").facts_path())
    return frozenset(expansion.names(name)) & {concept.name for concept in vocabulary().concepts}
