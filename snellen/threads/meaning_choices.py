"""The choice among the meanings of an instruction: a thread that waits for it, and the decisions that make it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.errors import BadInput
from snellen.nodes.ask.reading import ACTION

if TYPE_CHECKING:
    from snellen.graphs.states import Json


def is_choice(request: Json | None) -> bool:
    """Tell whether a request asks which meaning of an instruction is meant."""
    return bool(request) and request["action_requests"][0]["name"] == ACTION  # type: ignore[index]


def choosing(request: Json, number: int) -> list[Json]:
    """Return the decisions that choose one meaning.

    Args:
        request: The request.
        number: The number of the meaning, from 1.

    Raises:
        BadInput: There is no meaning of that number.
    """
    count = len(request["action_requests"])
    if not 1 <= number <= count:
        msg = f"There is no meaning {number}: choose one from 1 to {count}. {listed(request)}"
        raise BadInput(msg)
    return [{"type": "approve" if place == number else "reject"} for place in range(1, count + 1)]


def listed(request: Json) -> str:
    """Return the meanings to choose from, numbered, in a line."""
    return " ".join(
        f"({number}) {action['args']['understood']}" for number, action in enumerate(request["action_requests"], 1)
    )


def how_to_choose(thread: str, request: Json) -> str:
    """Say that an instruction has several meanings, or perhaps one, and how it is chosen."""
    if len(request["action_requests"]) == 1:
        meant = request["action_requests"][0]["args"]["understood"]
        return (
            f"Do you mean: {meant} If so, say `snellen resume {thread} --meaning 1`, or ask again with `--meaning 1`; "
            "if not, say it in other words."
        )
    return (
        f"This can be meant in {len(request['action_requests'])} ways: {listed(request)} Choose with `snellen resume "
        f"{thread} --meaning 1`, or ask again with `--meaning`."
    )
