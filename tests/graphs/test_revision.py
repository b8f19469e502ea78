"""The node ``revise``: a run in trouble goes back to the Reasoner, at most twice, and the best run is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from snellen.graphs.ask import RECURSION_LIMIT, builder, graph
from snellen.graphs.forms import AskOutput
from snellen.graphs.states import STATE_TYPES, AskState
from snellen.memory.checkpoints import DATABASE, checkpoints, serializer
from snellen.reasoning.critique import Critique, FailedCase, Fault, Replay
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.reasoning.revision import MAX_REVISED_BYTES, MAX_REVISIONS, ProposedRevision, Revision
from snellen.reasoning.task import Examples, Plan, Task
from snellen.reasoning.trouble import Trouble
from snellen.runtime.context import Context
from snellen.tools.program import StepRecord
from snellen.values import to_json
from tests.graphs.scripted import ScriptedReasoner, make_context
from tests.learning.colours import ColourModels, drawn

CONFIG: Any = {"configurable": {"thread_id": "thread"}, "recursion_limit": RECURSION_LIMIT}
END = "\nFINAL_RESULT=RESULT(var=A)\n"
BROKEN = "A=1 / 0" + END
WORSE = "A=2 / 0" + END
EMPTY = "BOX0=LOC(image=IMAGE,object='bus')\nA=CROP(image=IMAGE,box=BOX0)" + END
SOUND = "A=3" + END


@dataclass
class Reviser(ScriptedReasoner):
    """Proposes one program after the other; None where it says that the answer stands."""

    program: str = BROKEN
    proposals: Sequence[str | Exception | None] = (SOUND,)
    troubles: list[Trouble] = field(default_factory=list)
    revised: list[str] = field(default_factory=list)

    async def revise(
        self,
        task: Task,
        plan: Plan,
        program: str,
        steps: Sequence[StepRecord],
        trouble: Trouble,
        examples: Examples,
    ) -> ProposedRevision | None:
        self._called("revise", examples)
        self.troubles.append(trouble)
        self.revised.append(program)
        proposal = self.proposals[min(len(self.troubles), len(self.proposals)) - 1]
        if isinstance(proposal, Exception):
            raise proposal
        return None if proposal is None else ProposedRevision(Plan(["Do it otherwise"]), proposal, "Do it otherwise.")


def context_with(folder: Path, reasoner: ScriptedReasoner) -> Context:
    return replace(make_context(folder, reasoner=reasoner), models=cast("Any", ColourModels()))


def beginning(context: Context, *, expected: str | None = None) -> AskState:
    picture = context.pictures.put(drawn(("cat", (10, 10, 30, 30)), ("dog", (50, 10, 80, 40))))
    return AskState(instruction="What is it?", pictures=[to_json(picture)], expected=expected)


async def ended(context: Context, *, expected: str | None = None, **fields: Any) -> AskState:  # noqa: ANN401
    start = replace(beginning(context, expected=expected), **fields)
    return AskState(**await graph.ainvoke(start, CONFIG, context=context, output_keys=graph.stream_channels_list))


async def nodes_of(context: Context, *, expected: str | None = None) -> list[str]:
    start = beginning(context, expected=expected)
    return [next(iter(one)) async for one in graph.astream(start, CONFIG, context=context, stream_mode="updates")]


async def test_a_failed_run_is_revised_before_it_is_judged(tmp_path: Path) -> None:
    reasoner = Reviser()
    context = context_with(tmp_path, reasoner)
    state = await ended(context)

    assert (state.answer, state.error, state.program, state.plan) == (3, None, SOUND, ["Do it otherwise"])
    (revision,) = map(Revision.from_json, state.revisions)
    assert (revision.kind, revision.program, revision.revised, revision.helped) == ("error", BROKEN, SOUND, True)
    assert revision.trouble.startswith("Step 1 failed:")
    assert revision.change == "Do it otherwise."
    assert (state.trouble, state.best_run) == ({}, {})
    assert state.usage["calls"] == 3


async def test_it_is_a_node_of_the_graph(tmp_path: Path) -> None:
    edges = {(edge.source, edge.target, edge.conditional) for edge in graph.get_graph().edges}

    assert {
        ("run", "revise", True),
        ("run", "judge", True),
        ("revise", "run", True),
        ("revise", "judge", True),
    } <= edges
    assert await nodes_of(context_with(tmp_path, Reviser())) == [
        *("read", "recall", "plan", "write", "run", "revise", "run", "judge", "remember"),
    ]


async def test_a_run_without_trouble_is_not_revised(tmp_path: Path) -> None:
    assert "revise" not in await nodes_of(context_with(tmp_path, Reviser(program=SOUND)))


async def test_there_are_two_revisions_at_most_and_the_best_run_is_kept(tmp_path: Path) -> None:
    reasoner = Reviser(proposals=[WORSE, "A=4 / 0" + END, SOUND])
    state = await ended(context_with(tmp_path, reasoner))

    assert len(reasoner.troubles) == MAX_REVISIONS
    assert (state.program, state.answer, state.plan) == (BROKEN, None, list(reasoner.steps))
    assert [one["helped"] for one in state.revisions] == [False, False]
    assert "Step" not in (state.error or "")
    assert [step["source"] for step in state.steps] == ["A=1 / 0"]
    assert state.revisions[1]["program"] == BROKEN


async def test_a_run_that_rests_on_nothing_is_better_than_one_that_failed(tmp_path: Path) -> None:
    reasoner = Reviser(proposals=[EMPTY, BROKEN.replace("1", "5")])
    state = await ended(context_with(tmp_path, reasoner))

    assert (state.program, state.error) == (EMPTY, None)
    assert [one["helped"] for one in state.revisions] == [True, False]
    assert [one.kind for one in reasoner.troubles] == ["error", "empty"]
    assert reasoner.revised == [BROKEN, EMPTY]


async def test_what_was_tried_is_shown_to_the_reasoner(tmp_path: Path) -> None:
    reasoner = Reviser(proposals=[WORSE, SOUND])
    state = await ended(context_with(tmp_path, reasoner))

    assert state.answer == 3
    assert [one.program for one in reasoner.examples[-1].programs_incorrect] == [WORSE]
    assert reasoner.examples[-1].programs_incorrect[0].critique.endswith("Do it otherwise.")


@pytest.mark.parametrize(
    "proposals",
    [
        [None],
        [BROKEN],
        [BROKEN.replace("1 / 0", "1  /  0")],
        ["# nothing new\n" + BROKEN],
        [WORSE, WORSE],
        [WORSE, BROKEN],
        [f"A='{'x' * 2_000}'\nB='{'y' * 1_900}'{END}"],
        [ReasoningFailed("The chat model gave no usable revision.")],
    ],
    ids=["stands", "same", "blanks", "comment", "tried", "back", "long", "failed"],
)
async def test_a_cycle_of_revisions_ends(tmp_path: Path, proposals: list[Any]) -> None:
    reasoner = Reviser(proposals=proposals)
    state = await ended(context_with(tmp_path, reasoner))

    assert len(reasoner.troubles) == len(proposals)
    assert (state.program, state.verdict, state.trouble, state.best_run) == (BROKEN, "unjudged", {}, {})
    assert len(state.revisions) == len(proposals) - 1
    assert any("not revised" in one for one in state.warnings) == isinstance(proposals[0], Exception)


async def test_warnings_are_those_of_the_run_that_is_kept(tmp_path: Path) -> None:
    kept = await ended(context_with(tmp_path / "kept", Reviser(program=EMPTY, proposals=[SOUND])))
    undone = await ended(context_with(tmp_path / "undone", Reviser(program=EMPTY, proposals=[BROKEN, None])))
    alone = await ended(context_with(tmp_path / "alone", Reviser(program=EMPTY, proposals=[None])))

    assert kept.warnings == []
    assert undone.warnings == alone.warnings
    assert any("no region" in one for one in alone.warnings)


async def test_a_name_that_nobody_was_taught_stays_said(tmp_path: Path) -> None:
    untaught = "BOX0=LOC(image=IMAGE,object='unicorn')\nA=BOX0[0].label" + END
    counted = "BOX0=LOC(image=IMAGE,object='unicorn')\nA=CROP(image=IMAGE,box=BOX0)" + END
    state = await ended(context_with(tmp_path / "failed", Reviser(program=untaught)))
    left = Reviser(program=counted)

    assert state.answer == 3
    assert state.caveat == "never taught unicorn; any answer is a guess; teach it: snellen learn unicorn"
    assert (await ended(context_with(tmp_path / "empty", left))).caveat == state.caveat
    assert left.troubles == []


async def test_a_name_that_nobody_was_taught_is_no_way_out(tmp_path: Path) -> None:
    asked = "BOX0=LOC(image=IMAGE,object='unicorn')\nA=COUNT(box=BOX0)" + END
    state = await ended(context_with(tmp_path, Reviser(program=EMPTY, proposals=[asked, None])))

    assert (state.program, state.caveat) == (EMPTY, None)
    assert [one["helped"] for one in state.revisions] == [False]


async def test_the_ablation_revises_nothing(tmp_path: Path) -> None:
    reasoner = Reviser()
    context = replace(context_with(tmp_path, reasoner), without=frozenset({"revisions"}))

    assert (await ended(context)).error is not None
    assert reasoner.troubles == []


async def test_a_long_program_is_left_as_it_is(tmp_path: Path) -> None:
    reasoner = Reviser(program=f"B='{'x' * 1_900}'\nC='{'x' * 1_900}'\n" + BROKEN)

    assert (await ended(context_with(tmp_path, reasoner))).revisions == []
    assert len(reasoner.program.encode()) > MAX_REVISED_BYTES
    assert reasoner.troubles == []


# --- what a person changes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [{"program": WORSE}, {"plan": ["Another"]}, {"program": WORSE, "plan": ["Another"]}])
async def test_what_a_person_edited_is_not_revised(tmp_path: Path, change: dict[str, Any]) -> None:
    reasoner = Reviser()
    context = context_with(tmp_path, reasoner)
    saved = builder.compile(checkpointer=InMemorySaver(serde=serializer(STATE_TYPES)))
    await saved.ainvoke(beginning(context), CONFIG, context=context, interrupt_after=["write"])
    await saved.aupdate_state(CONFIG, change)
    await saved.ainvoke(None, CONFIG, context=context)
    state = AskState(**(await saved.aget_state(CONFIG)).values)

    assert reasoner.troubles == []
    assert state.program == change.get("program", BROKEN)
    assert state.error is not None


async def test_an_edit_in_place_of_a_revision_is_run_and_kept(tmp_path: Path) -> None:
    context = context_with(tmp_path, Reviser())
    saved = builder.compile(checkpointer=InMemorySaver(serde=serializer(STATE_TYPES)))
    await saved.ainvoke(beginning(context), CONFIG, context=context, interrupt_after=["revise"])
    assert (await saved.aget_state(CONFIG)).next == ("run",)
    await saved.aupdate_state(CONFIG, {"program": WORSE}, as_node="write")
    await saved.ainvoke(None, CONFIG, context=context)
    state = AskState(**(await saved.aget_state(CONFIG)).values)

    assert (state.program, state.plan) == (WORSE, ["Run the program as it was edited."])
    assert (state.revisions, state.best_run) == ([], {})


async def test_an_answer_that_was_seen_is_judged_and_not_revised(tmp_path: Path) -> None:
    reasoner = Reviser(program=EMPTY, proposals=[None])
    state = await ended(context_with(tmp_path, reasoner))
    again = replace(state, expected="a dog", learn=False)
    await ended(context_with(tmp_path, reasoner), **(vars(again) | {"pictures": state.pictures}))

    assert len(reasoner.troubles) == 1


# --- attempts ------------------------------------------------------------------------------------------------


@dataclass
class Corrected(Reviser):
    """Blames the program, and writes another once it has seen that."""

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        self._called("write", examples)
        return EMPTY if examples.programs_incorrect else self.program

    async def reflect(self, case: FailedCase, replay: Replay) -> Critique:
        return Critique((Fault("program", "1", "EVAL", "", "It is wrong."),), 0.9, "global")


async def test_each_attempt_has_revisions_of_its_own(tmp_path: Path) -> None:
    reasoner = Corrected(proposals=[WORSE, SOUND, None])
    state = await ended(context_with(tmp_path, reasoner), expected="7")

    assert [one.kind for one in reasoner.troubles] == ["error", "error", "empty"]
    assert [one["helped"] for one in state.attempts[0]["revisions"]] == [False, True]
    assert set(state.attempts[0]["revisions"][0]) == {"trouble", "change", "helped"}
    assert (state.program, state.revisions) == (EMPTY, [])


async def test_the_longest_thread_stays_below_the_limit_of_recursion(tmp_path: Path) -> None:
    @dataclass
    class Endless(Corrected):
        made: int = 10

        async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
            return self._next()

        async def revise(self, *arguments: Any) -> ProposedRevision | None:  # noqa: ANN401
            self.troubles.append(arguments[4])
            return ProposedRevision(Plan(["Again"]), self._next(), "Again.")

        def _next(self) -> str:
            self.made += 1
            return f"A={self.made} / 0" + END

        async def check_step(self, case: FailedCase, address: str, checked: Any, replay: Replay) -> Any:  # noqa: ANN401
            from snellen.reasoning.critique import StepCheck

            return StepCheck(address, right=False, fault=Fault("program", address, "EVAL", "", "It is wrong."))

    reasoner = Endless()
    nodes = await nodes_of(context_with(tmp_path, reasoner), expected="7")

    assert nodes.count("revise") == 2 * nodes.count("judge") == 8
    assert len(nodes) * 1.5 < RECURSION_LIMIT


# --- stopping and going on -----------------------------------------------------------------------------------


class PowerCut(Exception):  # noqa: N818 - what happened
    """What no node expects."""


@pytest.mark.parametrize("place", ["before", "within"])
async def test_a_run_that_stopped_at_a_revision_goes_on_and_does_nothing_twice(tmp_path: Path, place: str) -> None:
    calls: list[str] = []
    program = "A=LIST(query='dogs',max=1)\nA=1 / 0" + END
    revised = "A=LIST(query='cats',max=1)" + END

    def before(call: str) -> None:
        calls.append(call)
        victim, occurrence = ("revise", 1) if place == "before" else ("list", 2)
        if call == victim and calls.count(victim) == occurrence:
            raise PowerCut

    context = context_with(tmp_path, Reviser(program=program, proposals=[revised], before=before))
    async with checkpoints(tmp_path, state_types=STATE_TYPES) as opened:
        saved = builder.compile(checkpointer=opened)
        with pytest.raises(PowerCut):
            await saved.ainvoke(beginning(context), CONFIG, context=context, durability="sync")
        assert (await saved.aget_state(CONFIG)).next == ("revise" if place == "before" else "run",)
        await saved.ainvoke(None, CONFIG, context=context, durability="sync")
        state = AskState(**(await saved.aget_state(CONFIG)).values)

    assert state.answer == ["cats 0"]
    assert [one["helped"] for one in state.revisions] == [True]
    expected = ["plan", "write", "list", "revise", "list"]
    repeated = 3 if place == "before" else 4
    assert calls == [*expected[: repeated + 1], *expected[repeated:]]


async def test_no_checkpoint_of_a_revised_run_exceeds_64_kilobytes(tmp_path: Path) -> None:
    long = "字" * 60
    lines = [f"A{number}=LIST(query='{long}',max=20)" for number in range(12)]
    broken = "\n".join([*lines, "A=1 / 0"]) + END
    assert 0.8 * MAX_REVISED_BYTES < len(broken.encode()) <= MAX_REVISED_BYTES
    proposals = [broken.replace("1 / 0", "2 / 0"), broken.replace("1 / 0", "3 / 0")]
    reasoner = Reviser(program=broken, proposals=proposals, steps=["計" * 90] * 10)
    context = context_with(tmp_path, reasoner)
    start = replace(beginning(context), instruction="字" * 2000, expected="字" * 500, learn=False)
    start = replace(start, pictures=start.pictures * 8)
    async with checkpoints(tmp_path, state_types=STATE_TYPES) as opened:
        await builder.compile(checkpointer=opened).ainvoke(start, CONFIG, context=context, durability="sync")

    rows = sqlite3.connect(tmp_path / DATABASE)
    (checkpoint,) = rows.execute("SELECT MAX(LENGTH(checkpoint) + LENGTH(metadata)) FROM checkpoints").fetchone()
    (write,) = rows.execute("SELECT MAX(LENGTH(value)) FROM writes").fetchone()
    rows.close()
    assert checkpoint < 64_000
    assert write < 64_000
    assert len(reasoner.troubles) == MAX_REVISIONS


# --- forms, and threads of before ----------------------------------------------------------------------------


async def test_the_output_of_the_graph_shows_revisions(tmp_path: Path) -> None:
    context = context_with(tmp_path, Reviser())
    output = await graph.ainvoke(beginning(context), CONFIG, context=context)

    assert [one["helped"] for one in output["revisions"]] == [True]
    assert set(output) <= set(AskOutput.__dataclass_fields__)
    assert "best_run" not in output


async def test_an_answer_of_an_earlier_version_is_judged_as_it_is(tmp_path: Path) -> None:
    reasoner = Reviser(program=EMPTY)
    context = context_with(tmp_path, reasoner)
    saved = builder.compile(checkpointer=InMemorySaver(serde=serializer(STATE_TYPES)))
    state = beginning(context, expected="4")
    answered = {"instruction": state.instruction, "pictures": state.pictures, "program": EMPTY, "answer": 3}
    # What earlier versions wrote has none of the fields of revisions.
    await saved.aupdate_state(CONFIG, {**answered, "steps": [], "expected": "4", "learn": False}, as_node="run")
    assert (await saved.aget_state(CONFIG)).next == ("judge",)
    await saved.ainvoke(None, CONFIG, context=context)

    assert AskState(**(await saved.aget_state(CONFIG)).values).verdict == "wrong"
    assert reasoner.troubles == []
