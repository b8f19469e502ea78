"""The whole flow with the shipped checkpoints: instructions with branches and loops, and a photograph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen.errors import BadInput
from snellen.graphs.states import AskState
from snellen.microworld.drawing import draw
from snellen.microworld.scenes import Recipe, sample_scene
from snellen.runtime.context import Context
from snellen.threads import ask
from snellen.threads.events import Finished

pytestmark = pytest.mark.slow

BRANCHES = (
    "If there is a dog, count the cats; otherwise count the birds.",
    "Should there be no bicycle, tell the weather, else say how many animals there are.",
    "When the picture contains a house, what is the background? Otherwise, is there a tree?",
    "If you can see more than one cat, tell me the color of the house, otherwise how many dogs are there?",
    "Is there a banana? If so, count the fruit, if not, count the animals.",
)
LOOPS = (
    "For each animal, say what color it is.",
    "For every cat tell its color.",
    "Go through the animals and say whether each is edible.",
    "What color is each house?",
    "Go through the vehicles one by one and tell me whether each is red.",
)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return ask.make_context("embedded", tmp_path_factory.mktemp("home"))


@pytest.fixture(autouse=True)
def loaded_once(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "make_context", lambda _profile, _folder: context)


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    required = ("dog", "cat", "cat", "bicycle", "house")
    recipe = Recipe(concepts=("house",), required=required, counts=(5, 5), styles=("flat",), weathers=("clear",))
    path = tmp_path_factory.mktemp("pictures") / "scene.png"
    draw(sample_scene("end to end/3", recipe)).save(path)
    return path


async def _finish(picture: Path, instruction: str) -> Finished[AskState]:
    events = [event async for event in ask.stream_ask([picture], instruction)]
    last = events[-1]
    assert isinstance(last, Finished)
    return last


@pytest.mark.parametrize(
    ("statement", "instruction"), [*(("if", said) for said in BRANCHES), *(("for", said) for said in LOOPS)]
)
async def test_instruction_with_a_branch_or_a_loop_runs_end_to_end(
    picture: Path, statement: str, instruction: str
) -> None:
    finished = await _finish(picture, instruction)

    assert f"{statement} " in finished.state.program
    assert any(step["tool"] == statement.upper() for step in finished.state.steps)
    assert finished.state.error is None
    assert finished.state.answer is not None


@pytest.mark.parametrize("name", ["astronaut", "coffee", "cat", "rocket"])
async def test_photograph_comes_with_a_warning_and_the_way_to_the_hub_profile(name: str, tmp_path: Path) -> None:
    from skimage import data

    photograph = tmp_path / "photograph.png"
    Image.fromarray(np.asarray(getattr(data, name)())).save(photograph)

    finished = await _finish(photograph, "How many animals are there?")

    assert any("the profile hub" in warning for warning in finished.state.warnings)


async def test_words_that_nobody_understands_teach_nothing(picture: Path) -> None:
    finished = await _finish(picture, "How many dogs are there?")

    with pytest.raises(BadInput, match="'asdfgh qwerty' is not understood, so nothing is learned from it"):
        await anext(ask.correct(finished.thread, says="asdfgh qwerty"))


async def test_scene_of_the_microworld_comes_without_a_warning(picture: Path) -> None:
    finished = await _finish(picture, "How many animals are there?")

    assert not any("the profile hub" in warning for warning in finished.state.warnings)
