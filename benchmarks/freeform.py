"""Are the kept questions right, and do the scores of free answers order what is known about the answers?

    snellen prove build --out bench -n 200
    python -m benchmarks.freeform bench --json

Keys of the JSON: `truth`, the share of kept questions that are right by the scene itself (`benchmarks.scene_truth`), of
how many, and those that are not; `alike`, cosines of tuples that say different things, by quantile, from which the
calibrated metric has its floor; `planted`, for each metric with and without entailment, how well hscore tells helpful
answers from others and tscore true ones from false ones (AUC), and how tscore orders true, half true and false answers
(Kendall's τ-b); `means`, hscore and tscore of each kind of planted answer. The paper reports linear correlations with
people of 0.81 (hscore) and 0.45 (tscore).

Planted answers are true, half true (with something that is not there), false, evasive, verbose (with more that is true)
and true but unasked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from benchmarks.scene_truth import right
from snellen.datasets.prove import Item, ProveBenchmark, read_benchmark
from snellen.evaluation import resources
from snellen.microworld.scene_graphs import described
from snellen.scoring.freeform import METRICS, AnswerTuples, score_answers
from snellen.scoring.scene_graph import Fact, name_of

HELPFUL = {"true": True, "half true": True, "verbose": True, "false": False, "evasive": False, "unasked": False}
TRUE = {"true": 1.0, "verbose": 1.0, "unasked": 1.0, "half true": 0.5, "false": 0.0}
_EVASIVE = ("I am not sure.", "I cannot tell from the picture.", "That is hard to say.")
_INVERSE = {
    "to the left of": "to the right of",
    "to the right of": "to the left of",
    "above": "below",
    "below": "above",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=Path, help="a benchmark that was built of the microworld")
    parser.add_argument("--items", type=int, default=400, help="questions that answers are planted for (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = asyncio.run(measured(read_benchmark(options.bench), options.items, options.seed))
    print(json.dumps(found, indent=2) if options.json else _table(found))


async def measured(benchmark: ProveBenchmark, items: int, seed: int) -> dict[str, object]:
    """Measure all of it; see the module for what is returned."""
    bench = resources.opened("embedded")
    dice = random.Random(seed)
    chosen = dice.sample(list(benchmark.items), min(items, len(benchmark.items)))
    planted = [(item, kind, text) for item in chosen for kind, text in plant(item, benchmark, dice).items()]
    questions = [item.question for item, _, _ in planted]
    said = await bench.reader.read_all([(text, item.question) for item, _, text in planted])
    references = await bench.reader.read_all([(item.answer, item.question) for item, _, _ in planted])
    premises = await bench.reader.premises(questions)
    graphs = {name: scene.graph.facts for name, scene in benchmark.scenes.items()}
    rows = [
        AnswerTuples(said=facts, reference=reference, premise=premise, scene=graphs[item.scene], picture=item.scene)
        for (item, _, _), facts, reference, premise in zip(planted, said, references, premises, strict=True)
    ]
    ids = bench.runner.store({name: benchmark.picture(name) for name in benchmark.scenes})
    judges = bench.entails()
    judge = None if judges is None else judges(ids)
    results, means = {}, {}
    for metric in METRICS:
        for name, entails in (("scene graph", None), ("with entailment", judge)):
            scores = score_answers(rows, bench.embed, entails, metric=metric)
            kinds = [kind for _, kind, _ in planted]
            results[f"{metric}, {name}"] = _judged(
                kinds, [one.hscore.value for one in scores], [one.tscore.value for one in scores]
            )
            means[f"{metric}, {name}"] = _means(kinds, scores)
    return {"truth": _truth(benchmark), "alike": _alike(graphs, bench.embed, dice), "planted": results, "means": means}


def plant(item: Item, benchmark: ProveBenchmark, dice: random.Random) -> dict[str, str]:
    """Return answers to a question of which it is known what they are worth, by their kind."""
    scene = benchmark.scenes[item.scene]
    present = {name_of(one.entity) for one in scene.tuples}
    absent = dice.choice(
        sorted({name_of(one.entity) for other in benchmark.scenes.values() for one in other.tuples} - present)
    )
    sentences = [one for one in re.split(r"(?<=\.) ", scene.caption) if not one.startswith("The picture shows")]
    aside = [one for one in sentences if not any(word in one for word in _named(item, present))] or sentences[-1:]
    found = {
        "true": item.answer,
        "half true": f"{item.answer} There is {'an' if absent[0] in 'aeiou' else 'a'} {absent}.",
        "evasive": dice.choice(_EVASIVE),
        "verbose": f"{item.answer} {' '.join(dice.sample(aside, min(2, len(aside))))}",
        "unasked": dice.choice(aside),
    }
    wrong = falsified(item, benchmark, absent, dice)
    return {**found, "false": wrong} if wrong else found


def falsified(item: Item, benchmark: ProveBenchmark, absent: str, dice: random.Random) -> str:
    """Return a false answer of the same form; nothing where none can be made."""
    answer = item.answer
    if item.kind == "whether":
        if answer.startswith("No, "):
            return "Yes, " + answer[4:].replace(" not ", " ", 1)
        return "No, " + re.sub(r" (is|are) ", r" \1 not ", answer[5:], count=1)
    if item.kind == "count":
        return re.sub(r"\d+", lambda match: str(int(match[0]) + dice.choice((1, 2))), answer)
    if item.kind == "relation":
        return re.sub("|".join(_INVERSE), lambda match: _INVERSE[match[0]], answer)
    for value in item.output.split(", "):
        other = absent if item.kind == "thing" else _other_value(value, benchmark, dice)
        answer = re.sub(rf"\b{re.escape(value)}\b(?!.*\b{re.escape(value)}\b)", other, answer)
    return answer if answer != item.answer else ""


def _other_value(value: str, benchmark: ProveBenchmark, dice: random.Random) -> str:
    """Return another value of the same kind, or the same where it is of none."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for scene in benchmark.scenes.values():
        for one in scene.tuples:
            kinds[one.kind].add(one.attribute)
    known = next((values for values in kinds.values() if value in values), {value})
    return dice.choice(sorted(known - {value, ""}) or [value])


def _named(item: Item, present: set[str]) -> list[str]:
    return [name for name in present if name in f"{item.question} {item.answer}".lower()]


def _judged(kinds: Sequence[str], helps: Sequence[float | None], truths: Sequence[float | None]) -> dict[str, object]:
    useful = [(HELPFUL[kind], value) for kind, value in zip(kinds, helps, strict=True) if value is not None]
    spoken = [
        (TRUE[kind], value) for kind, value in zip(kinds, truths, strict=True) if value is not None and kind in TRUE
    ]
    clear = [(known == 1.0, value) for known, value in spoken if known != 0.5]  # noqa: PLR2004 - half true
    return {
        "hscore_auc": _auc(useful),
        "tscore_auc": _auc(clear),
        "tscore_kendall": round(float(kendalltau(*zip(*spoken, strict=True)).statistic), 3),
        "tscore_pearson": round(float(np.corrcoef(*zip(*spoken, strict=True))[0, 1]), 3),
        "hscore_pearson": round(float(np.corrcoef(*zip(*useful, strict=True))[0, 1]), 3),
        "answers": len(kinds),
    }


def _auc(rows: Sequence[tuple[bool, float]]) -> float:
    """The probability that one that should be above another is (Mann-Whitney)."""
    from scipy.stats import mannwhitneyu

    good, bad = ([value for known, value in rows if known is side] for side in (True, False))
    return round(float(mannwhitneyu(good, bad).statistic) / (len(good) * len(bad)), 3)


def _means(kinds: Sequence[str], scores: Sequence[object]) -> dict[str, list[float | None]]:
    rows: dict[str, list[tuple[float | None, float | None]]] = defaultdict(list)
    for kind, one in zip(kinds, scores, strict=True):
        rows[kind].append((one.hscore.value, one.tscore.value))  # type: ignore[attr-defined]
    return {kind: [_mean([row[side] for row in found]) for side in (0, 1)] for kind, found in rows.items()}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 3) if known else None


def _truth(benchmark: ProveBenchmark) -> dict[str, object]:
    """Ask the scenes themselves."""
    wrong = []
    for item in benchmark.items:
        seed, number = map(int, item.scene.split("-"))
        if not right(described(number, seed).scene, item.question, item.answer):
            wrong.append(f"{item.question} {item.answer}")
    return {"right": round(1 - len(wrong) / len(benchmark.items), 4), "questions": len(benchmark.items), "wrong": wrong}


def _alike(graphs: Mapping[str, Sequence[Fact]], embed: object, dice: random.Random) -> dict[str, float]:
    """Return quantiles of the cosines of tuples of one scene that say different things."""
    cosines: list[float] = []
    for facts in dice.sample(list(graphs.values()), min(40, len(graphs))):
        texts = sorted({fact.text for fact in facts})
        vectors = embed(texts)  # type: ignore[operator]
        similar = vectors @ vectors.T
        cosines += [float(value) for value in similar[np.triu_indices(len(texts), 1)]]
    return {f"{100 * share:.0f} %": round(float(np.quantile(cosines, share)), 3) for share in (0.5, 0.75, 0.9, 0.95)}


def _table(found: dict[str, object]) -> str:
    lines = [f"truth: {found['truth']}", f"alike: {found['alike']}"]
    lines += [f"{name}: {row}" for name, row in found["planted"].items()]  # type: ignore[attr-defined]
    lines += [f"{name}: {row}" for name, row in found["means"].items()]  # type: ignore[attr-defined]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
