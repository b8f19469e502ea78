"""Model cards: what each checkpoint is, how it was made, and what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from snellen.microworld.concepts import vocabulary

ABOUT = {
    "owlvit": (
        "OwlViTForObjectDetection",
        """24,000 drawn scenes of 128 × 128 with known concepts; in the further runs 44,000 others, half of them
hard, and parts of them""",
        ("owlvit_",),
    ),
    "clip": ("CLIPModel", "crops of 64 × 64 of the objects of 24,000 drawn scenes with known concepts", ("clip_top1",)),
    "blip": (
        """BlipForQuestionAnswering, BlipForConditionalGeneration and BlipForImageTextRetrieval (one set of
weights; the text decoder is shared by answers and captions, the text encoder by answers and matching)""",
        """24,000 drawn scenes and 12,000 crops of scenes with known concepts, with questions and captions made
from their descriptions; the vision encoder starts from the detector's; in the further runs 44,000 other scenes, half of
them hard, and 10,000 crops""",
        ("vqa_", "caption_", "match_"),
    ),
    "maskformer": (
        "MaskFormerForInstanceSegmentation, with a ResNet of basic layers for its backbone",
        "24,000 drawn scenes and 16,000 pictures of things side by side, with their masks",
        ("seg_",),
    ),
    "diffusion": (
        """StableDiffusionInpaintPipeline of `diffusers` (AutoencoderKL, UNet2DConditionModel, CLIPTextModel,
DDIMScheduler)""",
        """28,000 parts of drawn scenes, in each of which one thing is drawn in another's place, and 6,000 whole
scenes with their captions; the text encoder starts from the classifier's""",
        ("replace_",),
    ),
}


def write_cards(folder: Path, figures: dict[str, Any]) -> None:
    """Write `README.md` into the folder of each checkpoint.

    Args:
        folder: Holds the folders of the checkpoints, each with the `training.json` of its run; one that is not there
            gets no card, nor does one without figures.
        figures: As `snellen.microworld.training.measure.report` gives them.
    """
    for name, (classes, data, prefixes) in ABOUT.items():
        measured = any(key.startswith(prefixes) for key in figures["known"])
        if not measured or not (folder / name / "training.json").exists():
            continue
        run = json.loads((folder / name / "training.json").read_text(encoding="utf-8"))
        # A pipeline has its weights in folders, and the classifier has statistics beside its own.
        files = [*(folder / name).glob("model.safetensors"), *(folder / name).glob("*/*.safetensors")]
        size = sum(file.stat().st_size for file in files) / 1e6
        text = _CARD.format(
            name=name, classes=classes, data=data, size=size, made=_made(name, run),
            known=len(vocabulary().share("known")),
            novel=len(vocabulary().share("novel")), table=table(figures, prefixes), scenes=figures["scenes"],
            measured=figures["seed"], note=f" {run['note']}" if "note" in run else "",
        )  # fmt: skip
        (folder / name / "README.md").write_text(text, encoding="utf-8")


def _made(name: str, run: dict[str, Any]) -> str:
    """Return the commands of a checkpoint's runs with what they took."""
    commands = []
    for each, option in [(run, ""), *((more, " --continued") for more in run.get("continued", ()))]:
        command = f"python -m snellen.microworld.training {name}{option} --seed {each['seed']} --steps {each['steps']}"
        commands.append(
            f"`{command}`: {each['seconds'] / 60:.0f} minutes at\n{each['dtype']} with {each['threads']} threads"
        )
    return ";\nthen ".join(commands)


def table(figures: dict[str, Any], prefixes: tuple[str, ...] = ("",)) -> str:
    """Return the figures as a Markdown table: known, the figure asked for, novel."""
    rows = ["| figure | known | asked for | novel |", "|---|---|---|---|"]
    for key, value in figures["known"].items():
        if key.startswith(prefixes) and not key.endswith("_n"):
            target = figures["targets"].get(key)
            rows.append(
                f"| {key} | {value:.3f} | {f'≥ {target:.2f}' if target else ''} | {figures['novel'][key]:.3f} |"
            )
    return "\n".join(rows)


_CARD = """# {name}: a small checkpoint of the microworld

Classes of `transformers`: {classes}.
Weights: fp16 safetensors, {size:.1f} MB. Licence: Apache-2.0 (the pictures it was trained on are drawn with Twemoji
art, CC-BY 4.0, see `NOTICE`).

**Data.** {data}: {known} known concepts; {novel} novel ones were never shown.
All text comes from the scenes' descriptions.

**Made by** {made} (the cores were shared with other work; it resumes and prints its progress).{note}

**Measured** by `python -m snellen.microworld.training report --seed {measured} --scenes {scenes}` on held-out scenes,
through the tools that programs use:

{table}

**Limits.** It knows the microworld and nothing else: photographs are outside it, and Snellen says so. Novel concepts
are words that it can read and things that it has never seen.
"""
