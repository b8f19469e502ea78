"""The Reasoner: one protocol, one implementation over a chat model, one without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.reasoning.protocol import Examples, Investigator, Plan, Reasoner, ReasoningFailed, Route, Task, Usage

if TYPE_CHECKING:
    from profiles import Profile
    from tools.prove.building import Reader, Writer

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
    "make_quiz",
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


def make_quiz(profile: Profile) -> tuple[Writer, Reader]:
    """Make what writes questions about scenes and what reads the tuples of texts, as ``[reasoner]`` says.

    Raises:
        BadInput: The profile asks for a chat model without a key or with an address that is not one.
    """
    if profile.reasoner.kind == "chat":
        from nodes.reasoning.chat import chat_reasoner
        from nodes.reasoning.chat_facts import ChatQuiz, ChatStatements

        model = chat_reasoner(profile).model
        return ChatQuiz(model), ChatStatements(model)
    from nodes.reasoning.lexicon import lexicon_of
    from nodes.reasoning.quiz import Quiz
    from nodes.reasoning.statements import Statements

    return Quiz(), Statements(lexicon_of(profile))


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
