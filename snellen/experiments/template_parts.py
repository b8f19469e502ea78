"""Parts of templates of experiments: pictures of a class, classes of a group, a design that claims nothing yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from snellen.experiments.class_groups import ClassGroup
from snellen.experiments.design import Arm, Claim, Design
from snellen.tools.calls import ToolCall

FINE: Final = 4
"""Classes of a group that are told apart."""


def largest_first(groups: Iterable[ClassGroup]) -> list[ClassGroup]:
    """Return groups, those with most classes first."""
    return sorted(groups, key=lambda group: (-len(group.members), group.name))


def select(name: str) -> ToolCall:
    """Return the call that makes a picture of what is named."""
    return ToolCall(name="TextToImageGeneration", arguments={"class_name": name})


def spread(names: Sequence[str], count: int) -> list[str]:
    """Return so many names, evenly from all of them."""
    ranked = sorted(names)
    few = min(count, len(ranked))
    return [ranked[place * len(ranked) // few] for place in range(few)]


def retrieved(design: Design) -> Design:
    """Return the same experiment with pictures that are looked up."""
    arms = [
        arm.model_copy(update={"select": ToolCall(name="TextToImageRetrieval", arguments=arm.select.arguments)})
        for arm in design.arms
    ]
    return design.model_copy(update={"arms": arms})


def unclaimed(difficulty: int, purpose: str, skill: str, question: str, arms: Sequence[Arm]) -> Design:
    """Return an experiment whose claims are added later; until then it claims nothing worth a name."""
    nothing = Claim(kind="ability", model="-", threshold=0)
    return Design(
        difficulty=difficulty, purpose=purpose, skill=skill, question=question, arms=list(arms), claims=[nothing]
    )
