"""Answers in sentences: what a meaning and its answer say together ("There are two dogs.", "The dog is red.")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from snellen.reasoning.language.inflection import listing, with_article
from snellen.reasoning.meanings.answer_phrases import scarcity
from snellen.reasoning.meanings.echo import statement
from snellen.reasoning.meanings.meanings import (
    Are,
    Choose,
    ChooseCount,
    Count,
    Exist,
    ListEach,
    Meaning,
    Query,
    QuerySetting,
    Truth,
)
from snellen.reasoning.meanings.phrases import chain, noun_phrase
from snellen.reasoning.meanings.things import Everything, IsNot
from snellen.sentences import capitalized
from snellen.values import Picture, Region, as_number, as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

_TRUTHS: Final = {"yes": True, "no": False, "true": True, "false": False}
_MOST_LISTED: Final = 12


def answer_sentence(meaning: Meaning, answer: Any) -> str:  # noqa: ANN401 - any value of a program
    """Say an answer as a sentence; as it is where it is a sentence already, or of no kind that the meaning asks for."""
    if isinstance(answer, Picture):
        return "Here is the picture."
    text = _text(answer)
    if text.endswith("."):
        return text
    truth = answer if isinstance(answer, bool) else _TRUTHS.get(text.casefold())
    if isinstance(meaning, get_args(get_args(Truth)[0])) and truth is not None:
        return _whether(meaning, holds=truth)
    number = as_number(answer) if not isinstance(answer, list) else None
    if isinstance(meaning, Count) and number is not None:
        return _count(meaning, int(number))
    sentence = _told(meaning, answer, text)
    return capitalized(sentence)


def _whether(truth: Truth, *, holds: bool) -> str:
    if holds:
        return f"Yes, {statement(truth)}."
    match truth:
        case Exist(things=things, quantity="at least", number=1):
            absence = scarcity(things)
            return f"No, {absence[:1].lower()}{absence[1:]}"
        case Are(things=things, property=said, share="all") if not isinstance(said, IsNot):
            phrase = noun_phrase(things)
            if not phrase.is_plural:
                return f"No, {statement(Are(things=things, property=IsNot(property=said)))}."
    return f"No, it is not true that {statement(truth)}."


def _count(meaning: Count, number: int) -> str:
    if meaning.kinds or meaning.more_than is not None:
        return f"It is {number}."
    if number == 0:
        return scarcity(meaning.things)
    if not isinstance(chain(meaning.things)[0], Everything):
        return f"It is {number}."
    text = statement(Exist(things=meaning.things, quantity="exactly", number=min(number, 100)))
    return f"T{text[1:].replace('exactly ', '', 1)}."


def _told(meaning: Meaning, answer: Any, text: str) -> str:  # noqa: ANN401 - any value of a program
    match meaning:
        case Query(things=things, what=what):
            phrase = noun_phrase(things)
            be = "are" if phrase.is_plural else "is"
            return f"{phrase.text} {be} {_aspect(what, text)}."
        case QuerySetting(aspect=aspect):
            return f"the {aspect} is {text}."
        case ListEach() if isinstance(answer, list):
            if not answer:
                return scarcity(meaning.things)
            return f"{noun_phrase(meaning.things).text}: {listing(_names(answer))}."
        case Choose(things=things):
            phrase = noun_phrase(things)
            return f"{'it' if phrase.is_plural else phrase.text} is {text}."
        case ChooseCount(how=how):
            return f"there are {how} {text}."
    return f"{text}." if text else "there is nothing to say."


def _aspect(what: str, text: str) -> str:
    if what == "name":
        return with_article(text)
    if what == "place":
        return f"in the {text}" if text in {"middle", "centre"} else f"at the {text}"
    return f"on {text}" if what == "ground" else text


def _text(answer: Any) -> str:  # noqa: ANN401 - any value of a program
    if isinstance(answer, Region):
        return answer.label
    if isinstance(answer, list):
        return ", ".join(_names(answer)) if answer else "nothing found"
    return as_text(answer)


def _names(answer: Sequence[Any]) -> list[str]:
    names = [each.label if isinstance(each, Region) else as_text(each) for each in answer]
    return [*names[:_MOST_LISTED], "…"] if len(names) > _MOST_LISTED else names
