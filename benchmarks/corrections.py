"""How sure reflection is of what it finds, by whether the correction that it was told is true.

    python -m benchmarks.reflection --corrections -n 80 --seed 1 --json

A true correction tells the right answer to a task that was answered wrongly, of known and of novel concepts; a false
one tells a wrong answer to a task that was answered rightly. Each is reflected upon until a tool would learn, as in a
run, and nothing is learned. A threshold is chosen on the tasks of one seed and judged on those of another.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, Final

from snellen.graphs.states import AskState
from snellen.learning.needs import is_new
from snellen.learning.records import Need
from snellen.microworld.concepts import vocabulary
from snellen.microworld.tasks import Family, TagAnswer, TextAnswer, WorldTask, sample_tasks
from snellen.nodes.ask.correction import correct
from snellen.nodes.ask.inference import run
from snellen.nodes.ask.reflection import MAX_LOCAL, description, next_reflection, reflect_globally, reflect_locally
from snellen.reasoning.critique import Critique
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.reasoning.task import Examples
from snellen.reasoning.task import Task as Asked
from snellen.runtime.context import Context
from snellen.runtime.resources import make_context
from snellen.runtime.task_state import attempts_with
from snellen.scoring import wilson_interval
from snellen.tools.program import inputs_for
from snellen.values import to_json

FAMILIES: Final[tuple[Family, ...]] = ("vqa", "statement", "tag")
DRAWN: Final = 20
"""Tasks of each family and share drawn at a time."""
THRESHOLDS: Final = tuple(number / 20 for number in range(1, 20))
_COLOURS: Final = ("red", "green", "blue", "yellow", "purple", "orange")
_SIZES: Final = ("small", "medium", "large")


@dataclass(frozen=True)
class Reflected:
    """What became of a correction.

    Attributes:
        true: Whether the correction was true.
        share: Of the concepts that the task is about: known or novel.
        family: Of the task.
        certainty: Of the critique from which a tool would learn; of the last one where none would.
        tools: Those that would learn.
        new: Whether one of them would learn what it was never taught.
    """

    true: bool
    share: str
    family: str
    certainty: float
    tools: tuple[str, ...]
    new: bool

    @property
    def exempt(self) -> bool:
        """Whether nobody is asked however uncertain it is: see `snellen.nodes.ask.correction`."""
        return self.new and "VQA" not in self.tools


async def reflected(profile: str, folder: Path, *, count: int, seed: int, split: Any = "test") -> list[Reflected]:  # noqa: ANN401
    """Reflect upon so many true and as many false corrections.

    Args:
        profile: Whose models answer.
        folder: For a memory that nothing is added to.
        count: Corrections of either kind; of the true ones half are about novel concepts.
        seed: Chooses the tasks, and what is told falsely.
        split: Of the tasks.
    """
    context, dice = make_context(profile, folder), Random(seed)
    wanted = {(True, "known"): count // 2, (True, "novel"): count - count // 2}
    wanted |= {(False, "known"): count // 2, (False, "novel"): count - count // 2}
    found: list[Reflected] = []
    for task, share in _tasks(seed, split):
        if not any(wanted.values()):
            break
        right = expected_text(task)
        state = await attempted(task, context)
        if state is None or not right:
            continue
        verdict = _is_right(replace(state, expected=right))
        told = _falsely(right, dice) if verdict else right
        if told is None or not wanted[not verdict, share]:
            continue
        wanted[not verdict, share] -= 1
        certainty, needs = await _would_learn(replace(state, expected=told), context)
        tools, new = tuple(one.tool for one in needs), any(is_new(one, context.models) for one in needs)
        found.append(Reflected(not verdict, share, task.family, certainty, tools, new))
    return found


def _tasks(seed: int, split: Any) -> Iterator[tuple[WorldTask, str]]:  # noqa: ANN401 - a split's name
    for number in range(40):
        drawn = {
            (share, family): sample_tasks(family, split, share=share, n=DRAWN, seed=10_000 * (seed + 1) + number)
            for share in ("known", "novel")
            for family in FAMILIES
        }
        for together in zip(*drawn.values(), strict=True):
            yield from zip(together, (share for share, _ in drawn), strict=True)


def expected_text(task: WorldTask) -> str:
    """Return the right answer as a person says it: a text, or the names of what is tagged."""
    match task.expected:
        case TextAnswer(text=text):
            return text
        case TagAnswer(regions=regions):
            return ", ".join(sorted(one.name for one in regions))
    return ""


async def attempted(task: WorldTask, context: Context) -> AskState | None:
    """Do a task; None where no program could be written, or it failed."""
    stored = [context.pictures.put(picture) for picture in task.pictures()]
    asked = Asked(task.instruction, inputs_for(len(stored)), task.family)
    try:
        plan = await context.reasoner.plan(asked, Examples())
        program = await context.reasoner.write_program(asked, plan, Examples())
    except ReasoningFailed:
        return None
    state = AskState(
        instruction=task.instruction, pictures=[to_json(one) for one in stored], family=task.family, plan=plan.steps,
        program=program,
    )  # fmt: skip
    state = replace(state, **await run(state, runtime_of(context)))
    return None if state.error else state


def runtime_of(context: Context) -> Any:  # noqa: ANN401 - stands in for a graph's runtime
    """Return what nodes are given."""
    return SimpleNamespace(context=context, stream_writer=lambda _: None)


def _is_right(state: AskState) -> bool:
    from snellen.nodes.ask.judgement import ruling_of

    return ruling_of(state) == "right"


def _falsely(right: str, dice: Random) -> str | None:
    """Return another answer of the same kind, as somebody who looked carelessly might give it."""
    names = [name.strip() for name in right.split(",")]
    known = [one.name for one in vocabulary().share("known")]
    if right in {"yes", "no"}:
        return "no" if right == "yes" else "yes"
    if right.isdecimal():
        return str(max(0, int(right) + dice.choice((-1, 1, 2)))) if int(right) else "1"
    for kind in (_COLOURS, _SIZES):
        if right in kind:
            return dice.choice([one for one in kind if one != right])
    if len(names) == 1:
        return dice.choice([one for one in known if one != right])
    way = dice.choice(("drop", "change", "add"))
    other = dice.choice([one for one in known if one not in names])
    changed = {"drop": names[1:], "change": [other, *names[1:]], "add": [*names, other]}[way]
    return ", ".join(sorted(changed))


async def _would_learn(state: AskState, context: Context) -> tuple[float, list[Need]]:
    """Reflect as a run does, until a tool would learn or nothing is left to try."""
    runtime = runtime_of(context)
    state = replace(state, verdict="wrong", attempts=attempts_with(state))
    certainty = 0.0
    for _ in range(1 + MAX_LOCAL):
        way = next_reflection(state, context)
        if way is None:
            break
        state = replace(state, **await description(state, context))
        reflect = reflect_globally if way == "reflect_globally" else reflect_locally
        state = replace(state, **await reflect(state, runtime))
        certainty = Critique.from_json(state.critiques[-1]).certainty
        command = await correct(state, runtime)
        needs = (command.update or {}).get("needs", []) if command.goto == "learn" else []
        if needs:
            return certainty, [Need.from_json(one) for one in needs]
        if command.goto != "describe":
            break
    return certainty, []


def reported(found: Sequence[Reflected], threshold: float | None = None) -> dict[str, Any]:
    """Tabulate what each threshold lets learn at once: true corrections should be, false ones should not.

    Args:
        found: What became of corrections.
        threshold: The one to judge; None chooses the one that tells true from false best here, about what tools were
            taught (Youden's index).
    """
    learning = [one for one in found if one.tools]
    chosen = _best(learning) if threshold is None else threshold
    rows = {f"{each:.2f}": _row(learning, each) for each in sorted({*THRESHOLDS, chosen})}
    return {
        "counts": {
            kind: {
                "corrections": sum(one.true is true for one in found),
                "with something to learn": sum(one.true is true for one in learning),
            }
            for kind, true in (("true", True), ("false", False))
        },
        "threshold": chosen,
        "learned at once": rows,
        "by family": {family: _row([one for one in learning if one.family == family], chosen) for family in FAMILIES},
        "each": [asdict(one) for one in found],
    }


def _best(learning: Sequence[Reflected]) -> float:
    """Return the threshold at which the shares of true and false corrections that pass lie farthest apart."""
    doubted = [one for one in learning if not one.exempt]

    def apart(threshold: float) -> float:
        passing = [
            [one.certainty >= threshold for one in doubted if one.true == kind] or [False] for kind in (True, False)
        ]
        true, false = (sum(each) / len(each) for each in passing)
        return true - false

    return max(THRESHOLDS, key=apart)


def _row(learning: Sequence[Reflected], threshold: float) -> dict[str, Any]:
    row = {}
    for true, new in itertools.product((True, False), (False, True)):
        passing = [one.exempt or one.certainty >= threshold for one in learning if (one.true, one.new) == (true, new)]
        name = f"{'true' if true else 'false'}, {'never taught' if new else 'taught'}"
        row[name] = {"of": len(passing), **share(passing, digits=3)}
    return row


def share(right: Sequence[bool], *, digits: int) -> dict[str, Any]:
    """Return the share of what is right, with its interval."""
    interval = wilson_interval(sum(right), len(right))
    return {
        "share": round(sum(right) / len(right), digits) if right else None,
        "interval": [round(interval.low, digits), round(interval.high, digits)],
    }
