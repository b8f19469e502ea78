# ruff: noqa: SLF001 - the plain arm takes the same model and the same targets from inside the tuners
"""How much faster many prompts are tuned together than one after another, in the same run on the same machine.

    python -m benchmarks.tuning --json                 # 50 instances a tool, as reported
    python -m benchmarks.tuning --instances 4 --steps 5
    python -m benchmarks.tuning --rehearse hub --json   # what a profile's settings keep on the embedded checkpoints

Both arms learn the same prompts: the same instances, the same beginnings, the same number of Adam steps (nobody stops
early), and their prompts are compared at the end. *One by one* is what the release of CLOVA does: an instance after
another, in each step one picture after another, each through the whole model: picture encoder, text encoder and heads.
*Together* is `snellen.tuning.tune`, what it prepares included. The arms take turns in parts of the instances, so that a
machine that becomes slower meanwhile slows both.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from benchmarks.novel import crop, known_names, outlined
from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import draw
from snellen.microworld.questions import ask
from snellen.microworld.scenes import Dice, Scene, recipe, sample_scene
from snellen.models.injection import answer_prompts, deep_prompts, query_prompts
from snellen.profiles import Profile, load_profile
from snellen.tools.vision import Models
from snellen.tuning import Instance, TuningExample, tune, tuner_of
from snellen.tuning.loc import patch_losses
from snellen.tuning.loop import initial
from snellen.tuning.seg import mask_losses

Prompt = npt.NDArray[np.float32]
TOOLS = ("CLIP", "LOC", "SEG", "VQA", "REPLACE")
PARTS = 2
NEGATIVES = {"CLIP": 4, "LOC": 4, "SEG": 4, "VQA": 2, "REPLACE": 0}
NAMES = 13


@dataclass(frozen=True)
class Arms:
    """Seconds of both arms for one tool, and how far their prompts are apart at most."""

    one_by_one: float
    together: float
    difference: float

    @property
    def ratio(self) -> float:
        """How many times faster it is together."""
        return self.one_by_one / self.together


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=50, help="instances for each tool")
    parser.add_argument("--steps", type=int, default=20, help="Adam steps of each instance")
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=TOOLS)
    parser.add_argument("--profile", default="embedded")
    parser.add_argument("--rehearse", metavar="P", help="let each tool learn by the settings of this profile instead")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.rehearse:
        _rehearse(options)
        return
    report = measure(options.profile, options.tools, instances=options.instances, steps=options.steps)
    print(json.dumps(report, indent=2) if options.json else _table(report))


def _rehearse(options: argparse.Namespace) -> None:
    """Print what the settings of a profile keep on the checkpoints of another."""
    from benchmarks.rehearsal import rehearse

    tools = ["CLASSIFY" if pool == "CLIP" else pool for pool in options.tools]
    found = rehearse(load_profile(options.rehearse), options.profile, tools=tools)
    if options.json:
        print(json.dumps({tool: asdict(one) for tool, one in found.items()}, indent=2))
        return
    for tool, one in found.items():
        print(
            f"{tool:9} {one.kept:3} of {one.of} kept, {one.steps} steps, {one.seconds} s  {one.before} -> {one.after}"
        )


def measure(profile: str, tools: Sequence[str], *, instances: int, steps: int) -> dict[str, Any]:
    """Time both arms of each tool."""
    chosen = endless(load_profile(profile), steps)
    models = Models(chosen, window=0)
    arms = {pool: compare(models, pool, instances) for pool in tools}
    ratios = {pool: round(each.ratio, 2) for pool, each in arms.items()}
    return {
        "profile": profile,
        "device": str(models.encoder().checkpoint.device),
        "threads": torch.get_num_threads(),
        "instances": instances,
        "steps": steps,
        "negatives": NEGATIVES,
        "ratio": ratios,
        "geometric_mean": round(float(np.exp(np.mean(np.log(list(ratios.values()))))), 2),
        "seconds_one_by_one": {pool: round(each.one_by_one, 3) for pool, each in arms.items()},
        "seconds_together": {pool: round(each.together, 3) for pool, each in arms.items()},
        "largest_difference": {pool: each.difference for pool, each in arms.items()},
    }


def endless(profile: Profile, steps: int) -> Profile:
    """The profile with as many steps for every tool, which nothing ends early, in float32: both arms compute alike."""
    # VQA leaves out negatives that its prompt will not be used on; here both arms compute all of them.
    changes = {"steps": steps, "score": 1 - 1e-9, "similarity": -1.0}
    table = profile.tuning
    tools = {key: getattr(table, key).model_copy(update=changes) for key in ("clip", "loc", "seg", "vqa", "replace")}
    return profile.model_copy(update={"tuning": table.model_copy(update={**tools, "dtype": "float32"})})


def compare(models: Models, pool: str, count: int) -> Arms:
    """Tune the same instances both ways, taking turns."""
    tuner = tuner_of(models, pool)
    alone = Alone(tuner, ONE_BY_ONE[pool])
    every = [instance(pool, index) for index in range(count)]
    for arm in (lambda part: tune(tuner, part), alone.tune):
        arm(every[:1])  # what is loaded and compiled at first is nobody's fault
    seconds = [0.0, 0.0]
    difference = 0.0
    for part in _parts(every):
        single, taken = _timed(lambda part=part: alone.tune(part))  # type: ignore[misc]
        seconds[0] += taken
        together, taken = _timed(lambda part=part: [each.prompt for each in tune(tuner, part)])  # type: ignore[misc]
        seconds[1] += taken
        apart = (float(np.abs(one - two).max()) for one, two in zip(single, together, strict=True))
        difference = max(difference, *apart)
    return Arms(*seconds, difference)


def _parts(every: Sequence[Instance]) -> Iterator[Sequence[Instance]]:
    size = max(1, -(-len(every) // PARTS))
    for start in range(0, len(every), size):
        yield every[start : start + size]


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return result, time.perf_counter() - start


@dataclass(frozen=True)
class Alone:
    """One instance after another, one picture after another, the whole model every step.

    Attributes:
        tuner: The tool's tuner, for its model and settings.
        losses: From an instance to its loss on one of its pictures with a prompt ``(1, *shape)``; what even the
            plainest loop prepares once (pixels, tokens, targets) is prepared in between.
    """

    tuner: Any
    losses: Callable[[Any, Instance], Callable[[torch.Tensor, int], torch.Tensor]]

    def tune(self, instances: Sequence[Instance]) -> list[Prompt]:
        """Learn a prompt for each with torch's own Adam."""
        for parameter in self.tuner.module.parameters():
            parameter.requires_grad = False
        return [self._tune(each) for each in instances]

    def _tune(self, learned: Instance) -> Prompt:
        prompt = initial(self.tuner, learned)[None].to(self.tuner.device).requires_grad_()
        optimizer = torch.optim.Adam([prompt], lr=self.tuner.settings.rate)
        loss = self.losses(self.tuner, learned)
        for _ in range(self.tuner.settings.steps):
            optimizer.zero_grad()
            for index in range(1 + len(learned.negatives)):
                loss(prompt, index).backward()
            optimizer.step()
        tuned: Prompt = prompt.detach()[0].cpu().numpy()
        return tuned


def _clip_losses(tuner: Any, learned: Instance) -> Callable[[torch.Tensor, int], torch.Tensor]:  # noqa: ANN401
    checkpoint, model = tuner._encoder.checkpoint, tuner.module
    with torch.no_grad():
        batch = tuner.prepare([learned])
    pixels = checkpoint.pixels([each.picture for each in (learned.example, *learned.negatives)])
    names = [learned.concept, *tuner._rivals(learned)]
    tokens = checkpoint.tokens([tuner._template.format(name) for name in names])

    def loss(prompt: torch.Tensor, index: int) -> torch.Tensor:
        with deep_prompts(model.vision_model, prompt):
            seen = model.get_image_features(pixels[index : index + 1]).pooler_output[0].float()
        texts = model.get_text_features(**tokens).pooler_output.float()
        own = model.logit_scale.exp() * functional.cosine_similarity(seen, texts[0], dim=0)
        weight = 1.0 if index == 0 else 1 / len(learned.negatives)
        return weight * functional.softplus(-batch.signs[0, index] * (own - batch.rivals[0, index]))

    return loss


def _loc_losses(tuner: Any, learned: Instance) -> Callable[[torch.Tensor, int], torch.Tensor]:  # noqa: ANN401
    detector, model = tuner._detector, tuner.module
    with torch.no_grad():
        batch = tuner.prepare([learned])
    pixels = detector.checkpoint.pixels([each.picture for each in (learned.example, *learned.negatives)])
    own, others = detector.tokens([learned.concept]), detector.tokens(learned.names)
    wanted, counted = (each[0].view(len(pixels), -1) for each in (batch.wanted, batch.counted))

    def loss(prompt: torch.Tensor, index: int) -> torch.Tensor:
        feature_map, _ = model.image_embedder(pixel_values=pixels[index : index + 1])
        patches = feature_map.flatten(1, 2)
        model.box_predictor(patches, feature_map)
        with query_prompts(model.owlvit.text_model, prompt):
            query = model.owlvit.get_text_features(**own).pooler_output
        queries = torch.cat([query, model.owlvit.get_text_features(**others).pooler_output])
        logits, classes = model.class_predictor(patches, queries[None])
        logits = logits[0].float()
        rivals = logits[:, 1:].amax(-1).detach()
        cosine = classes[0].float() @ functional.normalize(query[0].float(), dim=0)
        scales = model.class_head.elu(model.class_head.logit_scale(patches))[0, :, 0].float() + 1
        short = scales * functional.relu(tuner.settings.alignment - cosine) * wanted[index]
        losses = patch_losses(logits[:, 0], rivals, wanted[index], counted[index]) + short
        return losses.sum() / wanted.sum().clamp(min=1)

    return loss


def _vqa_losses(tuner: Any, learned: Instance) -> Callable[[torch.Tensor, int], torch.Tensor]:  # noqa: ANN401
    checkpoint, model = tuner._answerer.checkpoint, tuner.module
    every = (learned.example, *learned.negatives)
    pixels = checkpoint.pixels([each.picture for each in every])
    questions = [checkpoint.tokens([each.question]) for each in every]
    answers = [tuner._spelled([each.answer])[0] for each in every]

    def loss(prompt: torch.Tensor, index: int) -> torch.Tensor:
        with answer_prompts(model.text_decoder, prompt):
            out = model(pixel_values=pixels[index : index + 1], **questions[index], labels=answers[index])
        return out.loss * (1.0 if index == 0 else 1 / len(learned.negatives))

    return loss


def _seg_losses(tuner: Any, learned: Instance) -> Callable[[torch.Tensor, int], torch.Tensor]:  # noqa: ANN401
    segmenter, weights = tuner._segmenter, tuner.module.config
    with torch.no_grad():
        batch = tuner.prepare([learned])
    every = (learned.example, *learned.negatives)

    def loss(prompt: torch.Tensor, index: int) -> torch.Tensor:
        (sight,) = segmenter.look([every[index].picture])
        states = segmenter.states(prompt, sight.heard)
        named = functional.softplus(-batch.signs[0, index] * segmenter.something(states)).mean().float()
        if index:
            return weights.cross_entropy_weight * named / len(learned.negatives)
        drawn = segmenter.outlines(states, sight.pixels.flatten(2))
        focal, dice = mask_losses(drawn, batch.masks, batch.real[:, None])
        outlines = (weights.mask_weight * focal + weights.dice_weight * dice).mean()
        return outlines + weights.cross_entropy_weight * named

    return loss


def _replace_losses(tuner: Any, learned: Instance) -> Callable[[torch.Tensor, int], torch.Tensor]:  # noqa: ANN401
    painter, canvas = tuner._painter, tuner._canvas(learned.example)
    with torch.no_grad():
        batch = tuner.prepare([learned])

    def loss(prompt: torch.Tensor, _: int) -> torch.Tensor:
        with torch.no_grad():
            truth, around = painter.latents([canvas.picture]), painter.look([canvas])
        errors: torch.Tensor = tuner.judge(prompt, replace(batch, truth=truth, seen=around.seen)).loss
        return errors.sum()

    return loss


ONE_BY_ONE = {
    "CLIP": _clip_losses, "LOC": _loc_losses, "SEG": _seg_losses, "VQA": _vqa_losses, "REPLACE": _replace_losses,
}  # fmt: skip


def instance(pool: str, index: int) -> Instance:
    """An instance as the learn graph collects them, from scenes of the microworld; the concept differs each time."""
    concept = vocabulary().concepts[index % len(vocabulary().concepts)].name
    dice = Dice("benchmark", pool, index)
    names = tuple(dice.choice([name for name in known_names() if name != concept]) for _ in range(NAMES))
    return INSTANCES[pool](concept, names, index)


def _crop_instance(concept: str, names: tuple[str, ...], index: int) -> Instance:
    negatives = tuple(_crop(name, index) for name in names[: NEGATIVES["CLIP"]])
    return Instance(_crop(concept, index), negatives, names)


def _crop(name: str, index: int) -> TuningExample:
    scene = sample_scene(f"benchmark/{name}/{index}", recipe([name], counts=(1, 1)))
    return crop(scene, name)


def _scene_instance(concept: str, names: tuple[str, ...], index: int) -> Instance:
    scenes = [sample_scene(f"benchmark/{index}/{n}", recipe(names)) for n in range(NEGATIVES["LOC"])]
    return Instance(_shown(concept, names, index), tuple(TuningExample(draw(each), concept) for each in scenes), names)


def _shown(concept: str, names: tuple[str, ...], index: int) -> TuningExample:
    """A scene with the concept, its boxes and its outlines."""
    scene = sample_scene(f"benchmark/{concept}/{index}", recipe(names, required=(concept,), counts=(2, 5)))
    return outlined(scene, concept)


def _question_instance(concept: str, names: tuple[str, ...], index: int) -> Instance:
    scene = sample_scene(f"benchmark/{index}", recipe([concept, *names], required=(concept,)))
    first, *others = (_question(scene, index, n) for n in range(1 + NEGATIVES["VQA"]))
    return Instance(first, tuple(others))


def _question(scene: Scene, index: int, number: int) -> TuningExample:
    asked = ask(
        scene,
        Dice("benchmark", index, number),
        kinds=[("exists", "background", "weather")[number % 3]],
        distractors=known_names(),
    )
    text, answer = (asked.text, asked.answer) if asked else ("what is the weather?", scene.weather)
    return TuningExample(draw(scene), question=text.casefold(), answer=answer)


INSTANCES: dict[str, Callable[[str, tuple[str, ...], int], Instance]] = {
    "CLIP": _crop_instance, "LOC": _scene_instance, "SEG": _scene_instance, "VQA": _question_instance,
    "REPLACE": lambda concept, names, index: Instance(_shown(concept, names, index)),
}  # fmt: skip


def _table(report: dict[str, Any]) -> str:
    lines = [
        f"{report['instances']} instances, {report['steps']} steps, {report['threads']} threads, {report['device']}"
    ]
    for pool, ratio in report["ratio"].items():
        one, many = report["seconds_one_by_one"][pool], report["seconds_together"][pool]
        lines.append(f"{pool:7} {one:8.2f} s one by one  {many:8.2f} s together  {ratio:6.2f} times faster")
    return "\n".join([*lines, f"geometric mean {report['geometric_mean']:.2f}"])


if __name__ == "__main__":
    main()
