"""Investigations of free answers and of judges of pairs: one experiment, whose claims say what was asked.

What is to be measured follows from the query, so nobody designs anything here, with a chat model or without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.experiments.decisions import next_error_rate
from snellen.experiments.design import Arm, Claim, Design, Measured, Protocol
from snellen.experiments.endings import further_budget, in_words, pictures_to_decide
from snellen.experiments.examiners.headlines import headline_of
from snellen.experiments.findings import discussed, figures, right_order
from snellen.experiments.protocol_queries import ProtocolQuery, examined_so, said_of
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
    verdict_of,
)
from snellen.experiments.standings import ModelStanding
from snellen.experiments.understanding import UnexaminableError, notes_of, reread, understood
from snellen.experiments.verdicts import Verdict
from snellen.reasoning.language.inflection import listing
from snellen.reasoning.queries.echo import question_in_words
from snellen.reasoning.reasoner import ReasonerUsage
from snellen.tools.calls import ToolCall

if TYPE_CHECKING:
    from snellen.profiles import Profile

KINDS: Final = ("color", "count", "thing", "relation", "whether", "place")
"""Kinds of questions, of each of which as many are asked."""
_PAIRS: Final = ("identical", "transformed", "irrelevant")
_WORDS: Final[dict[Measured, tuple[str, str]]] = {
    "truth": ("tells the truth", "tells more truth"),
    "help": ("is helpful", "is more helpful"),
    "order": ("orders pairs by similarity", "orders pairs better"),
    "symmetry": ("scores alike both ways round", "is more symmetric"),
    "heed": ("follows the criterion", "follows the criterion better"),
}


class ProtocolExaminer:
    """Reads queries about free answers or judges, and answers them from one experiment.

    Args:
        profile: Says what models can do.
        protocol: Which of the two it is about.
    """

    def __init__(self, profile: Profile, protocol: Protocol) -> None:
        self._profile, self._protocol = profile, protocol

    @property
    def usage(self) -> ReasonerUsage:
        """Nothing: no one is called."""
        return ReasonerUsage()

    async def open_report(self, query: str, models: Sequence[str]) -> Opening:
        """Say which models are examined, and why others cannot be.

        Raises:
            UnexaminableError: None can be.
        """
        reading = understood(query, models, self._profile)
        if reading.query.protocol != self._protocol:
            how = "whether free answers are true and helpful" if self._protocol == "freeform" else "judges of pairs"
            msg = f"The protocol {self._protocol!r} examines {how}, and the question is another: “{reading.echo[:300]}”"
            raise UnexaminableError(msg)
        measured = examined_so(reading.query, models, self._profile)
        notes = [note[:300] for note in (*notes_of(reading), *measured.notes)][:10]
        return Opening(models=list(measured.models), notes=notes, understood=reading.echo)

    async def design_experiment(self, report: Report, refusals: Sequence[str]) -> Design | None:
        """Return the one experiment; None once it was made.

        Raises:
            BadInput: It was refused: there is no other way.
        """
        if refusals:
            raise BadInput(refusals[-1])
        return None if report.experiments else self._design(self._wanted(report))

    async def discuss(self, report: Report, experiment: Experiment) -> Discussion:  # noqa: ARG002 - the one says it all
        """Say what was done and what it shows."""
        return discussed(experiment)

    async def judge_sufficiency(self, report: Report) -> Sufficiency:
        """Say whether all is decided; another experiment would not help, more pictures may."""
        report = _without_silence(report)
        denied = {one.claim.about for one in report.findings if one.verdict == "no"}  # whatever else holds, it is a no
        left = [
            one
            for one in report.findings
            if one.verdict == "open" and not one.trouble and (one.claim.other or one.claim.about not in denied)
        ]
        questions = [f"What holds for {one.claim.about} is not decided." for one in left]
        return Sufficiency(
            sufficient=True,
            questions=list(dict.fromkeys(questions))[:10],
            unsettled=list(dict.fromkeys(one.claim.about for one in left)),
        )

    async def conclude(self, report: Report) -> Conclusion:
        """Answer the query for every model, or for every two that are compared; say what is shown of an older one."""
        report = _without_silence(report)
        findings = report.findings
        try:
            query = self._wanted(report)
        except BadInput:
            shown = list(map(discussed, report.experiments))
            return Conclusion(answers=[], conclusion=shown[0].interpretation, discussions=shown)
        about = list(dict.fromkeys(one.claim.about for one in findings))
        answers = [_answer(name, [one for one in findings if one.claim.about == name], report, query) for name in about]
        headline = self._headline(report, answers, query)
        # One answer says by itself what its headline does.
        sentences = [*([headline] if len(answers) > 1 else []), *(answer.sentence for answer in answers)]
        return Conclusion(
            answers=answers,
            headline=headline,
            conclusion=concluded(sentences),
            discussions=list(map(discussed, report.experiments)),
            further=further_budget(report, [], _undecided(findings)) if report.ended else {},
        )

    def _headline(self, report: Report, answers: Sequence[Answer], query: ProtocolQuery) -> str:
        (question, *more) = reread(report, self._profile).questions
        how = "" if question.comparison is None else question.comparison.how
        by_margin = any(not one.claim.of_gain for one in report.findings)
        if how == "alike" and by_margin:
            return "" if question.sense == "open" else f"{question_in_words(question)} {_alike(report.findings)}."
        # Who is not better than others by a margin may be behind them: of the first against each, each is told.
        if query.compared and len(answers) > 1 and (how == "best" or not by_margin):
            return _winner(report.findings, query, worst=how == "best" and question.sense == "fails")
        if more:
            return ""
        standings = [_standing(answer, report) for answer in answers]
        named, about = bool(question.models), question.model_copy(update={"models": query.models})
        return headline_of(about, standings, answers, names_models=named)

    def _wanted(self, report: Report) -> ProtocolQuery:
        return examined_so(reread(report, self._profile), report.models, self._profile)

    def _design(self, query: ProtocolQuery) -> Design:
        claims = list(query.claims)
        if query.protocol == "freeform":
            return Design(
                protocol="freeform", difficulty=2, question="What color is …? How many …? Where is …? …",
                purpose="Free answers about scenes of which everything is known, as many of each kind of question.",
                skill="free answers about pictures", claims=claims,
                arms=[Arm(answer=kind, select=ToolCall(name="Scene")) for kind in KINDS],
            )  # fmt: skip
        return Design(
            protocol="pairs", difficulty=3, question="How alike are these two pictures, from 1 to 10?",
            purpose="The same picture, a changed one and another one, scored in both orders and under both conditions.",
            skill="judging how alike pictures are", condition=f"under {said_of(query.splits)}", claims=claims,
            arms=[
                Arm(answer=kind, select=ToolCall(name="Pair", arguments={"split": split}))
                for split in query.splits
                for kind in _PAIRS
            ],
        )  # fmt: skip


def _undecided(findings: Sequence[Finding]) -> list[Finding]:
    """Return the open claims that more pictures may decide."""
    return [one for one in findings if one.verdict == "open" and one.n and not one.trouble]


def _answer(about: str, findings: Sequence[Finding], report: Report, query: ProtocolQuery) -> Answer:
    denied = [one for one in findings if one.verdict == "no" and not one.trouble]
    if denied and not query.compared:  # whatever else cannot be said, it is a no
        findings = [one for one in findings if not one.trouble]
    verdicts = [one.verdict for one in findings]
    says: Verdict = "no" if "no" in verdicts else "open" if "open" in verdicts else "yes"
    if any(one.trouble for one in findings):
        says = "open"
    (experiment, *_), undecided = report.experiments, _undecided(findings)
    sentence = _told(about, findings, experiment.design, query, says)
    held = _better(findings[0].claim) if query.compared else _property(query)
    if says == "open" and undecided:
        pictures = pictures_to_decide(experiment, undecided, next_error_rate(report))
        more = in_words(pictures, most=report.budget.decision)
        sentence = f"{sentence.removesuffix('.')}; {more}."
    return answered(about, sentence, property=held, verdict=says, polarity=query.polarity)


def _without_silence(report: Report) -> Report:
    """Return a report in which nothing is said of the truth of answers that rests on those that say nothing.

    Such an answer counts as untrue, but it is neither: only what holds whichever it counts as is a verdict.
    """

    def judged(found: Finding, silent: Mapping[str, float]) -> Finding:
        claim, (low, high) = found.claim, found.interval
        if claim.measure != "truth" or found.verdict == "open":
            return found
        # By so much it may be more if the silence of the first were true, or less if that of the other were.
        of = claim.model if found.verdict == "no" else claim.other
        swing = silent.get(of, 0.0)
        is_sure = high + swing <= claim.threshold if found.verdict == "no" else low - swing > claim.threshold
        if not swing or is_sure:
            return found
        return found.model_copy(update={"verdict": "open", "trouble": _silence(of, swing, found)})

    experiments = []
    for one in report.experiments:
        silent = {result.model: result.abstention or 0.0 for result in one.results}
        experiments.append(one.model_copy(update={"findings": [judged(found, silent) for found in one.findings]}))
    return report.model_copy(update={"experiments": experiments})


def _silence(model: str, silent: float, found: Finding) -> str:
    """Say how many answers of a model say nothing that is true or untrue, and how true the others are."""
    share = f"{100 * silent:.0f} % of the answers of {model} say nothing that can be judged"
    others = (
        "" if found.claim.other or silent == 1 else f"; of the others {100 * found.mean / (1 - silent):.0f} % is true"
    )
    return f"{share}{others}"


def _standing(answer: Answer, report: Report) -> ModelStanding:
    """Return where a model, or two that are compared, stand by what is said of them."""
    findings = [one for one in report.findings if one.claim.about == answer.about]
    trouble = next((one.trouble for one in findings if one.trouble), "")
    design = report.experiments[0].design
    measured = "; ".join(figures(one, design) for one in findings if one.n)
    says = verdict_of(answer)
    return ModelStanding(answer.about, says, pending=False, decisive=says, moot=trouble, figures=measured)


def _property(query: ProtocolQuery) -> str:
    """Name what is measured, so that it is clear without the query."""
    return "; ".join(_WORDS[measure][0] for measure in query.measures)


def _better(claim: Claim) -> str:
    """Say what is claimed of two models."""
    return f"{claim.model} {_WORDS[claim.measure][1]} than {claim.other}{_by(claim)}"


def _by(claim: Claim) -> str:
    return "" if claim.of_gain else f" by more than {100 * claim.threshold:.3g} points"


def _compared(claim: Claim, says: Verdict) -> str:
    """Say which of two models is better, or whether it is so by a margin."""
    if says == "yes":
        return _better(claim)
    if not claim.of_gain:  # who is not better by a margin may be better all the same
        return f"It does not hold that {_better(claim)}" if says == "no" else f"Whether {_better(claim)} is not decided"
    one, other, does = claim.model, claim.other, _WORDS[claim.measure][1]
    return f"{other} {does} than {one}" if says == "no" else f"Whether {one} or {other} {does} is not decided"


def _told(about: str, findings: Sequence[Finding], design: Design, query: ProtocolQuery, says: Verdict) -> str:
    troubles = [one.trouble for one in findings if one.trouble]
    if troubles:
        return f"{about}: cannot be said, because {troubles[0]}."
    claim = findings[0].claim
    turned = says == "no" and claim.of_gain
    measured = "; ".join(
        right_order(one) if query.of_shares and one.claim.measure == "order" else figures(one, design, turned=turned)
        for one in findings
    )
    if query.compared:
        return f"{_compared(claim, says)}: {measured}."
    if query.protocol == "pairs" and len(findings) > 1:
        return f"{_trusted(about, says, findings)} ({measured})."
    does = _WORDS[claim.measure][0]
    sentence = {"yes": f"{about} {does}", "no": f"It does not hold that {about} {does}",
            "open": f"Whether {about} {does} is not decided"}[says]  # fmt: skip
    return f"{sentence}: {measured}."


def _trusted(about: str, says: Verdict, findings: Sequence[Finding]) -> str:
    """Say whether a judge can be trusted, and with what."""
    marks = {"yes": "it {0}", "no": "it does not hold that it {0}", "open": "it is undecided whether it {0}"}
    parts = [marks[one.verdict].format(_WORDS[one.claim.measure][0]) for one in findings]
    head = {"yes": "can be trusted", "no": "cannot be trusted in every respect", "open": "may or may not be trusted"}[
        says
    ]
    return f"{about} {head}: {'; '.join(parts)}"


def _alike(findings: Sequence[Finding]) -> str:
    """Say whether nobody is better than another by a margin."""
    if any(one.trouble for one in findings):
        return "Cannot be said"
    verdicts = {one.verdict for one in findings}
    return "No" if "yes" in verdicts else "Not decided" if "open" in verdicts else "Yes"


def _winner(findings: Sequence[Finding], query: ProtocolQuery, *, worst: bool) -> str:
    """Say who is above all others, or below all where the worst is asked for; or who may be."""
    asked = [one for one in findings if not one.trouble]
    compared = [one for one in findings if one.n or not one.trouble]  # who is silent is no less a rival for that
    names = list(dict.fromkeys(name for one in compared for name in (one.claim.model, one.claim.other)))
    pairs = {(one.claim.model, one.claim.other) for one in asked if one.verdict == "yes"}
    pairs |= {(one.claim.other, one.claim.model) for one in asked if one.verdict == "no" and one.claim.of_gain}
    if worst:
        pairs = {(behind, ahead) for ahead, behind in pairs}
    better, by = _WORDS[query.measures[0]][1], _by(findings[0].claim)
    first = [name for name in names if all((name, other) in pairs for other in names if other != name)]
    if first and len(names) > 1:
        than_all = f"is behind all the others: each of them {better}" if worst else f"{better} than all the others"
        return f"{first[0]} {than_all}{by}."
    left = [name for name in names if all(name != other for _, other in pairs)]
    if not left:
        return ""
    what = f"is behind all the others{by}" if worst else f"{better} than all the others{by}"
    is_open = any(one.verdict == "open" for one in compared)
    lead = f"Which one {what} is not decided" if is_open else f"No single one {what}"
    side = "ahead of" if worst else "behind"
    return f"{lead}; not {side} any{' by so much' if by else ''}: {listing(left)}."
