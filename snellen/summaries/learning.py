"""Learning in words: its phases, the counts of kept prompts, and their meaning for the user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from snellen.graphs.states import Json
    from snellen.learning.records import LearningOutcome

_PHASES: Final = {
    "collect": "collecting pictures",
    "load": "loading the models",
    "tune": "tuning prompts",
    "validate": "proving them on other pictures",
    "adapt": "training a LoRA adapter",
}
"""What each phase is called while it lasts."""


_MEANING: Final = {
    "LOC": "LOC finds {concept}",
    "SEG": "SEG outlines {concept}",
    "CLIP": "SELECT and CLASSIFY recognise {concept}",
    "REPLACE": "REPLACE paints {concept}",
    "VQA": "VQA answers questions like {question!r}",
}
"""What it means to a user that a pool has kept prompts."""


def phase_in_words(told: Json) -> str:
    """Say how far a need is, e.g. ``LOC: penguin · tuning prompts, 3 of 12``.

    Args:
        told: What the nodes of learning stream under ``learning``.
    """
    phase = str(told.get("phase", ""))
    text = f"{told.get('need', '')} · {_PHASES.get(phase, phase)}"
    place = progress_of(told)
    if place is not None:
        return f"{text}, {place[0]} of {place[1]}"
    return f"{text}: {told['kept']} of {told.get('of', '?')} kept" if "kept" in told else text


def progress_of(told: Json) -> tuple[int, int] | None:
    """Return how many are done of how many; None where the phase does not know."""
    done = told.get("done", told.get("step"))
    return None if done is None or "of" not in told else (int(done), int(told["of"]))


def counts_in_words(one: LearningOutcome) -> str:
    """Say how many prompts of a need were kept and discarded, where the pictures came from, and how long it took."""
    prompts = "prompt" if one.kept == 1 else "prompts"
    known = f", {one.already} of them from before" if one.already else ""
    source = f", from {one.source}" if one.source else ""
    return f"{one.kept} {prompts} kept{known}, {one.discarded} discarded{source} ({one.seconds:.1f} s)"


def meaning_in_words(one: LearningOutcome) -> str:
    """Say what it means that prompts of a need were kept: ``LOC finds 'penguin' from now on``.

    Where a task waits for it, that is said only once the task was right with it.
    """
    from snellen.tuning import POOL_OF_TOOL

    if not one.kept:
        return ""
    if one.need.retried and not one.helped:
        if not one.is_new:
            return "nothing new was learned"
        return "the task is tried again with it" if one.helped is None else "the answer was still not right with it"
    pool = POOL_OF_TOOL.get(one.need.tool, one.need.tool)
    text = _MEANING.get(pool, "{concept} is known").format(concept=repr(one.need.concept), question=one.need.question)
    return f"{text} now: the answer is right with it" if one.need.retried else f"{text} from now on"


@dataclass(frozen=True)
class Line:
    """A line for people, and how it is coloured on a terminal."""

    lead: str
    text: str
    style: str = ""


_SHOWN_REASONS: Final = 6


def outcome_lines(learned: Sequence[LearningOutcome]) -> Iterator[Line]:
    """Tell what came of each need: kept and discarded with the reasons, the source, the time, and what it means."""
    for one in learned:
        if one.trouble:
            yield Line(f"  {one.need}  ", f"nothing was learned: {one.trouble}", "yellow")
            continue
        yield Line(f"  {one.need}  ", counts_in_words(one), "" if one.kept else "yellow")
        for reason in one.reasons[:_SHOWN_REASONS]:
            yield Line("         ! ", reason, "yellow")
        if len(one.reasons) > _SHOWN_REASONS:
            yield Line("         ! ", f"… and {len(one.reasons) - _SHOWN_REASONS} more reasons (--json has all)", "dim")
        if meaning := meaning_in_words(one):
            yield Line("         → ", meaning, "bold green" if one.helped or not one.need.retried else "")


def hint_lines(learned: Sequence[LearningOutcome]) -> Iterator[Line]:
    """Tell how to undo what was learned; nothing where nothing new was."""
    new = [one for one in learned if one.kept > one.already]
    for concept in dict.fromkeys(one.need.concept for one in new if one.need.concept):
        named = f"'{concept}'" if " " in concept else concept
        yield Line("", f"Undo: snellen memory forget --concept {named}", "dim")
    if any(one.need.tool == "VQA" for one in new):
        yield Line("", "Undo: snellen memory forget ID (ids: snellen memory list --pool VQA)", "dim")
