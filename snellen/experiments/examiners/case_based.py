"""The case-based examiner: it goes through a query's experiments by difficulty level, as far as the answers need it.

A model that fails an easy experiment is not asked the harder ones. One whose easy experiment is not decided is: a
harder one that it clearly fails says as much, with fewer pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.experiments.class_groups import Subjects
from snellen.experiments.decisions import next_error_rate
from snellen.experiments.design import Design
from snellen.experiments.endings import Ending, further_budget
from snellen.experiments.examination_plan import ExaminationPlan, ExaminedQuestion, planned
from snellen.experiments.examiners.answer_sentences import claimed, polarity_of, property_of, sentence_of
from snellen.experiments.examiners.headlines import headline_of
from snellen.experiments.examiners.lacking_evidence import lacking, open_findings, wanted_by
from snellen.experiments.examiners.overall_answers import (
    PartStandings,
    answerable,
    is_of_parts,
    overall_headline,
    overall_standings,
)
from snellen.experiments.findings import discussed, figures
from snellen.experiments.model_outcomes import ModelOutcome, wordings_told
from snellen.experiments.report import (
    Answer,
    Conclusion,
    Discussion,
    Experiment,
    Finding,
    Opening,
    Report,
    Sufficiency,
    answered,
    concluded,
)
from snellen.experiments.standings import ModelStanding, experiments_of, next_of, outcomes_of, standings
from snellen.experiments.understanding import UnexaminableError, notes_of, reread, understood
from snellen.experiments.verdicts import Verdict
from snellen.reasoning.reasoner import ReasonerUsage

if TYPE_CHECKING:
    from snellen.profiles import Profile
    from snellen.reasoning.queries.model_query import ModelQuestion

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
        left = [(one, asked) for one, asked in self._placed(report) if one.says == "open"]
        return Sufficiency(
            sufficient=self.next_design(report) is None,
            questions=list(dict.fromkeys(_question(one, asked) for one, asked in left))[:10],
            unsettled=list(dict.fromkeys(name for one, _ in left if not one.moot for name in one.claimed)),
        )

    async def discuss(self, report: Report, experiment: Experiment) -> Discussion:  # noqa: ARG002 - the one says it all
        """Say what was done and what it shows."""
        return discussed(experiment)

    async def conclude(self, report: Report) -> Conclusion:
        """Answer the query for every model, question by question; of an older query, say what its experiments show."""
        try:
            parts = self._plan_of(report).parts
        except BadInput:
            shown = list(map(discussed, report.experiments))
            return Conclusion(
                answers=[], conclusion=concluded([one.interpretation for one in shown]), discussions=shown
            )
        both = zip(parts, experiments_of(parts, report.experiments), strict=True)
        further = further_budget(report, *self._missing(report)) if report.ended else {}
        ending = Ending(report.ended, further, next_error_rate(report), report.budget.decision)
        measured = [
            (part.asked, PartStandings(part.question, _measured(part, each, ending), part.names_models, part.of))
            for part, each in both
        ]
        answers: list[Answer] = []
        headlines: list[str] = []
        for asked, group in groupby(measured, key=lambda pair: pair[0]):
            told, said = _answered(asked, [part for _, part in group])
            answers, headlines = answers + told, headlines + said
        headline = " ".join(filter(None, headlines))[:1_000]
        # One answer says by itself what its headline does.
        sentences = [*([headline] if len(answers) > 1 else []), *(answer.sentence for answer in answers)]
        return Conclusion(
            answers=answers[:_MOST_ANSWERS],
            headline=headline,
            conclusion=concluded(sentences),
            discussions=list(map(discussed, report.experiments)),
            further=further,
        )

    def standings(self, report: Report) -> list[ModelStanding]:
        """Return where every model, or every pair that is compared, stands in each question."""
        return [one for one, _ in self._placed(report)]

    def _missing(self, report: Report) -> tuple[list[Experiment | None], list[Finding]]:
        """Return which experiments were wanted and not begun, and the claims that are open and matter."""
        wanted: dict[str, Experiment | None] = {}
        undecided: list[Finding] = []
        parts = self._plan_of(report).parts
        for part, experiments in zip(parts, experiments_of(parts, report.experiments), strict=True):
            for one in standings(part, experiments):
                if (one.says == "open" or one.pending) and not one.moot:
                    wanted |= wanted_by(one, part, experiments)
                    undecided += open_findings(one, part, experiments)
        return list(wanted.values()), undecided

    def _placed(self, report: Report) -> list[tuple[ModelStanding, ModelQuestion]]:
        """Return where every model, or every pair, stands in each question, with the question."""
        parts = self._plan_of(report).parts
        both = zip(parts, experiments_of(parts, report.experiments), strict=True)
        return [(one, part.question) for part, experiments in both for one in standings(part, experiments)]

    def _plan_of(self, report: Report) -> ExaminationPlan:
        plan = planned(reread(report, self._profile), self._subjects, report.models, of=report.candidates)
        return replace(plan, parts=tuple(part.as_begun(report.experiments) for part in plan.parts))


def _measured(part: ExaminedQuestion, experiments: Sequence[Experiment], ending: Ending) -> list[ModelStanding]:
    """Return where every model stands in a question, with the figures that decide, and why others do not."""
    return [
        replace(_with_figures(one, part, experiments), lacks=lacking(one, part, experiments, ending))
        for one in standings(part, experiments)
    ]


def _answered(asked: ModelQuestion | None, parts: Sequence[PartStandings]) -> tuple[list[Answer], list[str]]:
    """Answer a question of a query: all of it first, where its parts answer it together, and then each part.

    Args:
        asked: The question.
        parts: Its parts; often it is one alone.

    Returns:
        The answers, and sentences that answer it over all models.
    """
    answers = [_answers(part) for part in parts]
    headlines = [
        headline_of(part.question, part.standings, each, names_models=part.names_models, of=part.of)
        for part, each in zip(parts, answers, strict=True)
    ]
    flat = [one for each in answers for one in each]
    if asked is None or not is_of_parts(asked):
        return flat, headlines
    whole = PartStandings(answerable(asked, parts), overall_standings(asked, parts), parts[0].names_models, parts[0].of)
    overall = [] if asked.asks == "which changes" else _answers(whole)
    headline = overall_headline(whole, overall)
    return [*overall, *flat], [headline] if len(whole.standings) == 1 else [headline, *headlines]


def _answers(part: PartStandings) -> list[Answer]:
    question = part.question
    return [
        answered(
            one.about,
            sentence_of(one, question),
            property=property_of(one.about, question, one.found),
            verdict=one.says,
            polarity=polarity_of(question),
        )
        for one in part.standings
    ]


def _with_figures(standing: ModelStanding, part: ExaminedQuestion, experiments: Sequence[Experiment]) -> ModelStanding:
    """Return where a model stands with the figures of its experiments, and what came of other wordings.

    Those that decide come first; of several, the one that says most.
    """
    outcomes, question = outcomes_of(standing.about, part, experiments), part.question
    if question.asks == "limit":
        return standing
    counting = [one for one in outcomes if one.counts] or outcomes
    measured = [(outcome, _main_finding(outcome, standing.decisive)) for outcome in counting]
    told = [(outcome, found) for outcome, found in measured if found is not None]
    if not told:
        return standing
    told.sort(key=lambda pair: (pair[1].verdict == standing.decisive, _weight(pair[1])), reverse=True)
    form = wordings_told(outcomes, [outcome for outcome, _ in told])
    first, *others = dict.fromkeys(_measured_so(outcome, found, standing, question, form) for outcome, found in told)
    return replace(standing, figures=first, beside="; ".join(others), form=form)


def _main_finding(outcome: ModelOutcome, decisive: Verdict) -> Finding | None:
    """Return the finding of an experiment that says most, of those that decide if there are any; None without any."""
    found = [one for one in outcome.findings if one.claim.kind != "plain" and one.n and not one.trouble]
    return max(found, key=lambda one: (one.verdict == decisive, _weight(one)), default=None)


def _weight(finding: Finding) -> float:
    """Return how much a finding says: of what is not decided, the most pictures say most; a few may say anything."""
    return finding.n if finding.verdict == "open" else finding.logarithm


def _measured_so(
    outcome: ModelOutcome, finding: Finding, standing: ModelStanding, question: ModelQuestion, form: str
) -> str:
    """Say what was measured in an experiment, and in which words, where it was asked in others, too."""
    how = None if question.comparison is None else question.comparison.how
    # "as good as" is claimed of the other model: that it is not better. Said is by how much the first one is.
    turned = how == "as good"
    if how == "better" and question.sense == "fails":  # how much worse it is, or how much more it loses
        turned = question.robust != bool(question.deficit)
    elif how in {"better", "best"} and finding.claim.of_gain:
        turned = standing.says == ("yes" if question.sense == "fails" else "no")
    asked = f", asked “{outcome.design.question}”" if form and outcome.wordings else ""
    if question.classes is not None and not outcome.is_repeated:
        asked = f", asked “{outcome.design.question}” and in no other words"
    return f"{figures(finding, outcome.design, turned=turned)}{asked}"


def _question(standing: ModelStanding, asked: ModelQuestion) -> str:
    question = sentence_of(standing, asked) if standing.moot else f"{claimed(standing, asked)}."
    return question if len(question) <= _LONGEST else f"{question[: _LONGEST - 1]}…"
