"""Relevance of evidence: whether a decided claim is about what was asked, and says what is answered.

A chat model that concludes may rest an answer about noise on an experiment about rotation, or one about birds on one
about food, or say yes where a claim says no. What was asked is known from the meaning of the query; so such an answer
goes back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from snellen.errors import BadInput
from snellen.experiments.class_groups import ClassGroup, Subjects
from snellen.experiments.design import EXTREMES, IDENTITY, ClaimKind, Design
from snellen.experiments.examiners.answer_sentences import polarity_of, property_of
from snellen.experiments.implied_verdicts import implied_verdicts
from snellen.experiments.report import Experiment, Finding, Said
from snellen.reasoning.language.inflection import listing
from snellen.reasoning.queries.abilities import Favour, IdentifyType, Mistake, kinds_of
from snellen.reasoning.queries.conditions import EVERY
from snellen.reasoning.queries.echo import condition_in_words, kind_in_words
from snellen.reasoning.queries.model_query import ModelQuery, ModelQuestion

_NAMES: Final = re.compile(r"[\w-]+")
_ABLE: Final[frozenset[ClaimKind]] = frozenset({"ability", "plain"})


@dataclass(frozen=True)
class AskedProperty:
    """The property that was asked about, as far as evidence has to be about it.

    Attributes:
        query: The meaning of the query.
        subjects: What pictures can be of.
    """

    query: ModelQuery
    subjects: Subjects

    def objection(
        self, about: str, experiments: Sequence[Experiment], *, holds: bool, answer: Said | None = None
    ) -> str:
        """Say why an answer about a model, or two, does not follow from some experiments; empty where it may.

        Args:
            about: Whom the answer is about: a name, or "A and B".
            experiments: Those that it rests on.
            holds: Whether the property holds, as it says.
            answer: What it answers to the question as it was asked; None where it does not.
        """
        objections = {each: _objection(each, self.subjects, about, experiments) for each in self.query.questions}
        relevant = [each for each, objection in objections.items() if not objection]
        if not relevant:
            return next(iter(objections.values()))
        denials = [
            _denial(each, about, _fitting(each, self.subjects, about, experiments), holds=holds, answer=answer)
            for each in relevant
        ]
        return "" if "" in denials else denials[0]


def decided_about(about: str, experiment: Experiment) -> list[Finding]:
    """Return the decided findings about a model, or about two that are compared, in either order."""
    names = set(about.split(" and "))
    return [
        one
        for one in experiment.findings
        if one.verdict != "open" and (one.claim.model in names and (not one.claim.other or one.claim.other in names))
    ] or [
        one
        for one in experiment.findings
        if one.verdict != "open" and len(names) == 1 and names & {one.claim.model, one.claim.other}
    ]


def _objection(question: ModelQuestion, subjects: Subjects, about: str, experiments: Sequence[Experiment]) -> str:
    if question.models and not set(about.split(" and ")) <= set(question.models):
        return f"The question is about {listing(question.models)}, not about {about}."
    kinds = _kinds(question)
    fitting = [one for one in experiments if any(each.claim.kind in kinds for each in decided_about(about, one))]
    if not fitting:
        return f"No claim of the kind {listing(sorted(kinds), 'or')} about {about} is decided there, which was asked."
    changes = _tools(question)
    if changes:
        changed = [one for one in fitting if changes & _changed_by(one.design)]
        if not changed:
            condition = question.ability.condition if isinstance(question.ability, IdentifyType) else question.condition
            words = "the change" if condition is None else condition_in_words(condition)
            return f"Nothing is decided about {about} with {words}, which was asked about."
        fitting = changed
    for kind in kinds_of(question.ability):
        try:
            group = subjects.kind(kind)
        except BadInput:
            continue
        if group is not None and not any(_shows(one, group) for one in fitting):
            return f"Nothing is decided about {about} with pictures of {kind_in_words(kind)}, which were asked about."
    return ""


def _fitting(
    question: ModelQuestion, subjects: Subjects, about: str, experiments: Sequence[Experiment]
) -> list[Experiment]:
    """Return the experiments that are about a question each for itself, or those that only are together."""
    each_alone = [one for one in experiments if not _objection(question, subjects, about, [one])]
    return each_alone or list(experiments)


def _denial(
    question: ModelQuestion, about: str, experiments: Sequence[Experiment], *, holds: bool, answer: Said | None
) -> str:
    """Say what is wrong with an answer that no decided claim of the right kind bears out; empty where one does."""
    kinds, of_every = _kinds(question), question.condition is not None and question.condition.family == EVERY
    said = {
        verdict
        for one in experiments
        for verdict in implied_verdicts(
            question, about, [each for each in decided_about(about, one) if each.claim.kind in kinds], one.design
        )
    }
    of_all = of_every or (question.comparison is not None and " and " not in about)
    is_borne_out = ("yes" if holds else "no") in said and not (holds and of_all and "no" in said)
    of_whom = question.comparison is None or " and " in about
    held = f"“{property_of(about, question)}”" if of_whom else "what was asked"
    if not is_borne_out:
        return f"No decided claim there about {about} bears out that {held} {'holds' if holds else 'does not hold'}."
    polarity = "unknown" if of_every and question.sense == "fails" else polarity_of(question)
    if answer is not None and polarity != "unknown" and (answer == "yes") != (holds == (polarity == "same")):
        return f"Where {held} {'holds' if holds else 'does not hold'}, the `answer` to the question is not {answer!r}."
    return ""


def _kinds(question: ModelQuestion) -> frozenset[ClaimKind]:
    """Return the kinds of claims that answer a question."""
    if question.comparison is not None:
        return frozenset({"steadier"}) if question.robust else frozenset({"better"})
    if isinstance(question.ability, Favour):
        return frozenset({"favor"})
    if isinstance(question.ability, Mistake):
        return frozenset({"mistake"})
    if question.asks == "which classes":
        return EXTREMES | _ABLE
    if question.classes is not None:
        return frozenset({"classes"})
    if question.than is not None and question.than.ability is not None and not question.robust:
        return _ABLE | {"contrast"}
    return frozenset({"drop"}) if question.robust or question.than is not None else _ABLE


def _tools(question: ModelQuestion) -> frozenset[str]:
    noticed = question.ability.condition if isinstance(question.ability, IdentifyType) else None
    conditions = (question.condition, noticed)
    return frozenset(call.name for each in conditions if each is not None for one in each.changes for call in one.calls)


def _changed_by(design: Design) -> set[str]:
    return {call.name for arm in design.arms for call in (arm.transform, arm.against)} - {IDENTITY.name}


def _shows(experiment: Experiment, group: ClassGroup) -> bool:
    """Tell whether an experiment is about things of a group: it draws them, or names them among its answers."""
    design, names = experiment.design, {*group.members, group.name, group.singular}
    pools = [pool for part in design.parts for pool in part.pools.values()]
    drawn = {str(arm.select.arguments.get("class_name", "")) for arm in design.arms}
    said = {word for answer in (*design.classes, *drawn) for word in (answer, *_NAMES.findall(answer))}
    # Of other things some are of any kind: what a pool is about is most of it.
    return bool(names & said) or any(2 * len(names & {*pool}) > len({*pool}) for pool in pools)
