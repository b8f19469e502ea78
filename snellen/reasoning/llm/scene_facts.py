"""Questions about scenes written, and tuples of texts read, by a chat model (PROVE, figures 8 and 9, section 3.2).

What the model writes is parsed, typed and bounded: programs go into the box of `snellen.scoring.verification`, and
tuples that are none go back with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, Field, ValidationError

from snellen.datasets.prove import Pictured, QuestionDraft
from snellen.errors import BadInput
from snellen.reasoning.llm.prompt_files import fenced, fill
from snellen.reasoning.llm.structured_model import StructuredModel, UnusableError, converse
from snellen.reasoning.reasoner import ReasonerUsage
from snellen.scoring.scene_graph import Fact
from snellen.scoring.verification import MAX_PROGRAM

_MOST_QUESTIONS: Final = 15
_MOST_TUPLES: Final = 200
"""Of one text."""
_AT_ONCE: Final = 20
"""Texts of one request."""
_MOST_TEXT: Final = 4_000
"""Characters of a text that are read."""


class QuestionReply(BaseModel):
    """A question."""

    kind: str
    question: str
    answer: str
    program: str


class QuizReply(BaseModel):
    """Questions about one picture."""

    questions: list[QuestionReply]


class TupleReply(BaseModel):
    """A tuple."""

    entity: str
    attribute: str = ""
    relation: str = ""
    target: str = ""
    kind: str = ""
    negated: bool = False


class ReadReply(BaseModel):
    """The tuples of some texts."""

    texts: list[list[TupleReply]] = Field(default_factory=list)


class ChatQuestionWriter:
    """Writes questions about scenes with a chat model.

    Args:
        model: The chat model.
    """

    def __init__(self, model: StructuredModel) -> None:
        self._model = model

    @property
    def usage(self) -> ReasonerUsage:
        """Calls, tokens and cost so far."""
        return self._model.usage

    async def write(self, scene: Pictured, seed: int) -> list[QuestionDraft]:  # noqa: ARG002 - a chat model has its own dice
        """Write ten to fifteen questions about a scene; see `snellen.datasets.prove.building.Writer`.

        Raises:
            ReasoningFailed: No valid reply, or the endpoint failed.
        """
        told = "\n".join(f"{fact.kind or 'entity'}: {fact.text}" for fact in scene.facts)
        prompt = fill("quiz-writer", {"caption": fenced(scene.caption), "tuples": fenced(told)})

        def accept(reply: QuizReply) -> list[QuestionDraft]:
            drafts = {}
            for one in reply.questions[:_MOST_QUESTIONS]:
                if len(one.program) > MAX_PROGRAM:
                    msg = f"A program may have {MAX_PROGRAM:,} characters, not {len(one.program):,}."
                    raise UnusableError(msg)
                try:
                    drafts[one.question] = QuestionDraft(**one.model_dump())
                except ValidationError as error:
                    wrong = error.errors()[0]
                    msg = f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}"
                    raise UnusableError(msg) from error
            if not drafts:
                msg = "There is no question in it."
                raise UnusableError(msg)
            return list(drafts.values())

        return await converse(self._model, prompt, QuizReply, accept=accept, wanted="questions")


class ChatStatements:
    """Reads the tuples of texts with a chat model; a text is read once.

    Args:
        model: The chat model.
    """

    def __init__(self, model: StructuredModel) -> None:
        self._model = model
        self._read: dict[tuple[str, str], list[Fact]] = {}
        self.unreadable = 0
        """Tuples of replies that were none and are left out."""

    @property
    def usage(self) -> ReasonerUsage:
        """Calls, tokens and cost so far."""
        return self._model.usage

    async def read_all(self, texts: Sequence[tuple[str, str]]) -> list[list[Fact]]:
        """Return the tuples of each text; see `snellen.datasets.prove.building.Reader`.

        Raises:
            ReasoningFailed: No valid reply, or the endpoint failed.
        """
        missing = [one for one in dict.fromkeys(texts) if one not in self._read and one[0].strip()]
        for begun in range(0, len(missing), _AT_ONCE):
            part = missing[begun : begun + _AT_ONCE]
            self._read.update(zip(part, await self._asked([_told(*one) for one in part]), strict=True))
        return [self._read.get(one, []) for one in texts]

    def unread(self, text: str, question: str) -> Sequence[str]:  # noqa: ARG002 - as the protocol has it
        """Return no words: a chat model is taken to read all that it is given."""
        return ()

    async def premises(self, questions: Sequence[str]) -> list[list[Fact]]:
        """Return the tuples that each question takes for granted.

        Raises:
            ReasoningFailed: No valid reply, or the endpoint failed.
        """
        return await self.read_all([("?", question) for question in questions])

    async def _asked(self, texts: Sequence[str]) -> list[list[Fact]]:
        numbered = "\n".join(f"{place}. {text}" for place, text in enumerate(texts, 1))
        prompt = fill("fact-reader", {"texts": fenced(numbered)})

        def accept(reply: ReadReply) -> list[list[Fact]]:
            if len(reply.texts) != len(texts):
                msg = f"There are {len(texts)} texts, and {len(reply.texts)} lists of tuples."
                raise UnusableError(msg)
            found = [_readable(each[:_MOST_TUPLES]) for each in reply.texts]
            self.unreadable += sum(len(troubles) for _, troubles in found)
            return [facts for facts, _ in found]

        return await converse(self._model, prompt, ReadReply, accept=accept, wanted="tuples")


def _told(text: str, question: str) -> str:
    if text == "?":
        return f"A question alone: {' '.join(question.split())[:_MOST_TEXT]}"
    said = " ".join(text.split())[:_MOST_TEXT]
    return f"{said} (answers: {' '.join(question.split())[:_MOST_TEXT]})" if question else said


def _readable(replies: Sequence[TupleReply]) -> tuple[list[Fact], list[str]]:
    """Return the tuples of a text, and why others are none.

    Raises:
        UnusableError: All of them are none.
    """
    facts: list[Fact] = []
    troubles: list[str] = []
    for one in replies:
        try:
            facts.append(_fact(one))
        except BadInput as error:
            troubles.append(str(error))
    if troubles and not facts:
        raise UnusableError(troubles[0])
    return facts, troubles


def _fact(one: TupleReply) -> Fact:
    entity, attribute, relation, target, kind = (
        " ".join(value.lower().split()) for value in (one.entity, one.attribute, one.relation, one.target, one.kind)
    )
    return Fact(entity, attribute, relation, target, kind, negated=one.negated)
