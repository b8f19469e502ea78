"""The Reasoner: one protocol, one implementation over a chat model, one without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.reasoning.reasoner import Reasoner, ReasonerUsage, ReasoningFailed, Route
from snellen.reasoning.task import Examples, Plan, Task

if TYPE_CHECKING:
    from snellen.datasets.prove.building import Reader, Writer
    from snellen.profiles import Profile

__all__ = [
    "Examples",
    "Plan",
    "Reasoner",
    "ReasonerUsage",
    "ReasoningFailed",
    "Route",
    "Task",
    "make_question_writer",
    "make_reasoner",
]


def make_reasoner(profile: Profile) -> Reasoner:
    """Make the reasoner that the profile's ``[reasoner]`` names.

    Raises:
        BadInput: The profile asks for a chat model without a key or with an address that is not one.
    """
    if profile.reasoner.kind == "chat":
        from snellen.reasoning.llm.reasoner import chat_reasoner

        return chat_reasoner(profile)
    from snellen.reasoning.case_based.reasoner import CaseReasoner

    return CaseReasoner(profile)


def make_question_writer(profile: Profile) -> tuple[Writer, Reader]:
    """Make what writes questions about scenes and what reads the tuples of texts, as ``[reasoner]`` says.

    Raises:
        BadInput: The profile asks for a chat model without a key or with an address that is not one.
    """
    if profile.reasoner.kind == "chat":
        from snellen.reasoning.llm.reasoner import chat_reasoner
        from snellen.reasoning.llm.scene_facts import ChatQuestionWriter, ChatStatements

        model = chat_reasoner(profile).model
        return ChatQuestionWriter(model), ChatStatements(model)
    from snellen.reasoning.language.scene_questions import CaseQuestionWriter
    from snellen.reasoning.reading.answers import AnswerReader

    return CaseQuestionWriter(), AnswerReader(profile.facts_path())
