"""Which tools do best where several can do an operation of a meaning?

    python -m benchmarks.tool_choices --scenes 60 --json

For each row of `snellen.reasoning.meanings.tool_choices` meanings that need the operation are asked of fresh flat,
clear scenes of known things, with the embedded models. The right answer is the denotation on the scene graph; edited
pictures are judged as `evaluate tasks` judges them. The scenes are none of the corpus's, and of no task's.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from benchmarks.meanings import agrees
from benchmarks.picture_graphs import graphs_of
from benchmarks.reference_programs import SeenScenes
from snellen.microworld.concepts import vocabulary
from snellen.microworld.scenes import Scene, recipe, sample_scene
from snellen.microworld.tasks.edits import judge_edit
from snellen.microworld.tasks.task import EditAnswer, EditStep
from snellen.models.vision.models import Models
from snellen.profiles import load_profile
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.compilation import compile_meaning
from snellen.reasoning.meanings.denotation import Undefined, denotation
from snellen.reasoning.meanings.meanings import Meaning, read_meaning
from snellen.reasoning.meanings.tool_choices import ToolChoices

_ALL = {"kind": "everything"}


@dataclass(frozen=True)
class ChoiceCase:
    """A meaning that needs an operation, and the scene that it is asked of."""

    operation: str
    scene: Scene
    meaning: Meaning


def cases(scene: Scene) -> Iterator[ChoiceCase]:
    """Ask of a scene what needs each operation."""
    for operation, data in _questions(scene):
        meaning = canonical(read_meaning(json.dumps(data)))
        if not isinstance(denotation(meaning, graphs_of([scene])), Undefined):
            yield ChoiceCase(operation, scene, meaning)


def _questions(scene: Scene) -> Iterator[tuple[str, dict[str, Any]]]:
    first = scene.objects[0]
    kind = _filtered(_ALL, {"kind": "is a", "name": first.concept})
    yield "everything", {"kind": "count", "things": _ALL}
    yield "everything", {"kind": "list each", "things": _ALL, "what": "name"}
    yield "everything", {"kind": "query", "things": _ordinal("leftmost"), "what": "name"}
    yield "everything", {"kind": "query", "things": _ordinal("largest"), "what": "name"}
    yield "background", {"kind": "query setting", "aspect": "background"}
    for fact in ("can fly", "are edible", "have wheels", "live in water"):
        yield "fact_filter", {"kind": "count", "things": _filtered(_ALL, {"kind": "has fact", "fact": fact})}
    if first.tint:
        coloured = _filtered(kind, {"kind": "has colour", "colour": first.tint})
        another = _filtered(kind, {"kind": "has colour", "colour": "red" if first.tint != "red" else "blue"})
        yield "colour_answer", {"kind": "query", "things": {"kind": "one", "things": kind}, "what": "colour"}
        yield "colour_filter", {"kind": "count", "things": coloured}
        yield "colour_filter", {"kind": "exist", "things": another}
    for operation in ("colour pop", "blur the rest"):
        action = {"kind": "edit action", "operation": operation, "things": kind}
        yield "outlines", {"kind": "edit picture", "actions": [action]}


def _filtered(things: dict[str, Any], property: dict[str, Any]) -> dict[str, Any]:  # noqa: A002 - the field's name
    return {"kind": "filter", "things": things, "property": property}


def _ordinal(extreme: str) -> dict[str, Any]:
    return {"kind": "ordinal", "things": _ALL, "order": {"kind": "by extreme", "extreme": extreme}}


def is_right(case: ChoiceCase, choices: ToolChoices, models: Models) -> bool:
    """Run the program of a meaning with the models, and compare its answer."""
    seen = SeenScenes([case.scene], models)
    records = seen.look(compile_meaning(case.meaning, choices).program)
    if records[-1].error:
        return False
    if case.operation == "outlines":
        return _is_edited(case, seen.answer(records).picture)
    denoted = denotation(case.meaning, graphs_of([case.scene]))
    return agrees(case.meaning, denoted, records[-1].output, records, [case.scene])


def _is_edited(case: ChoiceCase, picture: Any) -> bool:  # noqa: ANN401 - a picture or none
    action = case.meaning.actions[0]  # type: ignore[union-attr]  # outlines are those of edits
    named = case.scene.objects[0].concept
    places = tuple(place for place, item in enumerate(case.scene.objects) if item.concept == named)
    operation = "colorpop" if action.operation == "colour pop" else "bgblur"
    return picture is not None and judge_edit(case.scene, EditAnswer((EditStep(operation, places),)), picture).correct


def measure(scenes: int, seed: int, operations: tuple[str, ...] = ()) -> dict[str, dict[str, str]]:
    """Return for each operation and each of its tools how many answers are right."""
    models = Models(load_profile("embedded"))
    names = [each.name for each in vocabulary().share("known") if " and " not in each.name]
    drawn = recipe(names, counts=(2, 6), styles=("flat",), weathers=("clear",), repeat=0.3)
    asked = [case for number in range(scenes) for case in cases(sample_scene(("choices", seed, number), drawn))]
    report: dict[str, dict[str, str]] = {}
    for operation, field in ToolChoices.model_fields.items():
        mine = [case for case in asked if case.operation == operation]
        for tool in get_args(field.annotation) if operation in (operations or ToolChoices.model_fields) else ():
            choices = ToolChoices.model_validate({operation: tool})
            right = sum(is_right(case, choices, models) for case in mine)
            report.setdefault(operation, {})[tool] = f"{right} of {len(mine)}"
    return report


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--scenes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--operations", nargs="*", default=(), choices=list(ToolChoices.model_fields))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report = measure(options.scenes, options.seed, tuple(options.operations))
    if options.json:
        print(json.dumps(report, indent=1))
        return
    for operation, tools in report.items():
        print(operation, *(f"{tool} {right}" for tool, right in tools.items()), sep="\t")


if __name__ == "__main__":
    main()
