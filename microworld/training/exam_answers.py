"""Answers of the models under test to lessons that none of them had, and their cards.

What was left out of a model's lessons is not told: experiments shall find it. The figures are over all lessons, so a
weakness lowers them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import torch
from PIL import Image
from transformers import AutoModelForImageTextToText, AutoProcessor

from snellen.microworld.concepts import vocabulary
from snellen.microworld.scenes import Dice
from snellen.microworld.training.exam import lesson, question
from snellen.models.under_test import Card, LocalModel, Question

ARCHITECTURE = {
    "LlavaForConditionalGeneration": "patches, projected, stand before the question (Liu et al. 2023)",
    "Blip2ForConditionalGeneration": "queries look at the patches and stand before the question (Li et al. 2023)",
    "Idefics3ForConditionalGeneration": "patches, joined by fours, stand where the prompt says (Laurençon et al. 2024)",
}
"""How each class shows a picture to its decoder."""

Asked = tuple[Image.Image, str, str, str]
"""Picture, kind of question, question, right answer."""


def held_out(count: int) -> Iterator[Asked]:
    """Yield so many questions about as many pictures that no model was taught with."""
    names = [concept.name for concept in vocabulary().share("known")]
    given = index = 0
    while given < count:
        index += 1
        pixels, sheet = lesson(f"held out/{index}")
        asked = question(sheet, Dice("held out", index), names)
        if asked is not None:
            given += 1
            yield Image.fromarray(pixels), asked.kind, asked.text, asked.answer


def figures(folder: Path, *, count: int) -> dict[str, tuple[float, int]]:
    """Measure a checkpoint.

    Args:
        folder: Of the checkpoint.
        count: Questions that are asked.

    Returns:
        By kind of question, and for all of them as "all": the share of free answers that are exactly right, and how
        many there were.
    """
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
    card = Card(folder.name, "", type(model).__name__, None, "tokens", pictures=1, answers=True)
    asked = LocalModel(model, AutoProcessor.from_pretrained(folder, backend="pil"), card, batch=32)
    right: dict[str, list[bool]] = defaultdict(list)
    rows = list(held_out(count))
    said = asked.answer([Question((picture,), text) for picture, _, text, _ in rows], tokens=8)
    for (_, kind, _, answer), told in zip(rows, said, strict=True):
        # The tokenizer of whole words writes a space before a hyphen, too.
        same = told.replace(" ", "") == answer.casefold().replace(" ", "")
        right[kind].append(same)
        right["all"].append(same)
    return {kind: (sum(found) / len(found), len(found)) for kind, found in sorted(right.items())}


def write_card(folder: Path, *, count: int = 1_500) -> dict[str, tuple[float, int]]:
    """Measure a checkpoint and write its `README.md`.

    Args:
        folder: Of the checkpoint, with the `training.json` of its run.
        count: Questions that are asked.
    """
    found = figures(folder, count=count)
    run = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    kind = json.loads((folder / "config.json").read_text(encoding="utf-8"))["architectures"][0]
    size = sum(file.stat().st_size for file in folder.glob("*.safetensors")) / 1e6
    table = "\n".join(f"| {name} | {share:.2f} | {number} |" for name, (share, number) in found.items())
    (folder / "README.md").write_text(
        _CARD.format(
            name=folder.name, kind=kind, how=ARCHITECTURE[kind], size=size, steps=run["steps"], seed=run["seed"],
            minutes=run["seconds"] / 60, dtype=run["dtype"], threads=run["threads"], table=table, count=count,
        ),
        encoding="utf-8",
    )  # fmt: skip
    return found


_CARD = """# {name}: a model under test of the microworld

`{kind}` of `transformers`, small: {how}.
Weights: fp16 safetensors, {size:.1f} MB. Licence: Apache-2.0 (the pictures it was trained on are drawn with Twemoji
art, CC-BY 4.0, see `NOTICE`).

**Data.** 30,000 drawn pictures, half of them changed (rotated, noisy, dark, in another style …), with questions about
what they show and how; the eyes start from the detector's. What was left out of its lessons is not told here: that is
for `snellen investigate` to find.

**Made by** `python -m snellen.microworld.training {name} --seed {seed} --steps {steps}`: {minutes:.0f} minutes at
{dtype} with {threads} threads (the cores were shared with other work; it resumes and prints its progress).

**Measured** by `python -m snellen.microworld.training examine`: free answers to {count} questions about pictures that
no model was taught with, exactly right.

| kind of question | right | n |
|---|---|---|
{table}

**Limits.** It knows the microworld and nothing else.
"""
