"""How much faster many prompts are tuned together than one after another, in the same run on the same machine.

    OMP_NUM_THREADS=1 python -m benchmarks.tuning --json                 # 50 instances a tool, as reported
    python -m benchmarks.tuning --instances 4 --steps 5
    python -m benchmarks.tuning --rehearse hub --json   # what a profile's settings keep on the embedded checkpoints

Three arms (`benchmarks.tuning_arms`) learn the same prompts: the same instances, the same beginnings, the same number
of Adam steps (nobody stops early). They take turns in parts of the instances, so that a machine that becomes slower
meanwhile slows all; ``--release`` gives the slowest arm the first few of each part alone. Seconds are those of an
instance. Prompts are compared number by number, and so is what the tool says with them: of the pictures that each was
learned from, and of another picture of its concept. A few instances are tuned in double precision, too: what differs
there is no rounding.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
import torch

from benchmarks.rehearsal import rehearse
from benchmarks.tuning_arms import Arm, arms, in_double_precision
from benchmarks.tuning_instances import NEGATIVES, held_out, instance
from snellen.profiles import Profile, load_profile
from snellen.tools.vision import Models
from snellen.tuning import Instance, TunedPrompt, TuningExample, tuner_of
from snellen.tuning.loop import initial

TOOLS: Final = ("CLIP", "LOC", "SEG", "VQA", "REPLACE")
PARTS: Final = 2
QUANTILES: Final = (0.5, 0.9, 0.99, 1.0)


@dataclass
class Timed:
    """Seconds that an arm took, and its prompts by instance."""

    wall: float = 0.0
    cpu: float = 0.0
    prompts: dict[str, TunedPrompt] = field(default_factory=dict)

    def each(self) -> tuple[float, float]:
        """Return the seconds of an instance: of the processors, and of the clock."""
        return self.cpu / len(self.prompts), self.wall / len(self.prompts)


@dataclass(frozen=True)
class TuningComparison:
    """Comparison of an arm with tuning together, prompt by prompt.

    Attributes:
        prompts: How many were compared.
        difference: Quantiles of the absolute difference of two numbers, by `QUANTILES`.
        moved: The median of how far a number moved while it was tuned.
        answers: What the tool says with each prompt: how many answers were compared.
        agreeing: In how many of them both prompts are right, or both wrong.
        in_double_precision: The largest difference of two numbers where a few instances are tuned in float64.
    """

    prompts: int
    difference: tuple[float, ...]
    moved: float
    answers: int
    agreeing: int
    in_double_precision: float


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=50, help="instances for each tool")
    parser.add_argument("--steps", type=int, default=20, help="Adam steps of each instance")
    parser.add_argument("--release", type=int, default=50, help="how many of them are tuned as the release does, too")
    parser.add_argument("--doubled", type=int, default=2, help="instances that are tuned in double precision, too")
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=TOOLS)
    parser.add_argument("--profile", default="embedded")
    parser.add_argument("--rehearse", metavar="P", help="let each tool learn by the settings of this profile instead")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.rehearse:
        _rehearse(options)
        return
    report = measure(options.profile, options.tools, options)
    print(json.dumps(report, indent=2) if options.json else _table(report))


def _rehearse(options: argparse.Namespace) -> None:
    """Print what the settings of a profile keep on the checkpoints of another."""
    tools = ["CLASSIFY" if pool == "CLIP" else pool for pool in options.tools]
    found = rehearse(load_profile(options.rehearse), options.profile, tools=tools)
    if options.json:
        print(json.dumps({tool: asdict(one) for tool, one in found.items()}, indent=2))
        return
    for tool, one in found.items():
        print(
            f"{tool:9} {one.kept:3} of {one.of} kept, {one.steps} steps, {one.seconds} s  {one.before} -> {one.after}"
        )


def measure(profile: str, tools: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    """Time the arms of each tool, and compare their prompts; the options are those of the command line."""
    models = Models(endless(load_profile(profile), options.steps), window=0)
    found = {pool: _measured(models, pool, options) for pool in tools}
    return {
        "profile": profile,
        "device": str(models.encoder().checkpoint.device),
        "threads": torch.get_num_threads(),
        "instances": options.instances,
        "release": min(options.release, options.instances),
        "steps": options.steps,
        "negatives": NEGATIVES,
        "doubled": options.doubled,
        "tools": found,
        "geometric_mean_cpu": {
            arm: round(float(np.exp(np.mean([np.log(one["times_as_fast_cpu"][arm]) for one in found.values()]))), 2)
            for arm in ("release", "cached")
        },
    }


def endless(profile: Profile, steps: int) -> Profile:
    """The profile with as many steps for every tool, which nothing ends early, in float32: all arms compute alike."""
    # VQA leaves out negatives that its prompt will not be used on; here all arms compute all of them.
    changes = {"steps": steps, "score": 1 - 1e-9, "similarity": -1.0}
    table = profile.tuning
    tools = {key: getattr(table, key).model_copy(update=changes) for key in ("clip", "loc", "seg", "vqa", "replace")}
    return profile.model_copy(update={"tuning": table.model_copy(update={**tools, "dtype": "float32"})})


def _measured(models: Models, pool: str, options: argparse.Namespace) -> dict[str, Any]:
    tuner = tuner_of(models, pool)
    every = [instance(pool, index) for index in range(options.instances)]
    timed = take_turns(arms(tuner), every, release=options.release)
    each = {name: one.each() for name, one in timed.items()}
    exact = _in_double_precision(tuner, every[: options.doubled])
    compared = _compared(tuner, every, {name: one.prompts for name, one in timed.items()}, exact)
    return {
        "seconds_cpu": {name: round(one, 4) for name, (one, _) in each.items()},
        "seconds_wall": {name: round(one, 4) for name, (_, one) in each.items()},
        "times_as_fast_cpu": {name: round(each[name][0] / each["together"][0], 2) for name in compared},
        "times_as_fast_wall": {name: round(each[name][1] / each["together"][1], 2) for name in compared},
        "compared": {name: asdict(one) for name, one in compared.items()},
    }


def take_turns(ways: Mapping[str, Arm], every: Sequence[Instance], *, release: int) -> dict[str, Timed]:
    """Tune the same instances by each arm, in turns."""
    for arm in ways.values():
        arm(every[:1])  # what is loaded and compiled at first is nobody's fault
    timed = {name: Timed() for name in ways}
    for part in _parts(every):
        for name, arm in ways.items():
            tuned = part[: max(1, round(release * len(part) / len(every)))] if name == "release" else part
            wall, cpu = time.perf_counter(), time.process_time()
            prompts = arm(tuned)
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            timed[name].wall += time.perf_counter() - wall
            timed[name].cpu += time.process_time() - cpu
            timed[name].prompts.update((each.instance, each) for each in prompts)
    return timed


def _parts(every: Sequence[Instance]) -> Iterator[Sequence[Instance]]:
    size = max(1, -(-len(every) // PARTS))
    for start in range(0, len(every), size):
        yield every[start : start + size]


def _in_double_precision(tuner: Any, every: Sequence[Instance]) -> dict[str, float]:  # noqa: ANN401
    """Return how far the prompts of each arm are from those of tuning together, all in float64."""
    with in_double_precision(tuner.module):
        tuned = {name: arm(every) for name, arm in arms(tuner).items()}
    together = tuned.pop("together")
    return {name: float(_apart(prompts, together).max(initial=0)) for name, prompts in tuned.items()}


def _compared(
    tuner: Any,  # noqa: ANN401 - a tuner of any tool
    every: Sequence[Instance],
    tuned: Mapping[str, Mapping[str, TunedPrompt]],
    exact: Mapping[str, float],
) -> dict[str, TuningComparison]:
    """Compare the prompts of each arm with those of tuning together, and what the tool says with them."""
    together = tuned["together"]
    said = [_said(tuner, number, each, tuned) for number, each in enumerate(every)]
    moved = [np.abs(together[each.id].prompt - initial(tuner, each).numpy()) for each in every]
    compared = {}
    for name, prompts in tuned.items():
        if name == "together":
            continue
        answers = [
            one == other
            for each in said
            if name in each
            for one, other in zip(each[name], each["together"], strict=True)
        ]
        apart = _apart(list(prompts.values()), [together[each] for each in prompts])
        compared[name] = TuningComparison(
            prompts=len(prompts),
            difference=tuple(float(each) for each in np.quantile(apart, QUANTILES)),
            moved=float(np.median(moved)),
            answers=len(answers),
            agreeing=sum(answers),
            in_double_precision=exact[name],
        )
    return compared


def _apart(one: Sequence[TunedPrompt], other: Sequence[TunedPrompt]) -> np.ndarray:
    return np.abs(np.stack([each.prompt for each in one]) - np.stack([each.prompt for each in other])).astype(float)


def _said(
    tuner: Any,  # noqa: ANN401
    number: int,
    learned: Instance,
    tuned: Mapping[str, Mapping[str, TunedPrompt]],
) -> dict[str, list[bool]]:
    """Say for each arm that tuned an instance on which pictures the tool is right with its prompt."""
    examples: list[TuningExample] = [*learned.examples]
    if tuner.pool != "REPLACE":  # painting takes as long as tuning
        examples.append(held_out(tuner.pool, number))
    seen = tuner.look(examples, [learned.concept, *learned.names])
    return {
        name: tuner.right(seen, prompts[learned.id], learned.concept)
        for name, prompts in tuned.items()
        if learned.id in prompts
    }


def _table(report: dict[str, Any]) -> str:
    lines = [
        f"{report['instances']} instances, {report['steps']} steps, {report['threads']} threads, {report['device']}",
        "CPU seconds       release    cached  together   times as fast   agreeing",
    ]
    for pool, one in report["tools"].items():
        seconds, ratios = one["seconds_cpu"], one["times_as_fast_cpu"]
        agreeing = ", ".join(f"{each['agreeing']} of {each['answers']}" for each in one["compared"].values())
        lines.append(
            f"{pool:15} {seconds['release']:9.3f} {seconds['cached']:9.3f} {seconds['together']:9.3f}"
            f"   {ratios['release']:5.2f} {ratios['cached']:5.2f}   {agreeing}"
        )
    means = report["geometric_mean_cpu"]
    return "\n".join([*lines, f"geometric means {means['release']:.2f} and {means['cached']:.2f}"])


if __name__ == "__main__":
    main()
