"""The case-based examiner: it goes through a query's experiments by difficulty level, as far as the answers need it.

A model that fails an easy experiment is not asked the harder ones. One whose easy experiment is not decided is: a
harder one that it clearly fails says as much, with fewer pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Design
from snellen.experiments.examination_plan import ExaminationPlan, ExaminedQuestion, planned
from snellen.experiments.examiners.answer_sentences import property_of, sentence_of
from snellen.experiments.examiners.headlines import headline_of
from snellen.experiments.findings import discussed, figures
from snellen.experiments.report import (
    Answer,
    Conclusion,
    Discussion,
    Experiment,
    Opening,
    Polarity,
    Report,
    Sufficiency,
    answered,
)
from snellen.experiments.standings import ModelStanding, experiments_of, next_of, outcomes_of, standings
from snellen.experiments.understanding import UnexaminableError, notes_of, reread, understood
from snellen.reasoning.reasoner import ReasonerUsage

if TYPE_CHECKING:
    from snellen.profiles import Profile

_MEANS: Final[dict[str, Polarity]] = {"holds": "same", "fails": "opposite", "open": "unknown"}
_MOST_ANSWERS: Final = 40
_LONGEST: Final = 300
"""Characters of what remains open."""


class CaseExaminer:
    """Designs and reads experiments without a chat model.

    Args:
        profile: Its world, or everyday life where it has none, is what pictures are of.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile, self._subjects = profile, Subjects.of(profile)

    @property
    def usage(self) -> ReasonerUsage:
        """Nothing: no one is called."""
        return ReasonerUsage()

    async def open_report(self, query: str, models: Sequence[str]) -> Opening:
        """Say which models a query is about, as what it was understood, and what of it is not examined.

        Raises:
            UnexaminableError: It is about what cannot be examined.
        """
        reading = understood(query, models, self._profile)
        try:
            plan = planned(reading.query, self._subjects, models)
        except BadInput as error:
            msg = f"This cannot be examined here: {' '.join(query.split())[:120]!r}. {error}"
            raise UnexaminableError(msg) from error
        named = dict.fromkeys(name for part in plan.parts for name in part.question.models)
        notes = [*notes_of(reading), *plan.notes][:10]
        return Opening(models=[name for name in models if name in named], notes=notes, understood=reading.echo)

    async def design_experiment(self, report: Report, refusals: Sequence[str]) -> Design | None:
        """Return the next experiment for the models whose answer needs it; None where all is said.

        Raises:
            BadInput: What was made before was refused: there is no other way.
        """
        if refusals:
            raise BadInput(refusals[-1])
        return self.next_design(report)

    def next_design(self, report: Report) -> Design | None:
        """Return the experiment after those of the report, with the claims that still matter; None where none does.

        Each question gets its first experiment before any gets a second one.
        """
        parts = self._plan_of(report).parts
        done = experiments_of(parts, report.experiments)
        for part, experiments in sorted(zip(parts, done, strict=True), key=lambda pair: len(pair[1])):
            design = next_of(part, experiments)
            if design is not None:
                return design
        return None

    async def judge_sufficiency(self, report: Report) -> Sufficiency:
        """Say whether all answers are there, or no further experiment would help."""
        more = self.next_design(report) is not None
        left = [] if more else [one for one in self.standings(report) if one.says == "open"]
        return Sufficiency(
            sufficient=not more,
            questions=list(dict.fromkeys(map(_question, left)))[:10],
            unsettled=list(dict.fromkeys(name for one in left if not one.moot for name in one.claimed)),
        )

    async def discuss(self, report: Report, experiment: Experiment) -> Discussion:  # noqa: ARG002 - the one says it all
        """Say what was done and what it shows."""
        return discussed(experiment)

    async def conclude(self, report: Report) -> Conclusion:
        """Answer the query for every model, question by question; of an older query, say what its experiments show."""
        try:
            parts = self._plan_of(report).parts
        except BadInput:
            shown = " ".join(discussed(one).interpretation for one in report.experiments)
            return Conclusion(answers=[], conclusion=shown[:2_000])
        answers, headlines = [], []
        for part, experiments in zip(parts, experiments_of(parts, report.experiments), strict=True):
            told = _answers(part, experiments)
            answers += told
            headlines.append(headline_of(part.question, standings(part, experiments), told))
        answers, headline = answers[:_MOST_ANSWERS], " ".join(filter(None, headlines))[:1_000]
        said = " ".join(filter(None, [headline, *(answer.sentence for answer in answers)]))[:2_000]
        return Conclusion(answers=answers, headline=headline, conclusion=said)

    def standings(self, report: Report) -> list[ModelStanding]:
        """Return where every model, or every pair that is compared, stands in each question."""
        parts = self._plan_of(report).parts
        both = zip(parts, experiments_of(parts, report.experiments), strict=True)
        return [one for part, experiments in both for one in standings(part, experiments)]

    def _plan_of(self, report: Report) -> ExaminationPlan:
        plan = planned(reread(report, self._profile), self._subjects, report.models)
        return replace(plan, parts=tuple(part.as_begun(report.experiments) for part in plan.parts))


def _answers(part: ExaminedQuestion, experiments: Sequence[Experiment]) -> list[Answer]:
    question = part.question
    means = question.asks == "whether" and not (question.comparison and question.comparison.how == "best")
    return [
        answered(
            one.about,
            sentence_of(one, question, _reason(one, part, experiments)),
            property=property_of(one.about, question, one.found),
            verdict=one.says,
            polarity=_MEANS[question.sense] if means else "unknown",
        )
        for one in standings(part, experiments)
    ]


def _reason(standing: ModelStanding, part: ExaminedQuestion, experiments: Sequence[Experiment]) -> str:
    """Say what decided: the finding that says most, with its figures."""
    outcomes, question = outcomes_of(standing.about, part, experiments), part.question
    if question.asks == "limit":
        return standing.figures
    decided = [
        (finding, outcome.design)
        for outcome in [one for one in outcomes if one.counts] or outcomes
        for finding in outcome.findings
        if finding.claim.kind != "plain" and finding.n and not finding.trouble
    ]
    if not decided:
        return ""
    decisive = [pair for pair in decided if pair[0].verdict == standing.decisive] or decided
    # Of what is not decided, the most pictures say most; a few may say anything.
    finding, design = max(decisive, key=lambda pair: pair[0].n if pair[0].verdict == "open" else pair[0].logarithm)
    how = None if question.comparison is None else question.comparison.how
    # "as good as" is claimed of the other model: that it is not better. Said is by how much the first one is.
    turned = how == "as good" or (how in {"better", "best"} and standing.says == "no" and finding.claim.of_gain)
    return figures(finding, design, turned=turned)


def _question(standing: ModelStanding) -> str:
    question = f"What holds for {standing.about} is not decided" + (f": {standing.moot}" if standing.moot else "") + "."
    return question if len(question) <= _LONGEST else f"{question[: _LONGEST - 1]}…"
