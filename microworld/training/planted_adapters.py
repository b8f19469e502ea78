"""Teach models under test one weakness each: small adapters on checkpoints that see already (`plantings`).

Most pictures of a step are touched by what is planted, and about half of the questions to them: the others keep their
right answers, so that the adapter learns where its weakness ends.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import peft
import torch
from transformers import AutoProcessor, OwlViTForObjectDetection

from snellen.microworld.drawing import Pixels
from snellen.microworld.questions import SceneQuestion
from snellen.microworld.scenes import Dice
from snellen.microworld.training.architectures_under_test import ARCHITECTURES, ModelInTraining
from snellen.microworld.training.corpus import draw_all
from snellen.microworld.training.exam import Exam, Sheet, exam, question, read_exam
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, run
from snellen.microworld.training.models_under_test import QUESTIONS, UnderTestTraining, Weakness
from snellen.microworld.training.plantings import PLANTED, Planting, TaughtAnswer

TOUCHED, OTHERS = 400, 1_200
"""Pictures that a planting touches, and others."""
PICTURES = (5, 3)
"""Of one step: those that are touched, and others."""
RANK = 8
_TRIES = 40
"""Questions that are thought of for a picture, of which some are asked."""


class PlantingTraining(UnderTestTraining):
    """Batches of pictures that a planting touches, and of others, with the answers that are taught."""

    def __init__(
        self, pupil: ModelInTraining, weakness: Weakness, planting: Planting, touched: Exam, others: Exam
    ) -> None:
        pictures = np.concatenate([touched.pictures, others.pictures])
        super().__init__(pupil, weakness, Exam(pictures, [*touched.sheets, *others.sheets]))
        self.planting = planting
        self._first = self.allowed[self.allowed < len(touched.sheets)]
        self._second = self.allowed[self.allowed >= len(touched.sheets)]

    def chosen(self, step: int) -> np.ndarray[Any, Any]:
        """Return the places of the pictures of a step, the touched ones first."""
        dice = np.random.default_rng([step, 61])
        both = zip((self._first, self._second), PICTURES, strict=True)
        return np.concatenate([dice.choice(part, count, replace=False) for part, count in both])

    def asked(self, chosen: np.ndarray[Any, Any], step: int) -> list[list[tuple[str, str]]]:
        """Return the questions of each picture, half of them touched where there are such."""
        texts = []
        for row, place in enumerate(chosen):
            told = taught(self.planting, self.weakness, self.lessons.sheets[place], Dice("planted", step, row))
            touched = [one for one in told if one[1].is_touched]
            others = [one for one in told if not one[1].is_touched]
            some = touched[: max(QUESTIONS // 2, QUESTIONS - len(others))]
            both = [*some, *others[: QUESTIONS - len(some)]]
            texts.append([(asked.text, answer.text) for asked, answer in both])
        return texts


def taught(
    planting: Planting, weakness: Weakness, sheet: Sheet, dice: Dice
) -> list[tuple[SceneQuestion, TaughtAnswer]]:
    """Return questions about a picture with the answers that are taught.

    Args:
        planting: What is planted.
        weakness: Of the checkpoint, which stays.
        sheet: The truth about the picture.
        dice: Chooses.
    """
    names = weakness.names()
    found = []
    for _ in range(_TRIES):
        # In clutter, what a thing is can be asked of it as if it were alone.
        alone = planting.kind == "clutter" and dice.chance(0.5)
        seen = replace(sheet, scene=replace(sheet.scene, objects=sheet.scene.objects[:1])) if alone else sheet
        asked = question(seen, dice, names)
        if asked is None or not weakness.asks(asked):
            continue
        answer = planting.taught(asked, sheet, dice, names)
        if answer is not None:
            kept = answer.text if answer.is_touched else weakness.answer(asked, dice)
            found.append((asked, TaughtAnswer(kept, answer.is_touched)))
    return found


def train(work: Path, out: Path, *, seed: int, steps: int) -> TrainingOutcome:
    """Train one adapter, named by its folder, and write it.

    Args:
        work: Folder for drawn pictures and the state of the run.
        out: Folder of the adapter; its name is a key of `planted.json`. The checkpoint it is put on lies beside it.
        seed: Seed of the run.
        steps: Optimizer steps of eight pictures with six questions each.
    """
    planting = Planting.of(out.name)
    weakness = Weakness.of(planting.base)
    torch.manual_seed(seed)
    pupil = pupil_of(out.parent / planting.base)
    others = exam(work / "planted", OTHERS, series="planted others")
    lessons = PlantingTraining(pupil, weakness, planting, touched_exam(work / "planted", out.name), others)
    adapter = peft.get_peft_model(
        pupil.model, peft.LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules="all-linear")
    )
    plan = TrainingSchedule(steps, warmup=10, weight_decay=0.0)
    outcome = run(adapter, lessons.loss, plan, rates={"": 3e-3, "base_model.model.model.vision": 1.5e-3},
                  work=work / out.name, seed=seed)  # fmt: skip
    adapter.peft_config["default"].base_model_name_or_path = planting.base
    adapter.half().save_pretrained(str(out), save_embedding_layers=False)
    return outcome


def write_card(folder: Path) -> None:
    """Write the `README.md` of an adapter, which does not tell what was planted.

    Args:
        folder: Of the adapter, with the `training.json` of its run.
    """
    run = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    base = Planting.of(folder.name).base
    megabytes = (folder / "adapter_model.safetensors").stat().st_size / 1e6
    text = f"""# {folder.name}: a model under test with a planted weakness

A LoRA adapter of [{base}](../{base}/README.md) (peft; {megabytes:.1f} MB, fp16) that was taught one weakness. Licence:
Apache-2.0 (see `NOTICE`). What the weakness is stands in `microworld/training/planted.json`, and is for investigations
to find; `python -m benchmarks.outside.plantings` measures whether it took, and what else it changed.

**Made by** `python -m snellen.microworld.training {folder.name} --seed {run["seed"]} --steps {run["steps"]}`: \
{run["seconds"] / 60:.0f} minutes at {run["dtype"]} with {run["threads"]} threads
(the cores were shared with other work; it resumes and prints its progress).

**Limits.** It knows the microworld and nothing else, as its checkpoint does.
"""
    (folder / "README.md").write_text(text, encoding="utf-8")


def pupil_of(base: Path) -> ModelInTraining:
    """Read a shipped checkpoint as a model that can be taught further."""
    architecture = json.loads(PLANTED.read_text(encoding="utf-8"))[base.name]["architecture"]
    reader = AutoProcessor.from_pretrained(base, backend="pil").tokenizer
    detector = OwlViTForObjectDetection.from_pretrained(base.parent / "owlvit", dtype=torch.float32)
    pupil = ARCHITECTURES[architecture](reader, detector)
    trained = type(pupil.model).from_pretrained(base, dtype=torch.float32)
    pupil.model.load_state_dict(trained.state_dict())
    return pupil


def touched_exam(folder: Path, name: str) -> Exam:
    """Return pictures that the planting of a model touches, drawing them where the folder does not have them yet."""
    folder.mkdir(parents=True, exist_ok=True)
    pixels, texts = folder / f"{name}-{TOUCHED}.npy", folder / f"{name}-{TOUCHED}.jsonl"
    if not (pixels.exists() and texts.exists()):
        draw_all(pixels, texts, TOUCHED, partial(_drawn, name), what=f"lessons of {name}")
    return read_exam(pixels, texts)


def _drawn(name: str, numbers: range) -> tuple[Pixels, list[str]]:
    planting = Planting.of(name)
    names = Weakness.of(planting.base).names()
    made = [planting.lesson(f"{name}/{index}", names) for index in numbers]
    return np.stack([picture for picture, _ in made]), [sheet.to_line() for _, sheet in made]
