"""A wrong answer is looked into, corrected and tried again; what comes of it is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import PIL.Image
import pytest

from snellen.graphs.ask import graph
from snellen.graphs.states import AskState
from snellen.learning.needs import concepts_of, is_new
from snellen.learning.records import Need
from snellen.reasoning.critique import Place
from snellen.runtime.context import Context
from snellen.values import Region, to_json
from tests.graphs.scripted import RIGHT, Critic, fault, make_context


def asked(context: Context, **more: Any) -> AskState:  # noqa: ANN401 - fields of the state
    picture = context.pictures.put(PIL.Image.new("RGB", (8, 6), "teal"))
    state = replace(AskState(instruction="Add them", pictures=[to_json(picture)], expected="4"), **more)
    return AskState(**asyncio.run(graph.ainvoke(state, context=context, output_keys=graph.stream_channels_list)))


def remembered(context: Context) -> list[tuple[str, bool, str]]:
    return sorted((one.kind, one.correct, one.critique) for one in context.pool.all())


def test_a_corrected_program_is_run_and_both_are_remembered(tmp_path: Path) -> None:
    reasoner = Critic(globally=(fault("program"),), corrected=RIGHT)
    context = make_context(tmp_path, reasoner=reasoner)

    state = asked(context)

    assert (state.verdict, state.answer, state.program) == ("right", 4, RIGHT)
    assert [attempt["answer"] for attempt in state.attempts] == [3]
    assert remembered(context) == [
        ("plan", True, ""),
        ("program", False, "It adds one and two, not one and three."),
        ("program", True, ""),
    ]


def test_a_program_that_was_guessed_is_run_but_teaches_nothing(tmp_path: Path) -> None:
    """Of two possible answers a wrong program gives the right one every other time."""
    reasoner = Critic(globally=(fault("program"),), corrected=RIGHT, certainty=0.2)
    context = make_context(tmp_path, reasoner=reasoner)

    state = asked(context)

    assert (state.verdict, state.program) == ("right", RIGHT)
    assert remembered(context) == []
    assert "nothing else speaks for it" in state.notes[-1]


@pytest.mark.parametrize("place", ["plan", "program"])
def test_a_wrong_plan_or_program_is_made_again_with_what_was_wrong_in_view(tmp_path: Path, place: Place) -> None:
    reasoner = Critic(globally=(fault(place),))
    context = make_context(tmp_path, reasoner=reasoner)

    state = asked(context)

    assert state.verdict == "right"
    seen = [one.critique for one in reasoner.examples[2].programs_incorrect]
    assert seen == ["It adds one and two, not one and three."]
    assert (place == "plan") == (("plan", False, seen[0]) in remembered(context))


def test_examples_that_the_reasoner_cannot_follow_are_not_kept(tmp_path: Path) -> None:
    context = make_context(tmp_path, reasoner=Critic(globally=(fault("program"),), corrected=RIGHT, teachable=False))

    state = asked(context)

    assert state.verdict == "right"
    assert remembered(context) == []
    assert any("not kept" in note for note in state.notes)


def test_without_validation_they_are_kept_unproved(tmp_path: Path) -> None:
    reasoner = Critic(globally=(fault("program"),), corrected=RIGHT, teachable=False)
    context = replace(make_context(tmp_path, reasoner=reasoner), without=frozenset({"validation"}))

    asked(context)

    assert len(remembered(context)) == 3


def test_local_reflection_follows_where_global_found_nothing(tmp_path: Path) -> None:
    reasoner = Critic(locally=(fault("program"),))
    context = make_context(tmp_path, reasoner=reasoner)

    state = asked(context)

    assert state.verdict == "right"
    assert reasoner.reflections == ["global", "1"]
    assert [one["method"] for one in state.critiques] == ["global", "local"]


def test_what_nobody_can_explain_stays_wrong_and_nothing_is_remembered(tmp_path: Path) -> None:
    context = make_context(tmp_path, reasoner=Critic())

    state = asked(context)

    assert state.verdict == "wrong"
    assert remembered(context) == []


def test_it_ends_however_often_the_program_stays_wrong(tmp_path: Path) -> None:
    reasoner = Critic(globally=(fault("program"),), locally=(fault("program"),), teachable=False)
    state = asked(make_context(tmp_path, reasoner=reasoner))

    assert state.verdict == "wrong"
    assert [one["method"] for one in state.critiques] == ["global", "local", "local"]


def test_a_tool_that_cannot_learn_here_is_named_and_left(tmp_path: Path) -> None:
    state = asked(make_context(tmp_path, reasoner=Critic(globally=(fault("tool", "cat", "LOC"),))))

    assert state.verdict == "wrong"
    assert state.needs == []


def test_learning_can_be_left_out(tmp_path: Path) -> None:
    reasoner = Critic(globally=(fault("program"),), corrected=RIGHT)
    state = asked(make_context(tmp_path, reasoner=reasoner), learn=False)

    assert (state.verdict, state.critiques, state.attempts) == ("wrong", [], [])


@pytest.mark.parametrize(
    ("without", "reflections"),
    [("global", ["1", "2"]), ("local", ["global"])],
)
def test_a_kind_of_reflection_can_be_left_out(tmp_path: Path, without: Any, reflections: list[str]) -> None:  # noqa: ANN401
    reasoner = Critic()

    asked(replace(make_context(tmp_path, reasoner=reasoner), without=frozenset({without})))

    assert reasoner.reflections == reflections


@pytest.mark.parametrize("more", [{"correction": "it should be four"}, {"region": to_json(Region((0, 0, 4, 4), 1.0))}])
def test_words_or_a_region_about_an_answer_say_that_it_is_wrong(tmp_path: Path, more: dict[str, Any]) -> None:
    reasoner = Critic(globally=(fault("program"),), corrected=RIGHT)

    state = asked(make_context(tmp_path, reasoner=reasoner), expected=None, **more)

    assert state.verdict == "right"
    assert state.answer == 4


def test_feedback_that_contradicts_itself_judges_nothing(tmp_path: Path) -> None:
    state = asked(make_context(tmp_path, reasoner=Critic()), expected="cat", correction="that is not a cat")

    assert state.verdict == "unjudged"
    assert any("contradicts itself" in note for note in state.notes)


@dataclass
class _Facts:
    """Knows birds, of which a tool was taught two."""

    known: tuple[str, ...] = ("owl", "duck")

    @property
    def concepts(self) -> list[Any]:
        names = ("owl", "duck", "penguin", "swan", "car")
        return [SimpleNamespace(name=name, taught=name in self.known) for name in names]

    def taught(self, names: Iterable[str]) -> _Facts:
        return _Facts((*self.known, *names))

    def names(self, words: str) -> list[str]:
        if words == "birds":
            return [name for name in self.known if name not in {"car", "cat"}]
        return [part.strip().removesuffix("s") for part in words.split(",")]

    def expansion_of(self, pool: str) -> _Facts:
        return self


@pytest.mark.parametrize(
    ("words", "named", "concepts"),
    [
        ("penguins", (), ["penguin"]),
        ("birds", ("penguin",), ["penguin"]),
        ("birds", ("cat",), ["penguin", "swan"]),
        ("red car", (), ["car"]),
        ("penguins, ducks", (), ["penguin"]),
        ("penguins, ducks", ("duck",), ["duck"]),
        ("", ("owl",), []),
    ],
)
def test_a_need_is_about_concepts(words: str, named: Sequence[str], concepts: list[str]) -> None:
    assert concepts_of(words, named, "LOC", cast("Any", _Facts())) == concepts


@pytest.mark.parametrize(
    ("need", "new"),
    [
        (Need("LOC", "penguin"), True),
        (Need("LOC", "owl"), False),
        (Need("LOC", "gizmo"), True),
        (Need("VQA", question="How many penguins are there?", answer="2"), True),
        (Need("VQA", question="What is this?", answer="swan"), True),
        (Need("VQA", question="How many owls are there?", answer="2"), False),
    ],
)
def test_it_is_known_what_a_tool_was_never_taught(need: Need, new: bool) -> None:  # noqa: FBT001 - a parameter
    assert is_new(need, cast("Any", _Facts())) is new
    assert is_new(need, None) is False


def test_a_group_whose_members_were_all_taught_says_not_which_was_missed() -> None:
    assert concepts_of("birds", (), "LOC", cast("Any", _Facts(("owl", "duck", "penguin", "swan")))) == []
