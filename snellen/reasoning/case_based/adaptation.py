"""Making a demonstration's program fit another instruction: slots are aligned by kind and order, then exchanged."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from snellen.reasoning.case_based.program_blocks import ProgramBlock, Unusable, parse_block, rewrite
from snellen.reasoning.language.inflection import plural, with_article
from snellen.reasoning.language.lexicon import NUMBERS, RELATION_TOOLS, RELATIONS
from snellen.reasoning.language.slots import InstructionReading, Slot
from snellen.reasoning.subjects import subjects_of

if TYPE_CHECKING:
    from snellen.memory.demonstrations import Demonstration

_WORDS: Final = {str(number): word for word, number in NUMBERS.items()}
_BY_BOXES: Final = {"left": "LEFT_OF", "right": "RIGHT_OF", "above": "ABOVE", "below": "BELOW"}
_TOOL_RELATIONS: Final = {
    **{tool: relation for tools in (RELATION_TOOLS, _BY_BOXES) for relation, tool in tools.items()},
    "CROP_LEFT": "left", "CROP_RIGHT": "right", "CROP_OVER": "above", "CROP_TOP": "above", "CROP_UNDER": "below",
    "CROP_BOTTOM": "below", "CROP_FRONT": "front", "CROP_INFRONT": "front", "CROP_INFRONTOF": "front",
    "CROP_BACK": "behind", "CROP_BEHINDOF": "behind",
}  # fmt: skip

_OF_THE_PAPER: Final = frozenset(
    (
        *("LOC", "FACEDET", "SEG", "SELECT", "CLASSIFY", "VQA", "COUNT", "EVAL", "LIST", "CROP", "CROP_LEFTOF"),
        *("CROP_RIGHTOF", "CROP_ABOVE", "CROP_BELOW", "CROP_FRONTOF", "CROP_BEHIND"),
        *("COLORPOP", "BGBLUR", "EMOJI", "REPLACE", "TAG"),
        *("a if c else b", "and", "or", "not", "xor", "Add", "Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"),
    )
)


@dataclass(frozen=True)
class DemonstrationCase:
    """A demonstration that has been read: its instruction's slots and its program, taken apart.

    Attributes:
        demonstration: As the pool has it.
        reading: Of its instruction.
        block: Its program.
        special: Whether its program does more than those of the paper. What an instruction's frame tells apart are the
            operations of the paper; that another one is wanted, only its wording can tell.
    """

    demonstration: Demonstration
    reading: InstructionReading
    block: ProgramBlock
    special: bool = False


def is_special(demonstration: Demonstration) -> bool:
    """Tell whether a demonstration's program does more than those of the paper (CLOVA, table 2)."""
    return not subjects_of(demonstration) <= _OF_THE_PAPER


def block_of(demonstration: Demonstration) -> ProgramBlock | None:
    """Take a demonstration's program apart; None where that cannot be done."""
    return _parsed(demonstration.program, tuple(demonstration.plan))


@lru_cache(maxsize=4096)
def _parsed(program: str, plan: tuple[str, ...]) -> ProgramBlock | None:
    try:
        return parse_block(program, plan)
    except Unusable:
        return None


@dataclass(frozen=True)
class SlotPair:
    """A slot of the demonstration and the slot that takes its place."""

    old: Slot
    new: Slot

    @property
    def same(self) -> bool:
        """True where nothing changes."""
        return self.old.value.lower() == self.new.value.lower()

    @property
    def qualified_otherwise(self) -> bool:
        """True where two classes are narrowed down in different words: "the two leftmost fruits", "the sharp tools"."""
        return self.old.kind == "CLASS" and _qualifier(self.old) != _qualifier(self.new)

    @property
    def ambiguous(self) -> bool:
        """True where the program says in one word what must become two: the things to locate, and those to keep.

        "Tag the fruit" locates fruit and lists fruit; "tag the sharp tools" locates tools and lists sharp tools.
        """
        one_word = self.old.kind == "CLASS" and self.old.head.lower() == self.old.value.lower()
        return one_word and self.new.head.lower() != self.new.value.lower()


def align(case: DemonstrationCase, reading: InstructionReading) -> list[SlotPair] | None:
    """Pair the slots by kind and order; None where the kinds or their numbers differ."""
    pairs = []
    left = list(reading.slots)
    for old in case.reading.slots:
        new = next((slot for slot in left if slot.kind == old.kind), None)
        if new is None:
            return None
        left.remove(new)
        pairs.append(SlotPair(old, new))
    return None if left else pairs


def adapt(case: DemonstrationCase, reading: InstructionReading) -> ProgramBlock | None:
    """Return the demonstration's program and plan with the instruction's slots in place of its own.

    A slot that the program does not use is wording: it must be the same in both, or the program does not fit.

    Returns:
        The block, or None where slots do not align or differ in what the program ignores.
    """
    pairs = align(case, reading)
    if pairs is None:
        return None
    if any(not pair.new.known and not pair.new.placed and not pair.same for pair in pairs):
        return None
    if any(pair.ambiguous for pair in pairs):
        return None
    exchange = _Exchange(pairs)
    block = rewrite(case.block, text=exchange.text, call=exchange.call)
    program = case.demonstration.program.lower()
    if exchange.unused or any(pair.qualified_otherwise and pair.old.value.lower() not in program for pair in pairs):
        return None
    plan = tuple(exchange.sentence(step) for step in block.plan)
    return replace(block, plan=plan, sources=(case.demonstration.instruction,))


class _Exchange:
    """Exchanges slots in texts, expressions and tool names, and notes which it met."""

    def __init__(self, pairs: Sequence[SlotPair]) -> None:
        self._pairs = pairs
        self._met: set[int] = set()
        self._forms: list[tuple[str, Callable[[str], str], int]] = []
        for number, pair in enumerate(pairs):
            # What stays is met as well, so that no part of it is exchanged: the face of an "angry face".
            self._forms += [(old, str if pair.same else new, number) for old, new in _forms(pair)]
        self._forms.sort(key=lambda form: (-len(form[0]), pairs[form[2]].same))

    @property
    def unused(self) -> bool:
        """True where a slot that differs was met nowhere in the program."""
        return any(not pair.same and number not in self._met for number, pair in enumerate(self._pairs))

    def text(self, text: str, expression: bool) -> str:  # noqa: FBT001 - called back by blocks.rewrite
        changed = self._replace(text)
        return self._operators(changed) if expression else changed

    def sentence(self, text: str) -> str:
        """Exchange in a sentence of the plan, where nothing counts as met."""
        met = set(self._met)
        changed = self._replace(text)
        self._met = met
        return changed

    def call(self, tool: str) -> str:
        relation = _TOOL_RELATIONS.get(tool)
        tools = _BY_BOXES if tool in _BY_BOXES.values() else RELATION_TOOLS
        for number, pair in enumerate(self._pairs):
            met = not pair.same and pair.old.kind == "RELATION" and pair.old.value == relation
            if met and pair.new.value in tools:
                self._met.add(number)
                return tools[pair.new.value]
        return tool

    def _replace(self, text: str) -> str:
        if not self._forms:
            return text
        pattern = "|".join(rf"(?<![\w]){re.escape(old)}(?![\w])" for old, _, _ in self._forms)
        return re.sub(rf"(?P<article>\ban? )?(?P<words>{pattern})", self._exchanged, text, flags=re.IGNORECASE)

    def _exchanged(self, found: re.Match[str]) -> str:
        words = found["words"].lower()
        for old, new, number in self._forms:
            if old.lower() == words:
                self._met.add(number)
                changed = new(found["words"])
                return with_article(changed) if found["article"] else changed
        return found[0]

    def _operators(self, text: str) -> str:
        for number, pair in enumerate(self._pairs):
            if pair.same or pair.old.kind != "COMPARATOR":
                continue
            operator = rf"(?<![<>=!]){re.escape(pair.old.value)}(?!=)"
            changed = re.sub(operator, pair.new.value, text)
            if changed != text:
                self._met.add(number)
                return changed
        return text


def _forms(pair: SlotPair) -> list[tuple[str, Callable[[str], str]]]:
    """Return every way the old slot may be written in a program or plan, with what takes its place."""
    old, new = pair.old, pair.new
    if old.kind == "NOUN":
        return _constant({old.text: new.text, old.many: new.many, old.value: new.value})
    if old.kind == "CLASS":
        return _constant({plural(old.head): plural(new.head), old.head: new.head, old.value: new.value})
    if old.kind == "NUMBER":
        return _constant({old.value: new.value, _WORDS.get(old.value, old.value): _WORDS.get(new.value, new.value)})
    if old.kind == "RELATION":
        side = _constant({phrase: _phrase(new.value) for phrase in RELATIONS[old.value] if " " in phrase})
        return [*side, *_constant({old.value: new.value})]
    return _constant({old.value: new.value, old.text: new.text})


def _qualifier(slot: Slot) -> str:
    """Return the words of a class besides its noun."""
    return re.sub(rf"\b(?:{re.escape(plural(slot.head))}|{re.escape(slot.head)})\b", "", slot.value.lower()).strip()


def _phrase(relation: str) -> str:
    return {"left": "to the left of", "right": "to the right of", "front": "in front of"}.get(relation, relation)


def _constant(forms: dict[str, str]) -> list[tuple[str, Callable[[str], str]]]:
    return [(old, lambda _found, new=new: new) for old, new in forms.items()]  # type: ignore[misc]
