"""The ask graph: its flow, what it leaves in checkpoints, and how it goes on after a crash."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import PIL.Image
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from snellen.graphs.ask import RECURSION_LIMIT, builder, graph
from snellen.graphs.states import STATE_TYPES, AskState
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.checkpoints import DATABASE, checkpoints, serializer
from snellen.memory.home import MemoryTrouble
from snellen.profiles import load_profile
from snellen.reasoning.case_based.reasoner import CaseReasoner
from snellen.reasoning.reasoner import TaskRefused
from snellen.reasoning.task import Examples, Plan, Task
from snellen.runtime.context import Context
from snellen.tools.program import StepRecord
from snellen.values import to_json
from tests.graphs.scripted import PROGRAM, ScriptedReasoner, make_context
from tests.learning.colours import ColourModels, drawn

ROOT = Path(__file__).parents[2]
NODES = ["read", "recall", "plan", "write", "run", "judge", "remember"]
CONFIG: Any = {"configurable": {"thread_id": "thread"}, "recursion_limit": RECURSION_LIMIT}
WHOLE = graph.stream_channels_list
LIMIT = 64_000


def beginning(context: Context, *, instruction: str = "What is one and two?", expected: str | None = None) -> AskState:
    picture = context.pictures.put(PIL.Image.new("RGB", (40, 30), "teal"))
    return AskState(instruction=instruction, pictures=[to_json(picture)], expected=expected, family="vqa")


async def ended(
    context: Context, *, instruction: str = "What is one and two?", expected: str | None = None
) -> AskState:
    start = beginning(context, instruction=instruction, expected=expected)
    return AskState(**await graph.ainvoke(start, context=context, output_keys=graph.stream_channels_list))


@asynccontextmanager
async def saver(kind: str, folder: Path) -> AsyncIterator[Any]:
    if kind == "memory":
        yield InMemorySaver(serde=serializer(STATE_TYPES))
        return
    async with checkpoints(folder, state_types=STATE_TYPES) as opened:
        yield opened


def test_the_flow_is_the_one_in_the_design() -> None:
    edges = {(edge.source, edge.target) for edge in graph.get_graph().edges}

    assert set(zip(["__start__", *NODES], [*NODES, "__end__"], strict=True)) <= edges
    assert {target for source, target in edges if source == "judge"} == {"remember", "describe"}
    assert {("reflect_globally", "correct"), ("reflect_locally", "correct"), ("correct", "learn")} <= edges
    assert {target for source, target in edges if source == "learn"} == {"plan", "write", "run", "describe"}
    assert graph.checkpointer is None


async def test_a_task_is_answered_with_every_step_recorded(tmp_path: Path) -> None:
    state = await ended(make_context(tmp_path))

    assert state.answer == 3
    assert state.error is None
    assert state.verdict == "unjudged"
    assert [step["tool"] for step in state.steps] == ["CROP", "EVAL", "RESULT"]
    assert state.usage["calls"] == 2
    assert state.usage["input_tokens"] == 20


async def test_steps_are_streamed_while_the_program_runs(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    seen: list[str] = []
    async for mode, chunk in graph.astream(beginning(context), context=context, stream_mode=["updates", "custom"]):
        assert isinstance(chunk, dict)
        seen.append(chunk["step"]["tool"] if mode == "custom" else next(iter(chunk)))

    assert seen == ["read", "recall", "plan", "write", "CROP", "EVAL", "RESULT", "run", "judge", "remember"]


async def test_a_right_answer_is_remembered_and_recalled(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    assert (await ended(context, expected="three")).verdict == "right"

    reasoner = ScriptedReasoner()
    state = await ended(make_context(tmp_path, reasoner=reasoner), instruction="What is two and one?")

    assert [(one.kind, one.correct, one.family) for one in context.pool.all()] == [
        ("plan", True, "vqa"),
        ("program", True, "vqa"),
    ]
    assert len(state.demonstrations) == 2
    assert [one.program for one in reasoner.examples[1].programs_correct] == [PROGRAM]


async def test_a_wrong_answer_teaches_nothing_while_its_cause_is_unknown(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    state = await ended(context, expected="four")

    assert state.verdict == "wrong"
    assert context.pool.all() == []


async def test_what_nobody_judged_is_not_remembered(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    await ended(context)

    assert context.pool.count() == 0


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("A=EVAL(expr='1 / 0')\nFINAL_RESULT=RESULT(var=A)", "step 1"),
        ("A=NOSUCH(image=IMAGE)\nFINAL_RESULT=RESULT(var=A)", "NOSUCH"),
        ("A=EVAL(expr='1 +", "line 1"),
        ("", "program"),
        ("if 1 > 2:\n    FINAL_RESULT=RESULT(var=IMAGE)", "only reached in some branches"),
    ],
)
async def test_a_program_that_fails_ends_in_a_sentence_and_no_answer(tmp_path: Path, program: str, said: str) -> None:
    context = make_context(tmp_path, reasoner=ScriptedReasoner(program=program))
    state = await ended(context, expected="3")

    assert state.answer is None
    assert state.error is not None
    assert said in state.error
    assert "\n" not in state.error
    assert state.verdict == "wrong"
    assert state.error in state.notes
    assert context.pool.count() == 0


async def test_steps_before_the_failure_are_kept(tmp_path: Path) -> None:
    program = "A=EVAL(expr='1 + 1')\nB=EVAL(expr='{A} / 0')\nFINAL_RESULT=RESULT(var=B)"
    state = await ended(make_context(tmp_path, reasoner=ScriptedReasoner(program=program)))

    assert [bool(step["error"]) for step in state.steps] == [False, True]


async def test_nothing_that_is_counted_is_no_trouble(tmp_path: Path) -> None:
    program = "L=[]\nA=EVAL(expr='[]')\nB=COUNT(box=A)\nFINAL_RESULT=RESULT(var=B)"
    state = await ended(make_context(tmp_path, reasoner=ScriptedReasoner(program=program)))

    assert state.answer == 0
    assert state.notes == []


async def test_a_picture_is_not_judged_by_words(tmp_path: Path) -> None:
    program = "A=CROP(image=IMAGE,box=[])\nFINAL_RESULT=RESULT(var=A)"
    context = make_context(tmp_path, reasoner=ScriptedReasoner(program=program))
    state = await ended(context, expected="a dog")

    assert state.verdict == "unjudged"
    assert "cannot be compared with words" in state.notes[-1]
    assert context.pool.count() == 0


class PowerCut(Exception):  # noqa: N818 - what happened
    """What no node expects."""


@pytest.mark.parametrize("durability", ["sync", "async"])
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("victim", ["plan", "write", "list"])
async def test_a_crashed_run_goes_on_where_it_stopped(
    tmp_path: Path, kind: str, victim: str, durability: Literal["sync", "async"]
) -> None:
    calls: list[str] = []

    def before(call: str) -> None:
        calls.append(call)
        if call == victim and calls.count(victim) == 1:
            raise PowerCut

    program = "A=LIST(query='dogs',max=2)\nFINAL_RESULT=RESULT(var=A)"
    context = make_context(tmp_path, reasoner=ScriptedReasoner(program=program, before=before))
    async with saver(kind, tmp_path) as opened:
        saved = builder.compile(checkpointer=opened)
        with pytest.raises(PowerCut):
            await saved.ainvoke(beginning(context), CONFIG, context=context, durability=durability)
        assert (await saved.aget_state(CONFIG)).next == ("run" if victim == "list" else victim,)
        state = AskState(**await saved.ainvoke(None, CONFIG, context=context, durability=durability, output_keys=WHOLE))

    assert state.answer == ["dogs 0", "dogs 1"]
    assert calls == [call for call in ("plan", "write", "list") for _ in range(2 if call == victim else 1)]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_full_disk_interrupts_the_run_and_loses_nothing(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "A=COLORPOP(image=IMAGE,object=[])\nFINAL_RESULT=RESULT(var=A)"
    context = make_context(tmp_path, reasoner=ScriptedReasoner(program=program))
    start = beginning(context)

    def full(self: ArtifactStore, picture: PIL.Image.Image) -> None:
        msg = "The memory cannot be used: the disk is full; free some space and try again."
        raise MemoryTrouble(msg)

    async with saver(kind, tmp_path) as opened:
        saved = builder.compile(checkpointer=opened)
        with monkeypatch.context() as patch:
            patch.setattr(ArtifactStore, "put", full)
            with pytest.raises(MemoryTrouble, match="disk is full"):
                await saved.ainvoke(start, CONFIG, context=context, durability="sync")
        assert (await saved.aget_state(CONFIG)).next == ("run",)
        state = AskState(**await saved.ainvoke(None, CONFIG, context=context, durability="sync", output_keys=WHOLE))

    assert state.answer["type"] == "Picture"


async def test_no_checkpoint_exceeds_64_kilobytes(tmp_path: Path) -> None:
    long = "字" * 100
    lines = [f"A{number}=LIST(query='{long}',max=20)" for number in range(60)]
    program = "\n".join([*lines, "FINAL_RESULT=RESULT(var=A0)"])
    reasoner = ScriptedReasoner(program=program, steps=["計" * 600] * 20)
    context = make_context(tmp_path, reasoner=reasoner)
    start = beginning(context, instruction="字" * 2000, expected="字" * 500)
    start = replace(start, pictures=start.pictures * 8, profile="/long" * 200)
    async with saver("sqlite", tmp_path) as opened:
        saved = builder.compile(checkpointer=opened)
        state = AskState(**await saved.ainvoke(start, CONFIG, context=context, durability="sync", output_keys=WHOLE))

    rows = sqlite3.connect(tmp_path / DATABASE)
    (checkpoint,) = rows.execute("SELECT MAX(LENGTH(checkpoint) + LENGTH(metadata)) FROM checkpoints").fetchone()
    (write,) = rows.execute("SELECT MAX(LENGTH(value)) FROM writes").fetchone()
    rows.close()
    assert checkpoint < LIMIT
    assert write < LIMIT
    assert state.error is None
    assert any("saved steps" in warning for warning in state.warnings)
    assert state.steps[-1]["tool"] == "RESULT"
    assert len(state.answer) > 0


@dataclass
class Stranger:
    """A class that no checkpoint may bring back."""

    name: str = "x"


def test_only_state_classes_come_back_from_a_checkpoint() -> None:
    strict = serializer(STATE_TYPES)

    known = strict.loads_typed(strict.dumps_typed(AskState(instruction="Look")))
    stranger = strict.loads_typed(strict.dumps_typed(Stranger()))

    assert known == AskState(instruction="Look")
    assert not isinstance(stranger, Stranger)


@pytest.mark.parametrize("first", ["snellen.graphs.ask", "snellen.memory.checkpoints", "snellen.threads.ask"])
@pytest.mark.slow
def test_strict_checkpoints_are_in_force_whatever_is_imported_first(first: str) -> None:
    code = (
        f"import {first}, snellen.graphs.ask; from langgraph.checkpoint.serde import _msgpack; "
        "assert _msgpack.STRICT_MSGPACK_ENABLED; assert snellen.graphs.ask.graph.checkpointer is None"
    )
    environment = {name: value for name, value in os.environ.items() if name != "LANGGRAPH_STRICT_MSGPACK"}

    subprocess.run([sys.executable, "-W", "error", "-c", code], env=environment, cwd=ROOT, check=True, timeout=60)


async def test_judge_says_where_it_goes(tmp_path: Path) -> None:
    from snellen.nodes.ask.judgement import judge

    said = await judge(AskState(answer=3, expected="3"), SimpleNamespace(context=make_context(tmp_path)))  # type: ignore[arg-type]

    assert isinstance(said, Command)
    assert said.goto == "remember"


async def finished(saved: Any, context: Context) -> AskState:  # noqa: ANN401 - a compiled graph
    await saved.ainvoke(None, CONFIG, context=context)
    return AskState(**(await saved.aget_state(CONFIG)).values)


LOOP = """\
BOX0=LOC(image=IMAGE,object='cat')
COUNT0=0
for PART in BOX0:
    IMAGE0=CROP(image=IMAGE,box=PART)
    BOX1=LOC(image=IMAGE0,object='cat')
    COUNT0=COUNT0 + len(BOX1)
FINAL_RESULT=RESULT(var=COUNT0)
"""


@pytest.mark.parametrize("stopped", ["run", "judge"])
@pytest.mark.parametrize(("things", "left_out"), [(7, False), (14, True)])
async def test_a_run_of_many_steps_over_regions_is_judged_and_resumed(
    tmp_path: Path,
    stopped: Literal["run", "judge"],
    things: int,
    left_out: bool,  # noqa: FBT001 - a case of the test
) -> None:
    context = replace(
        make_context(tmp_path, reasoner=ScriptedReasoner(program=LOOP)), models=cast("Any", ColourModels())
    )
    shown = drawn(*(("cat", (5 + 20 * place, 10, 15 + 20 * place, 30)) for place in range(things)), size=(320, 96))
    start = AskState(
        instruction="How many cats are there?",
        pictures=[to_json(context.pictures.put(shown))],
        expected=str(things),
    )
    async with saver("sqlite", tmp_path) as opened:
        saved = builder.compile(checkpointer=opened)
        await saved.ainvoke(start, CONFIG, context=context, interrupt_after=[stopped])
        state = await finished(saved, context)
        told = StepRecord.from_json(state.steps[-1]).value

    assert (state.answer, state.verdict, state.error, told) == (things, "right", None, things)
    assert any(one.startswith("The saved steps leave out") for one in state.warnings) == left_out
    assert left_out or len(state.steps) == 4 + 3 * things
    assert any("items of its lists left out" in each for each in state.steps[0]["warnings"])
    found = [each for one in state.steps if one["tool"] == "LOC" for each in StepRecord.from_json(one).value]
    assert {len(each.box) for each in found} == {4}


@dataclass
class Follower(ScriptedReasoner):
    """Writes the program that a plan names."""

    followed: list[Plan] = field(default_factory=list)

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        self.followed.append(plan)
        return f"ANSWER0={len(plan.steps)}\nFINAL_RESULT=RESULT(var=ANSWER0)\n"


@pytest.mark.parametrize(
    ("stopped", "as_node"), [("plan", None), ("write", None), ("write", "plan"), ("write", "write")]
)
async def test_a_plan_that_a_person_edits_binds(tmp_path: Path, stopped: Any, as_node: str | None) -> None:  # noqa: ANN401
    context = make_context(tmp_path, reasoner=Follower())
    async with saver("sqlite", tmp_path) as opened:
        saved = builder.compile(checkpointer=opened)
        await saved.ainvoke(beginning(context), CONFIG, context=context, interrupt_after=[stopped])
        await saved.aupdate_state(CONFIG, {"plan": ["One", "Two", "Three", "Four"]}, as_node=as_node)
        state = await finished(saved, context)

    assert (state.answer, state.plan) == (4, ["One", "Two", "Three", "Four"])
    assert context.reasoner.followed[-1] == Plan(["One", "Two", "Three", "Four"], edited=True)  # type: ignore[attr-defined]


async def test_a_program_that_a_person_edits_is_run_and_the_plan_says_so(tmp_path: Path) -> None:
    context = make_context(tmp_path, reasoner=Follower())
    async with saver("sqlite", tmp_path) as opened:
        saved = builder.compile(checkpointer=opened)
        await saved.ainvoke(beginning(context), CONFIG, context=context, interrupt_after=["write"])
        await saved.aupdate_state(CONFIG, {"program": "ANSWER0=7\nFINAL_RESULT=RESULT(var=ANSWER0)\n"})
        state = await finished(saved, context)

    assert (state.answer, state.plan) == (7, ["Run the program as it was edited."])


async def test_plan_and_program_that_a_person_edits_both_stay(tmp_path: Path) -> None:
    context = make_context(tmp_path, reasoner=Follower())
    async with saver("sqlite", tmp_path) as opened:
        saved = builder.compile(checkpointer=opened)
        await saved.ainvoke(beginning(context), CONFIG, context=context, interrupt_after=["write"])
        program = "ANSWER0=7\nFINAL_RESULT=RESULT(var=ANSWER0)\n"
        await saved.aupdate_state(CONFIG, {"program": program, "plan": ["Say seven"]})
        state = await finished(saved, context)

    assert (state.answer, state.plan, state.program) == (7, ["Say seven"], program)


async def test_a_plan_that_the_case_based_reasoner_cannot_follow_is_refused(tmp_path: Path) -> None:
    context = replace(make_context(tmp_path), reasoner=CaseReasoner(load_profile("embedded")))
    start = replace(beginning(context), instruction="How many dogs are there?")
    async with saver("sqlite", tmp_path) as opened:
        saved = builder.compile(checkpointer=opened)
        await saved.ainvoke(start, CONFIG, context=context, interrupt_after=["plan"])
        made = (await saved.aget_state(CONFIG)).values["plan"]
        await saved.aupdate_state(CONFIG, {"plan": ["Locate the cats.", "Give the number of cats."]})
        with pytest.raises(TaskRefused, match="The plan was changed, and this reasoner cannot follow it"):
            await saved.ainvoke(None, CONFIG, context=context)
        # Spelling makes no difference; with its own plan it goes on.
        await saved.aupdate_state(CONFIG, {"plan": [f"{step.rstrip('.').lower()} " for step in made]}, as_node="plan")
        await saved.ainvoke(None, CONFIG, context=context, interrupt_after=["write"])
        state = AskState(**(await saved.aget_state(CONFIG)).values)

    assert "object='dog'" in state.program
