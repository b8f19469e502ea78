"""Calls of the tools that experiments are made of: a name and typed arguments, read and never evaluated.

A function becomes such a tool by `declare`. Its signature is the form of its arguments, limits included
(``Annotated[float, Field(gt=0)]``), and its docstring is what a language model reads about it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from operator import attrgetter
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from snellen.errors import BadInput

Result = TypeVar("Result")

Words = Annotated[str, Field(min_length=1, max_length=120)]
"""A name or a few words; model text is bounded wherever it enters."""

_FORM = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ToolCall(BaseModel):
    """Call of a tool in a design: its name and arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Words
    arguments: dict[str, Any] = Field(default_factory=dict, max_length=12)


@dataclass(frozen=True)
class Declared(Generic[Result]):
    """A tool that calls may name.

    Attributes:
        name: As calls name it.
        description: The function's docstring.
        form: The arguments, with their types, limits and defaults.
        function: What it does; takes what the tool works on, then the arguments by name.
    """

    name: str
    description: str
    form: type[BaseModel]
    function: Callable[..., Result] = field(compare=False, repr=False)

    def read(self, arguments: Mapping[str, Any]) -> BaseModel:
        """Return the arguments as their types, defaults filled in.

        Raises:
            BadInput: An argument is unknown, missing, of the wrong type or out of its limits.
        """
        try:
            return self.form.model_validate(dict(arguments))
        except ValidationError as error:
            wrong = "; ".join(_complaint(item) for item in error.errors())
            msg = f"{self.name}: {wrong}. It is {self.signature()}"
            raise BadInput(msg) from error

    def __call__(self, subject: Any, arguments: Mapping[str, Any]) -> Result:  # noqa: ANN401 - each kind has its own
        """Run the tool on what it works on; the arguments are read first."""
        return self.function(subject, **dict(self.read(arguments)))

    def signature(self) -> str:
        """Return e.g. ``ZoomAtRandomPosition(zoom_factor=2.0)``."""
        shown = (
            name if entry.is_required() else f"{name}={entry.default!r}"
            for name, entry in self.form.model_fields.items()
        )
        return f"{self.name}({', '.join(shown)})"


class Declarations(Generic[Result]):
    """The tools of one kind; iterates over them in the order of their names."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._declared: dict[str, Declared[Result]] = {}

    def __iter__(self) -> Iterator[Declared[Result]]:
        return iter(sorted(self._declared.values(), key=attrgetter("name")))

    def named(self, name: str) -> Declared[Result]:
        """Return the tool of that name.

        Raises:
            BadInput: There is none; says which ones may be meant.
        """
        if name in self._declared:
            return self._declared[name]
        near = get_close_matches(name, self._declared, n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(sorted(self._declared))}."
        msg = f"There is no {self._kind} {name[:80]!r}. {hint}"
        raise BadInput(msg)

    def declare(self, name: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
        """Make a function a tool of this kind; its arguments by name are those that calls give."""

        def declared(function: Callable[..., Result]) -> Callable[..., Result]:
            self._declared[name] = Declared(name, inspect.getdoc(function) or "", _form(name, function), function)
            return function

        return declared

    def read(self, call: ToolCall) -> ToolCall:
        """Return the call with all its arguments, as plain JSON data: equal calls are equal records.

        Raises:
            BadInput: There is no such tool, or its arguments are not as its form says.
        """
        return ToolCall(name=call.name, arguments=self.named(call.name).read(call.arguments).model_dump(mode="json"))

    def __str__(self) -> str:
        """Write what a language model reads: signatures with their descriptions."""
        return "\n\n".join(f"{tool.signature()}\n{tool.description}" for tool in self)


def _form(name: str, function: Callable[..., Any]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        parameter.name: (
            hints[parameter.name],
            ... if parameter.default is inspect.Parameter.empty else parameter.default,
        )
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    return create_model(name, __config__=_FORM, **fields)


def _complaint(error: Any) -> str:  # noqa: ANN401 - pydantic's details of an error
    where = ".".join(str(part)[:40] for part in error["loc"])
    return f"{where}: {error['msg'].lower()}" if where else error["msg"].lower()
