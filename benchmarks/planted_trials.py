"""Trials of the planted queries as a file of characters: what `benchmarks.planted_replays` draws again.

    python -m benchmarks.planted_trials --folder HOME --out docs/results/planted/trials.json

The embedded models are asked as an investigation asks them, about `--pictures` of every experiment that a query may
lead to; those that follow a failure are collected where the model comes near failing. Queries are taken in an order
that `--seed` chooses, so that any number of them is a random sample of the planted ones. A collection that was stopped
goes on in `--folder`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.planted import PlantedBench, PlantedQuery, digest, queries
from snellen.errors import SnellenError
from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Design
from snellen.experiments.examination_plan import ExaminedQuestion, planned
from snellen.experiments.further_wordings import further_wordings
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.understanding import understood
from snellen.profiles import Profile, load_profile
from snellen.runtime.resources import examining

TRIALS: Final = Path(__file__).parents[1] / "docs" / "results" / "planted" / "trials.json"
SIGNS: Final = "0123456789abcdefghijkl"
"""A sign for each place of a choice."""
NONE: Final = "-"
"""The sign for no usable answer."""
_NEAR: Final = 0.1
"""How far above its threshold a mean may be and the claim still be refuted in a replay."""


def main() -> None:
    """Collect, and write after every query."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", default="embedded")
    parser.add_argument("--folder", required=True, help="where pictures and trials are kept")
    parser.add_argument("--out", type=Path, default=TRIALS)
    parser.add_argument("--queries", type=int, help="how many of them (default: all)")
    parser.add_argument("--pictures", type=int, default=300, help="of each experiment (%(default)s)")
    parser.add_argument("--seed", type=int, default=7_921, help="of the order and the pictures (%(default)s)")
    options = parser.parse_args()
    Path(options.folder).mkdir(parents=True, exist_ok=True)
    profile = load_profile(options.profile)
    bench = PlantedBench(profile, examining(options.profile, Path(options.folder)), options)
    cards = {name: bench.examination.executor.card(name) for name in profile.tested}
    asked = queries(list(cards), [name for name, card in cards.items() if card.answers])
    random.Random(options.seed).shuffle(asked)
    rows = []
    for place, query in enumerate(asked[: options.queries], 1):
        try:
            part = question_of(query, profile)
        except SnellenError as error:  # "a judge" in a query may be read as what judges of pairs do
            print(f"{place} of {len(asked)}: {query.text} {error}", file=sys.stderr, flush=True)
            continue
        experiments = [_written(one) for one in _collected(bench, part, options)]
        rows.append({"query": query.text, "models": list(query.models), "experiments": experiments})
        options.out.write_text(json.dumps({"seed": options.seed, "each": rows}, indent=1) + "\n", encoding="utf-8")
        print(f"{place} of {len(asked)}: {query.text} {len(experiments)} experiments", file=sys.stderr, flush=True)


def question_of(query: PlantedQuery, profile: Profile) -> ExaminedQuestion:
    """Return the one question of a planted query with its experiments."""
    meaning = understood(query.text, query.models, profile).query
    (part,) = planned(meaning, Subjects.of(profile), query.models).parts
    return part


def name_of(design: Design) -> str:
    """Name an experiment by all that its trials depend on, which its claims and its further wordings are not."""
    aside: Any = {"claims": True, "purpose": True, "difficulty": True, "arms": {"__all__": {"otherwise"}}}
    return digest(design.model_dump_json(exclude=aside))


def _collected(bench: PlantedBench, part: ExaminedQuestion, options: argparse.Namespace) -> Iterator[EvaluatedChoices]:
    """Yield what models say in each experiment that may be needed."""
    models = part.question.models

    def evaluated(design: Design) -> EvaluatedChoices:
        return bench.evaluated(design, 0, -(-options.pictures // len(design.arms)), options.seed, models)

    for design in part.designs:
        first = evaluated(design)
        yield first
        if _may_fail(first) and not design.of_names:
            yield from map(evaluated, further_wordings(design))


def _may_fail(evaluated: EvaluatedChoices) -> bool:
    """Tell whether a model may be asked in other words: one that fails, or any of two that are compared."""
    if any(claim.other for claim in evaluated.design.claims):
        return True
    able = [claim for claim in evaluated.design.claims if claim.kind in {"ability", "plain"}]
    return any(evaluated.observations(claim).mean < claim.threshold + _NEAR for claim in able)


def _written(evaluated: EvaluatedChoices) -> dict[str, Any]:
    """Write the choices of each model in each condition: a text for each arm, with a sign for each round."""
    design = evaluated.design
    texts: dict[str, dict[str, list[str]]] = {}
    for (model, plain), choices in evaluated.choices.items():
        arms = [[""] * (len(choices) // len(design.arms)) for _ in design.arms]
        for sample, choice in choices.items():
            arms[sample.arm][sample.round] = NONE if choice is None else SIGNS[design.choices.index(choice)]
        texts.setdefault(model, {})["plain" if plain else "shown"] = ["".join(signs) for signs in arms]
    return {"name": name_of(design), "purpose": design.purpose, "choices": texts}


if __name__ == "__main__":
    main()
