"""The node of the learn graph that asks a person before anything is learned: one request for all needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from snellen.learning.records import Collected
from snellen.runtime.approval import approval_request, ask_for_approval

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.states import Json, LearnState
    from snellen.runtime.settings import Given

ACTION: Final = "learn"
"""The name of the requested action."""


async def approve(state: LearnState, runtime: Runtime[Given]) -> Json:  # noqa: ARG001 - a node's signature
    """Ask whether what was collected may be learned; a rejected need is set aside.

    Where a person wants to be asked, it is about every need, else about the doubtful ones (`Need.doubt`).
    """
    collected = [Collected.from_json(one) for one in state.collected]
    open_ones = [index for index, one in enumerate(collected) if not one.trouble and (state.approve or one.need.doubt)]
    if not open_ones:
        return {}
    request = learning_request([collected[index] for index in open_ones])
    for index, rejection in zip(open_ones, ask_for_approval(request), strict=True):
        if rejection is not None:
            collected[index] = replace(collected[index], trouble=rejection)
    return {"collected": [one.to_json() for one in collected]}


def learning_request(collected: Sequence[Collected]) -> Json:
    """Return the request for a decision about each need, with the pictures that it would be learned from."""
    return approval_request(
        ACTION,
        [
            (
                _described(one),
                {
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
            )
            for one in collected
        ],
    )


def _described(collected: Collected) -> str:
    others = f", {len(collected.others)} of other things" if collected.others else ""
    return (
        f"{collected.need}: {len(collected.training)} to learn from, {len(collected.held_out)} to prove it on{others}"
        f" ({collected.source or 'unknown source'}).{' ' * bool(collected.need.doubt)}{collected.need.doubt}"
    )
