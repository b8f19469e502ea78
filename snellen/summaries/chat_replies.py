"""Accounts: what came of a task, a lesson or an investigation, told in a chat; and what is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from snellen.experiments.findings import hundredths, interval_name, sample_size
from snellen.experiments.verdicts import VERDICTS
from snellen.learning.records import LearningOutcome
from snellen.memory.prompts.rows import PromptSelection
from snellen.reasoning.critique import Critique
from snellen.reasoning.language.inflection import counted, listing, singular, with_article
from snellen.reasoning.meanings.meanings import read_meaning
from snellen.sentences import capitalized
from snellen.summaries.answer_sentences import answer_sentence
from snellen.summaries.runs import (
    MOST_CONFIDENT,
    after_revisions,
    answer_with_confidence,
    caveat_in_words,
    drawn,
    fault_in_words,
    notices_of,
    outcome,
    regions_of,
    revision_in_words,
    steps_of,
)
from snellen.summaries.values import in_words
from snellen.tools.program import UNDECIDED
from snellen.values import Picture, Region, from_json

if TYPE_CHECKING:
    import PIL.Image

    from snellen.experiments.report import Report
    from snellen.graphs.states import AskState
    from snellen.memory.artifacts import ArtifactStore
    from snellen.reasoning.reading.remarks import Remark
    from snellen.runtime.context import Context

_LESSON: Final = re.compile(r"snellen learn '?([\w -]+?)'?(?=[,.;]|$| or | and )")
_SURENESS: Final = ((0.9, "I am sure"), (0.7, "I am fairly sure"), (0.5, "I think so"), (0.0, "I am not sure"))
_MOST_STEPS: Final = 12
"""Steps of a program that an explanation tells."""


def answer_in_words(ended: AskState, remark: Remark, meaning: str = "") -> str:
    """Tell the answer of a task; after a remark about an earlier one, what came of that.

    Args:
        ended: The task.
        remark: The remark.
        meaning: The meaning of its instruction as JSON, with which the answer is a sentence; empty where it has none.
    """
    answer = (
        "here is the picture" if isinstance(from_json(ended.answer), Picture) else in_words(from_json(ended.answer))
    )
    revised = after_revisions(ended.revisions)
    if ended.answer == UNDECIDED:
        text = "I cannot say."
    elif sentence := _sentence(ended, meaning):
        text = f"{sentence} ({revised})" if revised else sentence
    else:
        text = answer_with_confidence(answer, ended)
    text = f"I have no answer: {ended.error}" if ended.error else capitalized(text)
    if remark.right:
        return f"Good: {answer}. I remember how I got there."
    if remark:
        text = _second_answer(ended, text)
    notices = [one for one in notices_of(ended) if one not in text]
    return "\n\n".join([*filter(None, [_caveat(ended)]), text, *(f"*{one}*" for one in notices[:3])])


def _caveat(ended: AskState) -> str:
    """Say what no tool was taught and an answer depends on, and how to teach it here."""
    said, _, orders = caveat_in_words(ended.caveat).partition("; teach it: ")
    names = _LESSON.findall(orders)
    if not names:
        return caveat_in_words(ended.caveat)
    lessons = listing([f"“learn what {with_article(name)} is”" for name in names], "or")
    return f"{said}. Say {lessons}, and I try to learn it."


def _sentence(ended: AskState, meaning: str) -> str:
    """Say an answer as a sentence, with how sure it is; empty where its instruction has no meaning that was read."""
    if not meaning or ended.answer is None or ended.answer == UNDECIDED:
        return ""
    sentence = answer_sentence(read_meaning(meaning), from_json(ended.answer))
    score = _score(ended)
    if score is None or isinstance(from_json(ended.answer), Picture):
        return sentence
    rival = f", it may be {ended.rival}" if ended.rival else ""
    return f"{sentence.rstrip('.')}; {_sureness(score)}{rival}."


def certainty_in_words(ended: AskState, meaning: str) -> str:
    """Say how sure an answer is, and by what."""
    if ended.answer is None:
        return f"I had no answer: {ended.error}"
    answer = from_json(ended.answer)
    sentence = answer_sentence(read_meaning(meaning), answer) if meaning else f"The answer was “{in_words(answer)}”."
    score = _score(ended)
    if score is None:
        return f"{sentence} No score of a model stands behind it, so I cannot say how sure it is."
    sure = _sureness(score)
    seen = in_words(_regions(ended))
    return f"{sentence} {capitalized(sure)}: I found {seen}."


def outlined_answer(ended: AskState, store: ArtifactStore) -> PIL.Image.Image | None:
    """Return a picture with the regions outlined that an answer consists of or rests on; None where there are none."""
    answer = from_json(ended.answer)
    return drawn(answer, store) if regions_of(answer) else drawn(_regions(ended), store)


def _regions(ended: AskState) -> list[Region]:
    """Return the regions that the last step gave which gave regions of the task's pictures."""
    pictures = {one["id"] for one in ended.pictures if "id" in one}
    for step in reversed(steps_of(ended)):
        regions = [one for one in regions_of(step.value) if one.picture in pictures and not one.ground]
        if regions:
            return regions
    return []


def _score(ended: AskState) -> float | None:
    """Return the confidence in an answer, or where none is known the least score of the regions that it rests on."""
    return (
        ended.confidence if ended.confidence is not None else min((one.score for one in _regions(ended)), default=None)
    )


def _sureness(score: float) -> str:
    """Say how sure a score is."""
    words = next(words for least, words in _SURENESS if score >= least)
    return f"{words} ({min(score, MOST_CONFIDENT):.2f})"


def _second_answer(ended: AskState, answer: str) -> str:
    """Say what came of a correction: what was found wrong, what was learned, the new answer."""
    critiques = [Critique.from_json(one) for one in ended.critiques]
    faults = [fault_in_words(fault, one) for one in critiques for fault in one.faults]
    lines = [f"What was wrong: {faults[-1]}." if faults else "I found no step that would explain it."]
    lines += [str(LearningOutcome.from_json(one)) for one in ended.learned]
    if ended.verdict == "right":
        return "\n\n".join([*lines, f"Now: **{answer}**"])
    other = "I looked again, and still come to another answer than you say."
    return "\n\n".join([*lines, other if ended.expected else "I looked again; this is what I find.", answer])


def lessons_in_words(learned: Sequence[LearningOutcome], *, reasons: bool = False) -> str:
    """Tell what was learned, and on request why the rest was not."""
    lines = [str(one) for one in learned]
    if reasons:
        lines += [f"- {reason}" for one in learned for reason in one.reasons]
    return "\n\n".join(lines) or "Nothing was learned."


def steps_in_words(task: AskState) -> str:
    """Tell the plan and each step of a task; and what reflection found."""
    steps = steps_of(task)
    lines = [f"“{task.instruction}”: {in_words(from_json(task.answer)) if task.answer is not None else task.error}", ""]
    lines += ["What I planned:", *(f"{number}. {step}" for number, step in enumerate(task.plan, 1)), ""]
    lines += [f"Revised: {revision_in_words(one)}" for one in task.revisions]
    lines += [
        "What each step gave:",
        *(f"- `{one.tool}` (step {one.address}): {outcome(one)}" for one in steps[:_MOST_STEPS]),
    ]
    lines += [f"- … and {len(steps) - _MOST_STEPS} more"] if len(steps) > _MOST_STEPS else []
    for critique in (Critique.from_json(one) for one in task.critiques):
        lines += ["", *(f"Found wrong: {fault_in_words(fault, critique)}. {fault.reason}" for fault in critique.faults)]
    return "\n".join(lines)


def evidence_in_words(report: Report) -> str:
    """Tell the claims of a report with their figures."""
    lines = [f"“{report.query}”", ""]
    for number, experiment in enumerate(report.experiments, 1):
        lines.append(f"{number}. {experiment.design.purpose}")
        for one in experiment.findings:
            verdict = VERDICTS[one.verdict]
            low, high = one.interval
            between = f"{hundredths(one.mean)}, {interval_name(one)} {hundredths(low)} to {hundredths(high)}"
            result = one.trouble or f"{verdict} ({between}, {sample_size(one, experiment.design)})"
            lines.append(f"   - {one.claim.stated(experiment.design)}? {result}")
    return "\n".join([*lines, *(f"- {note}" for note in report.notes)])


def knowledge_in_words(named: str, context: Context) -> str:
    """Say what was learned: of a concept, or in all."""
    if context.learning is None:
        return "I have no memory here."
    prompts, demonstrations = context.learning.prompts, context.pool.learned()
    if not named:
        concepts = sorted({row.concept or "answers to questions" for row in prompts.rows()})
        learned = f"I have learned to see: {', '.join(concepts)}." if concepts else "No tool has learned anything yet."
        return f"{learned} I remember {len(demonstrations)} examples of plans and programs that were right or wrong."
    concept = singular(named)
    rows = prompts.rows(PromptSelection(concept=concept))
    about = [one for one in demonstrations if re.search(rf"\b{re.escape(concept)}", one.instruction.casefold())]
    native = context.models is not None and concept in {
        one.name for one in context.models.expansion.concepts if one.taught
    }
    lines = [
        f"{capitalized(concept)}: my models were trained on it."
        if native
        else f"My models were never trained on “{concept}”."
    ]
    by_pool = {pool: [row for row in rows if row.pool == pool] for pool in sorted({row.pool for row in rows})}
    lines += [
        f"- {pool}: {counted(len(of), 'prompt')}, learned {max(row.created for row in of)[:10]}"
        for pool, of in by_pool.items()
    ]
    lines += [f"- {len(about)} remembered examples speak of it" for _ in about[:1]]
    return "\n".join(lines if len(lines) > 1 else [*lines, "I have learned nothing else about it."])
