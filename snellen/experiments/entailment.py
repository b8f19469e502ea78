"""Entailment: the probability that a picture shows what a tuple says (PROVE, p(I ⊨ t) of equation 2).

The paper asks a model for visual entailment; here any model that ranks answers is asked about the tuple, "Is the dog
red?", and says how probable "yes" is. Where a kind of attribute has few values (how many, where, how big), it is asked
which of them is right: what a model sees best that way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Final

from snellen.memory.trials import TrialKey
from snellen.models.under_test import Ranking
from snellen.reasoning.language.inflection import plural, with_article
from snellen.scoring.scene_graph import Fact, name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.experiments.trial_runner import TrialRunner
    from snellen.scoring.freeform import Entails

_YES: Final = ("yes", "no")
_SIZES: Final = ("small", "medium", "large")
_PLACES: Final = ("top left", "top right", "bottom left", "bottom right")
_BACKGROUNDS: Final = ("checked", "dotted", "gradient", "grass", "plain", "road", "sand", "striped", "water")
_NUMBERS: Final = tuple(map(str, range(8)))

FactQuestion = tuple[str, tuple[str, ...], int]
"""A question, its choices, and the place of the one that the tuple claims."""


def question_of(fact: Fact) -> FactQuestion:
    """Return the question about a tuple, which is taken as affirmed."""
    name = name_of(fact.entity)
    closed = {
        "count": (f"how many {plural(name)} are there?", _NUMBERS),
        "place": (f"where is the {name}?", _PLACES),
        "size": (f"is the {name} small, medium or large?", _SIZES),
        "pattern": ("what is the background?", _BACKGROUNDS),
    }
    if fact.attribute and fact.kind in closed:
        text, choices = closed[fact.kind]
        if fact.attribute in choices:
            return text, choices, choices.index(fact.attribute)
    if fact.relation:
        return f"is the {name} {fact.relation} the {name_of(fact.target)}?", _YES, 0
    if not fact.attribute:
        return f"is there {with_article(name)}?", _YES, 0
    subject = {"weather": "it", "style": "the picture"}.get(name, f"the {name}")
    return f"is {subject} {fact.attribute}?", _YES, 0


def entailment(
    runner: TrialRunner,
    model: str,
    ids: Mapping[str, str],
    *,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> Entails:
    """Return a judge of how probable it is that pictures show tuples; each is asked about once and for all.

    Args:
        runner: Asks the model.
        model: A model that ranks answers, by its name in the profile.
        ids: Of the pictures, by their names.
        progress: Called with the number of questions that were answered, and of all.
    """

    def probabilities(pairs: Sequence[tuple[Hashable, Fact]]) -> list[float]:
        fingerprint = runner.executor.card(model).fingerprint
        questions = [question_of(fact) for _, fact in pairs]
        keys = [
            TrialKey(fingerprint, (ids[str(picture)],), text, choices)
            for (picture, _), (text, choices, _) in zip(pairs, questions, strict=True)
        ]
        trials = runner.run(model, keys, progress=progress)
        affirmed = [
            _probability(Ranking(trial.scores), claimed)
            for trial, (_, _, claimed) in zip(trials, questions, strict=True)
        ]
        return [1 - value if fact.negated else value for value, (_, fact) in zip(affirmed, pairs, strict=True)]

    return probabilities


def _probability(ranking: Ranking, place: int) -> float:
    """The share of the choices' probability that one has."""
    sums = ranking.sums
    best = max(sums)
    if not math.isfinite(best):
        return 0.0
    weights = [math.exp(one - best) for one in sums]
    return weights[place] / sum(weights)
