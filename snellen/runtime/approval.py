"""Approval by a person: a LangGraph interrupt that asks about actions, and the decisions that answer it.

The run stops until whoever follows it resumes it with a decision for each action. The shape (``action_requests`` and
``review_configs``, answered by ``decisions``) is that of LangChain's human-in-the-loop middleware, so that the pages
and inboxes made for it can show and answer it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from langgraph.types import interrupt

from snellen.errors import BadInput

if TYPE_CHECKING:
    from snellen.graphs.states import Json

NOT_APPROVED: Final = "It was not approved"
"""How the trouble of an action that a person rejected begins."""

_DECISIONS: Final = ("approve", "reject")
_BESIDE: Final = {
    "reject": ', "message": "…"',
    "edit": ', "edited_action": {"name": "…", "args": {…}}',
}
"""Fields of a decision beside its type."""
_MOST_SHOWN: Final = 3
_MOST_LETTERS: Final = 40


def approval_request(
    action: str,
    proposals: Iterable[tuple[str, Json]],
    decisions: Sequence[str] = _DECISIONS,
    *,
    previews: Iterable[Json] = (),
) -> Json:
    """Return the request for decisions about proposed actions of one kind.

    Args:
        action: The name of the action.
        proposals: A description and the arguments of each.
        decisions: The types of decision that are allowed.
        previews: What each proposal would do, where its arguments do not show it.
    """
    return {
        "action_requests": [
            {"name": action, "args": arguments, "description": description}
            | ({} if preview is None else {"preview": preview})
            for (description, arguments), preview in zip_longest(proposals, previews)
        ],
        "review_configs": [{"action_name": action, "allowed_decisions": list(decisions)}],
    }


def ask_for_approval(request: Json) -> list[str | None]:
    """Interrupt until the answer can be read; None for an approved action, the trouble for a rejected one.

    An answer that cannot be read is asked for again, because LangGraph keeps every answer: raising would leave a thread
    that nobody can resume.
    """
    while True:
        try:
            return rejections(interrupt(request), len(request["action_requests"]))
        except BadInput as error:
            request = {**request, "error": str(error)}


def ask_for_choice(request: Json) -> int | None:
    """Interrupt until one of the proposed actions is approved, or all are rejected.

    Returns:
        The place of the approved one; None where all were rejected.
    """
    while True:
        answers = ask_for_approval(request)
        approved = [place for place, rejection in enumerate(answers) if rejection is None]
        if len(approved) <= 1:
            return approved[0] if approved else None
        request = {**request, "error": f"{len(approved)} were approved; only one of them can be meant."}


def rejections(answer: Any, count: int) -> list[str | None]:  # noqa: ANN401 - whatever somebody resumed with
    """Read the decisions: None for an approved action, the trouble in a sentence for a rejected one.

    Raises:
        BadInput: The answer is not one decision for each of ``count`` actions.
    """
    return [None if one["type"] == "approve" else _rejection(one) for one in decisions_in(answer, count, _DECISIONS)]


def _rejection(decision: Json) -> str:
    message = " ".join(str(decision.get("message") or "").split()).rstrip(".")
    return f"{NOT_APPROVED}: {message[:500]}." if message else f"{NOT_APPROVED}."


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
            kind = _shown(one["type"]) if "type" in one else "missing"
            return f"The type of decision {place} is {kind}, which is none of {', '.join(allowed)}."
        if not isinstance(one.get("message") or "", str):
            return f"The message of decision {place} is {_shown(one['message'])}, no text."
    return ""


def _shown(value: Any) -> str:  # noqa: ANN401
    """Show a value as far as it fits into a sentence."""
    if isinstance(value, list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"
