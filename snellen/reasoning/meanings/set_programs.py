"""The compilation of sets of things: the steps of a program that find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from snellen.reasoning.language.inflection import plural
from snellen.reasoning.meanings.answer_phrases import scarcity
from snellen.reasoning.meanings.phrases import chain, noun_phrase
from snellen.reasoning.meanings.program_writer import ProgramWriter, RegionList, text
from snellen.reasoning.meanings.things import (
    ByExtreme,
    Everything,
    Filter,
    HasColour,
    HasFact,
    HasSize,
    InLine,
    InRelation,
    IsA,
    IsAmong,
    IsAt,
    IsBetween,
    IsLike,
    IsNot,
    One,
    Ordinal,
    Property,
    Things,
    Union,
    candidates,
    pictures,
)
from snellen.reasoning.meanings.tool_choices import ToolChoices

IMAGES: Final = {"picture": "IMAGE", "left": "LEFT", "right": "RIGHT"}
SAME_THING: Final = 0.5
"""The share of two boxes from which on they show one thing, as the tools take it."""
_RELATIONS: Final = {
    "left of": "LEFT_OF", "right of": "RIGHT_OF", "above": "ABOVE", "below": "BELOW", "next to": "NEXT_TO",
    "inside": "INSIDE", "on": "ON",
}  # fmt: skip
_ORDERS: Final = {
    "largest": ("area", True), "smallest": ("area", False), "leftmost": ("x", False), "rightmost": ("x", True),
    "topmost": ("y", False), "bottommost": ("y", True),
}  # fmt: skip
_MOST_NAMES: Final = 100


@dataclass
class SetCompiler:
    """Writes the steps that find sets of things, each set once.

    Attributes:
        writer: The program so far.
        choices: The tools to take.
        known: The sets that variables hold already.
    """

    writer: ProgramWriter
    choices: ToolChoices = field(default_factory=ToolChoices)
    known: dict[Things, RegionList] = field(default_factory=dict)

    def regions(self, things: Things) -> RegionList:
        """Write the steps that find a set, where they are not written yet; guards note what it presupposes."""
        if things not in self.known:
            self.known[things] = self._found(things)
        return self.known[things]

    def some(self, things: Things, needed: int = 1) -> RegionList:
        """Find a set that is presupposed to have so many things at least."""
        found = self.regions(things)
        if not (needed == 1 and isinstance(things, One | Ordinal)):
            self.writer.guard(_fewer(found.expression, needed), scarcity(things, needed))
        return found

    def _found(self, things: Things) -> RegionList:
        match things:
            case Everything(picture="both"):
                left, right = (self.regions(_within(things, picture)) for picture in ("left", "right"))
                return RegionList(self.writer.assign("BOX", f"{left.expression} + {right.expression}"))
            case Everything():
                self._say(things)
                image = IMAGES[things.picture]
                tool = "THINGS(image={})" if self.choices.everything == "THINGS" else "LOC(image={},object='object')"
                return RegionList(self.writer.assign("BOX", tool.format(image)), image=image)
            case Filter():
                return self._filtered(things)
            case One():
                found = self.some(things.things)
                return RegionList(found.variable, found.start, found.start + 1, found.kind, found.image)
            case Ordinal():
                return self._ordered(things)
            case Union():
                return self._joined(things)

    def _filtered(self, things: Filter) -> RegionList:
        base, _ = chain(things)
        if base == Everything(picture="both"):
            left, right = (self.regions(_within(things, picture)) for picture in ("left", "right"))
            kind = left.kind if left.kind == right.kind else ""
            return RegionList(self.writer.assign("BOX", f"{left.expression} + {right.expression}"), kind=kind)
        match things:
            case Filter(things=Everything(picture=picture), property=IsA(names=names)):
                return self._located(things, names, picture)
            case Filter(
                things=Filter(things=Everything(picture=picture), property=IsA(names=names)),
                property=HasColour(colour=colour),
            ) if self.choices.colour_filter == "LOC":
                return self._located(things, [f"{colour} {name}" for name in names], picture)
        found = self.regions(things.things)
        kept = self.keep(found, things.property, things.things)
        self._say(things)
        return RegionList(kept, kind=found.kind, image=found.image)

    def _located(self, things: Things, names: Sequence[str], picture: str) -> RegionList:
        self._say(things)
        located = self.writer.assign("BOX", f"LOC(image={IMAGES[picture]},object={text(', '.join(names))})")
        return RegionList(located, kind=names[0] if len(names) == 1 else "", image=IMAGES[picture])

    def _joined(self, things: Union) -> RegionList:
        one, other = self.regions(things.one), self.regions(things.other)
        image = one.image if one.image == other.image else ""
        if not image:
            joined = self.writer.assign("BOX", f"unique({one.expression} + {other.expression})")
            return RegionList(joined)
        new = self._where(other.expression, f"not ({_among(one.expression)})")
        return RegionList(self.writer.assign("BOX", f"{one.expression} + {new}"), image=image)

    def _ordered(self, things: Ordinal) -> RegionList:
        found = self.regions(things.things)
        end = things.rank + things.count - 1
        if isinstance(things.order, ByExtreme):
            ordered = self.sort(found, things.order.extreme)
        else:
            of = self.regions(things.order.of)
            arguments = f"object={found.expression},of={of.expression}"
            tool = _RELATIONS[things.order.side] if things.order.side else "NEAREST"
            limit = "" if things.order.side else f",n={end}"
            ordered = self.writer.assign("BOX", f"{tool}({arguments}{limit})")
        self._say(things)
        self.writer.guard(_fewer(ordered, end), scarcity(candidates(things), end))
        return RegionList(ordered, things.rank - 1, end, found.kind, found.image)

    def sort(self, found: RegionList, extreme: str) -> str:
        """Put regions in an order and return the variable."""
        by, descending = _ORDERS[extreme]
        order = ",descending=True" if descending else ""
        return self.writer.assign("BOX", f"SORT(object={found.expression},by='{by}'{order})")

    def keep(self, found: RegionList, property: Property, things: Things) -> str:  # noqa: A002 - the language's word
        """Keep the regions of a set that have a property, and return the variable."""
        condition = self._condition(found, property, things)
        if condition:
            return self._where(found.expression, condition)
        match property:
            case IsNot():
                kept = self.keep(found, property.property, things)
                return self._where(found.expression, f"region not in {kept}")
            case HasColour():
                return self._asked(found, "what color is the {B.label}?", property.colour)
            case HasSize():
                return self._asked(found, "is the {B.label} small or large?", property.size)
            case IsAt():
                return self._at(found, property)
            case InLine():
                return self._in_line(found, property, things)
            case IsLike():
                return self._alike(found, property)
        return self._related(found, property)

    def _condition(self, found: RegionList, property: Property, things: Things) -> str:  # noqa: A002
        """Return the condition that FILTER tests for a property; empty where it takes a tool."""
        match property:
            case IsA():
                kinds = self.regions(Filter(things=_everything_of(things), property=property)).expression
                return _among(kinds) if found.image else f"region in {kinds}"
            case HasFact() if self.choices.fact_filter == "label":
                return f"label in {self._names(found, property)}"
            case InRelation(relation="larger than" | "smaller than"):
                of = self.regions(property.of).expression
                test = f"area > min({of}.area)" if property.relation == "larger than" else f"area < max({of}.area)"
                return f"len({of}) > 0 and {test}"
            case IsAmong():
                return _among(self.regions(property.things).expression)
            case IsNot():
                condition = self._condition(found, property.property, things)
                return f"not ({condition})" if condition else ""
        return ""

    def _related(self, found: RegionList, property: Property) -> str:  # noqa: A002
        match property:
            case InRelation():
                of = self.regions(property.of).expression
                return self.writer.assign("BOX", f"{_RELATIONS[property.relation]}(object={found.expression},of={of})")
            case IsBetween():
                one, other = self.regions(property.one).expression, self.regions(property.other).expression
                return self.writer.assign("BOX", f"BETWEEN(object={found.expression},of={one},other={other})")
            case HasFact():
                arguments = f"image={found.image},object={found.expression},categories={self._names(found, property)}"
                return self.writer.assign("BOX", f"CLASSIFY({arguments})")
        raise TypeError(property)

    def _at(self, found: RegionList, place: IsAt) -> str:
        image = found.image
        match place.across, place.down:
            case "middle", None:
                return self._where(found.expression, f"abs(x - {image}.width / 2) <= {image}.width / 6")
            case None, "middle":
                return self._where(found.expression, f"abs(y - {image}.height / 2) <= {image}.height / 6")
        name = " ".join(dict.fromkeys(side for side in (place.down, place.across) if side))
        return self.writer.assign("BOX", f"AT(image={image},object={found.expression},place='{name}')")

    def _where(self, regions: str, condition: str) -> str:
        return self.writer.assign("BOX", f'FILTER(object={regions},where="{condition}")')

    def _names(self, found: RegionList, property: HasFact) -> str:  # noqa: A002
        query = f"{plural(found.kind) if found.kind else 'things'} that {property.fact}"
        return self.writer.assign("LIST", f"LIST(query={text(query)},max={_MOST_NAMES})")

    def _asked(self, found: RegionList, question: str, answer: str) -> str:
        """Keep the regions about which VQA gives an answer."""
        kept = self.writer.assign("BOX", "[]")
        region = self.writer.fresh("B")
        with self.writer.block(f"for {region} in {found.expression}:"):
            shown = self.writer.assign("IMAGE", f"PICTURE(object={region})")
            question = question.replace("{B.", f"{{{region}.")
            told = self.writer.assign("ANSWER", f"VQA(image={shown},question='{question}')")
            self.writer.line(f"{kept}={kept} + ([{region}] if {told} == '{answer}' else [])")
        return kept

    def _alike(self, found: RegionList, property: IsLike) -> str:  # noqa: A002
        of = self.regions(property.of).expression
        if property.by == "kind":
            return self.writer.assign("BOX", f"IN_BOTH(object={found.expression},other={of},by='label')")
        kept = self.writer.assign("BOX", "[]")
        region, other = self.writer.fresh("B"), self.writer.fresh("B")
        with (
            self.writer.block(f"for {region} in {found.expression}:"),
            self.writer.block(f"for {other} in {of}:"),
        ):
            same = self.writer.assign("SAME", f"SAME(object={region},other={other},by='{property.by}')")
            self.writer.line(f"{kept}={kept} + ([{region}] if {same} and {region} not in {kept} else [])")
        return kept

    def _in_line(self, found: RegionList, place: InLine, things: Things) -> str:
        everything = self.regions(_everything_of(things))
        tool = "ROWS" if place.line == "row" else "COLUMNS"
        lines = self.writer.assign("LINES", f"{tool}(object={everything.expression})")
        number = place.number - 1 if place.number > 0 else place.number
        needed = abs(place.number)
        chosen = self.writer.assign("BOX", f"{lines}[{number}] if len({lines}) >= {needed} else []")
        if found == everything:
            return chosen
        return self._where(found.expression, _among(chosen))

    def _say(self, things: Things) -> None:
        self.writer.say(f"Find {noun_phrase(things).text}.")


def _among(regions: str) -> str:
    return f"len({regions}) > 0 and overlap(region, {regions}) >= {SAME_THING}"


def _fewer(regions: str, needed: int) -> str:
    return f"len({regions}) == 0" if needed == 1 else f"len({regions}) < {needed}"


def _everything_of(things: Things) -> Everything:
    """Return everything in the pictures that a set is in."""
    names = pictures(things)
    return Everything(picture=next(iter(names)) if len(names) == 1 else "both")


def _within(things: Things, picture: str) -> Things:
    """Return a filtered set of both pictures as that of one of them."""
    if isinstance(things, Filter):
        return Filter(things=_within(things.things, picture), property=things.property)
    return Everything.model_validate({"picture": picture})
