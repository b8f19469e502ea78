"""The form of a design: its fields, with the bounds of what may be entered there.

A field names the places of the design's JSON that it stands for. Arguments of tools are those of the registries, with
their bounds and descriptions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from snellen.tools.samples import SELECTS
from snellen.tools.transforms import TRANSFORMS

if TYPE_CHECKING:
    from snellen.experiments.design import Claim, Design
    from snellen.tools.calls import Declarations, Declared, ToolCall

Place = tuple[str | int, ...]
Kind = Literal["text", "lines", "number", "whole number", "numbers", "choice", "switch", "names"]
"""A text, texts in lines, a number, numbers in a line, one of the options, yes or no, some of the options."""

MODELS: Final = "models"
"""The field of models, which decides for whom claims are made."""
_HELP: Final = re.compile(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
"""An argument in the docstring of a tool."""
_THRESHOLDS: Final = {
    "ability": "Right in more than",
    "plain": "Right about the pictures as they were in more than",
    "drop": "Loses more than",
    "better": "Better by more than",
    "steadier": "Loses less, by more than",
    "contrast": "Better at the first task than at the second one, by more than",
    "worst": "Worst at one of them; threshold",
    "best": "Best at one of them; threshold",
    "classes": "Right about so many of them in more than",
    "favor": "Gives an answer more often than that answer is right, by more than",
    "mistake": "Mistakes one kind for the other more often than for other things, by more than",
}
_MEASURES: Final = {
    "truth": "Tells more truth than",
    "help": "Says more of what is asked for than",
    "order": "Concordance of its scores above",
    "symmetry": "Gives alike scores both ways round to more than",
    "heed": "Follows the criterion for more than",
}


@dataclass(frozen=True)
class FormField:
    """A field of the form.

    Attributes:
        name: Of the input; the same design has the same names.
        group: The heading that it stands under.
        label: For people.
        kind: What is entered.
        value: As the design has it, in the form in which it is entered.
        places: Where in the design's JSON it goes.
        unit: Of a number.
        low: The least that a number may be; None where there is no bound.
        high: The most.
        scale: What is entered, over what the design has: 100 for a share that is entered in percent.
        options: What can be chosen.
        is_optional: Whether it may be left empty.
        hint: What it means.
    """

    name: str
    group: str
    label: str
    kind: Kind
    value: Any
    places: tuple[Place, ...] = ()
    unit: str = ""
    low: float | None = None
    high: float | None = None
    scale: int = 1
    options: tuple[str, ...] = ()
    is_optional: bool = False
    hint: str = ""

    @property
    def bounds(self) -> str:
        """The bounds of a number for people: ``1 to 100``; empty where it has none."""
        if self.low is None or self.high is None:
            return ""
        return f"{self.low:,.10g} to {self.high:,.10g}"

    def read(self, entered: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return what was entered as the design has it.

        Raises:
            ValueError: It cannot be read; what it means is checked elsewhere.
        """
        if self.kind in {"switch", "names"}:
            return entered
        if not isinstance(entered, str):
            msg = "Enter a text"
            raise ValueError(msg)  # noqa: TRY004 - whoever reads it wants one kind of error
        text = entered.strip()
        if not text and self.is_optional:
            return None
        match self.kind:
            case "number":
                return self._number(text, "number") / self.scale
            case "whole number":
                return int(self._number(text, "whole number"))
            case "numbers":
                return [int(self._number(one, "whole number")) for one in text.split(",")]
            case "lines":
                return [line.strip() for line in text.splitlines() if line.strip()]
            case _:
                return text

    def shown(self, entered: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return what stands in the field: what was entered, where that can stand there, or else its value."""
        if self.kind == "names":
            fits = isinstance(entered, list) and all(isinstance(one, str) for one in entered)
        else:
            fits = isinstance(entered, bool if self.kind == "switch" else str)
        return entered if fits else self.value

    def _number(self, text: str, kind: str) -> float:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        try:
            number = float(text.replace("\N{MINUS SIGN}", "-"))
        except ValueError:
            number = math.nan
        fits = math.isfinite(number) and (kind == "number" or number.is_integer())
        if not fits or not low <= number <= high:
            msg = f"Enter a {kind}{f' from {self.bounds}' if self.bounds else ''}"
            raise ValueError(msg)
        return number


def fields_of(design: Design, models: Sequence[str]) -> list[FormField]:
    """Return the fields of a design's form.

    Args:
        design: The design.
        models: The models that are examined.
    """
    return [
        *_general(design, models),
        *_answers(design),
        *_thresholds(design),
        *(_of_tools(design, "select", SELECTS) if design.protocol == "choice" else ()),
        *(_of_tools(design, "transform", TRANSFORMS) if design.protocol == "choice" else ()),
        *_budget(design),
    ]


# --- the fields ----------------------------------------------------------------------------------------------


def _general(design: Design, models: Sequence[str]) -> Iterator[FormField]:
    # Who is compared with whom follows from the models that are there: others cannot be added.
    may_join = [] if any(one.other for one in design.claims) else models
    yield FormField(
        MODELS,
        "What is asked",
        "Models",
        "names",
        design.models,
        options=tuple(dict.fromkeys([*design.models, *may_join])),
    )
    yield FormField("question", "What is asked", "Question", "text", design.question, (("question",),))
    own: dict[str, list[Place]] = {}
    for number, arm in enumerate(design.arms):
        if arm.question and design.protocol == "choice":
            own.setdefault(arm.question, []).append(("arms", number, "question"))
    for number, (text, places) in enumerate(own.items()):
        answers = " / ".join(dict.fromkeys(design.arms[int(place[1])].answer for place in places))
        yield FormField(
            f"question-{number}", "What is asked", f"Question about pictures of {answers}", "text", text, tuple(places)
        )


def _answers(design: Design) -> Iterator[FormField]:
    if design.protocol != "choice":
        return
    pools: list[Place] = [("pools", name) for name in design.pools]
    pools += [("tasks", number, "pools", name) for number, task in enumerate(design.tasks) for name in task.pools]
    for number, place in enumerate(pools):
        name, own = str(place[-1]), design.tasks[int(place[1])].pools if design.tasks else design.pools
        yield FormField(
            f"pool-{number}", "Answers", f"Classes of {name}", "lines", "\n".join(own[name]), (place,),
            hint="One in each line; each picture shows one of them, drawn at random.",
        )  # fmt: skip
    if not pools and not design.tasks:
        for number, answer in enumerate(design.classes):
            arms = [("arms", place, "answer") for place, arm in enumerate(design.arms) if arm.answer == answer]
            kinds = [("kinds", kind, names.index(answer)) for kind, names in design.kinds.items() if answer in names]
            yield FormField(f"answer-{number}", "Answers", f"Answer {number + 1}", "text", answer, (*arms, *kinds))
        yield FormField(
            "unknown", "Answers", "Models may say that they do not know", "switch", design.unknown, (("unknown",),)
        )


def _thresholds(design: Design) -> Iterator[FormField]:
    group = "What is to be decided"
    yield FormField(
        "skill", group, "About", "text", design.skill, (("skill",),), hint="What models are good or bad at."
    )
    if design.condition or design.paired:
        yield FormField("condition", group, "Under which condition", "text", design.condition, (("condition",),))
    alike: dict[tuple[str, str, float, float], list[int]] = {}
    for number, claim in enumerate(design.claims):
        alike.setdefault((claim.kind, claim.measure, claim.threshold, claim.share), []).append(number)
    for number, places in enumerate(alike.values()):
        claim = design.claims[places[0]]
        names = ", ".join(dict.fromkeys(design.claims[place].about for place in places))
        if claim.share:
            yield FormField(
                f"share-{number}", group, f"{names}: Loses of its accuracy more than", "number",
                _written(100 * claim.share), tuple(("claims", place, "share") for place in places), unit="%",
                low=1, high=99, scale=100,
            )  # fmt: skip
            continue
        of_all = len(places) == sum(one.kind == claim.kind for one in design.claims)
        label = f"{_MEASURES.get(claim.measure) or _THRESHOLDS[claim.kind]}"
        if claim.measure and claim.kind == "better":
            label = _THRESHOLDS["better"]
        yield FormField(
            f"threshold-{number}", group, label if of_all else f"{names}: {label}", "number",
            _written(100 * claim.threshold), tuple(("claims", place, "threshold") for place in places),
            unit=_unit(claim), low=100 * claim.low, high=100 * claim.high, scale=100,
        )  # fmt: skip


def _of_tools(design: Design, which: Literal["select", "transform"], tools: Declarations[Any]) -> Iterator[FormField]:
    """Yield the arguments of a tool for all arms that call it alike."""
    alike: dict[str, list[int]] = {}
    for number, arm in enumerate(design.arms):
        alike.setdefault(getattr(arm, which).model_dump_json(), []).append(number)
    for number, places in enumerate(alike.values()):
        call: ToolCall = getattr(design.arms[places[0]], which)
        tool = tools.named(call.name)
        answers = list(dict.fromkeys(design.arms[place].answer for place in places))
        group = f"{call.name} ({' / '.join(answers)})" if len(answers) < len(design.classes) else call.name
        for name, value in tool.read(call.arguments).model_dump(mode="json").items():
            if name == "class_name" and (design.pools or design.tasks) and which == "select":
                continue  # the name of a pool, whose classes have a field of their own
            where = tuple(("arms", place, which, "arguments", name) for place in places)
            yield _argument(f"{which}-{number}-{name}", group, tool, name, value, where)


def _argument(
    name: str,
    group: str,
    tool: Declared[Any],
    argument: str,
    value: Any,  # noqa: ANN401 - any JSON
    places: tuple[Place, ...],
) -> FormField:
    schema = tool.form.model_json_schema()["properties"][argument]
    is_optional = any(one.get("type") == "null" for one in schema.get("anyOf", ()))
    schema = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
    options = tuple(schema.get("enum", ()))
    kinds: dict[str, Kind] = {
        "integer": "whole number", "number": "number", "boolean": "switch", "array": "numbers", "string": "text",
    }  # fmt: skip
    kind: Kind = "choice" if options else kinds[schema["type"]]
    shown = value if kind == "switch" else _written(value)
    hints = {each: " ".join(text.split()) for each, text in _HELP.findall(tool.description)}
    return FormField(
        name, group, argument, kind, shown, places,
        low=schema.get("minimum", schema.get("exclusiveMinimum")), high=schema.get("maximum"), options=options,
        is_optional=is_optional, hint=hints.get(argument, ""),
    )  # fmt: skip


def _budget(design: Design) -> Iterator[FormField]:
    group = "Pictures"
    yield FormField(
        "least", group, "Before anybody looks, at least", "whole number", _written(design.least), (("least",),),
        low=0, high=10_000, unit="pictures", hint="0: as few as it takes.",
    )  # fmt: skip
    yield FormField(
        "most", group, "At most", "whole number", _written(design.most), (("most",),), low=0, high=1_000_000,
        unit="pictures", hint="0: its share of the budget.",
    )  # fmt: skip


def _unit(claim: Claim) -> str:
    if claim.kind in {"ability", "plain"}:
        return "%" if claim.measure != "order" else "hundredths"
    return "points"


# --- values --------------------------------------------------------------------------------------------------


def _written(value: Any) -> str:  # noqa: ANN401 - a value of a design
    """Write a value as it is entered."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:.10g}" if isinstance(value, float) else str(value)
