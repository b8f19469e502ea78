"""Edits of one picture; success is checked against the scene's truth, region by region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.microworld.drawing import draw_array, truths
from snellen.microworld.scenes import Scene, article
from snellen.microworld.tasks.sampling import Maker, Site, TaskDraft, member, tintable
from snellen.microworld.tasks.task import EditAnswer, EditStep, Operation
from snellen.microworld.tasks.wording import Wordings, be, say

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


def _one(site: Site, operation: Operation, wordings: Wordings) -> TaskDraft | None:
    x = site.key(tintable)
    scene = _scene(site, [x])
    if scene is None:
        return None
    becomes = _becomes(site, operation, [o.concept for o in scene.objects])
    wording = say(wordings, site.fate, site.split, x=x, be=be(x), **_new(becomes))
    step = EditStep(operation, _places(scene, x), becomes)
    return TaskDraft(wording, (scene,), EditAnswer((step,)), (x,))


def _becomes(site: Site, operation: Operation, present: list[str]) -> str:
    if operation == "replace":
        return site.key(tintable, apart=present)
    return site.fate.choice(EMOJIS) if operation == "emoji" else ""


def _new(becomes: str) -> dict[str, str]:
    named = article(becomes) if becomes else ""
    return {"a_new": named, "an_emoji": named}


def _places(scene: Scene, name: str) -> tuple[int, ...]:
    return tuple(i for i, o in enumerate(scene.objects) if o.concept == name)


def _scene(site: Site, required: list[str], groups: tuple[str, ...] = ()) -> Scene | None:
    """Draw a scene in which every edit of what is required would be seen."""
    scene = site.scene(required, groups=groups, counts=(2, 4), colour=True)
    if scene is None or scene.weather == "foggy":
        return None
    pixels = draw_array(scene).astype(np.int16)
    chroma = pixels.max(axis=-1) - pixels.min(axis=-1)
    masks = {i: truth.mask for i, truth in enumerate(truths(scene))}
    meant = np.logical_or.reduce([masks[i] for i, o in enumerate(scene.objects) if o.concept in required])
    coloured = chroma[meant].mean() >= COLOURED and chroma[~meant].mean() >= COLOURED / 2
    return scene if coloured else None


def _colorpop(site: Site) -> TaskDraft | None:
    if site.even():
        return _one(site, "colorpop", COLORPOP)
    x = site.key(tintable)
    y = site.key(tintable, apart=[x])
    scene = _scene(site, [x, y])
    wording = say(COLORPOP_TWO, site.fate, site.split, x=x, y=y)
    if scene is None:
        return None
    step = EditStep("colorpop", tuple(sorted(_places(scene, x) + _places(scene, y))))
    return TaskDraft(wording, (scene,), EditAnswer((step,)), (x, y))


def _bgblur(site: Site) -> TaskDraft | None:
    return _one(site, "bgblur", BGBLUR)


def _replace(site: Site) -> TaskDraft | None:
    return _one(site, "replace", REPLACE)


def _emoji(site: Site) -> TaskDraft | None:
    return _one(site, "emoji", EMOJI) if site.even() else _emoji_faces(site)


def _emoji_faces(site: Site) -> TaskDraft | None:
    emoji = site.fate.choice(EMOJIS)
    faces = sorted({site.key(member("faces")) for _ in range(site.dice.integer(1, 2))})
    scene = _scene(site, faces, groups=("faces", "people"))
    if scene is None or any("face" in o.file and not member("faces")(o.concept) for o in scene.objects):
        return None
    wording = say(EMOJI_FACES, site.fate, site.split, **_new(emoji))
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


def _chained(site: Site) -> TaskDraft | None:
    """Two edits: colour pop and blur keep the same object, the others change one and keep another."""
    first, second = site.fate.choice(CHAINS)
    x = site.key(tintable)
    y = x if first == "colorpop" else site.key(tintable, apart=[x])
    scene = _scene(site, [x] if x == y else [x, y])
    if scene is None:
        return None
    one, two = _part(site, scene, first, x), _part(site, scene, second, y)
    wording = say(THEN, site.fate, site.split, one=one.text, two=two.text)
    masked = wording.masked.format(one=one.masked, two=two.masked)
    return TaskDraft(type(wording)(wording.text + ".", masked), (scene,), EditAnswer((one.step, two.step)), (x, y))


def _part(site: Site, scene: Scene, operation: Operation, x: str) -> _Asked:
    becomes = _becomes(site, operation, [o.concept for o in scene.objects])
    wording = say(PARTS[operation], site.fate, site.split, x=x, **_new(becomes))
    text = wording.text[0].lower() + wording.text[1:]
    return _Asked(text, wording.masked, EditStep(operation, _places(scene, x), becomes))


TYPES: dict[str, Maker] = {
    "color pop": _colorpop,
    "background blur": _bgblur,
    "replace": _replace,
    "emoji": _emoji,
    "chained": _chained,
}
