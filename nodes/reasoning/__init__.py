"""The Reasoner: one protocol, one implementation over a chat model, one without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.reasoning.protocol import Examples, Investigator, Plan, Reasoner, ReasoningFailed, Route, Task, Usage

if TYPE_CHECKING:
    from profiles import Profile

__all__ = [
    "Examples",
    "Investigator",
    "Plan",
    "Reasoner",
    "ReasoningFailed",
    "Route",
    "Task",
    "Usage",
    "make_investigator",
    "make_reasoner",
]


def make_reasoner(profile: Profile) -> Reasoner:
    """Make the reasoner that the profile's ``[reasoner]`` names.

    Raises:
        BadInput: The profile asks for a chat model without a key or with an address that is not one.
    """
    if profile.reasoner.kind == "chat":
        from nodes.reasoning.chat import chat_reasoner

        return chat_reasoner(profile)
    from nodes.reasoning.cases import CaseReasoner

    return CaseReasoner(profile)


def make_investigator(profile: Profile) -> Investigator:
    """Make what designs and reads experiments, as the profile's ``[reasoner]`` says.

    Raises:
        BadInput: The profile asks for a chat model without a key or with an address that is not one.
    """
    if profile.reasoner.kind == "chat":
        from nodes.reasoning.chat import chat_reasoner
        from nodes.reasoning.chat_examiner import ChatExaminer

        return ChatExaminer(chat_reasoner(profile).model)
    from nodes.reasoning.examiner import Examiner

    return Examiner(profile)
