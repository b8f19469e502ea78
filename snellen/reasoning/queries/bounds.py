"""Words that bound what a question asks, and readings that have no place for them.

A rule of the grammar accounts for each of its words; a question that is put together from parts, or guessed, may lose
some. Those for which a meaning has a place ("any model", "heavy noise", "half of its accuracy") are found by the word
classes of the grammar. For the others (`UNEXAMINED`) no meaning has one, as no number of pictures would decide it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from snellen.reasoning.meanings.things import sets_within
from snellen.reasoning.queries.abilities import CountThings, Favour, Recognise, TellPlaces, TellSizes
from snellen.reasoning.queries.model_query import ModelQuery, ModelQuestion
from snellen.reasoning.reading.lexical_entries import LexicalNoun
from snellen.reasoning.reading.words import WordToken

Named = Sequence[Sequence[tuple[int, str, Any]]]
"""The phrases that begin at each word: where each ends, its word class, its value."""
_EVEN_ONCE: Final = "asks whether it happens even once: ask how often"
_EVERY_TIME: Final = "asks about every picture, which no number of pictures can show: ask for “at least 95 %”"
_DENIES: Final = "denies or excludes something: ask without it"
_NO_BOUND: Final = "states no bound that pictures can show: ask with “at least” or “at most” and a number"
_UNSEEN: Final = "depends on what a model was trained on, which its answers do not tell: name the things themselves"
_ALL_BUT: Final = "leaves out so many without naming them: ask for “at least” or “at most” a number of kinds or models"
_OF_MODELS: Final = "is a share of the models: ask for “most” or for “at least two of the models”"
UNEXAMINED: Final[Mapping[str, str]] = {
    r"(?<!as )ever(?! so\b)|at least once": _EVEN_ONCE,
    r"(?:never|not|n't) (?:(?:been|ever|yet) )*(?:seen|shown|taught|trained|met|encountered|learn(?:ed|t))"
    r"|unseen|unfamiliar|novel|new to (?:it|them)|out[- ]of[- ]distribution|zero[- ]shot": _UNSEEN,
    r"never(?! mind\b| (?:been |before |yet )*(?:seen|shown|taught|trained|met|encountered|learn))"
    r"|not once": _EVERY_TIME,
    r"always|every time|without exception|perfect(?:ly)?|complete(?:ly)?|fully|entirely|flawless(?:ly)?": _EVERY_TIME,
    r"(?<!yes/)(?<!yes or )no(?! matter\b| doubt\b| (?:more|less|fewer) than \S*\d)|none|not one|few|hardly|barely"
    r"|only(?! (?:in )?\d)|without(?! exception\b)": _DENIES,
    r"(?:but|except|save|bar|apart from|other than) (?:for )?"
    r"(?:one|two|three|four|five|six|a few|a couple|some|\d+)": _ALL_BUT,
    r"exact(?:ly)?|precise(?:ly)?|several": _NO_BOUND,
    r"(?:half|thirds?|quarters?|%|per ?cent|share|fraction|part) of (?:(?:all|the|these|our) )*models": _OF_MODELS,
    r"(?:much|far|clearly|considerably|substantially|slightly|somewhat) (?:better|worse|more|less)": _NO_BOUND,
}
"""Words that bound or deny what is asked, and why they are sent back."""
_UNEXAMINED: Final = {re.compile(rf"(?<![a-z])(?:{words})\b", re.IGNORECASE): why for words, why in UNEXAMINED.items()}
_NUMBERED: Final = re.compile(r"\b(?:only (?:in )?|no (?:more|less|fewer) than )\S*\d", re.IGNORECASE)
"""It bounds a share, where the meaning states one."""
_AT_MOST: Final = re.compile(
    r"\b(?:at most|no more than|not more than|(?:less|fewer) than (?=\d|five\b|ten\b|fifteen\b|twenty\b|thirty\b))",
    re.IGNORECASE,
)
"""In a comparison it denies what would be claimed without it."""
_COUNT_TO: Final = re.compile(r"\bcount(?:s|ing)? (?:up )?(?:to|as far as) \w+", re.IGNORECASE)
_EITHER: Final = re.compile(
    r"\b(?:yes\W+(?:or\W+)?(?:the answer )?no|no\W+(?:or\W+)?(?:the answer )?yes)\b"
    r"(?! questions?\b)(?!.*\b(?:yes|no)\b)",
    re.IGNORECASE,
)
"""It names both answers; where one is named once more, a mere "yes or no" is asked for."""
_PLACED: Final = re.compile(
    r"\b(?:second|third|fourth|fifth|2nd|3rd|4th|5th|middle)\b(?: (?:option|choice|answer|name|one)s?\b)?",
    re.IGNORECASE,
)
"""It says at which place an answer stands, which is neither end: the second of four choices is not the last."""
_EXCEPT: Final = re.compile(r"\b(?:except|apart from|aside from|other than|excluding|excepting)\b", re.IGNORECASE)
_SHARE: Final = re.compile(
    r"%|per ?cent|points?\b|\b(?:half|third|quarter|fifth|tenth)s?\b|\bout of\b|\bin (?:\d+|\w+)\b|\d\.\d|\bmost\b",
    re.IGNORECASE,
)
"""A text without any of these states no share, whatever number it has."""
_CHANGES: Final = frozenset({"CHANGE", "CHANGED", "AROUND", "VERB_CHANGE"})
_KINDS: Final = frozenset({"NOUN", "KIND_LEAD", "FACT_ADJECTIVE", "FACT_PARTICIPLE"})
_THINGS: Final = frozenset({"thing", "object", "item"})
_ENDS: Final = frozenset({"first", "last"})
_LEFT_OUT: Final = "has no place in what was understood"
_NEXT_WORD: Final = re.compile(r"\W*([\w'’-]*)")


@dataclass(frozen=True)
class UnexaminedWords:
    """Words that ask for more than pictures can show.

    Attributes:
        words: As they are written.
        before: The word before which they stand, in lower case.
        why: Why they are sent back.
    """

    words: str
    before: str
    why: str


def unexamined_words(text: str, query: ModelQuery | None = None) -> list[UnexaminedWords]:
    """Return the words of a text that ask for more than pictures can show.

    Args:
        text: The question.
        query: What it is read as. A habit of answering may "always" be shown.
    """
    is_habit = query is not None and any(
        isinstance(each.ability, Favour) and each.ability.always for each in query.questions
    )
    return [
        UnexaminedWords(found[0], _next_word(text, found.end()), why)
        for each, why in _UNEXAMINED.items()
        for found in each.finditer(text)
        if not (is_habit and why is _EVERY_TIME)
    ]


def _next_word(text: str, end: int) -> str:
    found = _NEXT_WORD.match(text, end)
    return found[1].casefold() if found else ""


def unexamined(text: str) -> tuple[str, ...]:
    """Return why a text asks for more than pictures can show, a sentence for each reason."""
    return _sentences(unexamined_words(text))


def _sentences(found: Sequence[UnexaminedWords]) -> tuple[str, ...]:
    first: dict[str, str] = {}
    for each in found:
        first.setdefault(each.why, each.words)
    return tuple(_sentence(words, why) for why, words in first.items())


def left_out(
    text: str,
    words: Sequence[WordToken],
    named: Named,
    query: ModelQuery,
    *,
    meant: AbstractSet[UnexaminedWords] = frozenset(),
) -> tuple[str, ...]:
    """Return what a question bounds, denies or excepts and a reading of it does not, in sentences.

    Args:
        text: The question.
        words: Its words.
        named: The phrases that begin at each of them.
        query: What it is read as.
        meant: Those of its unexamined words that say what the query means.
    """
    bounds = [found[0] for each, is_lost in _MISSED.items() if is_lost(query) and (found := each.search(text))]
    spans = [*_unmet(words, named, query), *_unarranged(words, named, query)]
    bounds += [
        " ".join(dict.fromkeys(each.written for each in words[start:end]))
        for start, end in spans
        if not any(start >= other[0] and end <= other[1] and (start, end) != other for other in spans)
    ]
    states = _SHARE.search(text) or not any(each.threshold for each in query.questions)
    shares = () if states else ("The question states no share.",)
    unmeant = [each for each in unexamined_words(text, query) if each not in meant]
    return (*_sentences(unmeant), *(_sentence(each, _LEFT_OUT) for each in dict.fromkeys(bounds)), *shares)


def names_another_answer(text: str, query: ModelQuery) -> bool:
    """Tell whether a text names an answer that a query takes for another, or leaves out."""
    return any(is_lost(query) and each.search(text) for each, is_lost in _ANSWERS.items())


def _sentence(words: str, why: str) -> str:
    return f"“{words}” {why}."


def _lacks_exception(query: ModelQuery) -> bool:
    has_exception = any(getattr(each, "without", ()) for each in sets_within(query))
    return not has_exception and all(len(each.models) < 2 for each in query.questions)  # noqa: PLR2004


def _lacks_answer(query: ModelQuery) -> bool:
    """Tell whether a query is about the answer yes and not about no, or the other way round."""
    return len({"yes", "no"} & {each.answer for each in sets_within(query) if isinstance(each, Favour)}) == 1


_ANSWERS: Final[Mapping[re.Pattern[str], Callable[[ModelQuery], bool]]] = {
    _EITHER: _lacks_answer,
    _PLACED: lambda query: any(isinstance(each, Favour) and each.answer in _ENDS for each in sets_within(query)),
}
_MISSED: Final[Mapping[re.Pattern[str], Callable[[ModelQuery], bool]]] = {
    _NUMBERED: lambda query: not any(each.threshold for each in query.questions),
    _COUNT_TO: lambda query: any(isinstance(each, CountThings) and not each.up_to for each in sets_within(query)),
    _AT_MOST: lambda query: any(each.comparison for each in query.questions),
    _EXCEPT: _lacks_exception,
    **_ANSWERS,
}


def _unmet(words: Sequence[WordToken], named: Named, query: ModelQuery) -> Iterator[tuple[int, int]]:
    """Yield the spans of words that ask for a part of the meaning that no question has."""
    of_one_model = all(len(each.models) == 1 for each in query.questions)
    for start, phrases in enumerate(named):
        for end, symbol, value in phrases:
            # "Somebody", "one of them", "at least one" are of people or things where a single model is asked about.
            is_of_models = not of_one_model or any(each.text.startswith("model") for each in words[start : end + 1])
            is_counted = any(_counts(each, value) for each in query.questions)
            if is_of_models and not is_counted and _is_quantifier(symbol, end, named):
                yield start, end
            if symbol in {"SLIGHT", "HEAVY"} and _begins(named, end, _CHANGES) and not _is_severe(query, symbol):
                yield start, end
            if symbol in {"CLASSES", "CLASSES_SHARE"} and _begins(named, end, _KINDS) and not _of_classes(query, value):
                yield start, end
            if symbol == "HAD" and not any(each.threshold and each.threshold.relative for each in query.questions):
                yield start, end


def _unarranged(words: Sequence[WordToken], named: Named, query: ModelQuery) -> Iterator[tuple[int, int]]:
    """Yield the spans of words that say how pictures show things, in clutter or small, where no question does."""
    parts = list(sets_within(query))
    if any(
        isinstance(each, TellSizes | TellPlaces) or (isinstance(each, Recognise) and each.arranged) for each in parts
    ):
        return
    for start, phrases in enumerate(named):
        for end, symbol, value in phrases:
            is_crowd = symbol == "CLUTTER" or (symbol == "CROWDED" and _begins(named, end, {"SCENE"}))
            is_amid = symbol == "AMONG" and _begins(named, end, {"OTHER_THINGS", "CLUTTER"})
            is_sized = symbol == "SIZE" and (_is_thing(words, end) or _is_named(named, end, query))
            if is_crowd or is_amid or is_sized or (symbol == "PLACE" and value != "middle"):
                yield start, end


def _is_thing(words: Sequence[WordToken], place: int) -> bool:
    return place < len(words) and words[place].text in _THINGS


def _is_named(named: Named, place: int, query: ModelQuery) -> bool:
    """Tell whether a noun begins there whose things a query is about."""
    nouns = [value for _, symbol, value in named[place] if symbol == "NOUN"] if place < len(named) else []
    of_query = {name for kind in query.kinds for name in kind.names}
    return any(isinstance(each, LexicalNoun) and not of_query.isdisjoint(each.names) for each in nouns)


def _is_quantifier(symbol: str, end: int, named: Named) -> bool:
    return symbol == "MODELS" or (symbol in {"OF_MODELS", "HOW_MANY"} and _begins(named, end, {"MODEL", "ALL_MODELS"}))


def _begins(named: Named, start: int, symbols: AbstractSet[str]) -> bool:
    return start < len(named) and any(symbol in symbols for _, symbol, _ in named[start])


def _counts(question: ModelQuestion, how: str | None) -> bool:
    """Tell whether a question says for how many models; where one is best, or for a degree, each of all counts."""
    of_each = question.comparison is not None or question.asks != "whether"
    return question.quantifier is not None or (how == "all" and of_each)


def _of_classes(query: ModelQuery, how: str | None) -> bool:
    """Tell whether a question says for how many classes; in pictures and models a quantifier may stand for others."""
    return how is not None and any(each.classes is not None for each in query.questions)


def _is_severe(query: ModelQuery, symbol: str) -> bool:
    changes = [change for each in query.conditions for change in each.changes]
    return any(each.amount is not None or (each.slight if symbol == "SLIGHT" else each.heavy) for each in changes)
