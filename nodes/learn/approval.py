"""Asking a person before anything is learned: one question for all needs, in the shape that other tools ask in.

The question is a LangGraph interrupt: the run stops until whoever follows it resumes it with a decision for each need.
Its shape (``action_requests`` and ``review_configs``, answered by ``decisions``) is that of LangChain's
human-in-the-loop middleware, so that the pages and inboxes made for it can show and answer it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from langgraph.types import interrupt

from snellen.errors import BadInput
from snellen.learning.records import Collected

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.states import Json, LearnState
    from snellen.runtime.settings import Given

ACTION: Final = "learn"
"""What the requested action is called."""

NOT_APPROVED: Final = "It was not approved"
"""How the trouble of a need that a person rejected begins."""

_DECISIONS: Final = ("approve", "reject")
_BESIDE: Final = {
    "reject": ', "message": "…"',
    "edit": ', "edited_action": {"name": "…", "args": {…}}',
}
"""What a decision has beside its type."""
_MOST_SHOWN: Final = 3
_MOST_LETTERS: Final = 40


async def approve(state: LearnState, runtime: Runtime[Given]) -> Json:  # noqa: ARG001 - a node's signature
    """Ask whether what was collected may be learned; a rejected need is set aside.

    Asked is about everything where a person wants that, else about what is doubtful (`Need.doubt`).

    An answer that cannot be read is asked for again, because LangGraph keeps every answer: raising would leave a thread
    that nobody can resume.
    """
    collected = [Collected.from_json(one) for one in state.collected]
    asked = [index for index, one in enumerate(collected) if not one.trouble and (state.approve or one.need.doubt)]
    if not asked:
        return {}
    for index, rejection in zip(asked, answered(request([collected[index] for index in asked])), strict=True):
        if rejection is not None:
            collected[index] = replace(collected[index], trouble=rejection)
    return {"collected": [one.to_json() for one in collected]}


def answered(asking: Json) -> list[str | None]:
    """Ask until the answer can be read; None for what was approved, the trouble in a sentence for what was rejected."""
    while True:
        try:
            return decided(interrupt(asking), len(asking["action_requests"]))
        except BadInput as error:
            asking = {**asking, "error": str(error)}


def request(collected: Sequence[Collected]) -> Json:
    """Ask for a decision about each need, saying what it would be learned from."""
    return {
        "action_requests": [
            {
                "name": ACTION,
                "args": {
                    "tool": one.need.tool,
                    "concept": one.need.concept,
                    "question": one.need.question,
                    "answer": one.need.answer,
                    "reason": one.need.reason,
                    "doubt": one.need.doubt,
                    "pictures": len(one.training),
                    "held_out": len(one.held_out),
                    "others": len(one.others),
                    "source": one.source,
                },
                "description": _described(one),
            }
            for one in collected
        ],
        "review_configs": [{"action_name": ACTION, "allowed_decisions": list(_DECISIONS)}],
    }


def decided(answer: Any, count: int) -> list[str | None]:  # noqa: ANN401 - whatever somebody resumed with
    """Read the decisions: None for a need that was approved, the trouble in a sentence for a rejected one.

    Raises:
        BadInput: The answer is not one decision for each of ``count`` needs.
    """
    return [None if one["type"] == "approve" else rejection(one) for one in decisions_in(answer, count, _DECISIONS)]


def rejection(decision: Json) -> str:
    """Return what a person who rejected something said, in a sentence."""
    said = " ".join(str(decision.get("message") or "").split()).rstrip(".")
    return f"{NOT_APPROVED}: {said[:500]}." if said else f"{NOT_APPROVED}."


def decisions_in(answer: Any, count: int, allowed: Sequence[str]) -> list[Json]:  # noqa: ANN401 - as above
    """Return the decisions of an answer, each an object with a ``type`` that is allowed.

    Args:
        answer: What somebody resumed with.
        count: The number of requests, which is that of the decisions.
        allowed: The types.

    Raises:
        BadInput: It is something else; the sentence says what is wrong with it, and what it must be.
    """
    wrong = _wrong(answer, count, allowed)
    if not wrong:
        return list(answer["decisions"])
    shape = " or ".join(f'{{"type": "{one}"{_BESIDE.get(one, "")}}}' for one in allowed)
    several = f"{count} decisions in the order of the requests" if count > 1 else "one decision"
    msg = f'{wrong} Answer with {{"decisions": […]}}: {several}, each {shape}.'
    raise BadInput(msg)


def _wrong(answer: Any, count: int, allowed: Sequence[str]) -> str:  # noqa: ANN401
    """Say what is wrong with an answer; nothing where nothing is."""
    if not isinstance(answer, dict):
        return f"The answer is {_shown(answer)}, no object."
    if "decisions" not in answer:
        keys = ", ".join(_shown(str(key)) for key in list(answer)[:_MOST_SHOWN])
        return f"The answer has no field 'decisions'{f', but {keys}' if keys else ''}."
    decisions = answer["decisions"]
    if not isinstance(decisions, list):
        return f"Its decisions are {_shown(decisions)}, no list."
    if len(decisions) != count:
        return f"{len(decisions)} were decided about, and {count} {'was' if count == 1 else 'were'} asked about."
    for place, one in enumerate(decisions, 1):
        if not isinstance(one, dict):
            return f"Decision {place} is {_shown(one)}, no object."
        if one.get("type") not in allowed:
            said = _shown(one["type"]) if "type" in one else "missing"
            return f"The type of decision {place} is {said}, which is none of {', '.join(allowed)}."
        if not isinstance(one.get("message") or "", str):
            return f"The message of decision {place} is {_shown(one['message'])}, no text."
    return ""


def _shown(value: Any) -> str:  # noqa: ANN401
    """Show a value as far as it fits into a sentence."""
    if isinstance(value, list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"


def _described(collected: Collected) -> str:
    others = f", {len(collected.others)} of other things" if collected.others else ""
    return (
        f"{collected.need}: {len(collected.training)} to learn from, {len(collected.held_out)} to prove it on{others}"
        f" ({collected.source or 'unknown source'}).{' ' * bool(collected.need.doubt)}{collected.need.doubt}"
    )
