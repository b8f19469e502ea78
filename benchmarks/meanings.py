"""Do programs compute what meanings denote, and do echoes tell meanings apart?

    python -m benchmarks.meanings --number 10000 --json

Random well-typed meanings about random scenes of known concepts are evaluated twice: by their denotation on the scene
graph, and by the program that they compile to, with perfect sight (`benchmarks.oracle`). Where a presupposition fails,
the program must answer with the sentence of the denotation. No claim is made of what is ambiguous ("the dog" of two) or
not known. Echoes are compared over all meanings: two may be equal only where the canonical forms are. Reading
an echo gives its meaning back.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from benchmarks.oracle import Oracle
from benchmarks.picture_graphs import graphs_of
from benchmarks.random_meanings import MeaningSampler
from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import truths
from snellen.microworld.scenes import Dice, Scene, caption, recipe, sample_scene
from snellen.profiles import load_profile
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.compilation import compile_meaning
from snellen.reasoning.meanings.denotation import Denotation, Depicted, Edited, Undefined, denotation
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.echo_reader import read_echo
from snellen.reasoning.meanings.meanings import CheckEach, IfThen, ListEach, Meaning, Several, write_part
from snellen.reasoning.meanings.scene import Entity
from snellen.reasoning.reading.lexical_entries import known_names
from snellen.tools.program import ProgramError, StepRecord

EDITS: Final = {
    "colour pop": "COLORPOP", "blur the rest": "BGBLUR", "replace": "REPLACE", "remove": "REPLACE", "emoji": "EMOJI",
    "tag": "TAG", "crop": "CROP",
}  # fmt: skip
NAMES: Final = known_names(load_profile("embedded").facts_path())
"""The names that random meanings have."""


@dataclass(frozen=True)
class LawCase:
    """A meaning about the pictures of a task, its denotation, and what its program answered.

    Attributes:
        meaning: The meaning in its canonical form.
        denotation: What it denotes.
        program: Its program.
        answer: The program's answer as JSON.
        holds: Whether the answer is the denotation; None where no claim is made.
    """

    meaning: Meaning
    denotation: Denotation
    program: str
    answer: Any
    holds: bool | None


@dataclass
class LawReport:
    """Figures over all meanings.

    Attributes:
        cases: Meanings by the kind of their denotation; "too long" where a program would pass the limits.
        failures: Echo, program, denotation and answer of each meaning whose program answered otherwise.
        same_echoes: Echoes of meanings that differ.
        not_read_back: Echoes that are not read as the meanings that they say.
        seconds: Wall-clock seconds.
    """

    cases: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, str]] = field(default_factory=list)
    same_echoes: list[str] = field(default_factory=list)
    not_read_back: list[str] = field(default_factory=list)
    seconds: float = 0.0


def examine(meaning: Meaning, scenes: Sequence[Scene]) -> LawCase:
    """Compare what a meaning denotes with what its program answers."""
    form = canonical(meaning)
    denoted = denotation(form, graphs_of(scenes))
    program = compile_meaning(form).program
    records = Oracle(scenes).run(program)
    failed = records[-1].error
    answer = failed or records[-1].output
    holds = None if is_unclaimed(denoted) else not failed and agrees(form, denoted, answer, records, scenes)
    return LawCase(form, denoted, program, answer, holds)


def is_unclaimed(denoted: Denotation) -> bool:
    """Tell whether no law says what a program answers: something is ambiguous, or nobody knows it."""
    if isinstance(denoted, tuple):
        return any(map(is_unclaimed, denoted))  # type: ignore[arg-type]  # edits are no denotations, and are claimed
    return isinstance(denoted, Undefined) and denoted.reason != "missing"


def agrees(
    meaning: Meaning, denoted: Denotation, answer: object, records: Sequence[StepRecord], scenes: Sequence[Scene]
) -> bool:
    """Tell whether a program's answer is what its meaning denotes; of edits, whether they are at those things."""
    if isinstance(meaning, Several):
        return isinstance(answer, list) and _flat(denoted, scenes) == answer
    match denoted:
        case Undefined():
            return answer in (denoted.sentence, [denoted.sentence])
        case bool():
            return answer == ("yes" if denoted else "no")
        case tuple() if denoted and isinstance(denoted[0], Edited):
            return _edits(records) == [_edit(each) for each in denoted]  # type: ignore[arg-type]
        case tuple():
            is_ordered = any(isinstance(each, ListEach | CheckEach) and each.order for each in _ways(meaning))
            return answer == list(denoted) if is_ordered else _sorted(answer) == _sorted(list(denoted))
    return answer == _flat(denoted, scenes)[0]


def _ways(meaning: Meaning) -> list[Meaning]:
    return [*_ways(meaning.then), *_ways(meaning.otherwise)] if isinstance(meaning, IfThen) else [meaning]


def _sorted(answer: object) -> list[str]:
    return sorted(map(str, answer)) if isinstance(answer, list) else [str(answer)]


def _flat(denoted: Any, scenes: Sequence[Scene]) -> list[Any]:  # noqa: ANN401 - what it denotes
    match denoted:
        case tuple():
            return [answer for each in denoted for answer in _flat(each, scenes)]
        case Undefined():
            return [denoted.sentence]
        case bool():
            return ["yes" if denoted else "no"]
        case Depicted():
            return [_caption(denoted.entities, scenes)]
    return [denoted]


def _caption(entities: Sequence[Entity], scenes: Sequence[Scene]) -> str:
    scene = scenes[1 if entities and entities[0].picture == "right" else 0]
    boxes = {entity.box for entity in entities}
    shown = tuple(item for item, truth in zip(scene.objects, truths(scene), strict=True) if truth.box in boxes)
    return caption(replace(scene, objects=shown))


def _edit(edited: Edited) -> tuple[str, list[tuple[int, ...]]]:
    return EDITS[edited.operation], sorted(entity.box for entity in edited.entities)


def _edits(records: Sequence[StepRecord]) -> list[tuple[str, list[tuple[int, ...]]]]:
    edits = []
    for record in records:
        if record.tool in EDITS.values():
            regions = record.arguments.get("object", record.arguments.get("box"))
            edits.append((record.tool, sorted(tuple(region["box"]) for region in regions)))
    return edits


def random_scenes(dice: Dice, name: str) -> list[Scene]:
    """Draw the one or the two pictures of a task; they show few concepts, so that sets have several things."""
    names = [each.name for each in vocabulary().share("known") if " and " not in each.name]
    drawn = recipe(dice.sample(names, 6), counts=(1, 6), repeat=0.4)
    return [sample_scene(f"{name}/{number}", drawn) for number in range(2 if dice.chance(0.3) else 1)]


def measure(number: int, seed: int) -> LawReport:
    """Examine so many random meanings."""
    report, began = LawReport(), time.perf_counter()
    echoes: dict[str, set[str]] = defaultdict(set)
    for place in range(number):
        dice = Dice("meanings", seed, place)
        scenes = random_scenes(dice, f"meanings/{seed}/{place}")
        meaning = _mostly_defined(MeaningSampler(dice.choice, scenes), dice)
        try:
            case = examine(meaning, scenes)
        except ProgramError:  # beyond the limits of programs, which callers refuse
            report.cases["too long"] += 1
            continue
        sentence = echo(case.meaning)
        echoes[sentence].add(write_part(case.meaning))
        if read_echo(sentence, NAMES) != case.meaning:
            report.not_read_back.append(sentence)
        report.cases[_kind(case.denotation)] += 1
        if case.holds is False:
            report.failures.append(
                {
                    "echo": sentence, "program": case.program, "denotation": str(case.denotation),
                    "answer": str(case.answer),
                }
            )  # fmt: skip
    report.same_echoes = [sentence for sentence, forms in echoes.items() if len(forms) > 1]
    report.seconds = time.perf_counter() - began
    return report


def _mostly_defined(sampler: MeaningSampler, dice: Dice) -> Meaning:
    """Draw a meaning, up to five times where its presupposition fails, and now and then one of any sort."""
    meaning = sampler.meaning()
    for _ in range(0 if dice.chance(0.2) else 5):
        if not isinstance(denotation(meaning, graphs_of(sampler.scenes)), Undefined):
            break
        meaning = sampler.meaning()
    return meaning


def _kind(denoted: Denotation) -> str:
    return f"undefined: {denoted.reason}" if isinstance(denoted, Undefined) else type(denoted).__name__


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report = measure(options.number, options.seed)
    if options.json:
        print(json.dumps(asdict(report), indent=1))
        return
    for failure in report.failures[:20]:
        print("\n".join(failure.values()), end="\n\n")
    print(dict(report.cases), f"{len(report.failures)} failures", f"{report.seconds:.0f} s")
    print(len(report.not_read_back), "not read back")
    print(*report.same_echoes, *report.not_read_back, sep="\n")


if __name__ == "__main__":
    main()
