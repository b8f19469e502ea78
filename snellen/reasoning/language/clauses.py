"""Taking an instruction apart into smaller instructions and the way they belong together.

Each function here looks for one kind of joint (a branch, a loop, an *and* …) and returns the parts as instructions
in words, or None. What the parts mean is found from demonstrations, by `snellen.reasoning.case_based.composition`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from snellen.reasoning.language.inflection import with_article
from snellen.reasoning.language.lexicon import EDITS
from snellen.reasoning.language.slots import InstructionReading, Slot, tidy

_EDIT_VERB: Final = (
    r"(?:color ?pop|create|make|blur|hide|cover|replace|swap|put|place|turn|tag|label|keep|desaturate|defocus|change)\b"
)


@dataclass(frozen=True)
class Branch:
    """``If CONDITION, THEN, otherwise OTHERWISE``; "" where nothing is said for the other case."""

    condition: str
    then: str
    otherwise: str


@dataclass(frozen=True)
class Loop:
    """``For each NOUN, BODY``; BODY names the thing as ``the NOUN``.

    Attributes:
        things: The noun phrase that says what to go through, in the plural or singular.
        noun: The noun itself.
        body: What is asked of each.
        beside: A relation, where the body looks not at the thing but beside it.
        side: A relation and a noun phrase, where only the things on that side of something are meant.
    """

    things: str
    noun: Slot
    body: str
    beside: str = ""
    side: tuple[str, str] | None = None


@dataclass(frozen=True)
class Every:
    """``Are all NOUN ...?``: a yes/no question about each thing, true when it is of all (or of any)."""

    loop: Loop


@dataclass(frozen=True)
class Chain:
    """Edits one after the other, each on the picture that the one before made."""

    parts: tuple[str, ...]


Operator = Literal["and", "or", "xor", "and not", "sum", "union"]


@dataclass(frozen=True)
class Joined:
    """Two instructions about the same pictures whose values are combined."""

    operator: Operator
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """``Is it a dog or a cat?``: the first option whose question is answered with yes."""

    questions: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True)
class Numbers:
    """A comparison of a count with another count or with a number."""

    operator: str
    left: str
    right: str
    number: str = ""
    options: tuple[str, str] | None = None
    """For "are there more dogs or cats?": the two answers."""


@dataclass(frozen=True)
class Values:
    """A comparison of an answer with a word, or with another answer."""

    operator: str
    left: str
    right: str
    word: str = ""


@dataclass(frozen=True)
class Beside:
    """A question about what lies on one side of something."""

    relation: str
    anchor: str
    rest: str


@dataclass(frozen=True)
class Across:
    """A statement about several pictures: how the truth of each counts.

    Attributes:
        quantifier: How many of the pictures it must hold of, or which one.
        statement: What is said of a picture.
        other: What is said of the other picture, where that is said.
    """

    quantifier: Literal["both", "any", "one", "none", "left", "right", "pair", "left only", "right only", "sides"]
    statement: str
    other: str = ""
    flipped: bool = field(default=False)


_OTHERWISE: Final = r"\b(?:otherwise|or else|else|if not|if no|in which case)\b,?\s*"
_IF: Final = r"(?:if|when|whenever|in case|provided|should)\s+"
_THEN: Final = r"(?:,\s*then\s+|,\s*|\s+then\s+)"
_SO: Final = r"(?:if (?:so|yes|it is|it does|there is|there are)|then),?\s*"
_OR_SO: Final = rf"(?P<then>.+?)[,;.]?\s*{_OTHERWISE}(?P<otherwise>.+)$"
_BRANCHES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^{_IF}(?P<condition>.+?){_THEN}(?P<then>.+?)[,;.]?\s*(?:and\s+)?{_OTHERWISE}(?P<otherwise>.+)$",
        rf"^(?P<condition>(?:is|are|does|do|can|has|have)\b[^?]+)\?\s*{_SO}{_OR_SO}",
        rf"^(?P<then>.+?),?\s+{_IF}(?P<condition>.+?)[,;.]?\s*(?:and\s+)?{_OTHERWISE}(?P<otherwise>.+)$",
        rf"^unless\s+(?P<condition>.+?),\s*(?P<otherwise>.+?)[,;.]?\s*{_OTHERWISE}(?P<then>.+)$",
        r"^depending on whether\s+(?P<condition>.+?),\s*(?P<then>.+?)\s+or(?: else)?\s+(?P<otherwise>.+)$",
        r"^unless\s+(?P<condition>.+?),\s*(?P<otherwise>.+)$",
        rf"^{_IF}(?P<condition>.+?){_THEN}(?P<then>.+)$",
    )
)


def branch(text: str) -> Branch | None:
    """Find ``if … otherwise …`` in its usual orders."""
    for pattern in _BRANCHES:
        found = pattern.match(text)
        if found:
            parts = {"then": "", "otherwise": "", **found.groupdict()}
            return Branch(tidy(parts["condition"]), tidy(parts["then"]), tidy(parts["otherwise"]))
    return None


_EACH: Final = re.compile(
    r"\b(?:of |for |to |about |on )?(?:each|every|all|any)(?: one)?(?: of)?(?: the| these)?\s+$", re.IGNORECASE
)
_PRONOUNS: Final = re.compile(r"\b(?:its|their|his|her)\b", re.IGNORECASE)
_BESIDE: Final = (
    ("left", r"(?:to|on) (?:its|their) left(?: side)?|left of (?:it|them)"),
    ("right", r"(?:to|on) (?:its|their) right(?: side)?|right of (?:it|them)"),
    ("above", r"(?:above|over) (?:it|them)"),
    ("below", r"(?:below|under|beneath|underneath) (?:it|them)"),
)


def loop(reading: InstructionReading) -> Loop | None:
    """Find ``for each X, …``, ``… of every X``, ``name all X`` or ``go through the X and …``."""
    noun = _gone_through(reading)
    if noun is None:
        return None
    text = reading.text
    before, after = text[: noun.start], text[noun.end :]
    things = noun.text
    side, end = _side_of(reading, noun)
    after = after[end - noun.end :]
    leading = re.match(
        r"^\W*(?:for|of|take|visit|look at|go through|going through|with)?\s*(?:each|every|all|the|of)\b",
        before,
        re.IGNORECASE,
    )
    if leading and re.match(r"^\W*(?:for|of|take|visit|look at|go through|going through)\b", before, re.IGNORECASE):
        tail = re.match(
            r"^(?P<more>\s+(?:in|on|of) the pictures?)?(?:\s+(?:and|then)\b|\s*[,:;]\s*(?:and\s+|then\s+)?)?", after
        )
        body = tidy(after[tail.end() :] if tail else after)
    else:
        spoken = _EACH.sub(lambda found: " " + ("of the " if found[0].lstrip().startswith("of") else "the "), before)
        body = tidy(f"{spoken}{noun.value}{after}")
    return replace(_with_body(things, noun, body), side=side) if body else None


def _side_of(reading: InstructionReading, noun: Slot) -> tuple[tuple[str, str] | None, int]:
    """Return the side of what the things behind a noun must be on, and where the noun phrase ends."""
    behind = [slot for slot in reading.slots if slot.start >= noun.end][:2]
    if [slot.kind for slot in behind] != ["RELATION", "NOUN"] or re.search(
        r"[,:;]|\bits?\b", reading.text[noun.end : behind[1].start]
    ):
        return None, noun.end
    return (behind[0].value, behind[1].value), behind[1].end


def _gone_through(reading: InstructionReading) -> Slot | None:
    for noun in reading.of("NOUN"):
        before = reading.text[: noun.start]
        if _EACH.search(before) or re.search(r"\bgo(?:ing)? through (?:all )?the $", before, re.IGNORECASE):
            return noun
    if reading.has(r"^(?:name|list|identify|what are|what colors|say the colors|give the names) (?:.* )?(?:the )?NOUN"):
        noun = reading.of("NOUN")[0]
        return noun if noun.text.lower() == noun.many.lower() != noun.value.lower() else None
    return None


def _with_body(things: str, noun: Slot, body: str) -> Loop:
    for relation, pattern in _BESIDE:
        changed = re.sub(rf"\s*\b(?:that (?:is|are) )?(?:{pattern})\b", "", body, flags=re.IGNORECASE)
        if changed != body:
            return Loop(things, noun, tidy(changed), beside=relation)
    body = re.sub(r"^say (?:whether|if)\s+", "", body, flags=re.IGNORECASE)
    body = re.sub(r"\b(its|their|his|her) (\w+)\b", rf"the \2 of the {noun.value}", body, flags=re.IGNORECASE)
    body = re.sub(
        r"\b(?:each one|every one|each|it|they|them)\b(?! (?:is|are) (?:raining|snowing|sunny))",
        f"the {noun.value}",
        body,
        flags=re.IGNORECASE,
    )
    return Loop(things, noun, body)


def every(reading: InstructionReading) -> Every | None:
    """Find a yes/no question or statement about all things of a kind."""
    if "truth" not in reading.cues and "color" not in reading.cues and "size" not in reading.cues:
        return None
    if not reading.has(r"^(?:(?:is|are|does|do|has|have) )?(?:each|every|all)\b.*NOUN.*(?:COLOR|SIZE|RELATION)"):
        return None
    found = loop(reading)
    return Every(found) if found else None


def chain(reading: InstructionReading) -> Chain | None:
    """Find edits that follow each other."""
    if not reading.cues & (EDITS | {"tag"}):
        return None
    for joint in (
        r"[,;.]?\s+(?:and\s+)?(?:then|after that|afterwards|finally|next)\b,?\s+",
        rf",?\s+and\s+(?={_EDIT_VERB})",
        r"[.;]\s+",
    ):
        parts = [tidy(re.sub(r"^first,?\s+", "", part, flags=re.IGNORECASE)) for part in re.split(joint, reading.text)]
        parts = [re.sub(r"^(?:and|then)\s+", "", part) for part in parts if part]
        if len(parts) > 1 and not re.search(r"\beverything else\b|\brest\b|\btag them\b", reading.text.lower()):
            return Chain(tuple(parts))
    return None


_CONJUNCTION: Final = re.compile(
    r"(?P<comma>,)?\s+(?P<word>but|and|or|nor|xor|while|whereas)\s+(?P<negated>no |not |there is no |there are no )?"
)


def joined(reading: InstructionReading) -> Joined | None:
    """Find two instructions joined by *and*, *or*, *either … or … but not both*, *but no*, *neither … nor*."""
    text = re.sub(r"[.?!]+$", "", reading.text)
    if reading.has(r"\b(?:same|different)\b"):
        return None
    exclusive = re.search(r",?\s*but not both\b", text, re.IGNORECASE)
    if exclusive:
        text = text[: exclusive.start()] + text[exclusive.end() :]
    for found in _CONJUNCTION.finditer(text):
        if any(slot.start < found.end() - 1 and found.start() + 1 < slot.end for slot in reading.slots):
            continue
        left, right = _halves(reading, text, found)
        if left is None or right is None:
            continue
        operator = _operator(found, text, exclusive=exclusive is not None)
        if "count" in reading.cues and operator in {"and", "or"}:
            return None if reading.of("COMPARATOR") else Joined("sum", (left, right))
        return Joined(operator, (left, right))
    return None


def _operator(found: re.Match[str], text: str, *, exclusive: bool) -> Operator:
    if found["negated"]:
        return "and not"
    if exclusive or found["word"] == "xor":
        return "xor"
    if found["word"] in {"or", "nor"} or re.search(r"\bat least one of\b", text):
        return "or"
    return "and"


def _halves(reading: InstructionReading, text: str, found: re.Match[str]) -> tuple[str | None, str | None]:
    """Return both sides, each completed with what it shares with the other."""
    before = [slot for slot in reading.slots if slot.end <= found.start() + 1]
    after = [slot for slot in reading.slots if slot.start >= found.end()]
    nouns_before, nouns_after = [[slot for slot in side if slot.kind == "NOUN"] for side in (before, after)]
    left, right = text[: found.start()], text[found.end() :]
    if not nouns_before and any(slot.kind == "SETTING" for slot in before) and after:
        return left, right
    if not nouns_before or not after:
        return None, None
    if after[0].kind == "RELATION" and not _is_subject(after):
        right = f"{with_subject(nouns_before[0])} {right}"
        if not _relation_has_anchor(before):
            return None, None
    elif after[0].kind in {"COLOR", "SIZE"} and not nouns_after:
        right = f"is the {nouns_before[0].value} {right}"
    elif not nouns_after and not any(slot.kind == "SETTING" for slot in after):
        return None, None
    left, right = _shared_tail(before, after, left, right)
    if "count" in reading.cues and not re.search(r"\bhow many\b|\bcount\b|\bnumber of\b", right):
        right = f"how many {right}"
    left = re.sub(r"\b(?:both|either|neither)\s+(?=(?:an?|the|any|some)?\s*\w)", "", left, flags=re.IGNORECASE)
    return tidy(left), tidy(right)


def with_subject(noun: Slot) -> str:
    """Name a noun slot as the subject of a question."""
    return f"is the {noun.value}"


def _is_subject(after: list[Slot]) -> bool:
    kinds = [slot.kind for slot in after]
    return kinds.count("NOUN") > 1


def _relation_has_anchor(before: list[Slot]) -> bool:
    kinds = [slot.kind for slot in before]
    return "RELATION" in kinds and kinds.index("RELATION") < len(kinds) - 1 and kinds[-1] == "NOUN"


def _shared_tail(before: list[Slot], after: list[Slot], left: str, right: str) -> tuple[str, str]:
    """Give both halves the relation that only one of them says: "a dog or a cat left of the car"."""
    kinds_before, kinds_after = [slot.kind for slot in before], [slot.kind for slot in after]
    if "RELATION" in kinds_after and "RELATION" not in kinds_before and kinds_after[:1] == ["NOUN"]:
        relation = after[kinds_after.index("RELATION")]
        tail = right[relation.start - after[0].start + right.lower().find(after[0].text.lower()) :]
        left = f"{left} {tail}"
    return left, right


_TWO: Final = 2


def choice(reading: InstructionReading) -> Choice | None:
    """Find a question that offers two nouns to choose from."""
    text = re.sub(r"[.?!]+$", "", reading.text)
    nouns = reading.of("NOUN")
    either = re.search(r"\bor\b", text)
    if not either or len(nouns) < _TWO or reading.of("RELATION", "COMPARATOR", "COLOR"):
        return None
    asks = re.search(r"^\W*(?:which|what|who)\b|^(?:is|are) (?:it|this|that|these|those)\b|[:,]", text, re.IGNORECASE)
    there = re.search(r"\b(?:there|can you|do you|does)\b", text, re.IGNORECASE) and not re.match(
        r"^\W*(?:which|what)", text, re.IGNORECASE
    )
    if not asks or there:
        return None
    options = [slot for slot in nouns if slot.known or len(nouns) == _TWO][-_TWO:]
    if len(options) < _TWO:
        return None
    return Choice(
        tuple(f"is there {with_article(slot.value)}?" for slot in options), tuple(slot.value for slot in options)
    )


def numbers(reading: InstructionReading) -> Numbers | None:
    """Find a comparison of counts: with a number, or of two kinds of thing."""
    comparators, nouns, amounts = reading.of("COMPARATOR"), reading.of("NOUN"), reading.of("NUMBER")
    text = re.sub(r"[.?!]+$", "", reading.text)
    if reading.has(r"\b(?:same|equal) number of\b|\bequally many\b|\bthe number of .* same\b") and len(nouns) > 1:
        return Numbers("==", f"how many {nouns[0].many}", f"how many {nouns[1].many}")
    if comparators and len(nouns) > 1 and not amounts:
        return _two_counts(text, comparators[0], nouns)
    if not amounts or not nouns or reading.cues - {"truth", "count", "name"}:
        return None
    operator = comparators[0].value if comparators else "=="
    rest = reading.without(*comparators[:1], amounts[0])
    rest = re.sub(
        r"^(?:is|are|does|do|there|can you|show|see|the picture|contain|contains|shows|the number of|it)\b\s*",
        "",
        rest.strip("?. "),
        flags=re.IGNORECASE,
    )
    rest = re.sub(r"^(?:are|is)\s+", "", rest, flags=re.IGNORECASE)
    rest = re.sub(r"\bthere (?:are|is|be)\b|\bnumber of\b|\b(?:is|are) than\b|\bthan\b", " ", rest, flags=re.IGNORECASE)
    return Numbers(operator, tidy(f"how many {rest}"), "", number=amounts[0].value)


def _two_counts(text: str, comparator: Slot, nouns: list[Slot]) -> Numbers | None:
    before = [slot for slot in nouns if slot.end <= comparator.start]
    if len(before) == 1 and "number of" in text.lower():
        split = text[: comparator.start], text[comparator.end :]
        return Numbers(comparator.value, _count_of(split[0]), _count_of(split[1]))
    joint = re.search(r"\b(?:than|as)\b", text[comparator.end :])
    if joint:
        middle = comparator.end + joint.start()
        return Numbers(
            comparator.value, _count_of(text[comparator.end : middle]), _count_of(text[middle + len(joint[0]) :])
        )
    either = re.search(r"\bor\b", text[comparator.end :])
    if either and comparator.value in {"<", ">"}:
        first, second = nouns[-2:]
        return Numbers(
            comparator.value, _count_of(first.many), _count_of(second.many), options=(first.many, second.many)
        )
    return None


def _count_of(words: str) -> str:
    bare = re.sub(r"\b(?:is|are|the number of|number of|there)\b", " ", words, flags=re.IGNORECASE)
    return tidy(f"how many {bare}")


def answers(reading: InstructionReading) -> Values | None:
    """Find a question whether something has a colour, a weather …, or whether two things share one."""
    nouns, colours = reading.of("NOUN"), reading.of("COLOR")
    attribute = next((cue for cue in ("color", "size") if cue in reading.cues), None)
    if reading.has(r"\b(?:same|different|equal)\b") and attribute and len(nouns) > 1:
        operator = "!=" if reading.has(r"\bdifferent\b|\bnot\b") else "=="
        asked = {"color": "what color is the {}?", "size": "is the {} small or large?"}[attribute]
        first, second = (asked.format(slot.value) for slot in nouns[:2])
        return Values(operator, first, second)
    if len(colours) == 1 and nouns and colours[0].start > nouns[0].end and reading.cues <= {"truth", "color"}:
        return _whether(reading, colours[0], f"what color is {_definite(reading, colours[0])}?")
    if colours and "background" in reading.cues and not nouns and reading.text[:4] != "what":
        return Values("==", "what color is the background?", "", word=colours[0].value)
    return None


def _whether(reading: InstructionReading, word: Slot, question: str) -> Values:
    return Values("!=" if reading.has(r"\bnot\b") else "==", question, "", word=word.value)


def _definite(reading: InstructionReading, colour: Slot) -> str:
    """Return the noun phrase that a colour is said of: ``the dog to the left of the cat``."""
    nouns = [
        slot
        for slot in reading.slots
        if slot.kind in {"NOUN", "RELATION", "COLOR", "SIZE"} and slot.end <= colour.start
    ]
    return "the " + tidy(re.sub(r"\b(?:that|which) (?:is|are)\b", "", reading.text[nouns[0].start : nouns[-1].end]))


def beside(reading: InstructionReading) -> Beside | None:
    """Find the first relation with a noun behind it; what stands before is asked of that side of the picture."""
    for number, slot in enumerate(reading.slots):
        later = reading.slots[number + 1 :]
        if slot.kind != "RELATION" or not any(one.kind == "NOUN" for one in later):
            continue
        end = _end_of_anchor(later)
        anchor = tidy(
            re.sub(r"^\W*(?:the|an?|any|of)\s+", "", reading.text[slot.end : end].strip(), flags=re.IGNORECASE)
        )
        rest = reading.text[: slot.start] + " " + reading.text[end:]
        rest = re.sub(
            r"\b(?:that|which|who) (?:is|are)\s*(?=$|[?.!])|\b(?:located|seen|standing|lying)\s*(?=$|[?.!])", "", rest
        )
        rest = re.sub(r"\b(?:that|which) (?:is|are)\s{1,3}(?=\s)", "", rest)
        return Beside(slot.value, re.sub(r"^of (?:the )?", "", anchor), tidy(rest))
    return None


def _end_of_anchor(later: tuple[Slot, ...]) -> int:
    """Return where the anchor ends: at its noun, or at the end of what further relations say of it."""
    noun = next(slot for slot in later if slot.kind == "NOUN")
    end = noun.end
    behind = [slot for slot in later if slot.start > noun.end]
    if len(behind) > 1 and behind[0].kind == "RELATION":
        nested = next((slot for slot in behind if slot.kind == "NOUN"), None)
        end = nested.end if nested else end
    return end


def across(reading: InstructionReading) -> Across | None:
    """Find what a statement says of which of several pictures."""
    pictures = reading.of("PICTURE")
    values = [slot.value for slot in pictures]
    if not pictures:
        return None
    if "other" in values and values[0] in {"one", "left", "right"}:
        return _one_and_the_other(reading, pictures)
    if values[:2] in (["left", "right"], ["right", "left"]):
        return _two_sides(reading, pictures)
    rest = reading.without(*pictures)
    first = next((value for value in values if value != "all"), "all")
    if first in {"left", "right"}:
        only = reading.has(r"PICTURE only\b|\bonly (?:in )?PICTURE")
        rest = re.sub(r"\bonly\b", " ", rest) if only else rest
        return Across(f"{first} only" if only else first, tidy(rest))  # type: ignore[arg-type]
    if first in {"both", "any", "one", "none"}:
        if first == "any" and reading.has(r"\bno\b|\bnot\b"):
            return Across("none", tidy(re.sub(r"\bno\b|\bnot\b", "any", rest)))
        return Across(first, rest)  # type: ignore[arg-type]
    return None


_DENIED: Final = re.compile(
    r"\b(?:does not|do not|is not|are not|has not|none|no|not|without|nothing)\b", re.IGNORECASE
)


def _one_and_the_other(reading: InstructionReading, pictures: list[Slot]) -> Across | None:
    first, other = pictures[0], next(slot for slot in pictures if slot.value == "other")
    between = list(_CONJUNCTION.finditer(reading.text, 0, other.start + 1))
    if not between:
        return None
    joint = between[-1]
    statement = tidy(reading.text[: first.start] + " " + reading.text[first.end : joint.start()])
    said = tidy(reading.text[joint.start() : other.start] + " " + reading.text[other.end :])
    said = re.sub(r"^(?:but|and|while|whereas)\s+", "", said, flags=re.IGNORECASE)
    nouns = [slot for slot in reading.of("NOUN") if slot.start < joint.start()]
    later = [slot for slot in reading.of("NOUN") if slot.start > joint.start()]
    if not later and not nouns:
        return None
    if _DENIED.search(said) and not later:
        said = f"there are no {nouns[0].many}"
    return Across("pair" if first.value == "one" else "sides", statement, said, flipped=first.value == "right")


def _two_sides(reading: InstructionReading, pictures: list[Slot]) -> Across | None:
    first, second = pictures[:2]
    joint = next(
        (found for found in _CONJUNCTION.finditer(reading.text) if first.start < found.start() <= second.start), None
    )
    leading = first.start < min((slot.start for slot in reading.of("NOUN")), default=0)
    if joint is None:
        return None
    if leading and second.start > joint.end() + 3:
        return None
    left = tidy(reading.text[: first.start] + " " + reading.text[first.end : joint.start()])
    right = tidy(reading.text[joint.end() : second.start] + " " + reading.text[second.end :])
    nouns = [slot for slot in reading.of("NOUN") if slot.start < joint.start()]
    if not [slot for slot in reading.of("NOUN") if slot.start > joint.start()] and nouns and _DENIED.search(right):
        right = f"there are no {nouns[0].many}"
    elif not [slot for slot in reading.slots if slot.start > joint.start() and slot.kind != "PICTURE"]:
        return None
    return Across("sides", left, right, flipped=first.value == "right")


@dataclass(frozen=True)
class Sides:
    """A comparison of the left picture with the right one."""

    operator: str
    left: str
    right: str


def sides(reading: InstructionReading) -> Sides | None:
    """Find a comparison of one picture with the other: of counts, or of colours, backgrounds, weathers."""
    values = [slot.value for slot in reading.of("PICTURE")]
    nouns, comparators = reading.of("NOUN"), reading.of("COMPARATOR")
    # "More dogs in the left picture" compares with the other one without naming it.
    implied = len(values) == 1 and len(nouns) == 1 and [c.value for c in comparators] in (["<"], [">"])
    compared = (len(values) > 1 or implied) and set(values[:2]) & {"left", "right"} and not reading.of("NUMBER")
    flip = values[:1] == ["right"]
    if compared and comparators and nouns:
        operator = _mirrored(comparators[0].value) if flip else comparators[0].value
        return Sides(operator, f"how many {nouns[0].many}", f"how many {nouns[-1].many}")
    if not reading.has(r"\b(?:same|different|equal|equally|as many)\b|COMPARATOR"):
        return None
    operator = "!=" if reading.has(r"\bdifferent\b|\bnot\b") else "=="
    if "count" in reading.cues and len({slot.value for slot in nouns}) == 1:
        return Sides(operator, f"how many {nouns[0].many}", f"how many {nouns[0].many}")
    question = _shared_question(reading, nouns)
    return Sides(operator, question, question) if question and not comparators else None


def _mirrored(operator: str) -> str:
    return {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator)


def _shared_question(reading: InstructionReading, nouns: list[Slot]) -> str:
    if "color" in reading.cues and "background" in reading.cues:
        return "what color is the background?"
    for cue, question in (
        ("weather", "what is the weather like?"),
        ("background", "what is the background?"),
        ("style", "what is the style of the picture?"),
    ):
        if cue in reading.cues:
            return question
    return f"what color is the {nouns[0].value}?" if "color" in reading.cues and nouns else ""
