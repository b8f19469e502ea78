"""Declared tools: a typed function with a docstring becomes a tool that programs may call.

``@tool`` reads argument names, types and defaults from the signature, so that the catalogue which a
language model reads, the checks of programs and the functions cannot disagree.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from snellen import values
from snellen.errors import BadInput
from snellen.tools.evidence import ToolEvidence
from snellen.values import PictureStore, Value

if TYPE_CHECKING:
    from snellen.models.vision.models import Models
    from snellen.profiles import Profile


@dataclass(frozen=True)
class ToolContext:
    """Resources that a tool may use besides its arguments.

    Attributes:
        pictures: Where pictures are read from and written to.
        models: The vision models of the profile, loaded when first used; ``None`` where no tool needs one.
        list_knowledge: ``(query, max, candidates) -> names``, answered by the Reasoner; no candidates
            means that any name may be given.
        profile: The profile in use; ``None`` means that nothing was configured.
        variables: The variables of the running program, by name (EVAL reads them).
        warnings: Plain sentences a tool leaves for the user; they end in the step's record.
        evidence: How sure the models behind a step were; it ends in the step's record.
        deadline: When, by ``time.monotonic``, a tool that goes through many regions gives up.
    """

    pictures: PictureStore
    models: Models | None
    list_knowledge: Callable[[str, int, Sequence[str]], list[str]]
    profile: Profile | None
    variables: Mapping[str, Value] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    evidence: ToolEvidence = field(default_factory=ToolEvidence)
    deadline: float = math.inf

    def warn(self, message: str) -> None:
        """Leave a sentence for the user in the record of the running step, once."""
        if message not in self.warnings:
            self.warnings.append(message)


Condition: TypeAlias = str
"""A text that is an expression, true or false of each region: ``where='area > 100'``."""
Key: TypeAlias = str
"""A text that is an expression, a label or a number of each region: ``by='label'``."""
Order: TypeAlias = str
"""A text that is an expression, a number of each region: ``by='left'``."""


@dataclass(frozen=True)
class Parameter:
    """An argument of a tool: its name, its type name, and its default when it may be left out."""

    name: str
    kind: str
    required: bool = True
    default: str | int | float | bool | None = None

    def __str__(self) -> str:
        """Write the argument as the catalogue shows it, e.g. ``max: Number = 20``."""
        return f"{self.name}: {self.kind}" + ("" if self.required else f" = {self.default!r}")


@dataclass(frozen=True)
class Tool:
    """A tool that programs may call.

    Attributes:
        name: As programs call it.
        parameters: Its arguments.
        returns: The type name of what it gives.
        description: The function's docstring.
        function: What it does.
        synonyms: Other names for it.
        texts: Readers of text arguments by name, which raise ``BadInput`` for a text that the tool never takes; a
            program that has one is refused before it runs.
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: str
    description: str
    function: Callable[..., Any] = field(compare=False, repr=False)
    synonyms: tuple[str, ...] = ()
    texts: Mapping[str, Callable[[str], object]] = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, context: ToolContext, **arguments: Value) -> Any:  # noqa: ANN401 - typed by ``returns``
        """Run the tool on arguments given by name, each read as the type that the signature asks for.

        Raises:
            BadInput: An argument is unknown, or has no reading as its type.
        """
        read = {name: self._read(name, value) for name, value in arguments.items()}
        output = self.function(context, **read)
        if self.returns != values.REGIONS or output:
            return output
        # None of what nobody was taught is not none of what was looked for.
        return next((value for value in read.values() if isinstance(value, values.Untaught)), output)

    def _read(self, name: str, value: Value) -> Any:  # noqa: ANN401 - typed by the parameter's kind
        parameter = self.parameter(name)
        if parameter is None:
            msg = f"{self.name} has no argument {name!r}; it is {self.signature()}"
            raise BadInput(msg)
        if value is None and not parameter.required:
            return parameter.default
        try:
            kind = values.TEXT if parameter.kind in values.COMPUTED_KINDS else parameter.kind
            return values.convert(value, kind)
        except BadInput as error:
            msg = f"{self.name}({name}=…): {error}"
            raise BadInput(msg) from error

    def parameter(self, name: str) -> Parameter | None:
        """Return the argument of that name, or ``None``."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    def signature(self) -> str:
        """Return e.g. ``LOC(image: Picture, object: Text) -> Regions``."""
        return f"{self.name}({', '.join(map(str, self.parameters))}) -> {self.returns}"

    def __str__(self) -> str:
        """Write the tool as the catalogue shows it: signature, synonyms, description."""
        also = f"\n    Also written {', '.join(self.synonyms)}." if self.synonyms else ""
        text = "\n".join(f"    {line}".rstrip() for line in self.description.splitlines())
        return f"{self.signature()}{also}\n{text}"


@dataclass(frozen=True)
class Catalogue:
    """All tools, in the order of their names; ``str()`` gives the text that a language model reads."""

    tools: tuple[Tool, ...]

    def __iter__(self) -> Iterator[Tool]:
        """Go through the tools."""
        return iter(self.tools)

    def __len__(self) -> int:
        """Count the tools, synonyms not counted."""
        return len(self.tools)

    def __str__(self) -> str:
        """Write the catalogue as text, a tool a paragraph."""
        return "\n\n".join(map(str, self.tools)) + "\n"

    def names(self) -> list[str]:
        """Return every name that a program may call, synonyms included, sorted."""
        return sorted(name for each in self.tools for name in (each.name, *each.synonyms))

    def find(self, name: str) -> Tool | None:
        """Return the tool of that name or synonym, or ``None``."""
        return next((each for each in self.tools if name == each.name or name in each.synonyms), None)


_TOOLS: Final[dict[str, Tool]] = {}
_TOOL_PACKAGES: Final = ("editing", "knowledge", "regions", "vision")

_Function = TypeVar("_Function", bound=Callable[..., Any])


def tool(
    name: str, *, synonyms: Sequence[str] = (), texts: Mapping[str, Callable[[str], object]] | None = None
) -> Callable[[_Function], _Function]:
    """Declare the decorated function as the tool ``name``; the function itself stays as it was.

    The function takes a :class:`ToolContext` first, then arguments annotated with a value's type
    (``Picture``, ``Region``, ``list[Region]``, ``str``, ``int``, ``float``, ``bool``, ``list[str]``, ``Value``;
    ``Condition``, ``Key`` and ``Order`` for texts that are expressions; ``| None`` for one that may be left out).

    Args:
        name: As programs call it.
        synonyms: Other names for it.
        texts: As `Tool.texts`.

    Raises:
        TypeError: The function has no docstring, or an annotation names no value's type.
    """

    def declare(function: _Function) -> _Function:
        _TOOLS[name] = replace(_describe(name, function), synonyms=tuple(synonyms), texts=texts or {})
        return function

    return declare


def catalogue() -> Catalogue:
    """Return all tools, importing every module of the tool packages first; no model library is imported."""
    _import_tools()
    return Catalogue(tuple(_TOOLS[name] for name in sorted(_TOOLS)))


def nearest(name: str, names: Sequence[str], count: int = 1) -> list[str]:
    """Return up to ``count`` of ``names`` that read most like ``name``, best first, whatever their case."""
    written = {each.casefold(): each for each in names}
    # difflib's time grows with the product of the lengths; no name worth suggesting is this long.
    return [written[match] for match in get_close_matches(name.casefold()[:64], written, n=count, cutoff=0.55)]


@cache  # the folders are looked through once
def _import_tools() -> None:
    for package in _TOOL_PACKAGES:
        imported = importlib.import_module(f"snellen.tools.{package}")
        for module in pkgutil.iter_modules(imported.__path__):
            importlib.import_module(f"{imported.__name__}.{module.name}")


_KINDS: Final = {
    "Picture": values.PICTURE,
    "Region": values.REGION,
    "list[Region]": values.REGIONS,
    "Sequence[Region]": values.REGIONS,
    "str": values.TEXT,
    "int": values.NUMBER,
    "float": values.NUMBER,
    "int | float": values.NUMBER,
    "bool": values.BOOL,
    "list[str]": values.TEXTS,
    "Sequence[str]": values.TEXTS,
    "list[list[Region]]": values.GROUPS,
    "Condition": values.CONDITION,
    "Key": values.KEY,
    "Order": values.ORDER,
    "Value": values.ANY,
    "Any": values.ANY,
}


def _describe(name: str, function: Callable[..., Any]) -> Tool:
    signature = inspect.signature(function)
    description = inspect.getdoc(function)
    if not description:
        msg = f"tool {name} has no docstring; the catalogue needs one"
        raise TypeError(msg)
    parameters = tuple(_describe_parameter(name, each) for each in list(signature.parameters.values())[1:])
    returns = _kind_named(name, signature.return_annotation)
    return Tool(name, parameters, returns, description, function)


def _describe_parameter(tool_name: str, parameter: inspect.Parameter) -> Parameter:
    kind = _kind_named(tool_name, parameter.annotation)
    if parameter.default is inspect.Parameter.empty:
        return Parameter(parameter.name, kind)
    return Parameter(parameter.name, kind, required=False, default=parameter.default)


def _kind_named(tool_name: str, annotation: object) -> str:
    written = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    kind = _KINDS.get(written.removesuffix(" | None"))
    if kind is None:
        msg = f"tool {tool_name} uses the annotation {written!r}, which is no type of a program's values"
        raise TypeError(msg)
    return kind
