"""The case-based examiner: it goes through a query's experiments by difficulty level, as far as the answers need it.

A model that fails an easy experiment is not asked the harder ones. One whose easy experiment is not decided is: a
harder one that it clearly fails says as much, with fewer pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Claim, Design
from snellen.experiments.examination_plan import ExaminationPlan, ExaminedQuestion, planned
from snellen.experiments.examiners.answer_sentences import property_of, sentence_of
from snellen.experiments.findings import discussed, figures
from snellen.experiments.report import (
    Answer,
    Conclusion,
    Discussion,
    Experiment,
    Finding,
    Opening,
    Polarity,
    Report,
    Sufficiency,
    Verdict,
    answered,
)
from snellen.experiments.understanding import UnexaminableError, notes_of, reread, understood
from snellen.reasoning.queries.model_query import IdentifyType, ModelQuestion
from snellen.reasoning.reasoner import ReasonerUsage

if TYPE_CHECKING:
    from snellen.profiles import Profile

_MEANS: Final[dict[str, Polarity]] = {"holds": "same", "fails": "opposite", "open": "unknown"}
_MOST_ANSWERS: Final = 40


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
        done = _experiments_of(parts, report.experiments)
        for part, experiments in sorted(zip(parts, done, strict=True), key=lambda pair: len(pair[1])):
            pending = {one.about for one in _standings(part, experiments) if one.pending}
            if len(experiments) < len(part.designs) and pending:
                design = part.designs[len(experiments)]
                claims = [claim for claim in design.claims if _about(claim, part.question) in pending]
                return design.model_copy(update={"claims": claims})
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
        answers = [
            answer
            for part, experiments in zip(parts, _experiments_of(parts, report.experiments), strict=True)
            for answer in _answers(part, experiments)
        ][:_MOST_ANSWERS]
        return Conclusion(answers=answers, conclusion=" ".join(answer.sentence for answer in answers)[:2_000])

    def standings(self, report: Report) -> list[ModelStanding]:
        """Return where every model, or every pair that is compared, stands in each question."""
        parts = self._plan_of(report).parts
        both = zip(parts, _experiments_of(parts, report.experiments), strict=True)
        return [one for part, experiments in both for one in _standings(part, experiments)]

    def _plan_of(self, report: Report) -> ExaminationPlan:
        return planned(reread(report, self._profile), self._subjects, report.models)


def _experiments_of(parts: Sequence[ExaminedQuestion], experiments: Sequence[Experiment]) -> list[list[Experiment]]:
    """Return the experiments that were begun for each question, in their order.

    One that a person edited goes to the first question that has fewest and still lacks one.
    """
    done: list[list[Experiment]] = [[] for _ in parts]
    for experiment in experiments:
        matching = [number for number, part in enumerate(parts) if _next_is(part, done[number], experiment.design)]
        lacking = [number for number, part in enumerate(parts) if len(done[number]) < len(part.designs)]
        candidates = matching or lacking or [0]
        done[min(candidates, key=lambda number: len(done[number]))].append(experiment)
    return done


def _next_is(part: ExaminedQuestion, done: Sequence[Experiment], design: Design) -> bool:
    if len(done) >= len(part.designs):
        return False
    planned_next = part.designs[len(done)]
    same = all(
        getattr(planned_next, name) == getattr(design, name)
        for name in ("skill", "condition", "question", "purpose", "paired")
    )
    return same and set(design.claims) <= set(planned_next.claims)


def _about(claim: Claim, question: ModelQuestion) -> str:
    """Name the model that a claim is about, or both, in the order of the question, whichever is said to be better."""
    if not claim.other:
        return claim.model
    order = question.models.index
    return " and ".join(sorted((claim.model, claim.other), key=order))


def _answers(part: ExaminedQuestion, experiments: Sequence[Experiment]) -> list[Answer]:
    question = part.question
    means = question.asks == "whether" and not (question.comparison and question.comparison.how == "best")
    return [
        answered(
            one.about,
            sentence_of(one.about, one.says, one.moot, question, _reason(one, question, experiments)),
            property=property_of(one.about, question),
            verdict=one.says,
            polarity=_MEANS[question.sense] if means else "unknown",
        )
        for one in _standings(part, experiments)
    ]


def _reason(standing: ModelStanding, question: ModelQuestion, experiments: Sequence[Experiment]) -> str:
    """Say what decided: the finding that says most, with its figures."""
    decided = [
        (finding, experiment.design)
        for experiment in experiments
        for finding in experiment.findings
        if finding.claim.about in standing.claimed and finding.claim.kind != "plain" and not finding.trouble
    ]
    if not decided:
        return ""
    decisive = [pair for pair in decided if pair[0].verdict == standing.decisive] or decided
    # Of what is not decided, the most pictures say most; a few may say anything.
    finding, design = max(decisive, key=lambda pair: pair[0].n if pair[0].verdict == "open" else pair[0].logarithm)
    better = question.comparison is not None and question.comparison.how in {"better", "best"}
    return figures(finding, design, turned=better and standing.says == "no" and finding.claim.of_gain)


@dataclass(frozen=True)
class ModelStanding:
    """Standing of a model, or of two that are compared, in a question, as far as is known.

    Attributes:
        about: The model, or the two.
        says: Whether what the question is about holds, as far as is known: it is good, robust, within a bound, better.
        pending: Whether a further experiment may change it.
        decisive: The verdict of the claims that the answer rests on.
        moot: Why there is no answer, other than too little evidence.
        claimed: Whom its claims are about: `Claim.about`.
    """

    about: str
    says: Verdict
    pending: bool
    decisive: Verdict
    moot: str = ""
    claimed: tuple[str, ...] = ()


_TURNED: Final[dict[Verdict, Verdict]] = {"yes": "no", "no": "yes", "open": "open"}


def _standings(part: ExaminedQuestion, experiments: Sequence[Experiment]) -> list[ModelStanding]:
    claims = part.designs[0].claims
    names = list(dict.fromkeys(_about(claim, part.question) for claim in claims))
    return [_standing(about, part, experiments) for about in names]


def _standing(about: str, part: ExaminedQuestion, experiments: Sequence[Experiment]) -> ModelStanding:
    question = part.question
    claimed = tuple(dict.fromkeys(one.about for one in part.designs[0].claims if _about(one, question) == about))
    left = len(experiments) < len(part.designs)
    findings = [[one for one in each.findings if one.claim.about in claimed] for each in experiments]
    trouble = next((one.trouble for each in findings for one in each if one.trouble), "")
    if trouble:
        return ModelStanding(about, "open", pending=False, decisive="open", moot=trouble, claimed=claimed)
    if question.comparison is not None:
        says, decisive, pending = _comparison(question, findings, left=left)
    elif question.robust:
        standing = _robustness(about, findings, left=left)
        turn = question.threshold is not None and question.threshold.above
        says = _TURNED[standing.says] if turn else standing.says
        return ModelStanding(about, says, standing.pending, standing.decisive, standing.moot, claimed)
    else:
        says, decisive, pending = _ability(question, findings, left=left)
        if question.threshold is not None and not question.threshold.above:
            says = _TURNED[says]
    return ModelStanding(about, says, pending=pending, decisive=decisive, claimed=claimed)


def _ability(
    question: ModelQuestion, findings: Sequence[Sequence[Finding]], *, left: bool
) -> tuple[Verdict, Verdict, bool]:
    """Return whether a model is good in all experiments, the decisive verdict, and whether another may change it."""
    verdicts = [one.verdict for each in findings for one in each]
    ability = question.ability
    together = isinstance(ability, IdentifyType) and len(ability.condition.types) > 1
    if "no" in verdicts:
        return "no", "no", together and left
    if "open" in verdicts:
        return "open", "open", left
    return ("yes" if verdicts and not left else "open"), "yes", left


def _comparison(
    question: ModelQuestion, findings: Sequence[Sequence[Finding]], *, left: bool
) -> tuple[Verdict, Verdict, bool]:
    """Return whether the first of two is better, or both are alike; the decisive verdict; whether that may change."""
    decided = [one for each in findings for one in each if one.verdict != "open"]
    how, margin = (question.comparison.how, question.comparison.margin) if question.comparison else ("better", 0)
    if how == "alike" or (how == "best" and margin > 0):
        first = next((one for one in decided if one.verdict == "yes"), None)
        if first is not None:
            is_first = question.models.index(first.claim.model) < question.models.index(first.claim.other)
            return ("no" if how == "alike" or not is_first else "yes"), "yes", False
        ruled_out = bool(findings) and all(one.verdict == "no" for each in findings for one in each)
        if how == "alike" and ruled_out and not left:
            return "yes", "no", False
        return "open", "no" if ruled_out else "open", left
    verdict: Verdict = decided[0].verdict if decided else "open"
    return (_TURNED[verdict] if how == "as good" else verdict), verdict, left and verdict == "open"


def _robustness(about: str, findings: Sequence[Sequence[Finding]], *, left: bool) -> ModelStanding:
    drops = [one.verdict for each in findings for one in each if one.claim.kind == "drop"]
    plain = [one.verdict for each in findings for one in each if one.claim.kind == "plain"]
    if "yes" in drops:
        return ModelStanding(about, "no", pending=False, decisive="yes")
    if "no" in plain:
        # What it loses of what it does recognize may still be decided; of what it does not, there is nothing to lose.
        if any(drop == "open" and seen != "no" for drop, seen in zip(drops, plain, strict=True)):
            return ModelStanding(about, "open", pending=False, decisive="open")
        moot = "it does not recognize enough in the pictures as they were to lose anything"
        return ModelStanding(about, "open", pending=False, decisive="open", moot=moot)
    if "open" in drops or left:
        return ModelStanding(about, "open", pending=left, decisive="open" if "open" in drops else "no")
    return ModelStanding(about, "yes", pending=False, decisive="no")


def _question(standing: ModelStanding) -> str:
    return f"What holds for {standing.about} is not decided" + (f": {standing.moot}" if standing.moot else "") + "."
