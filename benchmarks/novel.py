"""What prompts bring: novel concepts before and after they were learned, and known ones beside them.

    python -m benchmarks.novel --json
    python -m benchmarks.novel --pool LOC --concepts 4 --instances 12
    python -m benchmarks.novel --pool SEG REPLACE --concepts 8 --tests 4

Concepts are learned from the library of the microworld, validated on further pictures of it, and measured on others
again. Of the instances for CLIP a share has a wrong label, as a picture search has them. VQA learns what it was asked
and got wrong, and remembers what it got right. What REPLACE paints is compared by CLIP, which has no part in it, with
real pictures of the concept and of others.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL.Image

from snellen.microworld.concepts import plural, vocabulary
from snellen.microworld.drawing import draw, truths
from snellen.microworld.library import WRONG, scenes
from snellen.microworld.questions import ask
from snellen.microworld.scenes import Dice, Scene, article, recipe, sample_scene
from snellen.models.soft_prompts import cosines
from snellen.profiles import ReplaceModel, load_profile
from snellen.scoring import best_overlaps
from snellen.scoring.detection import LabelledBox, match_boxes
from snellen.tools.editing.replace import framed
from snellen.tools.vision import Models
from snellen.tools.vision.ask import normalised
from snellen.tuning import Candidates, Instance, TunedPrompt, TuningExample, tune, tuner_of, validate
from snellen.tuning.loop import Tuner
from snellen.tuning.seg import FOUND
from snellen.values import Region

HELD_OUT, OTHERS, RIVALS = 8, 16, 15
POOLS = ("CLIP", "LOC", "SEG", "REPLACE", "VQA")
SEEDS = {"train": 1, "held out": 77, "test": 500}


@dataclass
class KeptPrompts:
    """Kept prompts, in memory."""

    pools: dict[tuple[str, str], Candidates] = field(default_factory=dict)

    def add(self, pool: str, concept: str, kept: Sequence[TunedPrompt]) -> None:
        """Take the prompts of a concept."""
        if kept:
            prompts, features = np.stack([each.prompt for each in kept]), np.stack([each.feature for each in kept])
            self.pools[pool, concept] = Candidates(prompts, features, tuple(each.instance for each in kept))

    def candidates(
        self, pool: str, concept: str, feature: npt.NDArray[np.float32] | None = None, limit: int | None = None
    ) -> Candidates | None:
        """See :class:`snellen.tuning.PromptSource`."""
        found = self.pools.get((pool, concept))
        if found is None or feature is None:
            return found
        return found.take(np.argsort(-cosines(found.features, feature), kind="stable")[:limit])

    def concepts(self, pool: str) -> frozenset[str]:
        """See :class:`snellen.tuning.PromptSource`."""
        return frozenset(concept for each, concept in self.pools if each == pool)

    def troubles(self) -> list[str]:
        """See :class:`snellen.tuning.PromptSource`."""
        return []


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", nargs="+", default=["CLIP", "LOC", "VQA"], choices=POOLS)
    parser.add_argument("--concepts", type=int, default=12)
    parser.add_argument("--instances", type=int, default=6)
    parser.add_argument("--tests", type=int, default=10, help="test pictures of each concept")
    parser.add_argument("--profile", default="embedded")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    concepts = novel_names(options.concepts)
    report = {
        pool: (measure_questions if pool == "VQA" else partial(measure, pool))(
            concepts, profile=options.profile, instances=options.instances, tests=options.tests
        )
        for pool in options.pool
    }
    print(json.dumps(report, indent=2) if options.json else "\n".join(f"{k}: {v}" for k, v in report.items()))


def measure(pool: str, concepts: Sequence[str], *, profile: str, instances: int, tests: int) -> dict[str, Any]:
    """Learn each concept, and measure novel and known ones before and after."""
    source = KeptPrompts()
    models, plain = Models(load_profile(profile), source, window=0), Models(load_profile(profile), window=0)
    tuner, negatives = tuner_of(models, pool), getattr(models.profile.tuning, pool.lower()).negatives
    start = time.perf_counter()
    wanted = {name: _instances(pool, name, instances, negatives) for name in concepts}
    tuned = {each.instance: each for each in tune(tuner, [each for row in wanted.values() for each in row])}
    seconds, reasons = time.perf_counter() - start, []
    for name, row in wanted.items():
        verdicts = validate(
            tuner,
            [tuned[each.id] for each in row],
            _examples(pool, name, HELD_OUT, "held out"),
            others=_others(pool, name, OTHERS, "held out"),
            names=related(name, RIVALS, "held out"),
        )
        reasons += [f"{name}: {verdict.reason}" for verdict in verdicts if not verdict.kept]
        source.add(pool, name, [verdict.tuned for verdict in verdicts if verdict.kept])
    score = {"CLIP": named_crops, "LOC": found_things, "SEG": _outlined, "REPLACE": _painted}[pool]
    known = sorted({other for name in concepts for other in related(name, 4, "test")})
    return {
        "concepts": list(concepts),
        "instances": instances,
        "steps": round(float(np.mean([each.steps for each in tuned.values()])), 1),
        "seconds": round(seconds, 1),
        "prompts_kept": len(tuned) - len(reasons),
        "prompts_discarded": len(reasons),
        "novel_before": score(plain, concepts, concepts, tests),
        "novel_after": score(models, concepts, concepts, tests),
        "known_before": score(plain, known, concepts, max(1, tests // 4)),
        "known_after": score(models, known, concepts, max(1, tests // 4)),
        "discarded": reasons,
    }


def known_names() -> list[str]:
    """Return the names of the concepts that models were taught."""
    return [concept.name for concept in vocabulary().share("known")]


def novel_names(count: int) -> list[str]:
    """Return so many names of concepts that models were not taught, evenly chosen."""
    novel = [concept.name for concept in vocabulary().share("novel")]
    return novel[:: max(1, len(novel) // count)][:count]


def related(name: str, count: int, purpose: str) -> list[str]:
    """Known names, half of them of the same group as far as there are so many."""
    dice, words = Dice("related", name, purpose), vocabulary()
    known = [each for each in known_names() if each != name]
    same = [each for each in known if words.concept(each).group == words.concept(name).group]
    chosen: list[str] = []
    while len(chosen) < count:
        other = dice.choice(same if same and len(chosen) < count // 2 else known)
        same = [each for each in same if each != other]
        chosen += [other] if other not in chosen else []
    return chosen


def _instances(pool: str, name: str, count: int, negatives: int) -> list[Instance]:
    dice, others = Dice("wrong", name), tuple(_others(pool, name, negatives, "train"))
    names = tuple(related(name, RIVALS, "train"))
    examples = _examples(pool, name, count, "train")
    if pool == "CLIP":
        wrong = [TuningExample(_others(pool, name, 1, f"wrong {n}")[0].picture, name) for n in range(count)]
        examples = [wrong[n] if dice.chance(WRONG) else each for n, each in enumerate(examples)]
    return [Instance(example, others, names) for example in examples]


def _examples(pool: str, name: str, count: int, purpose: str) -> list[TuningExample]:
    found = [each.scene for each in scenes(name, count, SEEDS[purpose])]
    return [_MADE[pool](scene, name) for scene in found]


def _others(pool: str, name: str, count: int, purpose: str) -> list[TuningExample]:
    """Scenes without the concept (LOC), or related things: cut out (CLIP), outlined (SEG) or placed (REPLACE)."""
    if pool == "LOC":
        rest = [each for each in vocabulary().concepts if each.name != name]
        drawn = (sample_scene(f"without/{name}/{purpose}/{n}", recipe(rest, counts=(3, 6))) for n in range(count))
        return [_asked(scene, name) for scene in drawn]
    names = related(name, count, purpose)
    return [
        _MADE[pool](sample_scene(f"other/{name}/{purpose}/{each}", recipe([each], counts=(1, 2))), each)
        for each in names
    ]


def _asked(scene: Scene, name: str) -> TuningExample:
    return TuningExample(draw(scene), name, tuple(truth.box for truth in truths(scene) if truth.concept == name))


def crop(scene: Scene, name: str) -> TuningExample:
    """Cut one thing of a concept out of a scene."""
    placed = _placed(scene, name)
    return TuningExample(placed.picture.crop(placed.boxes[0]), name)


def outlined(scene: Scene, name: str) -> TuningExample:
    """Return a scene with the boxes and outlines of what it has of a concept."""
    shown = (truth.mask for truth in truths(scene) if truth.concept == name)
    return replace(_asked(scene, name), masks=tuple(PIL.Image.fromarray(mask.astype(np.uint8) * 255) for mask in shown))


def _placed(scene: Scene, name: str) -> TuningExample:
    """A scene with the place of one thing of a concept."""
    every = _asked(scene, name)
    return replace(every, boxes=every.boxes[:1])


def _canvas(name: str, index: int) -> TuningExample:
    """A scene in which a known thing shall become this one."""
    (other,) = related(name, 1, f"canvas {index}")
    known = [each for each in known_names() if each != name]
    return _placed(sample_scene(f"canvas/{name}/{index}", recipe(known, required=(other,), counts=(2, 4))), other)


_MADE: dict[str, Callable[[Scene, str], TuningExample]] = {
    "CLIP": crop,
    "LOC": _asked,
    "SEG": outlined,
    "REPLACE": _placed,
}


def named_crops(models: Models, asked: Sequence[str], learned: Sequence[str], tests: int) -> dict[str, float]:
    """Share of crops whose name wins among 16 related ones, and among all known and learned ones."""
    every = [*known_names(), *learned]
    few: list[bool] = []
    all_: list[bool] = []
    for name in asked:
        crops = [each.picture for each in _examples("CLIP", name, tests, "test")]
        for names, right in (([name, *related(name, RIVALS, "test")], few), (every, all_)):
            best = models.similarity(crops, names, names=names).argmax(axis=1)
            right += [names[index] == name for index in best]
    return {"of_16": round(float(np.mean(few)), 3), "of_all": round(float(np.mean(all_)), 3), "n": len(few)}


def found_things(models: Models, asked: Sequence[str], learned: Sequence[str], tests: int) -> dict[str, float]:
    """Recall and precision at IoU 0.5 where the concept is, and boxes a scene where it is not."""
    matched = found = true = false = 0
    for name in asked:
        for example in _examples("LOC", name, tests, "test"):
            boxes = models.detect([example.picture], [[name]])[0]
            matches = match_boxes(
                [LabelledBox(each.box, name) for each in boxes], [LabelledBox(box, name) for box in example.boxes]
            )
            matched, found, true = matched + matches.matched, found + matches.found, true + matches.true
        without = [each.picture for each in _others("LOC", name, tests, "test")]
        wanted = [name] if name in learned else [name, *learned]  # what was learned must not be seen in known things
        false += sum(each.name == name for boxes in models.detect(without, [wanted] * tests) for each in boxes)
    return {
        "recall": round(matched / max(true, 1), 3),
        "precision": round(matched / max(found, 1), 3),
        "false_a_scene": round(false / (len(asked) * tests), 3),
        "n": true,
    }


def _outlined(models: Models, asked: Sequence[str], learned: Sequence[str], tests: int) -> dict[str, float]:
    """Things that a segment covers, those that one covers under their own name, and wrongly named segments a scene."""
    covered, named, false, shown = [], [], 0, 0
    for name in asked:
        examples = [*_examples("SEG", name, tests, "test"), *_others("SEG", name, tests, "test")]
        for example, segments in zip(examples, models.segment([each.picture for each in examples]), strict=True):
            inside = [(each.name, each.inside()) for each in segments]
            true = [np.asarray(mask) > 0 for mask in example.masks]
            own = best_overlaps([mask for label, mask in inside if label == example.concept], true)
            covered += [each >= FOUND for each in best_overlaps([mask for _, mask in inside], true)]
            named += [each >= FOUND for each in own] if example.concept in learned else []
            false += sum(label in learned and label != example.concept for label, _ in inside)
            shown += 1
    return {
        "covered": round(float(np.mean(covered)), 3),
        "named": round(float(np.mean(named or [False])), 3),
        "false_a_scene": round(false / shown, 3),
        "n": len(covered),
    }


def _painted(models: Models, asked: Sequence[str], _learned: Sequence[str], tests: int) -> dict[str, float]:
    """Share of paintings that look most like pictures of their concept, among 16 related ones, and of real crops."""

    def seen(pictures: Sequence[PIL.Image.Image]) -> npt.NDArray[np.float32]:
        return np.stack([each.embedding for each in models.encoder().pictures(list(pictures))])

    def typical(name: str) -> npt.NDArray[np.float32]:
        shown = [each.picture for each in _examples("CLIP", name, 6, "train")]
        mean: npt.NDArray[np.float32] = seen(shown).mean(axis=0)
        return mean / np.linalg.norm(mean)

    frame = models.profile.entry(ReplaceModel).frame or 0
    painted, real = [], []
    for name in asked:
        gallery = np.stack([typical(each) for each in (name, *related(name, RIVALS, "test"))])
        canvases = [_canvas(name, index) for index in range(tests)]
        boxes = [each.boxes[0] for each in canvases]
        masks = [
            framed([Region(box, 1.0)], each.picture.size, frame=frame)
            for each, box in zip(canvases, boxes, strict=True)
        ]
        made = models.inpaint([each.picture for each in canvases], masks, [article(name)] * tests)
        crops = [picture.crop(box) for picture, box in zip(made, boxes, strict=True)]
        painted += [row.argmax() == 0 for row in seen(crops) @ gallery.T]
        shown = [each.picture for each in _examples("CLIP", name, tests, "test")]
        real += [row.argmax() == 0 for row in seen(shown) @ gallery.T]
    return {
        "painted": round(float(np.mean(painted)), 3),
        "real": round(float(np.mean(real)), 3),
        "n": len(painted),
    }


def measure_questions(concepts: Sequence[str], *, profile: str, instances: int, tests: int) -> dict[str, Any]:
    """Ask about novel concepts, learn what was answered wrongly, and ask other questions of the same kinds."""
    source = KeptPrompts()
    models, plain = Models(load_profile(profile), source, window=0), Models(load_profile(profile), window=0)
    tuner, start = tuner_of(models, "VQA"), time.perf_counter()
    known = known_names()
    right, _ = sorted_out(tuner, questions(known, 5 * instances, "train"))
    nothing, wrong = sorted_out(tuner, [each for name in concepts for each in questions([name], instances, "train")])
    negatives = models.profile.tuning.vqa.negatives
    taught = [Instance(each, _part(right, index, negatives)) for index, each in enumerate(wrong)]
    reasons, kept = [], []
    for instance, tuned in zip(taught, tune(tuner, taught), strict=True):
        (verdict,) = validate(tuner, [tuned], [instance.example], others=right)
        kept += [tuned] if verdict.kept else []
        reasons += [] if verdict.kept else [f"{instance.example.question} {verdict.reason}"]
    seconds = time.perf_counter() - start
    source.add("VQA", "", [*kept, *_remembered(tuner, [*right, *nothing])])
    asked = {"novel": [each for name in concepts for each in questions([name], tests, "test")]}
    asked["known"] = questions(known, 10 * tests, "test")
    return {
        "concepts": list(concepts),
        "instances": len(taught),
        "seconds": round(seconds, 1),
        "prompts_kept": len(kept),
        "prompts_discarded": len(reasons),
        **{f"{share}_before": _answered(plain, examples) for share, examples in asked.items()},
        **{f"{share}_after": _answered(models, examples) for share, examples in asked.items()},
        "discarded": reasons,
    }


def questions(names: Sequence[str], count: int, purpose: str) -> list[TuningExample]:
    """Questions about things of these names: what a cut-out shows, and what a whole picture has, and how many."""
    known = known_names()
    made: list[TuningExample] = []
    for index in range(10 * count):
        dice = Dice("questions", *names[:3], purpose, index)
        name, there = dice.choice(names), dice.chance(0.6) or index % 2 == 0
        scene = sample_scene(
            f"questions/{name}/{purpose}/{index}",
            recipe([each for each in known if each != name], required=(name,) * there, counts=(2, 5), repeat=0.0),
        )
        if index % 2:
            made.append(_asked_of_all(scene, name, dice))
        elif scene.named(name):
            made += _asked_of_part(scene, name, dice)
    return made[:count]


def _asked_of_part(scene: Scene, name: str, dice: Dice) -> list[TuningExample]:
    words = vocabulary()
    crop = draw(scene).crop(next(truth.box for truth in truths(scene) if truth.concept == name))
    text = dice.choice(("what is this?", f"what {words.groups[words.concept(name).group].singular} is this?"))
    return [TuningExample(crop, question=text, answer=name)]


def _asked_of_all(scene: Scene, name: str, dice: Dice) -> TuningExample:
    picture, number = draw(scene), len(scene.named(name))
    other = ask(scene, dice, kinds=("colour", "size"), distractors=[name])
    if other is not None and dice.chance(0.4) and name in other.text:
        return TuningExample(picture, question=other.text, answer=other.answer)
    if dice.chance(0.5):
        return TuningExample(picture, question=f"how many {plural(name)} are there?", answer=str(number))
    return TuningExample(picture, question=f"is there any {name}?", answer="yes" if number else "no")


def sorted_out(
    tuner: Tuner[Any, Any], examples: Sequence[TuningExample]
) -> tuple[list[TuningExample], list[TuningExample]]:
    """What the tool answers rightly by itself, and what it does not."""
    right = tuner.right(tuner.look(examples, ()), None, "")
    return (
        [each for each, good in zip(examples, right, strict=True) if good],
        [each for each, good in zip(examples, right, strict=True) if not good],
    )


def _part(examples: Sequence[TuningExample], index: int, count: int) -> tuple[TuningExample, ...]:
    return tuple(examples[(index * count + place) % len(examples)] for place in range(min(count, len(examples))))


def _remembered(tuner: Tuner[Any, Any], examples: Sequence[TuningExample]) -> list[TunedPrompt]:
    """The zero prompts of right answers."""
    zeros = np.zeros(tuner.shape, dtype=np.float32)
    return [
        TunedPrompt(each.digest(), "VQA", "", zeros, feature, steps=0, loss=0.0, accepted=True)
        for each, feature in zip(examples, tuner.features(examples), strict=True)
    ]


def _answered(models: Models, examples: Sequence[TuningExample]) -> dict[str, float]:
    """The share of right answers, to all questions and to those of each kind."""
    answers = models.answer([each.picture for each in examples], [each.question for each in examples])
    right: dict[str, list[bool]] = {}
    for answer, example in zip(answers, examples, strict=True):
        words = example.question.split()
        kind = "name" if words[-1] == "this?" else "count" if words[1] == "many" else "exists"
        kind = "colour or size" if words[1] not in {"many", "there"} and kind != "name" else kind
        right.setdefault(kind, []).append(normalised(answer) == example.answer)
    every = [each for row in right.values() for each in row]
    return {kind: round(float(np.mean(row)), 3) for kind, row in {"all": every, **right}.items()} | {"n": len(every)}


if __name__ == "__main__":
    main()
