"""Overall answers: what a question is answered that is examined in several parts, "robust to everything except blur".

Each part is an answer of its own. What is asked of every transformation holds where it holds of each group of them, and
fails where it fails for one; what the question excepts decides nothing, and is told beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.experiments.examiners.headlines import headline_of
from snellen.experiments.standings import ModelStanding
from snellen.reasoning.language.inflection import listing
from snellen.reasoning.queries.conditions import EVERY, FAMILIES
from snellen.reasoning.queries.echo import condition_in_words, question_in_words

if TYPE_CHECKING:
    from snellen.experiments.report import Answer
    from snellen.experiments.verdicts import Verdict
    from snellen.reasoning.queries.model_query import ModelQuestion

_GROUPS: Final = tuple(name for name in FAMILIES if name.endswith("transformations") and name != EVERY)


@dataclass(frozen=True)
class PartStandings:
    """A part of a question, with where each model stands in it.

    Attributes:
        question: The part: the question under one condition.
        standings: Where each model stands, or each two that are compared.
        names_models: Whether it was asked about these models, and not about all there are.
        of: How many models it was asked about; more than it has where only the first of them are examined.
    """

    question: ModelQuestion
    standings: Sequence[ModelStanding]
    names_models: bool = False
    of: int = 0

    @property
    def condition(self) -> str:
        """The condition in words."""
        return "" if self.question.condition is None else condition_in_words(self.question.condition)


def is_of_parts(asked: ModelQuestion) -> bool:
    """Tell whether a question is answered by several parts together."""
    of_every = asked.condition is not None and asked.condition.family == EVERY
    return asked.than is None and (of_every or asked.asks == "which changes")


def overall_standings(asked: ModelQuestion, parts: Sequence[PartStandings]) -> list[ModelStanding]:
    """Return where models stand in a question over all of its parts; the figures say where they stand in each.

    Args:
        asked: The question.
        parts: Its parts; those about what it excepts are not about a group of transformations.
    """
    kept, excepted, missing = _divided(asked, parts)
    names = dict.fromkeys(one.about for part in kept for one in part.standings)
    return [_overall(asked, name, kept, excepted, missing) for name in names]


def answerable(asked: ModelQuestion, parts: Sequence[PartStandings]) -> ModelQuestion:
    """Return a question as its parts answer it.

    "Sensitive to every transformation" may mean to each or to any: where a model is to some, there is no yes or no.
    """
    verdicts: dict[str, set[Verdict]] = {}
    for one in (each for part in _divided(asked, parts)[0] for each in part.standings):
        verdicts.setdefault(one.about, set()).add(one.says)
    if asked.sense == "fails" and any("no" in each and len(each) > 1 for each in verdicts.values()):
        return asked.model_copy(update={"sense": "open"})
    return asked


def overall_headline(whole: PartStandings, answers: Sequence[Answer]) -> str:
    """Answer a question in a sentence; of one model, with where it stands in each part.

    Args:
        whole: The question, with its overall standings.
        answers: What is said of each of them; none where it asks which change matters most.
    """
    asked, standings = whole.question, whole.standings
    parts = f": {standings[0].figures}." if len(standings) == 1 else "."
    if asked.asks == "which changes":
        return f"{question_in_words(asked)} Which of them matters most is not tested{parts}"
    told = headline_of(asked, standings, answers, names_models=whole.names_models, of=whole.of)
    return told.removesuffix(".") + parts


def _divided(
    asked: ModelQuestion, parts: Sequence[PartStandings]
) -> tuple[list[PartStandings], list[PartStandings], list[str]]:
    """Return the parts that decide, those about what is excepted, and the groups that are not examined."""
    condition = asked.condition
    if condition is None or asked.asks == "which changes":
        return list(parts), [], []
    families = {part.question.condition.family for part in parts if part.question.condition is not None}
    wanted = [name for name in _GROUPS if not set(FAMILIES[name]) <= set(condition.without)]
    kept = [part for part in parts if part.question.condition is not None and part.question.condition.family in wanted]
    return kept, [part for part in parts if part not in kept], [name for name in wanted if name not in families]


def _overall(
    asked: ModelQuestion,
    name: str,
    kept: Sequence[PartStandings],
    excepted: Sequence[PartStandings],
    missing: Sequence[str],
) -> ModelStanding:
    standings = {part.condition: one for part in kept for one in part.standings if one.about == name}
    verdicts = {one.says for one in standings.values()}
    says: Verdict = "open"
    if verdicts == {"yes"} and not missing:
        says = "yes"
    elif verdicts == {"no"} or ("no" in verdicts and not _is_ranking(asked)):
        says = "no"
    told = _told(asked, standings)
    told += [f"not examined: {listing(missing)}"] if missing else []
    beside = {part.condition: one for part in excepted for one in part.standings if one.about == name}
    told += [f"the exception: {each}" for each in _told(asked, beside)]
    if asked.condition is not None and asked.condition.without and not beside:
        told.append("the exception was not examined")
    return ModelStanding(name, says, pending=False, decisive=says, figures="; ".join(told))


def _is_ranking(asked: ModelQuestion) -> bool:
    """Tell whether a "no" says that another model is the better one, which has to be so in every part."""
    return asked.comparison is not None and asked.comparison.how == "best"


def _told(asked: ModelQuestion, standings: dict[str, ModelStanding]) -> list[str]:
    """Say under which conditions it holds, first those that decide."""
    plainly_robust = asked.robust and asked.threshold is None and asked.comparison is None
    words = ("robust to", "not robust to") if plainly_robust else ("yes for", "no for")
    kinds = {condition: "moot" if one.moot else one.says for condition, one in standings.items()}
    by_kind = {
        kind: [condition for condition, each in kinds.items() if each == kind] for kind in ("no", "yes", "open", "moot")
    }
    lead = {"yes": words[0], "no": words[1], "open": "not decided for", "moot": "cannot be said for"}
    return [f"{lead[kind]} {listing(conditions)}" for kind, conditions in by_kind.items() if conditions]
