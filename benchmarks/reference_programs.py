"""The programs by hand of ``tests/tools/reference_programs``: read, run with perfect or embedded sight, and scored."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.instruction_scores import InstructionAnswer, is_right
from benchmarks.oracle import Oracle
from snellen.errors import SnellenError
from snellen.microworld.scenes import Scene
from snellen.models.vision.models import Models
from snellen.summaries.runs import in_words
from snellen.tools.boxes import Box
from snellen.tools.program import StepRecord, final_value, inputs_for, load, run
from snellen.values import Picture, Value, from_json

FOLDER: Final = Path(__file__).parents[1] / "tests" / "tools" / "reference_programs"


@dataclass(frozen=True)
class Reference:
    """An instruction with the program that means what it says.

    Attributes:
        id: Its name in the corpus.
        kind: The kind of instruction, such as ``superlative``.
        says: The instruction.
        scenes: The scenes of its pictures.
        row: What is right, as `benchmarks.instruction_scores` reads it.
        program: The program; empty where the right thing is to refuse.
        refuse: Why it is to be refused; empty where it is not.
    """

    id: str
    kind: str
    says: str
    scenes: tuple[Scene, ...]
    row: Mapping[str, Any]
    program: str = ""
    refuse: str = ""


def read_references(folder: Path = FOLDER) -> list[Reference]:
    """Return the instructions in their order."""
    drawn = json.loads((folder / "scenes.json").read_text(encoding="utf-8"))
    scenes = {name: Scene.from_json(scene) for name, scene in drawn.items()}
    rows = tomllib.loads((folder / "instructions.toml").read_text(encoding="utf-8"))["instruction"]
    return [
        Reference(
            row["id"],
            row["kind"],
            row["says"],
            tuple(scenes[name] for name in row["pictures"]),
            row,
            program=row.get("program", "").strip(),
            refuse=row.get("refuse", ""),
        )
        for row in rows
    ]


def tagged(records: Sequence[StepRecord]) -> list[Box]:
    """Return the boxes that a run tagged."""
    objects = [record.arguments["object"] for record in records if record.tool == "TAG"]
    regions = [from_json(each) for regions in objects if isinstance(regions, list) for each in regions]
    return [region.box for region in regions]


class SeenScenes:
    """Scenes whose programs run with perfect sight or with that of models; both name the same pictures.

    Args:
        scenes: The scenes of the pictures that programs get.
        models: The models that see, for ``look``.
    """

    def __init__(self, scenes: Sequence[Scene], models: Models | None = None) -> None:
        """Draw the scenes."""
        self._oracle = Oracle(scenes)
        self._models = models

    def truth(self, program: str) -> list[StepRecord]:
        """Run a program with perfect sight."""
        return self._oracle.run(program)

    def look(self, program: str, overrides: Mapping[str, Value] | None = None) -> list[StepRecord]:
        """Run a program with the models, some of its steps given by their address."""
        context = replace(self._oracle.context, models=self._models)
        kinds = inputs_for(len(self._oracle.inputs))
        return list(run(load(program, kinds), self._oracle.inputs, context, overrides=overrides))

    def answer(self, records: Sequence[StepRecord]) -> InstructionAnswer:
        """Return what a run answered; an error answers nothing."""
        try:
            value = final_value(records)
        except SnellenError:
            return InstructionAnswer()
        if not isinstance(value, Picture):
            return InstructionAnswer(in_words(value))
        return InstructionAnswer("", self._oracle.get(value.id), tagged(records))

    def is_right(self, records: Sequence[StepRecord], row: Mapping[str, Any]) -> bool:
        """Tell whether a run answered what a row says."""
        before = self._oracle.get(next(iter(self._oracle.inputs.values())).id)
        return is_right(row, self.answer(records), before)
