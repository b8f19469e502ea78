"""Actions of `talk.grammar`: meanings of talk, made from words and names."""

from __future__ import annotations

from typing import Any, Final, Literal, cast

from snellen.reasoning.language.inflection import singular
from snellen.reasoning.meanings.talk import (
    Agreement,
    Assent,
    Correction,
    Courtesy,
    Decline,
    Doubt,
    ForgetOrder,
    Help,
    KnowledgeQuestion,
    LearnOrder,
    Manner,
    Naming,
    Repeat,
    Selection,
    Why,
)

Side = Literal["left", "right", "top", "bottom"]
_POLITE: Final = ("greeting", "farewell", "thanks", "acknowledgement")


def courtesy(of: str) -> Courtesy:
    """Be polite."""
    return Courtesy(of=cast("Any", of))


def politest(one: Courtesy, other: Courtesy) -> Courtesy:
    """Answer the courtesy that most wants an answer."""
    return min(one, other, key=lambda each: _POLITE.index(each.of))


def agreement() -> Agreement:
    """Agree with the answer."""
    return Agreement()


def wrong() -> Correction:
    """Say no more than that the answer is wrong."""
    return Correction(manner="denied")


def praised() -> Courtesy:
    """Take "that is great" for thanks."""
    return Courtesy(of="thanks")


def if_right(verdict: Agreement | Correction | Courtesy) -> Agreement | None:
    """Keep an agreement."""
    return verdict if isinstance(verdict, Agreement) else None


def if_wrong(verdict: Agreement | Correction | Courtesy) -> Correction | None:
    """Keep a verdict that something is wrong."""
    return verdict if isinstance(verdict, Correction) else None


def expected(value: str) -> Correction:
    """Say what the answer is: "it is a fox"."""
    return Correction(expected=value)


def absent(value: str) -> Correction:
    """Say what the answer is not: "that is not a fox"."""
    return Correction(absent=singular(value), manner="denied")


def instead(right: str, other: str) -> Correction:
    """Say what the answer is in place of what it is not: "a goose, not a swan"."""
    return Correction(expected=right, absent=singular(other), manner="denied")


def beside(right: str, other: str) -> Correction:
    """Say so in short, which may speak of something else: "4, not 3"."""
    return Correction(expected=right, absent=singular(other))


def with_manner(correction: Correction | Naming, manner: Manner) -> Correction | None:
    """Return a correction in a firmer manner; None of what corrects nothing."""
    return correction.model_copy(update={"manner": manner}) if isinstance(correction, Correction) else None


def denied(correction: Correction) -> Correction | None:
    """Say it after a denial."""
    return with_manner(correction, "denied" if correction.manner == "stated" else correction.manner)


def demanded(value: str | Correction) -> Correction | None:
    """Say that it is the answer: "it should be four"."""
    return with_manner(value if isinstance(value, Correction) else expected(value), "demanded")


def counted(number: str, name: str | None, side: str | None) -> Correction:
    """Say how many there are: "there are two dogs"."""
    return Correction(expected=number, present=singular(name or ""), side=cast("Any", side or ""))


def present(name: str | None, side: str | None) -> Correction:
    """Say what there is, too: "there is also a dog on the left"."""
    return Correction(present=singular(name or "one"), side=cast("Any", side or ""), manner="denied")


def missed(name: str | None, side: str | None) -> Correction:
    """Say what was missed."""
    return present(name, side)


def sided(side: str) -> Correction:
    """Say on which side it is: "it's the left one"."""
    return Correction(side=cast("Side", side))


def more_telling(one: Correction | Naming, other: Correction | Naming) -> Correction | None:
    """Return the one that says what the answer should be."""
    corrections = [each for each in (one, other) if isinstance(each, Correction)]
    if len(corrections) < 2:  # noqa: PLR2004 - both
        return None
    telling = [each for each in corrections if not each.only_denies]
    return telling[0] if len(telling) == 1 else None if telling else corrections[0]


def doubt(correction: Correction | None = None) -> Doubt:
    """Doubt the answer."""
    return Doubt(correction=correction)


def refusal() -> Decline:
    """Wish that nothing be done."""
    return Decline()


def refused() -> Decline:
    """Say no, which may judge an answer."""
    return Decline(bare=True)


def selection(number: str) -> Selection | None:
    """Choose one of several."""
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    place = words.index(number) if number in words else int(number)
    return Selection(number=place) if -1 <= place < 100 else None  # noqa: PLR2004 - as the type says


def knowledge(name: str = "") -> KnowledgeQuestion:
    """Ask what is known."""
    return KnowledgeQuestion(name=name)


def learn(name: str = "") -> LearnOrder:
    """Have something learned."""
    return LearnOrder(name=name)


def forget(name: str = "") -> ForgetOrder:
    """Have something forgotten, or the last lesson."""
    return ForgetOrder(name=name)


def forget_all() -> ForgetOrder:
    """Have all forgotten that was ever learned."""
    return ForgetOrder(everything=True)


ACTIONS: Final[dict[str, Any]] = {
    "help": Help, "why": Why, "repeat": Repeat, "assent": Assent, "naming": lambda name: Naming(name=name),
} | {
    each.__name__: each
    for each in (
        courtesy, politest, agreement, wrong, praised, if_right, if_wrong, expected, absent, instead, beside, denied,
        demanded, counted, present, missed, sided, more_telling, doubt, refusal, refused, selection, knowledge, learn,
        forget, forget_all,
    )
}  # fmt: skip
