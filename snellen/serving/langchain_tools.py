"""Snellen as tools of LangChain, for ``create_agent`` and whatever else calls tools.

Each tool takes typed arguments, works with and without ``await``, and returns a concise text for the model and a record
(``snellen.serving.agent_results``) for the program as the message's ``artifact``. What a user can cause comes back to
the model as one sentence, with the status ``error``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, Field, ValidationError

from snellen.errors import BadInput, SnellenError
from snellen.memory.background_loop import blocking
from snellen.memory.home import home
from snellen.profiles.user_paths import is_encodable, user_path
from snellen.runtime.input_pictures import stored_pictures
from snellen.runtime.investigation_requests import InvestigationRequest
from snellen.runtime.resources import open_pictures, resources
from snellen.serving.agent_results import LearningResult, answer_of, inside, investigation_of, searched
from snellen.serving.artifact_routes import found_of
from snellen.threads import ask, investigate, learn
from snellen.threads.events import Finished, Started, Waits
from snellen.values import Picture, from_json

Result = TypeVar("Result")
Json = dict[str, Any]
Told = tuple[str, Json]
"""What the model reads, and the record beside it."""

_ID: Final = 64

Thread = Annotated[str, Field(description="The thread that the answer came from.", max_length=64)]
Pictures = Annotated[
    list[str],
    Field(
        description="Each a path to a file, a data: address, or the id of a stored picture.", min_length=1, max_length=8
    ),
]


@dataclass(frozen=True)
class _Tools:
    """What the tools do.

    Attributes:
        profile: Name or path of a profile.
        roots: Folders whose files may be named by paths.
    """

    profile: str
    roots: tuple[Path, ...]

    async def ask_about_pictures(
        self,
        instruction: Annotated[str, Field(description="What to do: How many dogs are there? Blur all but the dog.")],
        pictures: Pictures,
        expected: Annotated[str, Field(description="The right answer, if known: a wrong one is learned from.")] = "",
    ) -> Told:
        """Answer a question about pictures, or edit them, by a program of vision models whose steps are told."""
        shown = await asyncio.to_thread(self._stored, pictures)
        events = ask.stream_ask(shown, instruction, expected=expected or None, profile=self.profile, gather=resources)
        return await self._answered(events)

    async def correct_answer(
        self,
        thread: Thread,
        expected: Annotated[str, Field(description="The right answer; empty where it is not known.")] = "",
        correction: Annotated[str, Field(description="What was wrong, in words: that is not a flamingo.")] = "",
    ) -> Told:
        """Say what was wrong with an answer: the cause is looked for, learned from, and the task tried again."""
        return await self._answered(ask.correct(thread, expected=expected or None, says=correction))

    async def investigate_models(
        self,
        query: Annotated[str, Field(description="What is to be known: Are the models robust to rotation?")],
        models: Annotated[list[str], Field(description="Models to examine, by name. None: those that fit.")] = [],  # noqa: B006 - never changed; pydantic shows it as the default
        images: Annotated[int, Field(ge=0, description="Pictures that it may use. 0: as many as usual.")] = 0,
    ) -> Told:
        """Find out by experiments what vision-language models can see, until the evidence suffices: minutes."""
        budget = {"images": float(images)} if images else {}
        request = InvestigationRequest(query=query, models=models, budget=budget, profile=self.profile)
        ended = await _ended(investigate.stream_investigate(request))
        told = investigation_of(ended.thread, "finished", await found_of(ended.thread))
        return "\n".join([told.conclusion, *(f"- {one}" for one in told.findings)]), _record(told)

    async def learn_concept(
        self,
        concept: Annotated[str, Field(description="What tools should learn to see, in a word or two.")],
        tools: Annotated[list[str], Field(description="LOC, SEG, CLASSIFY, SELECT, … None: the usual ones.")] = [],  # noqa: B006 - as above
    ) -> Told:
        """Teach tools a concept from pictures of it; what does not prove itself is discarded: a minute or more."""
        ended = await _ended(learn.stream_learn(concept, tools=tools, profile=self.profile))
        learned = learn.learned_of(ended.state)
        told = LearningResult(
            thread=ended.thread, learned=[str(one) for one in learned], kept=sum(one.kept for one in learned)
        )
        return "\n".join(told.learned), _record(told)

    async def recall_memory(
        self,
        query: Annotated[str, Field(description="A concept, or an instruction.", min_length=1, max_length=2_000)],
    ) -> Told:
        """Look up what was learned of a concept, and the examples nearest to an instruction."""
        told = await asyncio.to_thread(searched, query, self.profile, home())
        return told.in_words(), _record(told)

    async def _answered(self, events: AsyncGenerator[Any]) -> Told:
        ended = await _ended(events)
        told = await asyncio.to_thread(answer_of, ended.thread, ended.state, open_pictures(home()))
        return "\n".join([told.answer, *told.notices, f"(thread {told.thread})"]), _record(told)

    def _stored(self, pictures: Sequence[str]) -> list[Path | str | Picture]:
        return [self._one(text) for text in pictures]

    def _one(self, text: str) -> Path | str | Picture:
        named = text[:5].lower() == "data:" or (len(text) == _ID and set(text) <= set("0123456789abcdef"))
        if not named and "://" not in text.removeprefix("file://"):
            # As the process sees it: a model knows no folder but the one that it was told of.
            return inside(str(user_path(text.removeprefix("file://"), "picture").absolute()), self.roots) or text
        found = from_json(stored_pictures([text])[0])
        return found if isinstance(found, Picture) else text


def snellen_tools(profile: str = "embedded", *, roots: Sequence[Path | str] = (".",)) -> list[BaseTool]:
    """Return what Snellen can do, as tools: ask about pictures, correct an answer, investigate, learn, recall.

    The memory is the one that ``SNELLEN_HOME`` names. Threads are those of the command line: ``snellen threads`` lists
    them. Learning and experiments are not asked about first: leave those tools out, or have the agent ask.

    Args:
        profile: Name or path of a profile.
        roots: Folders whose pictures a model may name by their paths; none lets it name none.
    """
    does = _Tools(profile, tuple(user_path(one, "folder").absolute() for one in roots))
    methods = (
        does.ask_about_pictures,
        does.correct_answer,
        does.investigate_models,
        does.learn_concept,
        does.recall_memory,
    )
    return [_tool(method) for method in methods]


def _tool(method: Callable[..., Coroutine[Any, Any, Told]]) -> BaseTool:
    async def do(**arguments: Any) -> Told:  # noqa: ANN401 - the method's
        _check_text(arguments)
        return await asyncio.create_task(_apart(method(**arguments)))

    def do_and_wait(**arguments: Any) -> Told:  # noqa: ANN401 - the method's
        _check_text(arguments)
        return blocking(_apart(method(**arguments)))

    return StructuredTool.from_function(
        func=do_and_wait,
        coroutine=do,
        name=method.__name__,
        description=method.__doc__,
        args_schema=StructuredTool.from_function(coroutine=method).args_schema,
        response_format="content_and_artifact",
        handle_tool_error=True,
        handle_validation_error=_wrong_argument,
    )


def _check_text(arguments: Mapping[str, Any]) -> None:
    for name, value in arguments.items():
        said = value if isinstance(value, list) else [value]
        if not all(is_encodable(one) for one in said if isinstance(one, str)):
            msg = f"The argument {name!r} cannot be used: it holds text that is no valid Unicode."
            raise ToolException(msg)


async def _apart(work: Coroutine[Any, Any, Result]) -> Result:
    """Do work of a tool in a thread of its own: the agent's run is not the one that it continues.

    Raises:
        ToolException: It failed in a way that a user can cause.
    """
    var_child_runnable_config.set(None)
    try:
        return await work
    except SnellenError as error:
        raise ToolException(str(error)) from error


async def _ended(events: AsyncGenerator[Any]) -> Finished[Any]:
    """Follow a thread to its end.

    Raises:
        SnellenError: It failed, or waits for a person.
    """
    thread = ""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Finished):
                return event
            if isinstance(event, Started | Waits):
                thread = event.thread
    msg = f"A person must decide about {thread} first: `snellen resume {thread}`."
    raise BadInput(msg)


def _record(told: BaseModel) -> Json:
    return told.model_dump(mode="json")


def _wrong_argument(error: Any) -> str:  # noqa: ANN401 - pydantic's of either version
    if not isinstance(error, ValidationError):
        return "The arguments cannot be used."
    wrong = error.errors(include_url=False, include_input=False)[0]
    return f"The argument {'.'.join(map(str, wrong['loc']))!r} cannot be used: {wrong['msg'].lower()}."
