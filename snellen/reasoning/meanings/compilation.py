"""The compilation of meanings: a program over tools that computes what a meaning denotes, and its plan.

The steps that find the things of a meaning come first. What a meaning presupposes is tested next; where it fails,
the answer is a sentence ("There is no dog."). What is left is asked, counted, compared or edited. Where "the dog" may
be one of two, the denotation is undefined; a program takes the surest or nearest, because models find things twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from snellen.reasoning.language.inflection import with_article
from snellen.reasoning.meanings.answer_phrases import NO_OPTION, SEVERAL_OPTIONS, option_name, option_names
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.geometry import SAME_SIZE
from snellen.reasoning.meanings.meanings import (
    Are,
    AreAlike,
    Aspect,
    CheckEach,
    Choose,
    ChooseCount,
    CompareCounts,
    Count,
    Describe,
    EditAction,
    EditPicture,
    Exist,
    IfThen,
    Junction,
    ListEach,
    Meaning,
    Negation,
    Query,
    QuerySetting,
    Say,
    SettingAspect,
    SettingIs,
    SettingsAlike,
    Several,
    Truth,
)
from snellen.reasoning.meanings.program_writer import ProgramGuard, ProgramWriter, RegionList, text
from snellen.reasoning.meanings.set_programs import IMAGES, SetCompiler
from snellen.reasoning.meanings.things import Everything, Filter, HasColour, HasSize, Property, pictures
from snellen.reasoning.meanings.tool_choices import ToolChoices

Rest: TypeAlias = Callable[[], str]
"""Writes the steps that come after the guards and returns the expression of what is computed."""
_COMPARISONS: Final = {"at least": ">=", "exactly": "==", "at most": "<="}
_COUNTS: Final = {"more": ">", "fewer": "<", "as many": "=="}
_EDITS: Final = {
    "colour pop": "COLORPOP(image={image},object={things})",
    "blur the rest": "BGBLUR(image={image},object={things})",
    "replace": "REPLACE(image={image},object={things},prompt={by})",
    "remove": "REPLACE(image={image},object={things},prompt='{{{ground}}}')",
    "emoji": "EMOJI(image={image},object={things},emoji={by})",
    "tag": "TAG(image={image},object={things})",
    "crop": "CROP(image={image},box={things})",
}
_SETTINGS: Final = {
    "background": "what is the background?",
    "background colour": "what color is the background?",
    "weather": "what is the weather like?",
    "style": "what style is it?",
}


@dataclass(frozen=True)
class CompiledMeaning:
    """A program for a meaning, and its plan.

    Attributes:
        program: The text of the program.
        plan: What it does, in sentences.
    """

    program: str
    plan: tuple[str, ...]


def compile_meaning(meaning: Meaning, choices: ToolChoices | None = None) -> CompiledMeaning:
    """Compile a meaning.

    Args:
        meaning: The meaning.
        choices: The tools to take where several can do an operation; those that measured best by default.
    """
    writer = ProgramWriter()
    compiler = _Compiler(SetCompiler(writer, choices or ToolChoices()))
    form = canonical(meaning)
    answer = compiler.answer(form)
    writer.line(f"FINAL_RESULT=RESULT(var={answer})")
    writer.say(echo(form))
    return CompiledMeaning("\n".join(writer.lines) + "\n", tuple(writer.plan))


class _Compiler:
    def __init__(self, sets: SetCompiler) -> None:
        self.sets = sets
        self.writer = sets.writer

    def answer(self, meaning: Meaning) -> str:
        """Write the steps of a meaning and return the variable of its answer."""
        if isinstance(meaning, Several):
            return self._several(meaning)
        if isinstance(meaning, IfThen):
            return self._branches(meaning)
        rest = self._prepared(meaning)
        guards = self.writer.take_guards()
        if not guards:
            expression = rest()
            return expression if expression.isidentifier() else self.writer.assign("ANSWER", expression)
        name = self.writer.fresh("ANSWER")
        self._guarded(name, guards, as_list=isinstance(meaning, ListEach | CheckEach))
        with self.writer.block("else:"):
            self.writer.assign_to(name, rest())
        return name

    def _guarded(self, name: str, guards: Sequence[ProgramGuard], *, as_list: bool = False) -> None:
        for number, guard in enumerate(guards):
            with self.writer.block(f"{'elif' if number else 'if'} {guard.condition}:"):
                sentence = text(guard.sentence)
                self.writer.line(f"{name}={f'[{sentence}]' if as_list else sentence}")

    def _several(self, meaning: Several) -> str:
        names = [(self.answer(each), isinstance(each, ListEach | CheckEach | Several)) for each in meaning.parts]
        return self.writer.assign("ANSWER", " + ".join(name if is_list else f"[{name}]" for name, is_list in names))

    def _branches(self, meaning: IfThen) -> str:
        holds = self.truth(meaning.condition)
        guards = self.writer.take_guards()
        name = self.writer.fresh("ANSWER")
        self._guarded(name, guards)
        if not guards:
            self._ways(name, meaning, f"if {holds()}:")
            return name
        condition, wrote = self.writer.alternative(holds)
        if not wrote:
            self._ways(name, meaning, f"elif {condition}:")
            return name
        with self.writer.block(""):
            self._ways(name, meaning, f"if {condition}:")
        return name

    def _ways(self, name: str, meaning: IfThen, header: str) -> None:
        with self.writer.block(header):
            self._branch(name, meaning.then)
        with self.writer.block("else:"):
            self._branch(name, meaning.otherwise)

    def _branch(self, name: str, meaning: Meaning) -> None:
        """Write one way; what is found on it is not known on the other."""
        known = dict(self.sets.known)
        self.writer.assign_to(name, self.answer(meaning))
        self.sets.known = known

    def _prepared(self, meaning: Meaning) -> Rest:
        """Write the steps that find the things of a meaning, and return the rest of its steps."""
        match meaning:
            case (
                Exist() | CompareCounts() | Are() | AreAlike() | SettingIs() | SettingsAlike() | Junction() | Negation()
            ):
                holds = self.truth(meaning)
                return lambda: f"'yes' if {holds()} else 'no'"
            case Choose():
                return self._choice(meaning)
            case ChooseCount():
                return self._most(meaning)
            case EditPicture():
                return self._edits(meaning)
            case IfThen() | Several():
                raise TypeError(meaning)
        return self._told(meaning)

    def _told(self, meaning: Count | Query | QuerySetting | ListEach | CheckEach | Describe | Say) -> Rest:
        match meaning:
            case Count():
                return self._number(meaning)
            case CheckEach():
                return self._checks(meaning)
            case Query() | ListEach():
                return self._aspect(meaning)
            case QuerySetting():
                return lambda: self._setting(meaning.aspect, IMAGES[meaning.picture])
            case Describe():
                return self._description(meaning)
            case Say():
                return lambda: text(meaning.words)

    def truth(self, truth: Truth) -> Rest:
        """Write the steps that find the things of a truth; the rest gives the condition that it is."""
        match truth:
            case Exist():
                found = self.sets.regions(truth.things)
                is_any = (truth.quantity, truth.number) == ("at least", 1)
                test = "> 0" if is_any else f"{_COMPARISONS[truth.quantity]} {truth.number}"
                return lambda: f"len({found.expression}) {test}"
            case CompareCounts():
                one, other = self.sets.regions(truth.one), self.sets.regions(truth.other)
                times = f"{truth.times} * " if truth.times > 1 else ""
                return lambda: f"len({one.expression}) {_COUNTS[truth.how]} {times}len({other.expression})"
            case Are():
                return self._are(truth)
            case AreAlike():
                return self._alike(truth)
            case SettingIs():
                return lambda: f"{self._setting(truth.aspect, IMAGES[truth.picture])} == {text(truth.value)}"
            case SettingsAlike():
                images = [IMAGES[name] for name in ("left", "right")]
                return lambda: " == ".join(self._setting(truth.aspect, image) for image in images)
            case Junction():
                parts = [self.truth(each) for each in truth.parts]
                return lambda: _joined(truth.how, [each() for each in parts])
            case Negation():
                denied = self.truth(truth.truth)
                return lambda: f"not ({denied()})"

    def _are(self, truth: Are) -> Rest:
        found = self.sets.some(truth.things)
        if _is_one(found) and isinstance(truth.property, HasColour):
            colour = truth.property.colour
            return lambda: f"{self._aspect_of('colour', found)} == '{colour}'"
        kept = self.sets.regions(Filter(things=truth.things, property=truth.property)).expression
        if truth.share == "most":
            return lambda: f"2 * len({kept}) > len({found.expression})"
        if _is_one(found):
            return lambda: f"len({kept}) > 0"
        return lambda: f"len({kept}) == len({found.expression})"

    def _alike(self, truth: AreAlike) -> Rest:
        found = self.sets.some(truth.things, 2)
        things = found.expression
        if truth.by == "kind":
            return lambda: f"len(unique({things}.label)) == 1"
        if truth.by == "size":
            return lambda: f"min({things}.area) >= {SAME_SIZE} * max({things}.area)"
        return lambda: self._same_colours(things)

    def _same_colours(self, things: str) -> str:
        alike = self.writer.assign("ALIKE", "'yes'")
        region = self.writer.fresh("B")
        with self.writer.block(f"for {region} in {things}:"):
            same = self.writer.assign("SAME", f"SAME(object={things},other={region},by='colour')")
            self.writer.line(f"{alike}={alike} if {same} else 'no'")
        return alike

    def _number(self, meaning: Count) -> Rest:
        found = self.sets.regions(meaning.things)
        other = self.sets.regions(meaning.more_than) if meaning.more_than else None
        if other is None and not meaning.kinds:
            return lambda: f"COUNT(box={found.expression})"
        number = "len(unique({}.label))" if meaning.kinds else "len({})"
        counts = [number.format(each.expression) for each in (found, other) if each]
        return lambda: " - ".join(counts)

    def _checks(self, meaning: CheckEach) -> Rest:
        found = self.sets.some(meaning.things)
        kept = self.sets.regions(Filter(things=meaning.things, property=meaning.property)).expression

        def rest() -> str:
            things = self.sets.sort(found, meaning.order) if meaning.order else found.expression
            answers, region = self.writer.assign("ANSWERS", "[]"), self.writer.fresh("B")
            with self.writer.block(f"for {region} in {things}:"):
                self.writer.line(f"{answers}={answers} + ['yes' if {region} in {kept} else 'no']")
            return answers

        return rest

    def _aspect(self, meaning: Query | ListEach) -> Rest:
        found = self.sets.some(meaning.things)
        if meaning.what == "ground":
            image = IMAGES[next(iter(pictures(meaning.things)))]
            return lambda: self._setting("background", image)
        if isinstance(meaning, ListEach):
            return lambda: self._each(meaning, found)
        return lambda: self._aspect_of(meaning.what, found)

    def _each(self, meaning: ListEach, found: RegionList) -> str:
        things = self.sets.sort(found, meaning.order) if meaning.order else found.expression
        if meaning.what == "name":
            return f"{things}.label"
        answers = self.writer.assign("ANSWERS", "[]")
        region = self.writer.fresh("B")
        with self.writer.block(f"for {region} in {things}:"):
            aspect = self._aspect_of(meaning.what, RegionList(region, is_one=True, kind=found.kind, image=found.image))
            self.writer.line(f"{answers}={answers} + [{aspect}]")
        return answers

    def _aspect_of(self, what: Aspect, found: RegionList) -> str:
        match what:
            case "name":
                return f"{found.first}.label"
            case "place":
                down = f"'top' if {found.first}.y < {found.image}.height / 2 else 'bottom'"
                return f"({down}) + (' left' if {found.first}.x < {found.image}.width / 2 else ' right')"
            case "colour":
                return self._asked(found, "what color is the {}?")
        return self._asked(found, "is the {} small or large?")

    def _asked(self, found: RegionList, question: str) -> str:
        """Ask VQA about a thing, in its crop."""
        region = found.first
        if self.sets.choices.colour_answer == "margin" and found.image:
            region = self.writer.assign("BOX", f"WIDEN(image={found.image},object={region})")
        shown = self.writer.assign("IMAGE", f"PICTURE(object={region})")
        # The label is a name that VQA was taught, where the kind may be a group: "what color is the weather sign?"
        words = question.format(f"{{{found.first}.label}}")
        return self.writer.assign("ANSWER", f"VQA(image={shown},question='{words}')")

    def _setting(self, aspect: SettingAspect, image: str) -> str:
        if aspect == "background" and self.sets.choices.background == "BACKGROUND":
            return f"{self.writer.assign('BOX', f'BACKGROUND(image={image})')}[0].label"
        return self.writer.assign("ANSWER", f"VQA(image={image},question='{_SETTINGS[aspect]}')")

    def _choice(self, meaning: Choose) -> Rest:
        found = self.sets.some(meaning.things)
        if _is_one(found) and all(isinstance(each, HasColour) for each in meaning.properties):
            return lambda: self._chosen_answer(self._aspect_of("colour", found), meaning.properties)
        if _is_one(found) and all(isinstance(each, HasSize) for each in meaning.properties):
            return lambda: self._chosen_answer(self._aspect_of("size", found), meaning.properties)
        kept = [self.sets.regions(Filter(things=meaning.things, property=each)) for each in meaning.properties]
        names = map(option_name, meaning.properties)
        ways = [f"{text(name)} if len({each.expression}) > 0 else " for name, each in zip(names, kept, strict=True)]
        return lambda: f"{''.join(ways)}{text(NO_OPTION)}"

    def _chosen_answer(self, answer: str, properties: Sequence[Property]) -> str:
        options = ", ".join(text(option_name(each)) for each in properties)
        return f"{answer} if {answer} in [{options}] else {text(NO_OPTION)}"

    def _most(self, meaning: ChooseCount) -> Rest:
        counts = [f"len({self.sets.regions(each).expression})" for each in meaning.options]
        than = ">" if meaning.how == "most" else "<"
        ways = []
        for number, (name, count) in enumerate(zip(option_names(meaning), counts, strict=True)):
            others = counts[:number] + counts[number + 1 :]
            bound = others[0] if len(others) == 1 else f"{'max' if than == '>' else 'min'}({', '.join(others)})"
            ways.append(f"{text(name)} if {count} {than} {bound} else ")
        return lambda: f"{''.join(ways)}{text(SEVERAL_OPTIONS)}"

    def _description(self, meaning: Describe) -> Rest:
        match meaning.things:
            case Everything(picture="both"):
                return lambda: " + ' ' + ".join(self._caption(IMAGES[name]) for name in ("left", "right"))
            case Everything(picture=picture):
                return lambda: self._caption(IMAGES[picture])
        found = self.sets.some(meaning.things)
        return lambda: self._caption(found.image, f",object={found.first}")

    def _caption(self, image: str, thing: str = "") -> str:
        return self.writer.assign("ANSWER", f"CAPTION(image={image}{thing})")

    def _edits(self, meaning: EditPicture) -> Rest:
        found = [self.sets.some(each.things) for each in meaning.actions]

        def rest() -> str:
            image = found[0].image
            for action, things in zip(meaning.actions, found, strict=True):
                image = self._edited(action, things, image)
            return image

        return rest

    def _edited(self, action: EditAction, found: RegionList, image: str) -> str:
        things = found.expression
        if self.sets.choices.outlines == "masks" and action.operation in {"colour pop", "blur the rest"}:
            things = self.writer.assign("BOX", f"MASK(image={found.image},object={things})")
        ground = self._setting("background", found.image) if action.operation == "remove" else ""
        by = action.by or ""
        step = _EDITS[action.operation].format(
            image=image,
            things=things,
            by=text(with_article(by) if action.operation == "replace" else by),
            ground=ground,
        )
        return self.writer.assign("IMAGE", step)


def _is_one(found: RegionList) -> bool:
    return found.end is not None and found.end - found.start == 1


def _joined(how: str, conditions: Sequence[str]) -> str:
    if how == "exactly one":
        return f"count([{', '.join(f'bool({each})' for each in conditions)}], True) == 1"
    return f" {how} ".join(f"({each})" for each in conditions)
