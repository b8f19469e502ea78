"""Reflection: from a wrong answer to what was wrong with it (CLOVA, section 3.3).

describe → reflect_globally → … still wrong → describe → reflect_locally. Results become language and evidence; then one
critique of everything at once; and only where acting on that did not help, one step after the other. Each node is a
function of the state and may run twice without harm.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from langgraph.types import Command

from snellen.errors import SnellenError
from snellen.learning.feedback import things_named_in
from snellen.learning.step_evidence import PERCEIVING, gather
from snellen.reasoning.case_based.fault_localisation import in_words
from snellen.reasoning.critique import Critique, DescribedStep, FailedCase, Fault, StepCheck, StepEvidence
from snellen.runtime.context import Context, usage_with
from snellen.runtime.program_execution import ReplayBench
from snellen.runtime.resources import context_of
from snellen.runtime.task_state import examples_of, feedback_of, inputs_of, task_of
from snellen.tools.program import StepRecord
from snellen.values import Picture, from_json

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.states import AskState, Json
    from snellen.reasoning.reasoner import Reasoner
    from snellen.runtime.settings import Given

MAX_DESCRIBED_BYTES: Final = 9_000
"""For captions and evidence of all steps together, so that no checkpoint exceeds 64 kB."""
MAX_CRITIQUES_BYTES: Final = 6_000
"""For all critiques together; a corrected program that does not fit is left out."""
MAX_EVIDENCE: Final = 10
"""Statements about one step, the strongest ones."""
MAX_CAPTIONS: Final = 8
"""Pictures that steps gave that are captioned."""
MAX_CAPTION: Final = 300
"""Characters of a caption."""
MAX_LOCAL_STEPS: Final = 40
"""Steps that local reflection looks into."""
MAX_LOCAL: Final = 2
"""Times that one run is reflected upon step by step: each finds one more step that is wrong."""

Reflection = Literal["reflect_globally", "reflect_locally"]


def next_reflection(state: AskState, context: Context) -> Reflection | None:
    """Return how a wrong answer is looked into next: first globally, then locally; None when all was tried."""
    methods = [one["method"] for one in state.critiques]
    if "global" not in context.without and not methods:
        return "reflect_globally"
    if "local" in context.without or methods.count("local") >= MAX_LOCAL:
        return None
    found_nothing = bool(methods) and methods[-1] == "local" and not state.critiques[-1]["faults"]
    return None if found_nothing else "reflect_locally"


async def describe(state: AskState, runtime: Runtime[Given]) -> Command[Reflection | Literal["remember"]]:
    """Turn results into language: captions of pictures, and what the other tools say about each step's result."""
    context = await context_of(runtime, state)
    chosen = next_reflection(state, context)
    if chosen is None:
        return Command(goto="remember")
    return Command(update=await description(state, context), goto=chosen)


async def description(state: AskState, context: Context) -> Json:
    """Return what `describe` adds to the state: captions and evidence by step, and the setting."""
    if "results" in context.without:
        return {"described": [], "setting": ""}
    bench = ReplayBench.of(state, context)
    steps = await bench.steps()
    evidence = await asyncio.to_thread(gather, steps, bench.replayer.tools, sought=things_named_in(feedback_of(state)))
    captions = await asyncio.to_thread(_captions, state, steps, context)
    bench.pictures.check()
    described = [
        {
            "address": step.address,
            "caption": _caption_of(step, captions),
            "evidence": [asdict(one) for one in _strongest(evidence.get(step.address, ()))],
        }
        for step in steps
    ]
    kept = [one for one in described if one["caption"] or one["evidence"]]
    setting = "; ".join(
        f"{name}: {captions[picture.id]}" for name, picture in inputs_of(state).items() if captions.get(picture.id)
    )
    return {"described": _fitted(kept), "setting": setting[: 4 * MAX_CAPTION]}


async def reflect_globally(state: AskState, runtime: Runtime[Given]) -> Json:
    """Have the Reasoner say at one go what made the answer wrong."""
    context = await context_of(runtime, state)
    reasoner, before = context.reasoner, context.reasoner.usage
    bench = ReplayBench.of(state, context)
    case = await _case(state, bench, context)
    critique = await reasoner.reflect(case, bench.replayer)
    critique = await _with_inferred_answers(critique, case, bench, reasoner)
    bench.pictures.check()
    return {
        "critiques": _remembered(state.critiques, critique),
        "usage": usage_with(state.usage, before, reasoner.usage),
    }


async def reflect_locally(state: AskState, runtime: Runtime[Given]) -> Json:
    """Have the Reasoner judge one step after the other, each looked into deeply, until one is found wrong."""
    context = await context_of(runtime, state)
    reasoner, before = context.reasoner, context.reasoner.usage
    bench = ReplayBench.of(state, context)
    case = await _case(state, bench, context)
    critique = await _first_wrong_step(case, bench, context)
    critique = await _with_inferred_answers(critique, case, bench, reasoner)
    bench.pictures.check()
    return {
        "critiques": _remembered(state.critiques, critique),
        "usage": usage_with(state.usage, before, reasoner.usage),
    }


async def _case(state: AskState, bench: ReplayBench, context: Context) -> FailedCase:
    blind = "results" in context.without
    described = {str(one["address"]): one for one in state.described}
    steps = [_in_words(step, described.get(step.address, {})) for step in await bench.steps()]
    examples = await asyncio.to_thread(examples_of, state, context)
    return FailedCase(
        task=task_of(state),
        feedback=feedback_of(state),
        answer=state.error or in_words(from_json(state.answer)),
        plan=() if "plan" in context.without else tuple(state.plan),
        program=state.program,
        steps=tuple(replace(step, output="") if blind else step for step in steps),
        setting=state.setting,
        earlier=tuple(Critique.from_json(one) for one in state.critiques),
        examples=examples,
    )


def _in_words(step: StepRecord, described: Mapping[str, Any]) -> DescribedStep:
    return DescribedStep(
        address=step.address,
        source=step.source,
        tool=step.tool,
        arguments={name: in_words(from_json(value)) for name, value in step.arguments.items()},
        output=step.error or in_words(step.value),
        caption=str(described.get("caption", "")),
        evidence=tuple(StepEvidence(**one) for one in described.get("evidence", ())),
    )


async def _first_wrong_step(case: FailedCase, bench: ReplayBench, context: Context) -> Critique:
    """Walk the steps in order; what is left when all seem right is a critique without a fault."""
    records, named = await bench.steps(), things_named_in(case.feedback)
    checked: list[StepCheck] = []
    for step in case.steps[:MAX_LOCAL_STEPS]:
        if step.tool in PERCEIVING and "results" not in context.without:
            deep = await asyncio.to_thread(gather, records, bench.replayer.tools, only=step.address, sought=named)
            case = case.with_evidence({step.address: deep.get(step.address, step.evidence)})
        check = await context.reasoner.check_step(case, step.address, checked, bench.replayer)
        if not check.right and check.fault is not None:
            return Critique((check.fault,), check.certainty, "local")
        checked.append(check)
    return Critique((), 0.0, "local")


async def _with_inferred_answers(
    critique: Critique, case: FailedCase, bench: ReplayBench, reasoner: Reasoner
) -> Critique:
    """Complete the faults of VQA steps by what they should have answered (CLOVA, section 3.4)."""

    async def completed(fault: Fault) -> Fault:
        if fault.place != "tool" or fault.tool != "VQA" or fault.right_output:
            return fault
        return replace(fault, right_output=await reasoner.infer_answer(case, fault.address, bench.replayer))

    return replace(critique, faults=tuple([await completed(fault) for fault in critique.faults]))


# --- language ------------------------------------------------------------------------------------------------


def _captions(state: AskState, steps: Sequence[StepRecord], context: Context) -> dict[str, str]:
    """Describe the whole pictures, and the first ones that steps gave; nothing where no model can."""
    if context.models is None:
        return {}
    whole = [picture.id for picture in inputs_of(state).values()]
    produced = [step.value.id for step in steps if isinstance(step.value, Picture)]
    ids = list(dict.fromkeys([*whole, *dict.fromkeys(one for one in produced if one not in whole)]))
    ids = ids[: len(whole) + MAX_CAPTIONS]
    try:
        captions = context.models.caption([context.pictures.get(one) for one in ids])
    except SnellenError:
        return {}
    return {one: " ".join(caption.split())[:MAX_CAPTION] for one, caption in zip(ids, captions, strict=True)}


def _caption_of(step: StepRecord, captions: Mapping[str, str]) -> str:
    return captions.get(step.value.id, "") if isinstance(step.value, Picture) else ""


# --- keeping it small ----------------------------------------------------------------------------------------


def _strongest(evidence: Sequence[StepEvidence]) -> list[StepEvidence]:
    ranked = sorted(evidence, key=lambda one: -abs(one.support))[:MAX_EVIDENCE]
    return [one for one in evidence if one in ranked]


def _fitted(described: list[Json]) -> list[Json]:
    """Leave out the weakest evidence, whatever its step, until the rest fits."""
    while _bytes(described) > MAX_DESCRIBED_BYTES:
        weakest = min(
            ((abs(one["support"]), i, j) for i, step in enumerate(described) for j, one in enumerate(step["evidence"])),
            default=None,
        )
        if weakest is None:
            return described[: len(described) // 2]
        del described[weakest[1]]["evidence"][weakest[2]]
    return described


def _remembered(earlier: Sequence[Json], critique: Critique) -> list[Json]:
    critiques = [*({**one, "program": ""} for one in earlier), critique.to_json()]
    if _bytes(critiques) > MAX_CRITIQUES_BYTES:
        critiques[-1]["program"] = ""
    while len(critiques) > 1 and _bytes(critiques) > MAX_CRITIQUES_BYTES:
        critiques.pop(0)
    return critiques


def _bytes(value: Any) -> int:  # noqa: ANN401 - JSON
    return len(json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass"))
