"""Wiring of every graph: its nodes run with ``invoke`` and ``ainvoke`` alike, and its input is checked and stored.

``Wiring`` is LangGraph's ``StateGraph`` with two differences. Nodes are asynchronous functions; a synchronous run does
them on the background loop (``snellen.memory.background_loop``) and waits, so it works with every saver and in a
notebook. And a graph takes less than its state: ``takes`` describes its input, pictures may be paths or data addresses,
and these are stored before anything reaches a checkpoint. Updates of a state (``update_state``, ``Command``) are read
like an input.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_type_hints

from langchain_core.messages import BaseMessage, convert_to_messages
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Overwrite, StateUpdate
from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

from snellen.errors import BadInput
from snellen.runtime.input_pictures import are_stored, stored_pictures
from snellen.runtime.node_execution import Step
from snellen.runtime.settings import OWN_KEY, Given, chosen_by_caller
from snellen.user_paths import is_encodable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from _typeshed import DataclassInstance
    from langchain_core.runnables import RunnableConfig

State = TypeVar("State", bound="DataclassInstance")


class Wiring(StateGraph[State, Any, Any, Any], Generic[State]):
    """A graph under construction.

    Args:
        state: What it carries from step to step.
        takes: What it begins with: a dataclass of some of these fields, described for forms and for tools.
        gives: What it ends with, described in the same way.
        settings: What a caller may choose beside that.
    """

    def __init__(self, state: type[State], *, takes: type[Any], gives: type[Any], settings: type[Given]) -> None:
        super().__init__(state, context_schema=settings, output_schema=gives)
        self.takes = takes
        self.checks = _checks(takes)

    def add_node(self, node: str, action: Any, **options: Any) -> Wiring[State]:  # type: ignore[override]  # noqa: ANN401
        """Add a node: an asynchronous function, or another graph."""
        super().add_node(node, Step(action) if inspect.iscoroutinefunction(action) else action, **options)
        return self

    def compile(self, *args: Any, **options: Any) -> Wired[State]:  # noqa: ANN401 - those of StateGraph
        """Compile it, as ``StateGraph.compile`` does."""
        compiled = super().compile(*args, **options)
        wired: Wired[State] = Wired.__new__(Wired)
        vars(wired).update(vars(compiled))
        return wired


class Wired(CompiledStateGraph[State, Any, Any, Any], Generic[State]):
    """A compiled graph."""

    def stream(
        self,
        input: Any,  # noqa: A002, ANN401 - inherited
        config: RunnableConfig | None = None,
        *,
        context: Any = None,  # noqa: ANN401 - inherited
        **options: Any,  # noqa: ANN401 - inherited
    ) -> Iterator[Any]:
        """Run it and yield what happens, as ``Pregel.stream`` does.

        Raises:
            BadInput: A field of the input cannot be used; nothing was begun.
        """
        chosen = chosen_by_caller(context)
        yield from super().stream(self._ready(input, _said(chosen, config)), config, context=chosen, **options)

    async def astream(
        self,
        input: Any,  # noqa: A002, ANN401 - inherited
        config: RunnableConfig | None = None,
        *,
        context: Any = None,  # noqa: ANN401 - inherited
        **options: Any,  # noqa: ANN401 - inherited
    ) -> AsyncIterator[Any]:
        """Run it and yield what happens, as ``Pregel.astream`` does.

        Raises:
            BadInput: A field of the input cannot be used; nothing was begun.
        """
        chosen = chosen_by_caller(context)
        ready = await asyncio.to_thread(self._ready, input, _said(chosen, config))
        running = cast("Any", super().astream(ready, config, context=chosen, **options))
        async with aclosing(running) as events:
            async for event in events:
                yield event

    def bulk_update_state(self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]) -> RunnableConfig:
        """Change a thread's state, as ``Pregel.bulk_update_state`` and ``update_state`` do.

        Pictures are stored in the home, or in the store of the resources in ``config["configurable"]["snellen"]``.

        Raises:
            BadInput: A field cannot be set like this; nothing was changed.
        """
        return super().bulk_update_state(config, self._ready_updates(config, supersteps))

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Change a thread's state, as ``Pregel.abulk_update_state`` and ``aupdate_state`` do.

        Raises:
            BadInput: A field cannot be set like this; nothing was changed.
        """
        ready = await asyncio.to_thread(self._ready_updates, config, supersteps)
        return await super().abulk_update_state(config, ready)

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:  # noqa: ARG002 - inherited
        """Return what it begins with, as a model."""
        return _model(self.get_name("Input"), self._takes)

    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:  # noqa: ARG002 - inherited
        """Return what it begins with, as a JSON schema."""
        return _described(self.get_name("Input"), self._takes)

    def get_output_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:  # noqa: ARG002 - inherited
        """Return what it ends with, as a model."""
        return _model(self.get_name("Output"), self.builder.output_schema)

    def get_output_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:  # noqa: ARG002 - inherited
        """Return what it ends with, as a JSON schema."""
        return _described(self.get_name("Output"), self.builder.output_schema)

    @property
    def _takes(self) -> type[Any]:
        return cast("Wiring[State]", self.builder).takes

    def _ready(self, value: Any, context: Any) -> Any:  # noqa: ANN401 - whatever a caller or a graph around gives
        """Return an input, or a command, with its fields checked and its pictures stored."""
        if not isinstance(value, Command):
            return self._checked(value, context)
        if value == Command():
            msg = "The command says nothing: resume with an answer, or give what is to be changed."
            raise BadInput(msg)
        return replace(value, update=self._checked_update(value.update, context))

    def _ready_updates(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> list[list[StateUpdate]]:
        context = _said(None, config)
        steps = [[StateUpdate(*one) for one in step] for step in supersteps]
        return [[one._replace(values=self._checked_update(one.values, context)) for one in step] for step in steps]

    def _checked_update(self, update: Any, context: Any) -> Any:  # noqa: ANN401 - whatever a caller gives
        """Return an update with its fields checked and its pictures stored: a state, or pairs of fields and values."""
        if not isinstance(update, list | tuple):
            return self._checked(update, context)
        if not all(isinstance(one, tuple) and len(one) == len(("name", "value")) for one in update):
            return update
        return [pair for name, value in update for pair in self._checked({name: value}, context).items()]

    def _checked(self, values: Any, context: Any) -> Any:  # noqa: ANN401 - whatever a caller or a graph around gives
        """Return fields of a state, checked and with the pictures stored.

        A graph around this one may give a state of its own: what it has beside is left alone.
        """
        mapped = isinstance(values, Mapping)
        if mapped:
            _check(values, cast("Wiring[State]", self.builder).checks)
        for one in fields(self._takes):
            _check_text(one.name, values.get(one.name) if mapped else getattr(values, one.name, None))
        pictures = values.get("pictures") if mapped else getattr(values, "pictures", None)
        if not _is_taken(self._takes, "pictures") or not pictures or are_stored(pictures):
            return values
        stored = stored_pictures(pictures, context)
        if mapped:
            return {**values, "pictures": stored}
        if isinstance(values, self.builder.state_schema) and is_dataclass(values):
            return replace(cast("Any", values), pictures=stored)
        known = {name: getattr(values, name) for name in self.builder.channels if hasattr(values, name)}
        return known | {"pictures": stored}


def _said(chosen: Given | None, config: RunnableConfig | None) -> Any:  # noqa: ANN401 - read by ``snellen.runtime.settings``
    """Return what a caller gives a run: as its context, or else in its configuration."""
    own = (config or {}).get("configurable", {}).get(OWN_KEY)
    return chosen if chosen is not None or own is None else {OWN_KEY: own}


def _is_taken(takes: type[Any], name: str) -> bool:
    return any(one.name == name for one in fields(takes))


def _checks(takes: type[Any]) -> dict[str, TypeAdapter[Any]]:
    """Return what checks each field; messages come in too many forms, and the channel reads them."""
    hints = get_type_hints(takes, include_extras=True)
    return {one.name: TypeAdapter(hints[one.name]) for one in fields(takes) if one.name != "messages"}


def _check(values: Mapping[str, Any], checks: Mapping[str, TypeAdapter[Any]]) -> None:
    if "messages" in values:
        _check_messages(values["messages"])
    for name, adapter in checks.items():
        if name not in values:
            continue
        try:
            adapter.validate_python(values[name])
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)[0]
            place = ".".join([name, *map(str, wrong["loc"])])
            msg = f"The field {place!r} cannot be set so: {wrong['msg'].lower()}."
            raise BadInput(msg) from error


def _check_messages(messages: Any) -> None:  # noqa: ANN401 - whatever a caller gives
    value = messages.value if isinstance(messages, Overwrite) else messages
    try:
        convert_to_messages(value if isinstance(value, list) else [value])
    except (NotImplementedError, ValueError, TypeError, KeyError, AttributeError) as error:
        msg = (
            "The field 'messages' cannot be set so: give messages of LangChain, or objects such as "
            '{"role": "user", "content": "How many dogs are there?"}.'
        )
        raise BadInput(msg) from error


def _check_text(name: str, value: object) -> None:
    """Refuse text that cannot be written as UTF-8, wherever in a field it stands.

    Raises:
        BadInput: There is such text.
    """
    waiting = [value.value if isinstance(value, Overwrite) else value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, BaseMessage):
            waiting.append(one.content)
        elif isinstance(one, Mapping):
            waiting.extend([*one, *one.values()])
        elif isinstance(one, list | tuple):
            waiting.extend(one)
        elif isinstance(one, str) and not is_encodable(one):
            msg = f"The field {name!r} holds text that is no valid Unicode: write it anew as UTF-8."
            raise BadInput(msg)


def _described(name: str, kind: type[Any]) -> dict[str, Any]:
    return TypeAdapter(kind).json_schema() | {"title": name}


def _model(name: str, kind: type[Any]) -> type[BaseModel]:
    hints = get_type_hints(kind, include_extras=True)
    defaults: dict[str, Any] = {
        one.name: one.default_factory() if one.default_factory is not MISSING else one.default for one in fields(kind)
    }
    made = {key: (hints[key], ... if value is MISSING else value) for key, value in defaults.items()}
    return cast("type[BaseModel]", create_model(name, **cast("Any", made)))
