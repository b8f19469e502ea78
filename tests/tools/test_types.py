"""Types of data: the paper's by name, drawn so that one can tell them apart, and read in the words that people use."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from snellen import microworld
from snellen.microworld.scenes import FURTHER_STYLES
from snellen.profiles import load_profile
from snellen.reasoning.queries.abilities import IdentifyType
from snellen.reasoning.queries.query_readings import UnderstoodQuery
from snellen.reasoning.queries.reader import reader_of
from snellen.tools.calls import ToolCall
from snellen.tools.samples import WorldSource
from snellen.tools.transforms import DATA_TYPES, FURTHER_TYPES, ParameterOutOfRange, apply

WORLD = WorldSource(microworld, title="microworld")
UDANDARAO = {
    "geometric": 5,  # left and right rotation, vertical flip, crop and zoom, patch and reshuffle
    "pixel": 7,  # Gaussian noise, defocus blur, JPEG, low and high brightness and contrast
    "style": 8,  # pencil sketch, cartoon, plushie, graffiti, embroidery, origami, sculpture, tattoo
    "semantic": 7,  # multi-same, multi-different, snowy, tiger stripes, typographic, CutMix, MixUp
}
"""Data types of each group in table 1 of Udandarao et al. (2024)."""


def changed(name: str, number: int, *, what: str = "random") -> tuple[Image.Image, Image.Image]:
    """Return a picture before and after it was made of a type, as plainly as can be."""
    call = {**DATA_TYPES, **FURTHER_TYPES}[name].calls[-1]
    for attempt in range(number, 10_000, 100):
        selected = WORLD.select(what, "photo", str(attempt))
        try:
            return selected.picture, apply(call, selected.picture, str(attempt), selected.studio)
        except ParameterOutOfRange:
            continue
    raise AssertionError(name)


def test_the_papers_types_are_those_of_its_groups() -> None:
    counted = {group: sum(one.group == group for one in DATA_TYPES.values()) for group in UDANDARAO}
    assert counted == UDANDARAO
    assert not set(DATA_TYPES) & set(FURTHER_TYPES)


@pytest.mark.parametrize("name", [*DATA_TYPES, *FURTHER_TYPES])
def test_every_type_shows_and_is_the_same_each_time(name: str) -> None:
    for number in range(2):
        before, after = changed(name, number)
        assert after.tobytes() != before.tobytes()
        assert changed(name, number)[1].tobytes() == after.tobytes()


def look(picture: Image.Image) -> np.ndarray:
    """Describe how a picture looks: its colours, and how much they change from pixel to pixel."""
    small = np.asarray(picture.convert("RGB"), dtype=np.float64)
    colours = np.histogramdd(small.reshape(-1, 3), bins=(4, 4, 4), range=[(0, 256)] * 3)[0].ravel() / small.size
    steps = [np.abs(np.diff(small.mean(axis=2), axis=axis)).ravel() for axis in (0, 1)]
    texture = np.concatenate([np.histogram(each, bins=8, range=(0, 128))[0] / each.size for each in steps])
    return np.concatenate([colours * 3, texture])


def test_styles_can_be_told_apart_by_colours_and_texture_alone() -> None:
    """Nearest neighbours among other pictures: whoever confuses two styles would make the experiment meaningless."""
    names = [f"{style} style" for style in FURTHER_STYLES[:-1]] + ["sketch style"]
    known = [(name, look(changed(name, number)[1])) for name in names for number in range(12)]
    right = [
        min(known, key=lambda pair: float(np.abs(pair[1] - seen).sum()))[0] == name
        for name in names
        for number in range(12, 18)
        for seen in [look(changed(name, number)[1])]
    ]
    assert np.mean(right) > 0.95


def test_stripes_are_on_the_thing_and_nowhere_else() -> None:
    selected = WORLD.select("dog", "photo", "5")
    assert selected.studio is not None
    (box,) = selected.studio.occupied()
    call = ToolCall(name="EditImageStyle", arguments={"style": "tiger stripes"})
    after = apply(call, selected.picture, "s", selected.studio)
    different = (np.asarray(after) != np.asarray(selected.picture)).any(axis=2)
    rows, columns = np.nonzero(different)
    assert (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1) == box


@pytest.mark.parametrize(("name", "alike"), [("multi-same", True), ("multi-different", False)])
def test_several_things_stand_beside_what_was_shown(name: str, alike: bool) -> None:  # noqa: FBT001 - pytest's way
    dogs = {microworld.cut_out("dog", 40, str(n)).tobytes() for n in range(60)}
    for number in range(8):
        studio = WORLD.select("dog", "photo", str(number)).studio
        assert studio is not None
        thing = studio.cut_out("same" if alike else "other", 40, np.random.default_rng(number))
        assert (thing.tobytes() in dogs) == alike
        before, after = changed(name, number, what="dog")
        different = (np.asarray(after) != np.asarray(before)).any(axis=2)
        assert different.any()
        if WORLD.select("dog", "photo", str(number)).picture.tobytes() == before.tobytes():
            for x0, y0, x1, y1 in studio.occupied():
                assert not different[y0:y1, x0:x1].any()


@pytest.fixture(scope="module")
def questions() -> list[tuple[str, str]]:
    types = {**DATA_TYPES, **FURTHER_TYPES}
    return [(f"Can models identify {words} in images?", name) for name, one in types.items() for words in one.words]


def test_the_words_of_every_type_are_read_as_it(questions: list[tuple[str, str]]) -> None:
    profile = load_profile("embedded")
    reader = reader_of(tuple(profile.tested), profile)
    for text, name in questions:
        reading = reader.read(text)
        assert isinstance(reading, UnderstoodQuery), text
        (question,) = reading.query.questions
        assert isinstance(question.ability, IdentifyType), text
        assert question.ability.condition.types == (name,), text


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("Can models recognize origami versions of animals?", ("origami style",)),
        ("Do they recognize birds drawn as cartoons?", ("cartoon style",)),
        ("Can models recognize statues of animals?", ("sculpture style",)),
        ("Can they recognize cats as plush toys?", ("plushie style",)),
        ("Is blip robust to tattoos?", ("tattoo style",)),
        ("Can models recognize animals with tiger stripes?", ("tiger stripes",)),
    ],
)
def test_questions_about_things_of_a_type_are_read(text: str, types: tuple[str, ...]) -> None:
    profile = load_profile("embedded")
    reading = reader_of(tuple(profile.tested), profile).read(text)
    assert isinstance(reading, UnderstoodQuery)
    (question,) = reading.query.questions
    assert question.condition is not None
    assert question.condition.types == types


def test_types_that_stood_in_reports_before_are_still_types() -> None:
    """Names that earlier versions wrote into threads and reports."""
    for name in ("half turn", "tilt", "mosaic style", "embossed style", "pasted shape", "foggy weather"):
        assert name in FURTHER_TYPES
