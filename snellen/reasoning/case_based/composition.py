"""Solving an instruction: by one demonstration where one fits, else part by part.

The parts are instructions themselves and are solved in the same way, so that every tool that a composed program calls
comes from a demonstration; only the joints (EVAL, ``if``, ``for``, the choice of the picture) are made here.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from snellen.reasoning.case_based.adaptation import DemonstrationCase, adapt, align, block_of, is_special
from snellen.reasoning.case_based.program_blocks import (
    ProgramBlock,
    VariableNames,
    assigned,
    inputs_of,
    renumbered,
    statement,
    written,
)
from snellen.reasoning.language import clauses
from snellen.reasoning.language.lexicon import EDITS, RELATION_TOOLS, Lexicon
from snellen.reasoning.language.slots import InstructionReading, nouns_written_out, read, with_colours

if TYPE_CHECKING:
    from snellen.memory.demonstrations import Demonstration

Similarity = Callable[[str, Sequence[str]], list[float]]
"""Cosine similarities of one text with several."""

MAX_DEPTH: Final = 7
MAX_PARTS: Final = 80
"""Parts that are tried for one instruction, so that a long one is refused rather than pondered for ever."""
ALIKE: Final = 0.8
"""From this cosine on, masked instructions of different frames count as two wordings of one thing."""
COMMON: Final = 0.05
"""The share of all wordings from which on a word in them tells nothing about the operation that is meant."""
_SAME_BUT_A_VERB: Final = 0.85
_WEAK: Final = frozenset({"truth", "name", "act"})
_SAME_VALUE_BONUS: Final = 0.3
_WORDS: Final = {">": "more than", "<": "fewer than", "==": "equal to", ">=": "at least", "<=": "at most", "!=": "not"}
_SIDES: Final = {"left": "to the left of", "right": "to the right of", "above": "above", "below": "below",
                 "front": "in front of", "behind": "behind"}  # fmt: skip


class OutOfDepth(Exception):  # noqa: N818 - no error: the next way is tried
    """No demonstration fits this part."""

    def __init__(self, part: str) -> None:
        super().__init__(part)
        self.part = part


@dataclass(frozen=True)
class Knowledge:
    """Knowledge that an instruction is solved from.

    Attributes:
        cases: Correct demonstrations, nearest first.
        mistakes: Incorrect ones; a program that equals one of theirs is passed over.
        common: The words of wordings that tell nothing about which operation is meant: many wordings have them.
        lexicon: The nouns that are known.
        similarity: Compares masked instructions.
    """

    cases: tuple[DemonstrationCase, ...]
    mistakes: tuple[DemonstrationCase, ...]
    common: frozenset[str]
    lexicon: Lexicon
    similarity: Similarity


def knowledge(
    correct: Sequence[Demonstration],
    incorrect: Sequence[Demonstration],
    *,
    lexicon: Lexicon,
    similarity: Similarity,
) -> Knowledge:
    """Read demonstrations; those whose program cannot be taken apart are left out."""
    cases = _cases(correct, lexicon)
    counts = Counter(word for case in cases for word in case.reading.wording)
    common = frozenset(word for word, count in counts.items() if count >= COMMON * len(cases))
    return Knowledge(cases, _cases(incorrect, lexicon), common, lexicon, similarity)


def _cases(demonstrations: Sequence[Demonstration], lexicon: Lexicon) -> tuple[DemonstrationCase, ...]:
    shown = {(one.instruction, one.program): one for one in reversed(demonstrations) if one.program}
    cases = (_case_of(one, lexicon) for one in reversed(shown.values()))
    return tuple(case for case in cases if case is not None)


_cases_of: dict[tuple[str, int], DemonstrationCase | None] = {}
_CASES_KEPT: Final = 4096


def _case_of(one: Demonstration, lexicon: Lexicon) -> DemonstrationCase | None:
    """Read a demonstration, or take what was read at an earlier time: the pool changes little."""
    key = (one.id, id(lexicon))
    if key not in _cases_of:
        if len(_cases_of) > _CASES_KEPT:
            _cases_of.clear()
        _cases_of[key] = _read_case(one, lexicon)
    return _cases_of[key]


def _read_case(one: Demonstration, lexicon: Lexicon) -> DemonstrationCase | None:
    block = block_of(one)
    if block is None:
        return None
    reading = read(one.instruction, lexicon, pictures=max(len(inputs_of(block)), 1))
    return DemonstrationCase(one, reading, block, is_special(one))


class Composer:
    """Solves one instruction about named pictures."""

    def __init__(self, known: Knowledge, pictures: Sequence[str]) -> None:
        self._known = known
        self._pictures = tuple(pictures)
        self._names = VariableNames()
        self._depth = 0
        self._parts = 0

    def solve(self, instruction: str) -> ProgramBlock:
        """Return the program and plan of an instruction, variables numbered as the paper does.

        Raises:
            OutOfDepth: A part of it fits no demonstration and cannot be taken apart further.
        """
        return renumbered(self._solve(instruction, self._pictures), self._pictures)

    def _solve(self, text: str, pictures: tuple[str, ...]) -> ProgramBlock:
        self._parts += 1
        if self._depth >= MAX_DEPTH or self._parts > MAX_PARTS:
            raise OutOfDepth(text)
        reading = read(text, self._known.lexicon, pictures=len(pictures))
        if not reading.text:
            raise OutOfDepth(text)
        self._depth += 1
        try:
            return self._first(reading, pictures)
        finally:
            self._depth -= 1

    def _first(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock:
        """Try the ways of solving in turn: a fitting demonstration, the joints, a demonstration of other wording."""
        ways = [self._by_demonstration, *(self._across_pictures if len(pictures) > 1 else self._within_picture)]
        deepest: OutOfDepth | None = None
        for way in [*ways, self._by_similar_wording]:
            try:
                block = way(reading, pictures)
            except OutOfDepth as unsolved:
                deepest = deepest or unsolved
                continue
            if block is not None:
                return block
        raise deepest or OutOfDepth(reading.text)

    @property
    def _within_picture(self) -> list[Callable[[InstructionReading, tuple[str, ...]], ProgramBlock | None]]:
        return [
            self._branch, self._chain, self._every, self._choice, self._joined, self._bigger, self._loop, self._numbers,
            self._answers, self._beside, self._tinted, self._negated, self._facts,
        ]  # fmt: skip

    @property
    def _across_pictures(self) -> list[Callable[[InstructionReading, tuple[str, ...]], ProgramBlock | None]]:
        return [self._branch, self._sides, self._across, self._joined, self._numbers, self._in_any]

    # --- demonstrations --------------------------------------------------------------------------------------

    def _by_demonstration(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        fitting = [case for case in self._known.cases if case.reading.frame == reading.frame]
        return self._best(fitting, reading, pictures, least=0.0)

    def _by_similar_wording(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        kinds = reading.frame.kinds
        bridged = [
            case
            for case in self._known.cases
            if case.reading.frame.kinds == kinds and (case.reading.cues <= _WEAK or reading.cues <= _WEAK)
        ]
        block = self._best(bridged, reading, pictures, least=ALIKE)
        if block is not None:
            return block
        bare = nouns_written_out(reading)
        fitting = [case for case in self._known.cases if case.reading.frame == bare.frame]
        return None if bare == reading else self._best(fitting, bare, pictures, least=_SAME_BUT_A_VERB)

    def _best(
        self,
        cases: Sequence[DemonstrationCase],
        reading: InstructionReading,
        pictures: tuple[str, ...],
        *,
        least: float,
    ) -> ProgramBlock | None:
        """Return the program of the most similar demonstration that adapts and is no known mistake."""
        usable = [case for case in cases if align(case, reading) is not None and _pictures_fit(case.block, pictures)]
        if not usable:
            return None
        alike = self._known.similarity(reading.masked, [case.reading.masked for case in usable])
        ranked = sorted(zip(alike, usable, strict=True), key=lambda pair: -(pair[0] + _agreement(pair[1], reading)))
        for likeness, case in ranked:
            alike_enough = self._means_the_same(case, reading, likeness) if case.special else likeness >= least
            block = adapt(case, reading) if alike_enough else None
            if block is not None and not self._is_mistake(block, reading):
                return self._names.refreshed(block, _renamed_inputs(block, pictures))
        return None

    def _means_the_same(self, case: DemonstrationCase, reading: InstructionReading, likeness: float) -> bool:
        """Tell whether a wording is that of a demonstration, but for words that many wordings have."""
        return likeness >= ALIKE and case.reading.wording ^ reading.wording <= self._known.common

    def _is_mistake(self, block: ProgramBlock, reading: InstructionReading) -> bool:
        """Tell whether a program was wrong before; what was wrong for one wording may be right for an unlike one."""
        text = written(renumbered(block, ()))
        for case in self._known.mistakes:
            wrong = adapt(case, reading) if case.reading.frame == reading.frame else None
            if wrong is not None and written(renumbered(wrong, ())) == text:
                likeness = self._known.similarity(reading.masked, [case.reading.masked])[0]
                if likeness >= ALIKE:
                    return True
        return False

    # --- one picture -----------------------------------------------------------------------------------------

    def _branch(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        parts = clauses.branch(reading.text)
        if parts is None:
            return None
        condition = self._solve(parts.condition, pictures)
        result = self._names.fresh("ANSWER")
        sides = [self._side(text, parts, pictures) for text in (parts.then, parts.otherwise)]
        bodies = ["\n    ".join([*_source(side), f"{result}={side.result}"]) for side in sides]
        text = f"if {condition.result}:\n    {bodies[0]}\nelse:\n    {bodies[1]}"
        plan = (
            *condition.plan,
            f"If that holds: {_inline(sides[0])}",
            f"Otherwise: {_inline(sides[1])}",
        )
        sources = condition.sources + sides[0].sources + sides[1].sources
        return ProgramBlock((*condition.statements, statement(text)), plan, result, sources)

    def _side(self, text: str, parts: clauses.Branch, pictures: tuple[str, ...]) -> ProgramBlock:
        """Solve one side of a branch; the side of which nothing is said answers no, or leaves the picture as it is."""
        if text:
            return self._clause(text, parts.condition, pictures)
        other = read(parts.then or parts.otherwise, self._known.lexicon)
        if other.cues & (EDITS | {"tag"}):
            return ProgramBlock((), ("leave the picture as it is.",), pictures[0])
        return ProgramBlock((), ("answer 'no'.",), "'no'")

    def _clause(self, text: str, condition: str, pictures: tuple[str, ...]) -> ProgramBlock:
        """Solve a side of a branch; a pronoun in it means the noun of the condition; a quoted word is the answer."""
        literal = re.fullmatch(r"(yes|no|nothing|none)[.!]?", text, re.IGNORECASE) or re.fullmatch(
            r"(?:say|answer|return|reply)\s+(?:with\s+)?['\"]?([\w ]+?)['\"]?[.!]?", text, re.IGNORECASE
        )
        if (
            literal
            and not read(literal[1], self._known.lexicon).cues & {"color", "count", "weather", "style", "background"}
            and not re.match(r"(?:what|which|where|how|the)\b", literal[1])
        ):
            return ProgramBlock((), (f"answer {literal[1]!r}.",), repr(literal[1]))
        nouns = read(condition, self._known.lexicon).of("NOUN")
        if nouns and not read(text, self._known.lexicon).of("NOUN", "CLASS"):
            noun = nouns[0]
            text = re.sub(r"\b(its|their) (\w+)", rf"the \2 of the {noun.value}", text)
            text = re.sub(r"\b(it|them)\b", f"the {noun.value}", text)
        return self._solve(text, pictures)

    def _chain(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        parts = clauses.chain(reading)
        if parts is None:
            return None
        blocks: list[ProgramBlock] = []
        current, named = pictures, ""
        for part in parts.parts:
            nouns = read(part, self._known.lexicon).of("NOUN", "CLASS")
            text = part if nouns or not named else re.sub(r"\b(it|them|its)\b", f"the {named}", part)
            named = nouns[0].value if nouns else named
            blocks.append(self._solve(text, current))
            current = (blocks[-1].result,)
        return _joined(blocks, blocks[-1].result)

    def _loop(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        if reading.cues & (EDITS | {"tag"}) or ("count" in reading.cues and not reading.has(r"\b(?:each|every)\b")):
            return self._plain_each(reading, pictures)
        parts = clauses.loop(reading)
        return None if parts is None else self._gather(parts, pictures)

    def _plain_each(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        """An edit of each thing is an edit of all of them: tools take several regions at once."""
        parts = clauses.loop(reading)
        if parts is None:
            return None
        text = parts.body.replace(f"the {parts.noun.value}", f"the {parts.noun.many}")
        return None if text == reading.text else self._solve(text, pictures)

    def _gather(self, parts: clauses.Loop, pictures: tuple[str, ...]) -> ProgramBlock:
        """Go through the things, ask the body of each, and collect the answers in a list."""
        side = self._side_picture(parts, pictures)
        pictures = (side.result,) if side.statements else pictures
        found, variable, close = self._each(parts, pictures)
        found = _joined([side, found], found.result)
        answers, before = self._names.fresh("ANSWERS"), statement_text(found)
        inner = self._asked_of_each(parts, close)
        lines = [*before, f"{answers}=[]"]
        body = [*_close_up(parts, pictures[0], variable, close), *_source(inner)]
        body.append(f"{answers}=EVAL(expr='{{{answers}}} + [{{{inner.result}}}]')")
        lines.append(f"for {variable} in {found.result}:\n    " + "\n    ".join(body))
        plan = (
            *found.plan,
            f"For each of those {parts.noun.many}: crop it and {_inline(inner)}",
            "Collect the answers in a list.",
        )
        return ProgramBlock(tuple(map(statement, lines)), plan, answers, found.sources + inner.sources)

    def _side_picture(self, parts: clauses.Loop, pictures: tuple[str, ...]) -> ProgramBlock:
        """Crop the side of the picture that the things must be on, where the loop names one."""
        if parts.side is None:
            return ProgramBlock((), (), pictures[0])
        relation, anchor = parts.side
        return self._side_of(relation, anchor, pictures)

    def _each(self, parts: clauses.Loop, pictures: tuple[str, ...]) -> tuple[ProgramBlock, str, str]:
        found = self._located(parts.things, pictures)
        return found, self._names.fresh("BOX"), self._names.fresh("IMAGE")

    def _asked_of_each(self, parts: clauses.Loop, close: str) -> ProgramBlock:
        """Solve the body on the picture of one thing, which need not be located there again."""
        reading = read(parts.body, self._known.lexicon)
        body = parts.body
        if parts.beside:
            body = "what object is this?" if reading.cues == {"name"} and not reading.slots else body
        elif reading.of("RELATION", "PLACE"):
            raise OutOfDepth(body)
        elif reading.cues == {"name"} or re.fullmatch(
            rf"(?:say |name |the |list |identify |what )*{re.escape(parts.noun.value)}", body, re.IGNORECASE
        ):
            body = f"what {parts.noun.value} is this?"
        inner = self._solve(body, (close,))
        return inner if parts.beside else _without_locating(inner, close, parts.noun.value)

    def _every(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        found = clauses.every(reading)
        if found is None:
            return None
        gathered = self._gather(found.loop, pictures)
        return self._concluded(
            [gathered], f"all({{{gathered.result}}})", "Find out whether all of these answers are yes."
        )

    def _choice(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        parts = clauses.choice(reading)
        if parts is None:
            return None
        first = self._solve(parts.questions[0], pictures)
        one, other = parts.options
        return self._concluded(
            [first],
            f"{one!r} if {{{first.result}}} else {other!r}",
            f"Answer {one!r} if so, otherwise {other!r}.",
            yes_no=False,
        )

    def _joined(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        parts = clauses.joined(reading)
        if parts is None:
            return None
        if len(pictures) > 1:
            parts = replace(parts, parts=_with_shared_picture(reading, parts.parts, self._known.lexicon, len(pictures)))
        left, right = (self._solve(part, pictures) for part in parts.parts)
        if parts.operator == "sum":
            return self._concluded(
                [left, right], f"{{{left.result}}} + {{{right.result}}}", "Add up the two numbers.", yes_no=False
            )
        if (
            reading.cues & {"name", "color", "size", "where", "weather", "background", "style"}
            and reading.cues != {"truth"}
            and not _asks_truth(reading)
        ):
            return self._concluded(
                [left, right], f"[{{{left.result}}}, {{{right.result}}}]", "Give both answers.", yes_no=False
            )
        operator = {"and not": "and not"}.get(parts.operator, parts.operator)
        said = {"and": "both are true", "or": "at least one of them is true", "xor": "exactly one of them is true"}
        return self._concluded(
            [left, right], f"{{{left.result}}} {operator} {{{right.result}}}",
            f"Find out whether {said.get(operator, 'the first is true and the second is not')}.",
        )  # fmt: skip

    def _bigger(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        nouns = reading.of("NOUN")
        if "bigger" not in reading.cues or len(nouns) != 2:  # noqa: PLR2004 - one and the other
            return None
        if reading.has(r"\bsmaller than\b"):
            nouns.reverse()
        one, other = (self._solve(f"is the {noun.value} small or large?", pictures) for noun in nouns)
        return self._concluded(
            [one, other], f"{{{one.result}}} == 'large' and {{{other.result}}} != 'large'",
            f"Find out whether only the {nouns[0].value} is large.",
        )  # fmt: skip

    def _numbers(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        parts = clauses.numbers(reading)
        if parts is None:
            return None
        left = self._solve(parts.left, pictures)
        if parts.number:
            said = f"Find out whether that number is {_WORDS[parts.operator]} {parts.number}."
            return self._concluded([left], f"{{{left.result}}} {parts.operator} {parts.number}", said)
        right = self._solve(parts.right, pictures)
        comparison = f"{{{left.result}}} {parts.operator} {{{right.result}}}"
        if parts.options:
            one, other = parts.options
            return self._concluded(
                [left, right],
                f"{one!r} if {comparison} else {other!r}",
                f"Answer {one!r} if the first number is {_WORDS[parts.operator]} the second, otherwise {other!r}.",
                yes_no=False,
            )
        return self._concluded(
            [left, right], comparison, f"Find out whether the first number is {_WORDS[parts.operator]} the second."
        )

    def _answers(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        parts = clauses.answers(reading)
        if parts is None:
            return None
        left = self._solve(parts.left, pictures)
        if parts.word:
            said = f"Find out whether the answer is {'not ' if parts.operator == '!=' else ''}{parts.word!r}."
            return self._concluded([left], f"{{{left.result}}} {parts.operator} {parts.word!r}", said)
        right = self._solve(parts.right, pictures)
        said = "Find out whether the two answers are " + ("the same." if parts.operator == "==" else "different.")
        return self._concluded([left, right], f"{{{left.result}}} {parts.operator} {{{right.result}}}", said)

    def _beside(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        parts = clauses.beside(reading)
        if parts is None:
            return None
        side = self._side_of(parts.relation, parts.anchor, pictures)
        inner = self._solve(parts.rest, (side.result,))
        return _joined([side, inner], inner.result)

    def _side_of(self, relation: str, anchor: str, pictures: tuple[str, ...]) -> ProgramBlock:
        """Locate something and crop the part of the picture on one side of it."""
        located = self._located(anchor, pictures)
        side = self._names.fresh("IMAGE")
        crop = statement(f"{side}={RELATION_TOOLS[relation]}(image={pictures[0]}, box={located.result})")
        said = f"Crop the part of the picture {_SIDES[relation]} the {anchor}, based on those bounding boxes."
        return _joined([located, ProgramBlock((crop,), (said,), side)], side)

    def _located(self, phrase: str, pictures: tuple[str, ...]) -> ProgramBlock:
        """Find what a noun phrase names: its noun, on the side of something where the phrase says so."""
        reading = read(f"the {phrase}", self._known.lexicon)
        nouns = reading.of("NOUN")
        if not nouns:
            raise OutOfDepth(phrase)
        # Boxes found in a crop do not fit the whole picture, so the noun itself must tell which one is meant.
        if len(nouns) > 1 or reading.of("RELATION", "FACT", "SIZE") or not (nouns[0].known or nouns[0].placed):
            raise OutOfDepth(phrase)
        tint = next((slot for slot in reading.of("COLOR") if slot.end + 1 == nouns[0].start), None)
        name = f"{tint.value} {nouns[0].value}" if tint else nouns[0].value
        boxes = self._names.fresh("BOX")
        found = statement(f"{boxes}=LOC(image={pictures[0]}, object={name!r})")
        return ProgramBlock((found,), (f"Locate {name} in the given picture, and obtain its bounding boxes.",), boxes)

    def _tinted(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        """Take a colour and the noun behind it for one noun: ``red balloon`` can be located like ``balloon``."""
        merged = with_colours(reading)
        return None if merged == reading else self._first(merged, pictures)

    def _negated(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        found = re.search(r"\b(?:no|not|without|none of the)\b", reading.masked)
        if "truth" not in reading.cues or not found:
            return None
        word = re.search(rf"\b{found[0]}\b", reading.text, re.IGNORECASE)
        if word is None:
            return None
        rest = reading.text[: word.start()] + ("any" if found[0] == "no" else "") + reading.text[word.end() :]
        inner = self._solve(rest, pictures)
        return self._concluded([inner], f"not {{{inner.result}}}", "Find out whether the opposite is true.")

    def _facts(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        """Count what a fact is true of: locate the noun, list what the fact fits, keep what is classified so."""
        facts, nouns = reading.of("FACT"), reading.of("NOUN")
        if not facts or not nouns or reading.cues - {"count", "truth"}:
            return None
        fact, noun = facts[0], nouns[0]
        query = f"{fact.text} {noun.many}" if fact.end <= noun.start else f"{noun.many} that {fact.text}"
        tagged = self._solve(f"tag the {query}", pictures)
        kept = next((each for each in reversed(tagged.statements) if _tool(each) == "CLASSIFY"), None)
        if kept is None or not isinstance(kept, ast.Assign):
            return None
        position = tagged.statements.index(kept)
        regions = assigned([kept])[0]
        number = self._names.fresh("COUNT")
        counted = statement(f"{number}=COUNT(box={regions})")
        block = ProgramBlock(
            (*tagged.statements[: position + 1], counted),
            (*tagged.plan[: position + 1], f"Count those {noun.many}."),
            number,
            tagged.sources,
        )
        if "count" in reading.cues:
            return block
        return self._concluded([block], f"{{{number}}} > 0", "Find out whether there is at least one.")

    # --- several pictures ------------------------------------------------------------------------------------

    def _sides(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        parts = clauses.sides(reading)
        if parts is None or len(pictures) != 2:  # noqa: PLR2004 - left and right
            return None
        left, right = self._solve(parts.left, pictures[:1]), self._solve(parts.right, pictures[1:])
        said = f"Find out whether the left picture's value is {_WORDS[parts.operator]} the right picture's."
        return self._concluded(
            _placed([left, right], pictures), f"{{{left.result}}} {parts.operator} {{{right.result}}}", said
        )

    def _across(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        parts = clauses.across(reading)
        if parts is None:
            return None
        side = {"left": 0, "right": -1, "left only": 0, "right only": -1}.get(parts.quantifier)
        if side is not None:
            return self._one_side(parts, pictures, side)
        if parts.quantifier in {"pair", "sides"}:
            return self._pair(parts, pictures)
        blocks = _placed([self._solve(parts.statement, (picture,)) for picture in pictures], pictures)
        results = [f"{{{block.result}}}" for block in blocks]
        if reading.cues != {"truth"} and not _asks_truth(reading):
            return self._concluded(
                blocks, f"[{', '.join(results)}]", "Give the answers in the order of the pictures.", yes_no=False
            )
        expression, said = {
            "both": (" and ".join(results), "is true of every picture"),
            "any": (" or ".join(results), "is true of at least one picture"),
            "one": (_exactly_one(results), "is true of exactly one picture"),
            "none": (f"not ({' or '.join(results)})", "is true of none of the pictures"),
        }[parts.quantifier]
        return self._concluded(blocks, expression, f"Find out whether this {said}.")

    def _one_side(self, parts: clauses.Across, pictures: tuple[str, ...], side: int) -> ProgramBlock:
        chosen = self._solve(parts.statement, (pictures[side],))
        if "only" not in parts.quantifier:
            return _placed([chosen], (pictures[side],))[0]
        other = self._solve(parts.statement, (pictures[-1 - side],))
        blocks = _placed([chosen, other], (pictures[side], pictures[-1 - side]))
        return self._concluded(
            blocks,
            f"{{{chosen.result}}} and not {{{other.result}}}",
            "Find out whether the first is true and the second is not.",
        )

    def _pair(self, parts: clauses.Across, pictures: tuple[str, ...]) -> ProgramBlock | None:
        if len(pictures) != 2:  # noqa: PLR2004 - one and the other
            return None
        first, second = reversed(pictures) if parts.flipped else pictures
        one, other = self._solve(parts.statement, (first,)), self._solve(parts.other, (second,))
        blocks = _placed([one, other], (first, second))
        expression = f"{{{one.result}}} and {{{other.result}}}"
        if parts.quantifier == "sides":
            return self._concluded(blocks, expression, "Find out whether both are true.")
        swapped = [self._solve(parts.statement, (second,)), self._solve(parts.other, (first,))]
        blocks += _placed(swapped, (second, first))
        expression = f"({expression}) or ({{{swapped[0].result}}} and {{{swapped[1].result}}})"
        return self._concluded(blocks, expression, "Find out whether the first two are true, or the last two.")

    def _in_any(self, reading: InstructionReading, pictures: tuple[str, ...]) -> ProgramBlock | None:
        """Without a word about which picture: counts add up, and what is said may be true of any."""
        text = reading.without(*reading.of("PICTURE"))
        blocks = _placed([self._solve(text, (picture,)) for picture in pictures], pictures)
        results = [f"{{{block.result}}}" for block in blocks]
        if "count" in reading.cues:
            return self._concluded(blocks, " + ".join(results), "Add up the numbers.", yes_no=False)
        if reading.cues == {"truth"}:
            return self._concluded(
                blocks, " or ".join(results), "Find out whether this is true of at least one picture."
            )
        return None

    def _concluded(
        self, blocks: Sequence[ProgramBlock], expression: str, said: str, *, yes_no: bool = True
    ) -> ProgramBlock:
        """Join blocks and compute one value from theirs."""
        result = self._names.fresh("ANSWER")
        whole = f"'yes' if {expression} else 'no'" if yes_no else expression
        joined = _joined(blocks, result)
        return replace(
            joined,
            statements=(*joined.statements, statement(f"{result}=EVAL(expr={whole!r})")),
            plan=(*joined.plan, said),
        )


def _agreement(case: DemonstrationCase, reading: InstructionReading) -> float:
    """A bonus for slots that mean the same already: a demonstration about faces is the one for faces."""
    pairs = align(case, reading) or []
    same = sum(pair.same or (pair.old.group and pair.new.group) for pair in pairs)
    exact = sum(pair.same for pair in pairs)
    return _SAME_VALUE_BONUS * (same + exact) / (2 * len(pairs)) if pairs else 0.0


def _pictures_fit(block: ProgramBlock, pictures: tuple[str, ...]) -> bool:
    read_in = inputs_of(block)
    return len(read_in) <= 1 == len(pictures) or (len(pictures) > 1 and set(read_in) <= set(pictures))


def _renamed_inputs(block: ProgramBlock, pictures: tuple[str, ...]) -> dict[str, str]:
    return dict.fromkeys(inputs_of(block), pictures[0]) if len(pictures) == 1 else {}


def _joined(blocks: Sequence[ProgramBlock], result: str) -> ProgramBlock:
    return ProgramBlock(
        tuple(each for block in blocks for each in block.statements),
        tuple(step for block in blocks for step in block.plan),
        result,
        tuple(dict.fromkeys(source for block in blocks for source in block.sources)),
    )


def _placed(blocks: Sequence[ProgramBlock], pictures: Sequence[str]) -> list[ProgramBlock]:
    """Name the picture in the plan of each block."""
    return [
        replace(block, plan=tuple(_in_picture(step, picture) for step in block.plan))
        for block, picture in zip(blocks, pictures, strict=True)
    ]


def _in_picture(step: str, picture: str) -> str:
    name = {"LEFT": "the left picture", "RIGHT": "the right picture"}.get(picture, picture)
    return re.sub(r"\bthe (?:given )?(?:picture|image)\b(?! (?:region|part))", name, step, count=1)


def _exactly_one(results: Sequence[str]) -> str:
    if len(results) == 2:  # noqa: PLR2004 - the paper's xor
        return f"{results[0]} xor {results[1]}"
    return " + ".join(f"(1 if {result} else 0)" for result in results) + " == 1"


def _source(block: ProgramBlock) -> list[str]:
    """Write a block's statements for the body of a branch or loop, each indented by four from its second line on."""
    return [ast.unparse(each).replace("\n", "\n    ") for each in block.statements]


def statement_text(block: ProgramBlock) -> list[str]:
    """Write a block's statements, each as its own text."""
    return [ast.unparse(each) for each in block.statements]


def _inline(block: ProgramBlock) -> str:
    """Write a block's plan as one sentence, for the inside of a branch or loop."""
    steps = [step.rstrip(".") for step in block.plan]
    return "; ".join(step[:1].lower() + step[1:] for step in steps) + "."


def _tool(each: ast.stmt) -> str:
    match each:
        case ast.Assign(value=ast.Call(func=ast.Name(id=tool))):
            return tool
    return ""


def _close_up(parts: clauses.Loop, picture: str, variable: str, close: str) -> list[str]:
    tool = RELATION_TOOLS[parts.beside] if parts.beside else "CROP"
    return [f"{close}={tool}(image={picture}, box={variable})"]


def _without_locating(block: ProgramBlock, close: str, noun: str) -> ProgramBlock:
    """Drop LOC and CROP of a thing in a picture that shows only it."""
    if [_tool(each) for each in block.statements[:2]] != ["LOC", "CROP"]:
        return block
    located, cropped = assigned(block.statements[:1])[0], assigned(block.statements[1:2])[0]
    first = ast.unparse(block.statements[0])
    if (
        repr(noun) not in first
        or close not in first
        or any(located in ast.unparse(each) for each in block.statements[2:])
    ):
        return block
    rest = ProgramBlock(
        block.statements[2:],
        block.plan[2:] if len(block.plan) == len(block.statements) else block.plan,
        block.result,
        block.sources,
    )
    renamed = tuple(ast.parse(re.sub(rf"\b{cropped}\b", close, ast.unparse(each))).body[0] for each in rest.statements)
    return replace(rest, statements=renamed, result=close if rest.result == cropped else rest.result)


def _asks_truth(reading: InstructionReading) -> bool:
    return (
        re.match(
            r"\W*(?:is|are|does|do|can|has|have|there|the|both|each|exactly|at|one|neither|an?)\b",
            reading.text,
            re.IGNORECASE,
        )
        is not None
    )


def _with_shared_picture(
    reading: InstructionReading, parts: Sequence[str], lexicon: Lexicon, count: int
) -> tuple[str, ...]:
    """Let both halves say which picture they are about where only one does."""
    named = reading.of("PICTURE")
    completed = []
    for part in parts:
        own = read(part, lexicon, pictures=count).of("PICTURE")
        missing = named[0].text if named and not own else ""
        missing = missing if not missing or missing.startswith(("in ", "on ")) else f"in {missing}"
        completed.append(f"{part} {missing}".strip())
    return tuple(completed)
