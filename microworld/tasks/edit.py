"""Edits of one picture; success is checked against the scene's truth, region by region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.microworld.drawing import draw_array, truths
from snellen.microworld.scenes import Scene, article
from snellen.microworld.tasks.sampling import Maker, TaskDraft, TaskSampler, member, tintable
from snellen.microworld.tasks.task import EditAnswer, EditStep, Operation
from snellen.microworld.tasks.wording import Instruction, Wordings, be, say

COLORPOP = Wordings(
    (
        "create a color pop of the {x}.",
        "color pop the {x}.",
        "make a color pop of the {x} in the {picture}.",
        "keep the {x} in color and make everything else gray.",
    ),
    ("make the whole {picture} black and white except for the {x}.",),
)
COLORPOP_TWO = Wordings(
    (
        "create a color pop of the {x} and the {y}.",
        "keep the {x} and the {y} in color and make everything else gray.",
    )
)
BGBLUR = Wordings(
    (
        "blur the background of the {x}.",
        "blur everything except the {x}.",
        "blur the background behind the {x} in the {picture}.",
    ),
    ("keep the {x} in focus and blur the rest of the {picture}.",),
)
REPLACE = Wordings(
    ("replace the {x} with {a_new}.", "replace the {x} in the {picture} by {a_new}.", "turn the {x} into {a_new}."),
    ("put {a_new} where the {x} {be}.",),
)
EMOJI = Wordings(
    (
        "hide the {x} with {an_emoji} emoji.",
        "cover the {x} with {an_emoji} emoji.",
        "put {an_emoji} emoji over the {x} in the {picture}.",
    ),
    ("make the {x} unrecognizable by {an_emoji} emoji.",),
)
EMOJI_FACES = Wordings(
    ("hide all faces with {an_emoji} emoji.", "cover every face in the {picture} with {an_emoji} emoji."),
    ("put {an_emoji} emoji on each face.",),
)
THEN = Wordings(("{one} and {two}", "first {one}, then {two}", "{one} and then {two}"))
COLORPOP_PART = Wordings(("create a color pop of the {x}", "color pop the {x}"))
BGBLUR_PART = Wordings(("blur the background of the {x}", "blur everything except the {x}"))
REPLACE_PART = Wordings(("replace the {x} with {a_new}",), ("turn the {x} into {a_new}",))
EMOJI_PART = Wordings(("hide the {x} with {an_emoji} emoji", "cover the {x} with {an_emoji} emoji"))

EMOJIS = ("smiling face", "winking face", "angry face", "sleeping face", "ghost", "skull")
# Mean difference between the strongest and the weakest channel from which a part of a picture counts as coloured.
COLOURED = 30.0


@dataclass(frozen=True)
class _Asked:
    """One part of a chained instruction: its words, the template they were made from, and what it asks for."""

    text: str
    masked: str
    step: EditStep


def _one(sampler: TaskSampler, operation: Operation, wordings: Wordings) -> TaskDraft | None:
    x = sampler.key(tintable)
    scene = _scene(sampler, [x])
    if scene is None:
        return None
    becomes = _becomes(sampler, operation, [o.concept for o in scene.objects])
    wording = say(wordings, sampler.fixed, sampler.split, x=x, be=be(x), **_new(becomes))
    step = EditStep(operation, _places(scene, x), becomes)
    return TaskDraft(wording, (scene,), EditAnswer((step,)), (x,))


def _becomes(sampler: TaskSampler, operation: Operation, present: list[str]) -> str:
    if operation == "replace":
        return sampler.key(tintable, apart=present)
    return sampler.fixed.choice(EMOJIS) if operation == "emoji" else ""


def _new(becomes: str) -> dict[str, str]:
    named = article(becomes) if becomes else ""
    return {"a_new": named, "an_emoji": named}


def _places(scene: Scene, name: str) -> tuple[int, ...]:
    return tuple(i for i, o in enumerate(scene.objects) if o.concept == name)


def _scene(sampler: TaskSampler, required: list[str], groups: tuple[str, ...] = ()) -> Scene | None:
    """Draw a scene in which every edit of what is required would be seen."""
    scene = sampler.scene(required, groups=groups, counts=(2, 4), colour=True)
    if scene is None or scene.weather == "foggy":
        return None
    pixels = draw_array(scene).astype(np.int16)
    chroma = pixels.max(axis=-1) - pixels.min(axis=-1)
    masks = {i: truth.mask for i, truth in enumerate(truths(scene))}
    meant = np.logical_or.reduce([masks[i] for i, o in enumerate(scene.objects) if o.concept in required])
    coloured = chroma[meant].mean() >= COLOURED and chroma[~meant].mean() >= COLOURED / 2
    return scene if coloured else None


def _colorpop(sampler: TaskSampler) -> TaskDraft | None:
    if sampler.even():
        return _one(sampler, "colorpop", COLORPOP)
    x = sampler.key(tintable)
    y = sampler.key(tintable, apart=[x])
    scene = _scene(sampler, [x, y])
    wording = say(COLORPOP_TWO, sampler.fixed, sampler.split, x=x, y=y)
    if scene is None:
        return None
    step = EditStep("colorpop", tuple(sorted(_places(scene, x) + _places(scene, y))))
    return TaskDraft(wording, (scene,), EditAnswer((step,)), (x, y))


def _bgblur(sampler: TaskSampler) -> TaskDraft | None:
    return _one(sampler, "bgblur", BGBLUR)


def _replace(sampler: TaskSampler) -> TaskDraft | None:
    return _one(sampler, "replace", REPLACE)


def _emoji(sampler: TaskSampler) -> TaskDraft | None:
    return _one(sampler, "emoji", EMOJI) if sampler.even() else _emoji_faces(sampler)


def _emoji_faces(sampler: TaskSampler) -> TaskDraft | None:
    emoji = sampler.fixed.choice(EMOJIS)
    faces = sorted({sampler.key(member("faces")) for _ in range(sampler.dice.integer(1, 2))})
    scene = _scene(sampler, faces, groups=("faces", "people"))
    if scene is None or any("face" in o.file and not member("faces")(o.concept) for o in scene.objects):
        return None
    wording = say(EMOJI_FACES, sampler.fixed, sampler.split, **_new(emoji))
    places = tuple(i for i, o in enumerate(scene.objects) if member("faces")(o.concept))
    return TaskDraft(wording, (scene,), EditAnswer((EditStep("emoji", places, emoji),)), tuple(faces))


PARTS: dict[Operation, Wordings] = {
    "colorpop": COLORPOP_PART,
    "bgblur": BGBLUR_PART,
    "replace": REPLACE_PART,
    "emoji": EMOJI_PART,
}
CHAINS: tuple[tuple[Operation, Operation], ...] = (
    ("colorpop", "bgblur"),
    ("emoji", "colorpop"),
    ("emoji", "bgblur"),
    ("replace", "colorpop"),
    ("replace", "bgblur"),
)


def _chained(sampler: TaskSampler) -> TaskDraft | None:
    """Two edits: colour pop and blur keep the same object, the others change one and keep another."""
    first, second = sampler.fixed.choice(CHAINS)
    x = sampler.key(tintable)
    y = x if first == "colorpop" else sampler.key(tintable, apart=[x])
    scene = _scene(sampler, [x] if x == y else [x, y])
    if scene is None:
        return None
    one, two = _part(sampler, scene, first, x), _part(sampler, scene, second, y)
    wording = say(THEN, sampler.fixed, sampler.split, one=one.text, two=two.text)
    masked = wording.masked.format(one=one.masked, two=two.masked)
    return TaskDraft(Instruction(f"{wording.text}.", masked), (scene,), EditAnswer((one.step, two.step)), (x, y))


def _part(sampler: TaskSampler, scene: Scene, operation: Operation, x: str) -> _Asked:
    becomes = _becomes(sampler, operation, [o.concept for o in scene.objects])
    wording = say(PARTS[operation], sampler.fixed, sampler.split, x=x, **_new(becomes))
    text = wording.text[0].lower() + wording.text[1:]
    return _Asked(text, wording.masked, EditStep(operation, _places(scene, x), becomes))


TYPES: dict[str, Maker] = {
    "color pop": _colorpop,
    "background blur": _bgblur,
    "replace": _replace,
    "emoji": _emoji,
    "chained": _chained,
}
