"""The case-based examiner: it goes through a query's experiments by difficulty level, as far as the answers need it.

A model that fails an easy experiment is not asked the harder ones. One whose easy experiment is not decided is: a
harder one that it clearly fails says as much, with fewer pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snellen.errors import BadInput
from snellen.experiments.design import Design
from snellen.experiments.findings import discussed, figures
from snellen.experiments.queries.class_groups import Subjects
from snellen.experiments.queries.model_queries import ReadModelQuery, read_query
from snellen.experiments.report import (
    Conclusion,
    Discussion,
    Experiment,
    Finding,
    Opening,
    Report,
    Sufficiency,
    Verdict,
    answered,
)
from snellen.experiments.templates import MOST_TYPES, experiments_for
from snellen.reasoning.language.inflection import listing
from snellen.reasoning.reasoner import ReasonerUsage

if TYPE_CHECKING:
    from snellen.profiles import Profile


class CaseExaminer:
    """Designs and reads experiments without a chat model.

    Args:
        profile: Its world, or everyday life where it has none, is what pictures are of.
    """

    def __init__(self, profile: Profile) -> None:
        self._subjects = Subjects.of(profile)

    @property
    def usage(self) -> ReasonerUsage:
        """Nothing: no one is called."""
        return ReasonerUsage()

    async def open_report(self, query: str, models: Sequence[str]) -> Opening:
        """Say which models a query is about.

        Raises:
            UnexaminableError: It is about what cannot be examined.
        """
        parsed = read_query(query, models, self._subjects)
        notes = []
        if parsed.type_group and parsed.ability == "identify" and len(parsed.types) > MOST_TYPES:
            left = ", ".join(parsed.types[MOST_TYPES:])
            notes.append(f"Of the {parsed.type_group} types the first {MOST_TYPES} are examined, not {left}.")
        if self._subjects.classes:
            notes.append("Pictures are drawn from the folder, each as often as it comes: the verdicts are about these.")
        return Opening(models=list(parsed.models or models), notes=notes)

    async def design_experiment(self, report: Report, refusals: Sequence[str]) -> Design | None:
        """Return the next experiment for the models whose answer needs it; None where all is said.

        Raises:
            BadInput: What was made before was refused: there is no other way.
        """
        if refusals:
            raise BadInput(refusals[-1])
        return self.next_design(report)

    def next_design(self, report: Report) -> Design | None:
        """Return the experiment after those of the report, with the claims that still matter; None where none does."""
        designs, pending = self._designs(report), [one for one in self.standings(report) if one.pending]
        number = len(report.experiments)
        if number >= len(designs) or not pending:
            return None
        about = {one.about for one in pending}
        claims = [claim for claim in designs[number].claims if claim.about in about]
        return designs[number].model_copy(update={"claims": claims})

    async def judge_sufficiency(self, report: Report) -> Sufficiency:
        """Say whether all answers are there, or no further experiment would help."""
        more = self.next_design(report) is not None
        left = [] if more else [one for one in self.standings(report) if one.says == "open"]
        return Sufficiency(
            sufficient=not more,
            questions=[_question(one) for one in left][:10],
            unsettled=[one.about for one in left if not one.moot],
        )

    async def discuss(self, report: Report, experiment: Experiment) -> Discussion:  # noqa: ARG002 - the one says it all
        """Say what was done and what it shows."""
        return discussed(experiment)

    async def conclude(self, report: Report) -> Conclusion:
        """Answer the query for every model."""
        query, standings = self._asked(report), self.standings(report)
        answers = [
            answered(
                one.about, _told(one, query, self._reason(one, report)), property=_property(one, query),
                verdict=one.says, polarity=query.polarity,
            )
            for one in standings
        ]  # fmt: skip
        return Conclusion(answers=answers, conclusion=" ".join(answer.sentence for answer in answers)[:2_000])

    def _asked(self, report: Report) -> ReadModelQuery:
        return replace(read_query(report.query, report.models, self._subjects), models=tuple(report.models))

    def _designs(self, report: Report) -> list[Design]:
        query = self._asked(report)
        designs = experiments_for(query, self._subjects, report.models)
        # Two models that both manage the easy experiment differ, if at all, on the hard one.
        return designs[::-1] if query.compared else designs

    def standings(self, report: Report) -> list[ModelStanding]:
        """Return where every model, or every pair that is compared, stands."""
        query, designs = self._asked(report), self._designs(report)
        about = list(dict.fromkeys(claim.about for claim in designs[0].claims))
        return [_standing(one, query, report.experiments, len(designs)) for one in about]

    def _reason(self, standing: ModelStanding, report: Report) -> str:
        """What decided: the finding that says most, with its figures."""
        decided = [
            (finding, experiment.design)
            for experiment in report.experiments
            for finding in experiment.findings
            if finding.claim.about == standing.about and finding.claim.kind != "plain" and not finding.trouble
        ]
        if not decided:
            return ""
        decisive = [pair for pair in decided if pair[0].verdict == standing.decisive] or decided
        # Of what is not decided, the most pictures say most; a few may say anything.
        finding, design = max(decisive, key=lambda pair: pair[0].n if pair[0].verdict == "open" else pair[0].logarithm)
        turned = finding.claim.kind == "better" and standing.says == "no"
        return figures(finding, design, turned=turned)


@dataclass(frozen=True)
class ModelStanding:
    """Standing of a model, or of two that are compared, as far as is known.

    Attributes:
        about: The model, or the two.
        says: Whether it is good at what is examined, robust, or the better one, as far as is known.
        pending: Whether a further experiment may change it.
        decisive: The verdict of the claims that the answer rests on.
        moot: Why there is no answer, other than too little evidence.
    """

    about: str
    says: Verdict
    pending: bool
    decisive: Verdict
    moot: str = ""


def _standing(
    about: str, query: ReadModelQuery, experiments: Sequence[Experiment], number_of_designs: int
) -> ModelStanding:
    left = len(experiments) < number_of_designs
    findings = [[one for one in each.findings if one.claim.about == about] for each in experiments]
    trouble = next((one.trouble for each in findings for one in each if one.trouble), "")
    if trouble:
        return ModelStanding(about, "open", pending=False, decisive="open", moot=trouble)
    if query.compared:
        decided: Verdict = next((one.verdict for each in findings for one in each if one.verdict != "open"), "open")
        return ModelStanding(about, decided, pending=left and decided == "open", decisive=decided)
    if query.robust:
        return _robustness(about, findings, left=left)
    verdicts = [one.verdict for each in findings for one in each]
    together = query.ability == "identify" and len(query.types) > 1
    if "no" in verdicts:
        return ModelStanding(about, "no", pending=together and left, decisive="no")
    if "open" in verdicts:
        return ModelStanding(about, "open", pending=left, decisive="open")
    says: Verdict = "yes" if verdicts and not left else "open"
    return ModelStanding(about, says, pending=left, decisive="yes")


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


def _property(standing: ModelStanding, query: ReadModelQuery) -> str:
    """Name what is examined, so that it is clear without the query."""
    if query.compared:
        one, _, other = standing.about.partition(" and ")
        return f"{one} is better than {other} at {_what(query)}"
    return f"robust to {_what(query)}" if query.robust else f"good at {_what(query)}"


def _told(standing: ModelStanding, query: ReadModelQuery, reason: str) -> str:
    who, what = standing.about, _what(query)
    because = f": {reason}" if reason else ""
    if standing.moot:
        return f"{who}: cannot be said, because {standing.moot}."[:400]
    if query.compared:
        one, _, other = who.partition(" and ")
        sentence = {
            "yes": f"{one} is better than {other} at {what}",
            "no": f"{other} is better than {one} at {what}",
            "open": f"Which of {one} and {other} is better at {what} is not decided",
        }[standing.says]
    else:
        so = _property(standing, query)
        sentence = {
            "yes": f"{who} is {so}",
            "no": f"{who} is not {so}",
            "open": f"Whether {who} is {so} is not decided",
        }[standing.says]
    return f"{sentence}{because}."[:400]


def _what(query: ReadModelQuery) -> str:
    types = f"{query.type_group} changes" if query.type_group else listing(query.types or ("",))
    if query.robust and not query.compared:
        return types + (f" of {query.group}" if query.group else "")
    under = f" under {types}" if types and query.ability != "identify" else ""
    return {
        "recognise": f"recognizing {query.group or 'things'}",
        "identify": f"identifying {types}",
        "position": "telling where things are",
        "count": f"counting {query.group}".strip(),
        "color": f"naming the color of {query.group or 'things'}",
        "several": "noticing several things",
    }[query.ability] + under


def _question(standing: ModelStanding) -> str:
    return f"What holds for {standing.about} is not decided" + (f": {standing.moot}" if standing.moot else "") + "."
