"""What the case-based reasoner understands; programs run on the real interpreter with perfect sight."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from benchmarks.oracle import Oracle
from snellen.memory.demonstrations import Demonstration, demonstration
from snellen.microworld.scenes import Scene, SceneObject
from snellen.profiles import load_profile
from snellen.reasoning.case_based.reasoner import SEEDS, CaseReasoner, seed_demonstrations
from snellen.reasoning.reasoner import Reasoner, ReasoningFailed, TaskRefused
from snellen.reasoning.task import Examples, Plan, Task
from snellen.tools.program import inputs_for

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def reasoner() -> CaseReasoner:
    return CaseReasoner(load_profile("embedded"))


def thing(concept: str, left: int, top: int, *, tint: str = "", size: str = "small", side: int = 28) -> SceneObject:
    return SceneObject(concept, f"{concept}.png", left, top, side, size, tint, mirrored=False)  # type: ignore[arg-type]


def scene(*objects: SceneObject, weather: str = "clear") -> Scene:
    return Scene("a test", "grass", "", "flat", weather, objects)


PARK = scene(
    thing("dog", 4, 4, tint="red"),
    thing("cat", 50, 6, tint="blue"),
    thing("cat", 92, 40, tint="green"),
    thing("banana", 8, 60),
    thing("strawberry", 50, 90),
    weather="snowy",
)
STREET = scene(thing("bus", 6, 20, tint="yellow"), thing("bicycle", 60, 20, tint="purple"), thing("rooster", 70, 80))


def write(reasoner: CaseReasoner, instruction: str, *, pictures: int = 1, examples: Examples | None = None) -> str:
    task = Task(instruction, inputs_for(pictures))
    return asyncio.run(reasoner.write_program(task, Plan([]), examples or Examples()))


def answer(reasoner: CaseReasoner, instruction: str, *scenes: Scene) -> object:
    records = Oracle(scenes).run(write(reasoner, instruction, pictures=len(scenes)))
    assert records[-1].error is None
    return records[-1].value


def test_it_is_a_reasoner(reasoner: CaseReasoner) -> None:
    assert isinstance(reasoner, Reasoner)
    assert reasoner.usage.calls == 0
    assert reasoner.examples_wanted > 0


def test_seeds_hold_the_four_parts() -> None:
    seeds = seed_demonstrations()
    parts = {(one.kind, one.correct) for one in seeds}
    assert parts == {("plan", True), ("plan", False), ("program", True), ("program", False)}
    for part in (("plan", False), ("program", False)):
        wrong = [one for one in seeds if (one.kind, one.correct) == part]
        assert len(wrong) >= 4
        assert all(one.critique for one in wrong)


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("If there is a dog, count the cats, otherwise count the birds.", 2),
        ("When there are more bananas than cats, say 'fruit', otherwise say 'cats'.", "cats"),
        ("Is there a horse? If so, what color is it? Otherwise count the fruit.", 2),
        ("Count the dogs if it is snowy, else tell me the color of the dog.", 1),
        ("Unless there are at least three cats, what color is the dog, otherwise name the fruit?", "red"),
    ],
)
def test_branches(reasoner: CaseReasoner, instruction: str, expected: object) -> None:
    assert answer(reasoner, instruction, PARK) == expected


@pytest.mark.parametrize(
    ("instruction", "picture", "expected"),
    [
        ("For each cat say its color.", PARK, ["blue", "green"]),
        ("Name every fruit from the picture.", PARK, ["banana", "strawberry"]),
        ("What color is each vehicle?", STREET, ["yellow", "purple"]),
        ("For every vehicle, tell me whether it is small or large.", STREET, ["small", "small"]),
        ("Go through the cats and tell me whether each one is green.", PARK, ["no", "yes"]),
    ],
)
def test_loops(reasoner: CaseReasoner, instruction: str, picture: Scene, expected: list[str]) -> None:
    found = answer(reasoner, instruction, picture)
    assert isinstance(found, list)
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Is there either a dog or a horse but not both?", "yes"),
        ("Are there at least two cats and no bird?", "yes"),
        ("Is the dog to the left of the banana or above the strawberry?", "yes"),
        ("How many cats and dogs are there?", 3),
        ("Which are there more of, dogs or cats?", "cats"),
        ("Do the dog and the banana have the same size?", "yes"),
        ("Are all the cats blue?", "no"),
        ("How many red dogs are there?", 1),
        ("And how many cats are there?", 2),
        ("Thanks! OK, now, is there a dog?", "yes"),
    ],
)
def test_joints(reasoner: CaseReasoner, instruction: str, expected: object) -> None:
    assert answer(reasoner, instruction, PARK) == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Exactly one of the images shows a dog.", "yes"),
        ("Neither picture contains a cat.", "no"),
        ("The left picture has more cats than the right one.", "yes"),
        ("There are exactly two cats in total.", "yes"),
        ("There is a bus in the right image and a dog in the left image.", "yes"),
        ("One picture shows a cat and the other none.", "yes"),
        ("The two pictures have the same background.", "yes"),
        ("There are more cats in the left picture.", "yes"),
        ("There are fewer dogs in the left picture.", "no"),
    ],
)
def test_statements_about_two_pictures(reasoner: CaseReasoner, statement: str, expected: str) -> None:
    assert answer(reasoner, statement, PARK, STREET) == expected


def test_what_is_not_known_is_named_and_the_paper_s_operations_are_adapted(reasoner: CaseReasoner) -> None:
    with pytest.raises(TaskRefused, match=r"“flamingos” is not known\. .* `snellen learn flamingo`"):
        write(reasoner, "How many flamingos are there?")
    assert "FACEDET" in write(reasoner, "Cover the face of Albert Einstein with a smiling_face emoji.")


def test_edits_follow_each_other_on_the_picture_made_before(reasoner: CaseReasoner) -> None:
    program = write(reasoner, "First color pop the cat, then blur everything except the cat.")
    assert "COLORPOP(image=IMAGE," in program
    assert "BGBLUR(image=IMAGE0," in program


def test_a_color_pop_may_be_a_verb(reasoner: CaseReasoner) -> None:
    assert write(reasoner, "Color-pop the cat.") == write(reasoner, "Create a color pop of the cat.")


def test_without_a_picture_that_is_said(reasoner: CaseReasoner) -> None:
    with pytest.raises(TaskRefused, match="There is no picture"):
        write(reasoner, "How many dogs are there?", pictures=0)


@pytest.mark.parametrize(
    "instruction",
    [
        "Write me a poem about cats.", "What is the capital of France?", "What time is it?", "   ", "cat " * 5000,
    ],
)  # fmt: skip
def test_what_it_cannot_do_is_refused_in_a_sentence(reasoner: CaseReasoner, instruction: str) -> None:
    with pytest.raises(ReasoningFailed) as refused:
        write(reasoner, instruction)
    assert len(str(refused.value)) < 700


def right(instruction: str, program: str, plan: Sequence[str] = ("Do it.",)) -> Demonstration:
    return demonstration("program", instruction, plan=plan, program=program)


def test_it_learns_a_new_wording_from_one_demonstration(reasoner: CaseReasoner) -> None:
    with pytest.raises(ReasoningFailed):
        write(reasoner, "Roll call for the cat.")
    taught = right("Roll call for the dog.", "BOX0=LOC(image=IMAGE,object='dog')\nC=COUNT(box=BOX0)\nR=RESULT(var=C)\n")
    program = write(reasoner, "Roll call for the cat.", examples=Examples(programs_correct=[taught]))
    assert "object='cat'" in program
    assert "COUNT(" in program


def test_a_program_that_was_wrong_is_replaced_by_one_that_was_right_for_other_things(reasoner: CaseReasoner) -> None:
    instruction, taught = "What color is the rabbit?", "What color is the dog?"
    shape = "A0=VQA(image=IMAGE,question='what color is the dog?')\nF=RESULT(var=A0)\n"
    mistake = demonstration(
        "program", taught, plan=[], correct=False, critique="It crops.", program=write(reasoner, taught)
    )
    examples = Examples(programs_correct=[right(taught, shape)], programs_incorrect=[mistake])
    assert write(reasoner, instruction, examples=examples) == shape.replace("dog", "rabbit")


def test_what_somebody_showed_for_this_wording_is_done(reasoner: CaseReasoner) -> None:
    taught = "What color is the dog?"
    shape = "A0=VQA(image=IMAGE,question='what color is the dog?')\nF=RESULT(var=A0)\n"
    assert write(reasoner, taught, examples=Examples(programs_correct=[right(taught, shape)])) == shape


def test_programs_that_equal_known_mistakes_are_passed_over_until_none_is_left(reasoner: CaseReasoner) -> None:
    def mistake(program: str) -> Demonstration:
        shown = program.replace("dog", "goat")
        wrong = "How many goats are there?"
        return demonstration("program", wrong, plan=[], correct=False, critique="no", program=shown)

    question, mistakes = "How many dogs are there?", list[Demonstration]()

    def solve_again_and_again() -> None:
        while len(mistakes) < 20:
            mistakes.append(mistake(write(reasoner, question, examples=Examples(programs_incorrect=mistakes))))

    with pytest.raises(TaskRefused, match="was wrong before"):
        solve_again_and_again()
    assert mistakes


def test_the_plan_says_what_the_program_does(reasoner: CaseReasoner) -> None:
    task = Task("What color is the rabbit to the left of the tree?", inputs_for(1))
    plan = asyncio.run(reasoner.plan(task, Examples()))
    text = " ".join(plan.steps)
    assert "rabbit" in text
    assert "tree" in text
    assert "umbrella" not in text
    assert 1 <= len(plan.steps) <= 20


def test_reasoning_is_quick(reasoner: CaseReasoner) -> None:
    write(reasoner, "Is there a bear?")
    started = time.process_time()
    write(reasoner, "Is there a bear?")
    assert time.process_time() - started < 0.3


def test_seeds_are_a_file_of_the_package() -> None:
    assert SEEDS.is_file()


def test_the_emoji_is_not_taken_for_the_thing(reasoner: CaseReasoner) -> None:
    program = write(reasoner, "Hide the umbrella with an angry face emoji.")
    assert "object='umbrella'" in program
    assert "emoji='angry face'" in program
