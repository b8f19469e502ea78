"""Snellen as tools of LangChain, for ``create_agent`` and everything else that calls tools.

Each tool takes typed arguments, works with and without ``await``, and returns a concise text for the model and a record
(``snellen.serving.agent_tools``) for the program as the message's ``artifact``. Errors that a user can cause reach the
model as one sentence, with the status ``error``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import Field, ValidationError

from snellen.errors import BadInput, SnellenError
from snellen.memory.artifacts import is_picture_id
from snellen.memory.background_loop import blocking
from snellen.memory.home import home
from snellen.runtime.input_pictures import stored_pictures
from snellen.runtime.resources import open_pictures, resources
from snellen.serving.agent_tools import (
    Concept,
    Expected,
    Instruction,
    MemoryQuery,
    ModelNames,
    ModelQuery,
    PictureBudget,
    ToolNames,
    answer_of,
    argument_error,
    inside,
    investigation_of,
    learning_result,
    request_of,
    searched,
)
from snellen.serving.artifact_routes import found_of
from snellen.threads import ask, investigate, learn
from snellen.threads.events import Finished, Started, Waits
from snellen.user_paths import is_encodable, user_path
from snellen.values import Picture, from_json

Result = TypeVar("Result")
Json = dict[str, Any]
ToolOutput = tuple[str, Json]
"""The text for the model, and the record for the program."""

Thread = Annotated[str, Field(description="The thread that the answer came from.", max_length=64)]
Pictures = Annotated[
    list[str],
    Field(
        description="Each a path to a file, a data: address, or the id of a stored picture.", min_length=1, max_length=8
    ),
]


@dataclass(frozen=True)
class _Tools:
    """The methods behind the tools.

    Attributes:
        profile: Name or path of a profile.
        roots: Folders whose files may be named by paths.
    """

    profile: str
    roots: tuple[Path, ...]

    async def ask_about_pictures(
        self,
        instruction: Instruction,
        pictures: Pictures,
        expected: Expected = "",
    ) -> ToolOutput:
        """Answer a question about pictures, or edit them, by a program of vision models; its steps are returned."""
        shown = await asyncio.to_thread(self._stored, pictures)
        events = ask.stream_ask(shown, instruction, expected=expected or None, profile=self.profile, gather=resources)
        return await self._answered(events)

    async def correct_answer(
        self,
        thread: Thread,
        expected: Expected = "",
        correction: Annotated[str, Field(description="The mistake in words: that is not a flamingo.")] = "",
    ) -> ToolOutput:
        """Correct an answer: Snellen finds the cause, learns from it, and tries the task again."""
        return await self._answered(ask.correct(thread, expected=expected or None, says=correction))

    async def investigate_models(
        self,
        query: ModelQuery,
        models: ModelNames = [],  # noqa: B006 - never changed; pydantic shows it as the default
        images: PictureBudget = 0,
    ) -> ToolOutput:
        """Find out by experiments what vision-language models can see, until the evidence suffices. Takes minutes."""
        ended = await _ended(investigate.stream_investigate(request_of(query, models, images, self.profile)))
        result = investigation_of(ended.thread, "finished", await found_of(ended.thread))
        return "\n".join([result.conclusion, *(f"- {one}" for one in result.findings)]), result.model_dump(mode="json")

    async def learn_concept(
        self,
        concept: Concept,
        tools: ToolNames = [],  # noqa: B006 - as above
    ) -> ToolOutput:
        """Teach tools a concept from pictures; prompts that do not prove themselves are discarded. Takes a minute."""
        ended = await _ended(learn.stream_learn(concept, tools=tools, profile=self.profile))
        result = learning_result(ended.thread, ended.state)
        return "\n".join(result.learned), result.model_dump(mode="json")

    async def recall_memory(self, query: MemoryQuery) -> ToolOutput:
        """Search the memory for a concept, and for the examples nearest to an instruction."""
        result = await asyncio.to_thread(searched, query, self.profile, home())
        return result.in_words(), result.model_dump(mode="json")

    async def _answered(self, events: AsyncGenerator[Any]) -> ToolOutput:
        ended = await _ended(events)
        result = await asyncio.to_thread(answer_of, ended.thread, ended.state, open_pictures(home()))
        text = "\n".join([result.answer, *result.revisions, *result.notices, f"(thread {result.thread})"])
        return text, result.model_dump(mode="json")

    def _stored(self, pictures: Sequence[str]) -> list[Path | str | Picture]:
        return [self._one(text) for text in pictures]

    def _one(self, text: str) -> Path | str | Picture:
        if not (text[:5].lower() == "data:" or is_picture_id(text)) and "://" not in text.removeprefix("file://"):
            # As the process sees it: a model knows no folder but the one that it was told of.
            return inside(str(user_path(text.removeprefix("file://"), "picture").absolute()), self.roots) or text
        stored = from_json(stored_pictures([text])[0])
        return stored if isinstance(stored, Picture) else text


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


def _tool(method: Callable[..., Coroutine[Any, Any, ToolOutput]]) -> BaseTool:
    async def do(**arguments: Any) -> ToolOutput:  # noqa: ANN401 - the method's
        _check_text(arguments)
        return await asyncio.create_task(_apart(method(**arguments)))

    def do_and_wait(**arguments: Any) -> ToolOutput:  # noqa: ANN401 - the method's
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
        texts = value if isinstance(value, list) else [value]
        if not all(is_encodable(one) for one in texts if isinstance(one, str)):
            msg = f"The argument {name!r} cannot be used: it is not valid Unicode."
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
    msg = f"The thread {thread} waits for a person's decision: `snellen resume {thread}`."
    raise BadInput(msg)


def _wrong_argument(error: Any) -> str:  # noqa: ANN401 - pydantic's of either version
    return argument_error(error) if isinstance(error, ValidationError) else "The arguments cannot be used."
