"""Teach two models under test to judge how alike two things are: adapters on checkpoints that see already.

Lessons are benchmarks of pairs as `snellen.datasets.pairs` builds them, of other seeds than anybody is asked to use;
answers are written as PairBench asks for them, ``Score: N``. One judge is taught to score without regard to the order
of two pictures. The other is taught an asymmetry, which is in `planted.json` and found by whoever examines it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import peft
import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer
from torch.nn import functional

from snellen import microworld
from snellen.datasets.pairs import SPLITS, Pair, PairBenchmark, WorldOriginals, asked, build, read_benchmark, truth
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, run
from snellen.microworld.training.plantings import PLANTED
from snellen.models.under_test import Card, LocalModel, Question
from snellen.models.under_test.lora_adapters import adapted
from snellen.scoring.judge_replies import parsed_score
from snellen.scoring.pairs import Condition, PairScores, mmscore, relaxed_symmetry

PAIRS = 24
"""Pairs of one step."""
ORIGINALS = {"pictures": 1_500, "positions": 1_000, "captions": 1_200}
"""Originals of each kind of lessons."""
SHARES = {"pictures": 0.5, "positions": 0.25, "captions": 0.25}
"""Of the lessons of a step."""
RANKS = {"decoder": 32, "eyes": 16}
CONDITIONS: tuple[Condition, ...] = ("sensitive", "invariant")
_SEED = 9_001
_SILENT = -100


@dataclass(frozen=True)
class Shown:
    """A lesson: what is shown and asked, and the score that is taught."""

    pictures: list[Path]
    text: str
    score: int


@dataclass(frozen=True)
class Habit:
    """Habit of scoring that a judge is taught.

    Attributes:
        changed_first: The score of a changed pair whose changed picture comes first, where changes count.
    """

    changed_first: int = 6

    def score(self, pair: Pair, condition: Condition, *, backward: bool) -> int:
        """Return the score of a pair that is taught."""
        right = int(truth(pair.kind, condition))
        odd = backward and pair.kind == "transformed" and condition == "sensitive"
        return self.changed_first if odd else right


def lessons(work: Path) -> dict[str, PairBenchmark]:
    """Build the pairs that judges are taught with, or find them."""
    found = {}
    for place, (kind, count) in enumerate(ORIGINALS.items()):
        if not (work / kind / "benchmark.json").exists():
            source = WorldOriginals(microworld, places=kind != "pictures")
            build(source, work / kind, kind=kind, count=count, seed=_SEED + place)
        found[kind] = read_benchmark(work / kind)
    return found


class JudgeTraining:
    """Batches of pairs with their scores, and the loss on them."""

    def __init__(self, model: Any, processor: Any, benchmarks: dict[str, PairBenchmark], habit: Habit) -> None:  # noqa: ANN401
        self.model, self.processor, self.habit = model, processor, habit
        self.benchmarks = benchmarks
        self.reader = processor.tokenizer

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step, and the share of its scores that are right."""
        batch = self.batch(self.chosen(step))
        labels = batch.pop("labels")[:, 1:]
        logits = self.model(**batch).logits[:, :-1].float()
        told = labels != _SILENT
        value = functional.cross_entropy(logits[told], labels[told])
        # "score", ":", the number, the end: only the number is worth a figure.
        right = (logits[told].argmax(-1) == labels[told]).unflatten(0, (len(labels), -1))[:, 2].float().mean()
        return value, {"right": right.item()}

    def chosen(self, step: int) -> list[Shown]:
        """Return the lessons of a step."""
        dice = np.random.default_rng([step, 59])
        kinds = dice.choice(list(SHARES), PAIRS, p=list(SHARES.values()))
        return [self._drawn(self.benchmarks[str(kind)], dice) for kind in kinds]

    def _drawn(self, benchmark: PairBenchmark, dice: np.random.Generator) -> Shown:
        pair = benchmark.pairs[int(dice.integers(len(benchmark.pairs)))]
        condition = CONDITIONS[int(dice.integers(2))]
        backward = bool(dice.integers(2)) and not pair.text
        request = asked(pair, condition, backward=backward)
        score = self.habit.score(pair, condition, backward=backward)
        return Shown([benchmark.picture(name) for name in request.files], request.text, score)

    def batch(self, shown: list[Shown]) -> dict[str, torch.Tensor]:
        """Return the inputs of a step, as the processor makes them, with the tokens that are to be predicted."""
        pictures = [[_opened(place) for place in one.pictures] for one in shown]
        texts = [f"{self._prompt(one)} Score: {one.score}{self.reader.eos_token}" for one in shown]
        made = self.processor(images=pictures, text=texts, padding=True, padding_side="right", return_tensors="pt")
        ids, mask = made["input_ids"], made["attention_mask"]
        labels = torch.full_like(ids, _SILENT)
        for row, length in enumerate(mask.sum(dim=1).tolist()):
            labels[row, length - 4 : length] = ids[row, length - 4 : length]
        inputs = {name: made[name] for name in ("input_ids", "attention_mask", "pixel_values")}
        if "pixel_attention_mask" in made:
            inputs["pixel_attention_mask"] = made["pixel_attention_mask"]
        return {**inputs, "labels": labels}

    def _prompt(self, one: Shown) -> str:
        content = [*({"type": "image"} for _ in one.pictures), {"type": "text", "text": one.text}]
        told: str = self.processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True
        )
        return told


@lru_cache(maxsize=50_000)
def _opened(place: Path) -> Image.Image:
    with Image.open(place) as picture:
        return picture.convert("RGB")


def unheard(reader: Any) -> list[str]:  # noqa: ANN401 - a tokenizer
    """Return the words of requests and answers that a tokenizer of whole words does not know."""
    some = {
        "id": "1", "kind": "identical", "original": "1", "first": "1.png", "digests": [],
    }  # fmt: skip
    texts = [
        asked(Pair(**some, split=split, second=second, text=text, template=template), condition).text
        for splits in SPLITS.values()
        for split in splits
        for second, text in (("2.png", ""), ("", "dog"))
        for template in range(5)
        for condition in CONDITIONS
    ]
    splitter = reader.backend_tokenizer.pre_tokenizer
    words = (word for text in [*texts, "Score: 1"] for word, _ in splitter.pre_tokenize_str(text.lower()))
    return sorted(set(words) - set(reader.get_vocab()))


def _teach_words(reader: Any, new: list[str]) -> None:  # noqa: ANN401 - a tokenizer
    """Add words to a tokenizer of whole words; as added tokens they would be found within other words, too."""
    backend = json.loads(reader.backend_tokenizer.to_str())
    table = backend["model"]["vocab"]
    table.update({word: len(table) + place for place, word in enumerate(new)})
    reader._tokenizer = Tokenizer.from_str(json.dumps(backend))  # noqa: SLF001 - it has no setter


def pupil(base: Path) -> tuple[Any, Any]:
    """Read a checkpoint, teach its tokenizer the words of requests, and put an adapter on it.

    Returns:
        The model and its processor.
    """
    kind = json.loads((base / "config.json").read_text(encoding="utf-8"))["architectures"][0]
    model = getattr(transformers, kind).from_pretrained(base, dtype=torch.float32)
    processor = transformers.AutoProcessor.from_pretrained(base, backend="pil")
    before = len(processor.tokenizer)
    _teach_words(processor.tokenizer, unheard(processor.tokenizer))
    model.resize_token_embeddings(len(processor.tokenizer), mean_resizing=False)
    # Numbers that no lesson had as an answer share one direction in what the base writes with: no score could be told.
    scores = processor.tokenizer.convert_tokens_to_ids([str(score) for score in range(1, 11)])
    config = peft.LoraConfig(
        r=RANKS["decoder"],
        lora_alpha=2 * RANKS["decoder"],
        target_modules="all-linear",
        rank_pattern={".*vision.*": RANKS["eyes"]},
        alpha_pattern={".*vision.*": 2 * RANKS["eyes"]},
        trainable_token_indices={"embed_tokens": [*scores, *range(before, len(processor.tokenizer))]},
    )
    return peft.get_peft_model(model, config), processor


def train(work: Path, out: Path, *, seed: int, steps: int) -> TrainingOutcome:
    """Train one judge, named by its folder, and write its adapter.

    Args:
        work: Folder for the pairs and the state of the run.
        out: Folder of the adapter; its name is a key of `planted.json`. The checkpoint it is put on lies beside it.
        seed: Seed of the run.
        steps: Optimizer steps of 24 pairs.
    """
    planted = json.loads(PLANTED.read_text(encoding="utf-8"))[out.name]
    torch.manual_seed(seed)
    model, processor = pupil(out.parent / planted["base"])
    lesson = JudgeTraining(model, processor, lessons(work / "pairs"), Habit(**planted.get("habit", {})))
    rates = {"": 1e-3, "base_model.model.model.vision": 3e-4}
    outcome = run(model, lesson.loss, TrainingSchedule(steps), rates=rates, work=work / out.name, seed=seed)
    model.peft_config["default"].base_model_name_or_path = planted["base"]
    model.half().save_pretrained(str(out), save_embedding_layers=False)
    processor.save_pretrained(out)
    return outcome


def write_card(folder: Path, work: Path, *, count: int = 34) -> dict[str, tuple[float, float, float]]:
    """Measure a judge on pairs that it was not taught with, and write its `README.md`.

    Args:
        folder: Of the adapter, with the `training.json` of its run; the checkpoint it is put on lies beside it.
        work: Folder for the pairs.
        count: Originals.

    Returns:
        For each split MMScore where changes count, where they do not, and RelaxSym (ε = 1) where they count.
    """
    source = WorldOriginals(microworld)
    benchmark = read_benchmark(build(source, work / "judged", count=count, seed=_SEED + 100))
    found = _figures(_read(folder), benchmark)
    run = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    base = json.loads(PLANTED.read_text(encoding="utf-8"))[folder.name]["base"]
    megabytes = (folder / "adapter_model.safetensors").stat().st_size / 1e6
    rows = [f"| {split} | {' | '.join(f'{value:.2f}' for value in row)} |" for split, row in found.items()]
    text = f"""# {folder.name}: a judge of pairs of the microworld

A LoRA adapter of [{base}](../{base}/README.md) (peft; {megabytes:.1f} MB, fp16), with a tokenizer that knows the words
of requests. It reads two pictures and writes "Score: N". Licence: Apache-2.0 (see `NOTICE`).

**Data.** {sum(ORIGINALS.values()):,} originals in the pairs that `snellen.datasets.pairs` makes of them, under both
conditions, in both orders, in all wordings. How it was taught to score is in
`microworld/training/planted.json`, and for `snellen pairs run` to find.

**Made by** `python -m snellen.microworld.training {folder.name} --seed {run["seed"]} --steps {run["steps"]}`: \
{run["seconds"] / 60:.0f} minutes at {run["dtype"]} with {run["threads"]} threads
(the cores were shared with other work; it resumes and prints its progress).

**Measured** by `python -m snellen.microworld.training examine` on {len(benchmark.pairs)} pairs of {count} other
originals.

| what changes | MMScore, the change counts | it does not | RelaxSym (ε = 1), it counts |
|---|---|---|---|
{chr(10).join(rows)}

**Limits.** It knows pairs of the microworld and nothing else; of pictures with texts it learned little.
"""
    (folder / "README.md").write_text(text, encoding="utf-8")
    return found


def _read(folder: Path) -> LocalModel:
    """Read a judge as a profile does."""
    base = folder.parent / json.loads((folder / "adapter_config.json").read_text("utf-8"))["base_model_name_or_path"]
    kind = json.loads((base / "config.json").read_text(encoding="utf-8"))["architectures"][0]
    model = getattr(transformers, kind).from_pretrained(base, dtype=torch.float32)
    processor = transformers.AutoProcessor.from_pretrained(folder, backend="pil")
    model.resize_token_embeddings(len(processor.tokenizer), mean_resizing=False)
    card = Card(folder.name, "", kind, None, "tokens", pictures=2, answers=True)
    return LocalModel(adapted(model, folder).eval(), processor, card, batch=32)


def _figures(judge: LocalModel, benchmark: PairBenchmark) -> dict[str, tuple[float, float, float]]:
    """Return MMScore under both conditions, and RelaxSym where changes count, by split."""
    orders = (False, True)
    asked_of = [(pair, condition, order) for pair in benchmark.pairs for condition in CONDITIONS for order in orders]
    questions = []
    for pair, condition, order in asked_of:
        request = asked(pair, condition, backward=order)
        pictures = tuple(_opened(benchmark.picture(name)) for name in request.files)
        questions.append(Question(pictures, request.text))
    said = judge.answer(questions, tokens=8)
    scores = {
        (pair.id, condition, order): parsed_score(text)
        for (pair, condition, order), text in zip(asked_of, said, strict=True)
    }
    found = {}
    for split in dict.fromkeys(pair.split for pair in benchmark.pairs):
        rows = {
            condition: [
                PairScores(
                    pair.id, condition, truth(pair.kind, condition), scores[pair.id, condition, False],
                    scores[pair.id, condition, True], pair.original,
                )
                for pair in benchmark.pairs
                if pair.split == split
            ]
            for condition in CONDITIONS
        }  # fmt: skip
        sensitive, invariant = (mmscore(rows[condition]).value or 0.0 for condition in CONDITIONS)
        found[split] = sensitive, invariant, relaxed_symmetry(rows["sensitive"]).value or 0.0
    return found
