"""Whether a picture shows what a tuple says: the probability that a model gives to it (PROVE, p(I ⊨ t) of equation 2).

The paper asks a model for visual entailment; here any model that ranks answers is asked about the tuple, "Is the dog
red?", and says how probable "yes" is. Where a kind of attribute has few values (how many, where, how big), it is asked
which of them is right: what a model sees best that way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Final

from snellen.memory.trials import Trial, TrialKey
from snellen.models.under_test import SHARD, Question, Ranking
from snellen.reasoning.language.inflection import plural, with_article
from snellen.reasoning.language.lexicon import PLACES, SETTINGS
from snellen.scoring.scene_graph import Fact, name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.experiments.interviews import Interviews

_YES: Final = ("yes", "no")
_SIZES: Final = ("small", "medium", "large")
_NUMBERS: Final = tuple(map(str, range(8)))

Asked = tuple[str, tuple[str, ...], int]
"""A question, its choices, and the place of the one that the tuple claims."""


def question_of(fact: Fact) -> Asked:
    """Return what is asked about a tuple, which is taken as affirmed."""
    name = name_of(fact.entity)
    closed = {
        "count": (f"how many {plural(name)} are there?", _NUMBERS),
        "place": (f"where is the {name}?", tuple(PLACES)),
        "size": (f"is the {name} small, medium or large?", _SIZES),
        "pattern": ("what is the background?", tuple(sorted(SETTINGS["background"]))),
    }
    if fact.attribute and fact.kind in closed:
        text, choices = closed[fact.kind]
        if fact.attribute in choices:
            return text, choices, choices.index(fact.attribute)
    if fact.relation:
        return f"is the {name} {fact.relation} the {name_of(fact.target)}?", _YES, 0
    if not fact.attribute:
        return f"is there {with_article(name)}?", _YES, 0
    if name == "weather":
        return f"is it {fact.attribute}?", _YES, 0
    if name == "style":
        return f"is the picture {fact.attribute}?", _YES, 0
    return f"is the {name} {fact.attribute}?", _YES, 0


def entailment(
    interviews: Interviews,
    model: str,
    ids: Mapping[str, str],
    *,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> Callable[[Sequence[tuple[Hashable, Fact]]], list[float]]:
    """Return what says how probable it is that pictures show tuples; each is asked about once and for all.

    Args:
        interviews: Where the model is, and trials are kept.
        model: A model that ranks answers, by its name in the profile.
        ids: Of the pictures, by their names.
        progress: Called with the number of questions that were answered, and of all.
    """

    def shown(pairs: Sequence[tuple[Hashable, Fact]]) -> list[float]:
        asked = [question_of(fact) for _, fact in pairs]
        fingerprint = interviews.card(model).fingerprint
        keys = [
            TrialKey(fingerprint, (ids[str(picture)],), text, choices)
            for (picture, _), (text, choices, _) in zip(pairs, asked, strict=True)
        ]
        known = interviews.trials.get(keys)
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        for begun in range(0, len(missing), SHARD):
            shard = missing[begun : begun + SHARD]
            questions = [
                Question((interviews.pictures.get(key.pictures[0]),), key.question, key.choices) for key in shard
            ]
            ranked = interviews.executor.rank(model, questions)
            trials = [
                Trial(key, one.scores, basis=one.basis, said=one.text) for key, one in zip(shard, ranked, strict=True)
            ]
            interviews.trials.add(trials)
            known.update({trial.key: trial for trial in trials})
            progress(begun + len(shard), len(missing))
        found = [
            _probability(Ranking(known[key].scores), claimed) for key, (_, _, claimed) in zip(keys, asked, strict=True)
        ]
        return [1 - value if fact.negated else value for value, (_, fact) in zip(found, pairs, strict=True)]

    return shown


def _probability(ranking: Ranking, place: int) -> float:
    """The share of the choices' probability that one has."""
    sums = ranking.sums
    best = max(sums)
    if not math.isfinite(best):
        return 0.0
    weights = [math.exp(one - best) for one in sums]
    return weights[place] / sum(weights)
