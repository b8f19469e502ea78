"""The examiner over a chat model: prompts after APEX's (appendix A.4) in our own words, structured replies, healing.

What the model writes is parsed, typed and bounded. It chooses tools by name, and what is to be decided from a closed
list; thresholds, verdicts and figures are not its to say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

from pydantic import ValidationError

from snellen.errors import BadInput
from snellen.experiments.design import MARGIN, MOST_CLAIMS, Arm, Claim, Design
from snellen.experiments.design_checks import checked
from snellen.experiments.examiners.headlines import headline_of_answers
from snellen.experiments.examiners.llm_replies import (
    ConclusionReply,
    DesignReply,
    DiscussionReply,
    ExperimentReply,
    ModelAnswerReply,
    OpeningReply,
    SufficiencyReply,
)
from snellen.experiments.findings import interval_name
from snellen.experiments.relevance import AskedProperty, decided_about
from snellen.experiments.report import Answer, Conclusion, Discussion, Experiment, Opening, Report, Sufficiency
from snellen.experiments.verdicts import halfway
from snellen.reasoning.llm.prompt_files import fenced, fill
from snellen.reasoning.llm.structured_model import StructuredModel, UnusableError, converse
from snellen.reasoning.reasoner import ReasonerUsage
from snellen.tools.calls import ToolCall
from snellen.tools.samples import SELECTS
from snellen.tools.transforms import TRANSFORMS

_FIGURES: Final = 3
"""Decimals that the model is shown."""

Understand = Callable[[str, Sequence[str]], str]
Asked = Callable[[str, Sequence[str]], AskedProperty | None]


class ChatExaminer:
    """Designs experiments and reads them with a chat model.

    Args:
        model: The chat model.
        understand: Says a query about models in words made from its meaning; empty where that is not known.
        asked: Says what evidence has to be about to answer a query; None where that is not known.
        pictures: What pictures are like: their size.
    """

    def __init__(
        self,
        model: StructuredModel,
        understand: Understand = lambda _, __: "",
        asked: Asked = lambda _, __: None,
        *,
        pictures: str = "",
    ) -> None:
        self._model, self._understand, self._asked, self._pictures = model, understand, asked, pictures

    @property
    def usage(self) -> ReasonerUsage:
        """Calls, tokens and cost so far, failed attempts included."""
        return self._model.usage

    async def open_report(self, query: str, models: Sequence[str]) -> Opening:
        """Say which models a query is about, and what of it cannot be examined.

        Raises:
            BadInput: None of it can be.
            ReasoningFailed: No valid reply, or the endpoint failed.
        """
        echo = self._understand(query, models)
        asked = fenced(query) + (f"\n\nAs Snellen's own reader understands it:\n{fenced(echo)}" if echo else "")
        slots = {"models": fenced("\n".join(models)), "query": asked, **_tools()}

        def accept(reply: OpeningReply) -> Opening:
            strangers = [name for name in reply.models if name not in models]
            if strangers:
                msg = f"There is no model {strangers[0]!r}; there are {', '.join(models)}."
                raise UnusableError(msg)
            if not reply.examinable:
                raise BadInput(_cut(reply.reason, 400) or "This cannot be examined by experiments with pictures.")
            notes = [_cut(one, 300) for one in reply.notes[:10] if one.strip()]
            return Opening(models=reply.models or list(models), notes=notes, understood=echo)

        prompt = fill("examiner-opening", slots)
        return await converse(self._model, prompt, OpeningReply, accept=accept, wanted="an opening")

    async def design_experiment(self, report: Report, refusals: Sequence[str]) -> Design | None:
        """Design the next experiment; a design that cannot be run goes back with the reason (APEX, section 3.4).

        Raises:
            ReasoningFailed: No valid design, or the endpoint failed.
        """
        shown = {"report": fenced(self._told(report)), "refusals": fenced("\n".join(refusals)) if refusals else ""}
        prompt = fill("examiner-design", {**shown, **_tools(), "margin": f"{100 * MARGIN:.0f}"})

        def accept(reply: DesignReply) -> Design | None:
            return None if reply.experiment is None else _design(reply.experiment, report.models)

        return await converse(self._model, prompt, DesignReply, accept=accept, wanted="a design")

    async def discuss(self, report: Report, experiment: Experiment) -> Discussion:
        """Say what an experiment shows.

        Raises:
            ReasoningFailed: No valid reply, or the endpoint failed.
        """
        slots = {"query": fenced(report.query), "experiment": fenced(json.dumps(_seen(experiment), indent=1))}

        def accept(reply: DiscussionReply) -> Discussion:
            return Discussion(recap=_cut(reply.recap, 600), interpretation=_cut(reply.interpretation, 1_200))

        prompt = fill("examiner-discussion", slots)
        return await converse(self._model, prompt, DiscussionReply, accept=accept, wanted="a discussion")

    async def judge_sufficiency(self, report: Report) -> Sufficiency:
        """Say whether the report answers the query.

        Raises:
            ReasoningFailed: No valid reply, or the endpoint failed.
        """

        def accept(reply: SufficiencyReply) -> Sufficiency:
            open_ends = [_cut(one, 300) for one in reply.questions[:10] if one.strip()]
            about = {one.claim.about: None for each in report.experiments for one in each.pending}
            return Sufficiency(
                sufficient=reply.sufficient, questions=open_ends, unsettled=list(about) if open_ends else []
            )

        prompt = fill("examiner-sufficiency", {"report": fenced(self._told(report))})
        return await converse(self._model, prompt, SufficiencyReply, accept=accept, wanted="a judgement")

    async def conclude(self, report: Report) -> Conclusion:
        """Answer the query; an answer goes back that no decided claim bears out, or none about what was asked.

        Raises:
            ReasoningFailed: No valid reply, or the endpoint failed.
        """
        asked = self._asked(report.understood or report.query, report.models)

        def accept(reply: ConclusionReply) -> Conclusion:
            answers = [_answer(one, report, asked) for one in reply.answers[:40]]
            headline = "" if asked is None else headline_of_answers(asked.query, answers, report.models)
            return Conclusion(answers=answers, headline=headline, conclusion=_cut(reply.conclusion, 2_000))

        prompt = fill("examiner-conclusion", {"report": fenced(self._told(report))})
        return await converse(self._model, prompt, ConclusionReply, accept=accept, wanted="a conclusion")

    def _told(self, report: Report) -> str:
        """Tell what is known so far, and what is left of the budget."""
        return json.dumps(
            {
                "question about models": report.query,
                **({"understood": report.understood} if report.understood else {}),
                "models": report.models,
                **({"pictures": self._pictures} if self._pictures else {}),
                "experiments": [{"number": n} | _seen(one) for n, one in enumerate(report.experiments, 1)],
                **({"patterns of failure": [one.sentence for one in report.patterns]} if report.patterns else {}),
                "open questions": report.questions,
                "left": _left(report),
                "notes": report.notes,
            },
            indent=1,
            ensure_ascii=False,
        )


def _answer(reply: ModelAnswerReply, report: Report, asked: AskedProperty | None) -> Answer:
    """Return the answer for one model.

    Raises:
        UnusableError: No decided claim bears it out, or none about what was asked, or it says yes or no to a question
            about an undecided property, or yes where it means no.
    """
    numbers = reply.experiments or range(1, len(report.experiments) + 1)
    strangers = [number for number in numbers if not 1 <= number <= len(report.experiments)]
    if strangers:
        msg = f"There is no experiment {strangers[0]}; there are {len(report.experiments)}."
        raise UnusableError(msg)
    rests_on = [report.experiments[number - 1] for number in numbers]
    if reply.holds is not None and not any(decided_about(reply.about, one) for one in rests_on):
        msg = f"No claim about {reply.about[:80]!r} is decided: its `holds` is null."
        raise UnusableError(msg)
    objection = ""
    if reply.holds is not None and asked is not None:
        objection = asked.objection(reply.about, rests_on, holds=reply.holds, answer=reply.answer)
    if objection:
        msg = f"{objection[:300]} Rest on an experiment that is about it and says so, or let `holds` be null."
        raise UnusableError(msg)
    if (reply.holds is None) == (reply.answer in {"yes", "no"}) and reply.answer is not None:
        held = json.dumps(reply.holds)
        msg = f"Of {reply.about[:80]!r} `holds` is {held} and `answer` {reply.answer!r}: they disagree."
        raise UnusableError(msg)
    return Answer(
        about=_cut(reply.about, 160), answer=reply.answer, property=_cut(reply.property, 300), holds=reply.holds,
        sentence=_cut(reply.sentence, 400),
    )  # fmt: skip


def _tools() -> dict[str, str]:
    return {"selects": str(SELECTS), "transforms": str(TRANSFORMS)}


def _design(reply: ExperimentReply, models: Sequence[str]) -> Design:
    try:
        arms = [
            Arm(
                answer=one.answer,
                select=one.select.call(),
                transform=one.transform.call(),
                against=one.against.call(),
                question=one.question,
            )
            for one in reply.arms
        ]
        half = halfway(max(len({arm.answer for arm in arms}), 1))
        made = Design(
            difficulty=reply.difficulty, purpose=reply.purpose, skill=reply.skill, condition=reply.condition,
            question=reply.question, arms=arms, unknown=reply.unknown, paired=reply.paired,
            against=reply.against, pools={one.name: one.classes for one in reply.pools},
            claims=_claims(reply, models, half),
        )  # fmt: skip
        return checked(made, list(models))
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5])
        raise UnusableError("; ".join(problems)) from error
    except BadInput as error:
        raise UnusableError(str(error)) from error


def _claims(reply: ExperimentReply, models: Sequence[str], half: float) -> list[Claim]:
    """Return the claims of the kinds that are wanted, at our thresholds or at that which the question states."""
    stated, kinds = reply.threshold, dict.fromkeys(reply.claims)
    against = 0.0 if reply.against else MARGIN
    bars = {"ability": stated or half, "plain": half, "drop": stated or against, "mistake": stated or MARGIN}
    claims = [
        Claim.model_validate(
            {"kind": kind, "model": name, "threshold": bars[kind], "answer": reply.taken_for * (kind == "mistake")}
        )
        for kind in kinds
        if kind in bars
        for name in models
    ]
    pairs = list(combinations(models, 2))
    for kind in ("better", "steadier"):
        if kind in kinds:
            claims += [_comparing(kind, one, other, stated or 0.0) for one, other in pairs]
    if "alike" in kinds:  # neither is better by more than the margin
        kind, margin = "steadier" if "steadier" in kinds else "better", stated or MARGIN
        claims += [_comparing(kind, *pair, margin) for one, other in pairs for pair in ((one, other), (other, one))]
    return list(dict.fromkeys(claims))[:MOST_CLAIMS]


def _comparing(kind: str, model: str, other: str, threshold: float) -> Claim:
    return Claim.model_validate({"kind": kind, "model": model, "other": other, "threshold": threshold})


def _left(report: Report) -> dict[str, float]:
    """Return what is left of the budget."""
    budget = report.budget
    return {
        "experiments": max(budget.experiments - len(report.experiments), 0),
        "pictures": max(budget.images - report.images, 0),
        "questions to models": max(budget.trials - report.trials, 0),
        "seconds": max(round(budget.seconds - report.seconds), 0),
    }


def _seen(experiment: Experiment) -> dict[str, Any]:
    design = experiment.design
    return {
        "difficulty": design.difficulty,
        "purpose": design.purpose,
        "question": design.question,
        "answers": [
            {
                "arm": number,
                "answer": arm.answer,
                "select": _written(arm.select),
                "transform": _written(arm.transform),
                **({"against": _written(arm.against)} if design.against else {}),
            }
            for number, arm in enumerate(design.arms, 1)
        ],
        **({"names drawn for each picture from": design.pools} if design.pools else {}),
        "pictures": experiment.images,
        "rejected": experiment.rejected,
        "results": [
            {
                "model": one.model,
                "pictures": design.plain_condition if one.plain else "as asked",
                **({"task": one.task} if one.task else {}),
                "n": one.n,
                "accuracy": round(one.average, _FIGURES),
                "by answer": {name: round(share, _FIGURES) for name, share in one.by_class.items()},
                "by arm": [round(share, _FIGURES) for share in one.by_arm],
                "abstained": one.abstention,
            }
            for one in experiment.results
        ],
        "claims": [
            {
                "claim": one.claim.stated(design),
                "verdict": "cannot be examined: " + one.trouble if one.trouble else one.verdict,
                "mean": round(one.mean, _FIGURES),
                "interval": [round(end, _FIGURES) for end in one.interval],
                "interval is": interval_name(one),
                "n": one.n,
                "of": f"{design.unit.name}s",
            }
            for one in experiment.findings
        ],
        "interpretation": experiment.interpretation,
    }


def _written(call: ToolCall) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def _cut(text: str, most: int) -> str:
    """Put a text on one line, at most so long."""
    words = " ".join(text.split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"
