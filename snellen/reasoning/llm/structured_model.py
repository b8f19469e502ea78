"""Asking a chat model for one JSON object and healing what cannot be used, in a bounded number of calls.

An unusable reply goes back with the reason at most `MAX_CORRECTIONS` times; then the step is designed afresh in a new
conversation, `MAX_DESIGNS` in all; then it fails. That is at most eight calls for one step.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from snellen.reasoning.llm.endpoint_errors import Endpoint, describe, quoted, refuses_structure
from snellen.reasoning.llm.prompt_files import Prompt, fenced, plain
from snellen.reasoning.reasoner import ReasonerUsage, ReasoningFailed

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable
    from openai.types.chat import ChatCompletion

MAX_CORRECTIONS = 3
MAX_DESIGNS = 2
MAX_REPLY = 64_000
"""Characters of a reply that are read."""
MAX_ECHO = 8_000
"""Characters of an unusable reply that the model is shown again."""
MAX_REASON = 2_000
"""Characters of the reason that goes with it."""
_MAX_OBJECTS = 64
_BACKOFF = 60.0
"""Seconds the openai client may wait before a retry when the server asks for it."""

_Method = Literal["json_schema", "function_calling", "text"]
_NEXT_METHOD: dict[_Method, _Method] = {"json_schema": "function_calling", "function_calling": "text"}

_Schema = TypeVar("_Schema", bound=BaseModel)
_Value = TypeVar("_Value")


class UnusableError(Exception):
    """A reply cannot be used; the message tells the model why."""


@dataclass(frozen=True)
class Prices:
    """Price of a million tokens, in any one currency."""

    input: float
    output: float


@dataclass(frozen=True)
class Reply:
    """Result of one call."""

    text: str = ""
    arguments: dict[str, Any] | None = None
    """The object, where the endpoint returned it as a tool call."""
    cut_off: bool = False
    refusal: str = ""
    """Why the model or its filter declined; empty if it did not."""


class StructuredModel:
    """A chat model that is asked for one JSON object at a time, and what that has consumed.

    It asks by JSON schema; an endpoint that refuses is asked by function calling, then in words alone, and the way that
    worked is kept. Whatever way was asked, a reply in words is searched for its first fitting JSON object.
    """

    def __init__(self, model: BaseChatModel, *, endpoint: Endpoint, prices: Prices | None = None) -> None:
        self.usage = ReasonerUsage()
        self._model = model
        self._endpoint = endpoint
        self._prices = prices
        self._method: _Method = "json_schema"

    async def reply(self, messages: list[BaseMessage], schema: type[BaseModel]) -> Reply:
        """Call the model once, or more often while it refuses a way of asking.

        Raises:
            ReasoningFailed: The endpoint cannot be reached, is too slow, or answers with an error.
        """
        while True:
            method = self._method
            try:
                return await self._call(messages, schema, method)
            except Exception as error:  # each provider's client raises its own kinds
                if method == "text" or not refuses_structure(error):
                    raise ReasoningFailed(describe(error, self._endpoint)) from error
                self._method = _NEXT_METHOD[method]

    async def _call(self, messages: list[BaseMessage], schema: type[BaseModel], method: _Method) -> Reply:
        # The client's own limit is for each read: this one also ends an answer that drips for ever.
        async with asyncio.timeout(self._endpoint.tries * (self._endpoint.timeout + _BACKOFF)):
            try:
                message = await self._message(messages, schema, method)
            except Exception as error:
                completion = getattr(error, "completion", None)
                if completion is None:
                    raise
                return self._read_completion(completion)
        tokens = getattr(message, "usage_metadata", None)
        self._count((tokens["input_tokens"], tokens["output_tokens"]) if tokens else None)
        return _read(message)

    async def _message(self, messages: list[BaseMessage], schema: type[BaseModel], method: _Method) -> BaseMessage:
        if method == "text":
            return await self._model.ainvoke(messages)
        return await self._bound(schema, method).ainvoke(messages)

    def _bound(self, schema: type[BaseModel], method: _Method) -> Runnable[Any, BaseMessage]:
        from langchain_core.runnables import RunnableSequence

        try:
            asked = self._model.with_structured_output(schema.model_json_schema(), method=method)
        except (TypeError, ValueError) as error:
            raise NotImplementedError(method) from error
        if not isinstance(asked, RunnableSequence):
            raise NotImplementedError(method)
        # The model without LangChain's parser, whose time grows with the square of a hostile reply's length.
        return asked.first

    def _read_completion(self, completion: ChatCompletion) -> Reply:
        # openai raises for a reply that was cut off or filtered when a schema was asked for, and hands it over.
        usage = completion.usage
        self._count((usage.prompt_tokens, usage.completion_tokens) if usage else None)
        choice = completion.choices[0]
        if choice.finish_reason == "content_filter":
            return Reply(refusal="its content filter stopped the reply")
        return Reply(text=(choice.message.content or "")[:MAX_REPLY], cut_off=True)

    def _count(self, tokens: tuple[int, int] | None) -> None:
        before = self.usage
        read, written = tokens or (0, 0)
        used = ReasonerUsage(
            calls=before.calls + 1,
            input_tokens=before.input_tokens + max(read, 0),
            output_tokens=before.output_tokens + max(written, 0),
            uncounted_calls=before.uncounted_calls + (tokens is None),
        )
        self.usage = replace(used, cost=self._cost(used))

    def _cost(self, used: ReasonerUsage) -> float | None:
        if self._prices is None:
            return None
        return (used.input_tokens * self._prices.input + used.output_tokens * self._prices.output) / 1_000_000


async def converse(
    model: StructuredModel,
    prompt: Prompt,
    schema: type[_Schema],
    *,
    accept: Callable[[_Schema], _Value],
    wanted: str,
) -> _Value:
    """Ask until a reply is accepted.

    Args:
        model: Who is asked.
        prompt: What opens each conversation.
        schema: The shape of the reply.
        accept: Turns a reply of that shape into the value, or raises `UnusableError` with the reason for the model.
        wanted: What is being asked for, for the message of the failure: "a plan".

    Raises:
        ReasoningFailed: The endpoint failed, the model declined, or no reply was usable within the bounds.
    """
    reason = ""
    for _ in range(MAX_DESIGNS):
        messages = _opening(prompt)
        for _ in range(1 + MAX_CORRECTIONS):
            reply = await model.reply(messages, schema)
            if reply.refusal:
                declined = f"The chat model declined to give {wanted} ({quoted(reply.refusal)})"
                msg = f"{declined}: word the instruction differently, or choose another model."
                raise ReasoningFailed(msg)
            try:
                return accept(_parse(reply, schema))
            except UnusableError as error:
                reason = str(error)
                messages += _correction(reply, reason)
    msg = (
        f"The chat model gave no usable {wanted.split(' ', 1)[1]} in {MAX_DESIGNS * (1 + MAX_CORRECTIONS)} replies "
        f"(the last one: {quoted(reason)}): word the instruction differently, or choose a stronger model."
    )
    raise ReasoningFailed(msg)


def _opening(prompt: Prompt) -> list[BaseMessage]:
    from langchain_core.messages import HumanMessage, SystemMessage

    return [SystemMessage(prompt.system), HumanMessage(prompt.user)]


def _correction(reply: Reply, reason: str) -> list[BaseMessage]:
    from langchain_core.messages import AIMessage, HumanMessage

    # As text even where it was a tool call: a call without its result is refused by some endpoints.
    said = json.dumps(reply.arguments, ensure_ascii=False) if reply.arguments is not None else reply.text
    complaint = fenced(reason[:MAX_REASON])
    told = f"That reply cannot be used:\n{complaint}\nReply again with one whole, corrected JSON object."
    return [AIMessage(plain(said[:MAX_ECHO]) or "(nothing)"), HumanMessage(told)]


def _read(message: BaseMessage) -> Reply:
    metadata = message.response_metadata
    incomplete = metadata.get("incomplete_details") or {}
    ended = metadata.get("finish_reason") or metadata.get("stop_reason") or incomplete.get("reason")
    refusal = message.additional_kwargs.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return Reply(refusal=refusal)
    if ended in {"content_filter", "refusal"}:
        return Reply(refusal="its content filter stopped the reply")
    calls = getattr(message, "tool_calls", None) or []
    broken = getattr(message, "invalid_tool_calls", None) or []
    text = message.text or (broken and broken[0]["args"]) or ""
    return Reply(
        text=text[:MAX_REPLY],
        arguments=calls[0]["args"] if calls else None,
        cut_off=ended in {"length", "max_tokens", "max_output_tokens"},
    )


def _parse(reply: Reply, schema: type[_Schema]) -> _Schema:
    if reply.cut_off:
        msg = "It was cut off before its end. Reply more briefly."
        raise UnusableError(msg)
    found = reply.arguments if reply.arguments is not None else _first_object(reply.text, schema)
    try:
        return schema.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the object"
        msg = f"In {place}: {first['msg']}."
        raise UnusableError(msg) from error


def _first_object(text: str, schema: type[BaseModel]) -> dict[str, Any]:
    if not text.strip():
        msg = "It was empty."
        raise UnusableError(msg)
    objects = list(_objects(text))
    if not objects:
        msg = "It holds no complete JSON object."
        raise UnusableError(msg)
    fitting = (each for each in objects if schema.model_fields.keys() <= each.keys())
    return next(fitting, objects[0])


def _objects(text: str) -> Iterator[dict[str, Any]]:
    # Models talk around their JSON. The number of starts is bounded, because a failed one costs the whole rest.
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_MAX_OBJECTS):
        if start < 0:
            return
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        yield found
        start = text.find("{", end)
