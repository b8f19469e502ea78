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

from nodes.lessons import Collected
from profiles.errors import BadInput

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from graphs.states import Json, LearnState
    from nodes.settings import Given

ACTION: Final = "learn"
"""What the requested action is called."""

NOT_APPROVED: Final = "It was not approved"
"""How the trouble of a need that a person rejected begins."""

_DECISIONS: Final = ("approve", "reject")


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
    decisions = answer.get("decisions") if isinstance(answer, dict) else None
    if not isinstance(decisions, list) or len(decisions) != count:
        raise BadInput(_unreadable(count))
    return [_rejection(one, count) for one in decisions]


def _rejection(decision: Any, count: int) -> str | None:  # noqa: ANN401
    kind = decision.get("type") if isinstance(decision, dict) else None
    if kind not in _DECISIONS:
        raise BadInput(_unreadable(count))
    if kind == "approve":
        return None
    said = " ".join(str(decision.get("message") or "").split()).rstrip(".")
    return f"{NOT_APPROVED}: {said[:500]}." if said else f"{NOT_APPROVED}."


def _unreadable(count: int) -> str:
    return (
        f"The answer to what may be learned must be {count} decision{'s' if count > 1 else ''}, "
        '{"decisions": [{"type": "approve"} or {"type": "reject", "message": "…"}, …]}, in the order of the requests.'
    )


def _described(collected: Collected) -> str:
    others = f", {len(collected.others)} of other things" if collected.others else ""
    return (
        f"{collected.need}: {len(collected.training)} to learn from, {len(collected.held_out)} to prove it on{others}"
        f" ({collected.source or 'unknown source'}).{' ' * bool(collected.need.doubt)}{collected.need.doubt}"
    )
