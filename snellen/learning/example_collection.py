"""Gathering what a need can be learned from, in the three ways of CLOVA, section 3.4.

VQA learns from the question it failed on and the answer that reflection inferred; LOC and SEG from annotated scenes;
SELECT, CLASSIFY and REPLACE from pictures that a search finds. Beside them stand pictures of related concepts: some are
learned against, others prove that nothing is spoilt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from snellen.collection import Item, Split, split
from snellen.errors import BadInput, SnellenError
from snellen.learning.records import Collected, Need, StoredExample
from snellen.memory.prompts import PromptSelection
from snellen.models.vision.inpainting import central
from snellen.tuning import POOL_OF_TOOL, TuningExample

if TYPE_CHECKING:
    import PIL.Image

    from snellen.collection import Annotated, AnnotatedSource, PictureSource, SearchedPicture
    from snellen.learning.resources import LearningContext
    from snellen.models.vision.models import Models
    from snellen.profiles import CollectionSettings
    from snellen.reasoning.reasoner import Reasoner
    from snellen.tuning.instances import Box

_MOST_OTHER_QUESTIONS: Final = 12
_OF_EACH: Final = 2
"""Pictures of each related concept: one to learn against, one to prove that nothing is spoilt."""

SPANNING: Final = 0.95
"""From this share of the picture's width or height on, a segment is taken for background."""

MOST_PAINTED: Final = 0.8
"""The share of a picture that REPLACE learns to paint at most: what is around it says how."""


async def gather_for(need: Need, context: LearningContext, *, seed: int) -> Collected:
    """Gather for one need; what cannot be gathered is said, not raised.

    Args:
        need: What should be learned.
        context: Where pictures come from and are kept.
        seed: Chooses among the pictures of a source: another one gives others.
    """
    pool = POOL_OF_TOOL.get(need.tool)
    if pool is None:
        return Collected(need, trouble=f"{need.tool} does not learn: it has no model, or none that takes prompts.")
    if pool != "VQA" and not need.concept.strip():
        return Collected(need, trouble=f"Nothing says what {need.tool} should learn to see.")
    try:
        if pool == "VQA":
            return await asyncio.to_thread(_questions, need, context)
        related = await _related(need.concept, context)
        gathering = _Gathering(need, context, related, seed)
        ways = {"LOC": gathering.scenes, "SEG": gathering.outlines}
        return await asyncio.to_thread(ways.get(pool, gathering.pictures))
    except SnellenError as error:
        return Collected(need, trouble=str(error))


def _questions(need: Need, context: LearningContext) -> Collected:
    """The question that failed proves its own prompt (section 3.4); others that went well must stay right."""
    if not (need.question and need.answer and need.picture):
        return Collected(need, trouble="The right answer to the question is not known, so VQA cannot learn it.")
    example = StoredExample(need.picture.id, question=need.question, answer=need.answer)
    rows = context.learner().prompts.rows(PromptSelection(pool="VQA"))
    right = [row for row in rows if row.steps == 0 and row.picture and row.question != need.question]
    examples = [StoredExample(row.picture, question=row.question, answer=row.answer) for row in right]
    against = set(list(dict.fromkeys(one.picture for one in examples))[::2])
    negatives = [one for one in examples if one.picture in against]
    others = [one for one in examples if one.picture not in against]
    return Collected(
        need,
        training=(example,),
        held_out=(example,),
        negatives=tuple(negatives[-_MOST_OTHER_QUESTIONS:]),
        others=tuple(others[-_MOST_OTHER_QUESTIONS:]),
        source="answer",
    )


async def _related(concept: str, context: LearningContext) -> list[str]:
    """Name concepts like this one: some that the user's own folder has beside it, then such as are like it.

    They are twice as many as compete with it: what is spoilt need not be of its kind.
    """
    count = 2 * _settings(context).related
    beside = [name for name in context.learner().beside if name != concept][: (count + 1) // 2]
    return list(dict.fromkeys([*beside, *await _alike(concept, count, context)]))[:count]


async def _alike(concept: str, count: int, context: LearningContext) -> list[str]:
    """Name concepts of its group where a table of facts knows it, else by asking the Reasoner."""
    known = context.vision().expansion.related(concept, count)
    if known or not count:
        return list(known)
    return await _named_by(context.reasoner, concept, count)


async def _named_by(reasoner: Reasoner, concept: str, count: int) -> list[str]:
    try:
        named = await reasoner.list_knowledge(f"things that look like a {concept} but are something else", count, [])
    except BadInput:
        # Who knows of nothing names nothing: the concept is learned without competitors.
        return []
    return [name for name in named if name.casefold() != concept.casefold()][:count]


def _settings(context: LearningContext) -> CollectionSettings:
    return context.vision().profile.collection


@dataclass(frozen=True)
class _Gathering:
    """One concept's pictures from the sources of a context."""

    need: Need
    context: LearningContext
    related: Sequence[str]
    seed: int

    @property
    def concept(self) -> str:
        return self.need.concept

    def scenes(self) -> Collected:
        """Annotated scenes of the concept, and scenes of related concepts without it."""
        source, settings = _annotated(self.context), _settings(self.context)
        total = settings.scenes + settings.held_out_scenes
        scenes = source.annotated(self.concept, total, seed=self.seed)
        parts = split(scenes, held_out=_share(len(scenes), settings.held_out_scenes, total))
        if not parts.validation:
            return self._too_few(scenes, "annotated scenes", source)
        return self._collected(
            parts.each(lambda scene: TuningExample(scene.picture, self.concept, scene.boxes)),
            self._other_scenes(source).each(lambda scene: TuningExample(scene.picture, self.concept)),
            source=_origin(scenes, source),
        )

    def outlines(self) -> Collected:
        """Annotated scenes with masks of the concept, and such scenes of related concepts without it."""
        source, settings = _annotated(self.context), _settings(self.context)
        total = settings.outlined + settings.held_out_scenes
        scenes = [scene for scene in source.annotated(self.concept, total, seed=self.seed) if scene.masks]
        parts = split(scenes, held_out=_share(len(scenes), settings.held_out_scenes, total))
        if not parts.validation:
            return self._too_few(scenes, "annotated scenes with masks", source)
        return self._collected(
            parts.each(_outlined), self._other_scenes(source).each(_outlined), source=_origin(scenes, source)
        )

    def pictures(self) -> Collected:
        """Pictures found for the concept, and for related ones: cut to what they show, or (REPLACE) with its place."""
        source, settings = _found(self.context), _settings(self.context)
        total = settings.found + settings.held_out_found
        pictures = source.found(self.concept, total, seed=self.seed)
        parts = split(pictures, held_out=_share(len(pictures), settings.held_out_found, total))
        if not parts.validation:
            return self._too_few(pictures, "pictures", source)
        others = _halved([source.found(name, _OF_EACH, seed=self.seed) for name in self.related])
        if not others.training and not self.related and POOL_OF_TOOL[self.need.tool] == "CLIP":
            msg = f"Nothing else is at hand to tell {self.concept!r} from: put folders of other things beside its own."
            return Collected(self.need, trouble=msg)
        return self._collected(parts.each(self._shown), others.each(self._shown), source=_origin(pictures, source))

    def _other_scenes(self, source: AnnotatedSource) -> Split[Annotated]:
        groups = [source.annotated(name, _OF_EACH, seed=self.seed) for name in self.related]
        return _halved([[scene for scene in scenes if self.concept not in scene.others] for scenes in groups])

    def _shown(self, hit: SearchedPicture) -> TuningExample:
        if POOL_OF_TOOL[self.need.tool] == "REPLACE":
            return TuningExample(hit.picture, hit.concept, (painted_place(hit.picture, self.context.vision()),))
        return TuningExample(subject(hit.picture, self.context.vision()), hit.concept)

    def _collected(self, own: Split[TuningExample], others: Split[TuningExample], *, source: str) -> Collected:
        def stored(examples: Sequence[TuningExample]) -> tuple[StoredExample, ...]:
            return tuple(StoredExample.of(example, self.context.pictures) for example in examples)

        return Collected(
            self.need,
            training=stored(own.training),
            held_out=stored(own.validation),
            negatives=stored(others.training),
            others=stored(others.validation),
            names=tuple(self.related[: _settings(self.context).related]),
            source=source[:200],
        )

    def _too_few(self, items: Sequence[object], what: str, source: AnnotatedSource | PictureSource) -> Collected:
        msg = (
            f"There is only one different picture of {self.concept!r}: none is left to prove what is learned from it."
            if items
            else f"There are no {what} of {self.concept!r} in {source}: name a folder of pictures that has some."
        )
        return Collected(self.need, trouble=msg)


def _origin(items: Sequence[Item], source: AnnotatedSource | PictureSource) -> str:
    """Return where pictures are from, for people: what all of them say, or the source that holds their files."""
    origins = {one.origin for one in items}
    return origins.pop() if len(origins) == 1 else str(source)


def _halved(groups: Sequence[Sequence[Item]]) -> Split[Item]:
    """Share pictures of several names out, so that as far as they go each name is on both sides."""
    in_turns = [one for turn in zip_longest(*groups) for one in turn if one is not None]
    return split(in_turns, held_out=len(in_turns) // 2)


def _outlined(scene: Annotated) -> TuningExample:
    return TuningExample(scene.picture, scene.concept, scene.boxes, masks=scene.masks)


def _share(available: int, held_out: int, total: int) -> int:
    """How many to hold out of fewer than were wanted: the same share, at least one."""
    return max(1, available * held_out // total)


def _annotated(context: LearningContext) -> AnnotatedSource:
    source = context.learner().annotated
    if source is None:
        profile = context.vision().profile
        msg = (
            f"The profile {profile.name!r} has no scenes with boxes to learn from: name a folder of pictures in "
            "COCO's format, or set collection.annotated to one in a profile that extends it."
        )
        raise BadInput(msg)
    return source


def _found(context: LearningContext) -> PictureSource:
    source = context.learner().found
    if source is None:
        profile = context.vision().profile
        msg = (
            f"The profile {profile.name!r} has no pictures to learn from: name a folder of pictures, or "
            "set collection.pictures to one in a profile that extends it."
        )
        raise BadInput(msg)
    return source


def subject(picture: PIL.Image.Image, models: Models) -> PIL.Image.Image:
    """Cut out what a found picture shows, as SELECT and CLASSIFY will see it.

    Returns:
        The crop; the whole picture where nothing is found in it.
    """
    box = _best_box(picture, models)
    return picture if box is None else picture.crop(box)


def painted_place(picture: PIL.Image.Image, models: Models) -> Box:
    """Tell where in a found picture REPLACE learns to paint: where it shows its subject.

    Returns:
        The box of the subject; the middle where there is none, or where it leaves nothing around it to see.
    """
    box, (width, height) = _best_box(picture, models), picture.size
    if box is None or (box[2] - box[0]) * (box[3] - box[1]) > MOST_PAINTED * width * height:
        return central(picture.size)
    return box


def _best_box(picture: PIL.Image.Image, models: Models) -> Box | None:
    """Return the box of the largest thing, whatever it is, where the segmenter sees such; else the best known one."""
    segmenter = models.profile.models.seg
    if segmenter is not None and segmenter.objectness:
        (segments,) = models.segment([picture])
        things = [one.box for one in segments if not _spans(one.box, picture.size)]
        if things:
            return max(things, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]))
    (boxes,) = models.detect([picture], [models.expansion.all_names()])
    return boxes[0].box if boxes else None


def _spans(box: Box, size: tuple[int, int]) -> bool:
    """Tell stuff from things: a background reaches across the whole picture, a subject leaves something around it."""
    return box[2] - box[0] >= SPANNING * size[0] or box[3] - box[1] >= SPANNING * size[1]
