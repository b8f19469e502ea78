"""The echo of a meaning: a sentence of plain English, made from the meaning alone, that says what was understood."""

from __future__ import annotations

from snellen.reasoning.language.inflection import with_article
from snellen.reasoning.meanings.meanings import (
    Are,
    AreAlike,
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
    SettingIs,
    SettingsAlike,
    Several,
    Truth,
)
from snellen.reasoning.meanings.phrases import chain, counted_things, noun_phrase, number_word, predicate
from snellen.reasoning.meanings.things import Everything, PictureName, Things
from snellen.sentences import capitalized

JOINTS = {"and": ", and ", "or": ", or ", "exactly one": ", or "}
ORDERS = {
    "leftmost": "from left to right", "rightmost": "from right to left", "topmost": "from top to bottom",
    "bottommost": "from bottom to top", "largest": "from the largest to the smallest",
    "smallest": "from the smallest to the largest",
}  # fmt: skip
QUESTIONS = {
    "name": "What {be} {things}?", "colour": "What colour {be} {things}?", "size": "What size {be} {things}?",
    "place": "Where in the picture {be} {things}?", "ground": "What background {be} {things} on?",
}  # fmt: skip
LISTED = {
    "name": "names", "colour": "colours", "size": "sizes", "place": "places", "ground": "backgrounds",
}  # fmt: skip


def echo(meaning: Meaning) -> str:
    """Say a meaning as a question or a request: "How many cats are there to the left of the house?"."""
    match meaning:
        case Exist() | CompareCounts() | Are() | AreAlike() | SettingIs() | SettingsAlike() | Junction() | Negation():
            return _whether(meaning)
        case Count() | Query() | QuerySetting() | Choose() | ChooseCount():
            return _question(meaning)
        case IfThen():
            otherwise = "" if meaning.otherwise == Say() else f" Otherwise: {_enclosed(meaning.otherwise)}"
            return f"If {statement(meaning.condition)}: {_enclosed(meaning.then)}{otherwise}"
        case Several():
            return " ".join(f"({number}) {_enclosed(each)}" for number, each in enumerate(meaning.parts, 1))
    return _request(meaning)


def _question(meaning: Count | Query | QuerySetting | Choose | ChooseCount) -> str:
    match meaning:
        case Count():
            return _count(meaning)
        case Query():
            phrase = noun_phrase(meaning.things)
            return QUESTIONS[meaning.what].format(be="are" if phrase.is_plural else "is", things=phrase.text)
        case QuerySetting():
            return f"What is the {meaning.aspect}{_of_picture(meaning.picture)}?"
        case Choose():
            return _choose(meaning)
        case ChooseCount():
            return f"Which are there {meaning.how} of: {', or '.join(map(_several_of, meaning.options))}?"


def _request(meaning: ListEach | CheckEach | Describe | Say | EditPicture) -> str:
    match meaning:
        case CheckEach():
            order = f", {ORDERS[meaning.order]}" if meaning.order else ""
            clause = predicate(meaning.property, is_plural=False)
            return f"For each of {noun_phrase(meaning.things).text}{order}, say whether it {clause}."
        case ListEach():
            order = f", {ORDERS[meaning.order]}" if meaning.order else ""
            return f"List the {LISTED[meaning.what]} of {noun_phrase(meaning.things).text}{order}."
        case Describe(things=Everything(picture=picture)):
            return f"Describe the {_picture(picture)}."
        case Describe():
            return f"Describe {noun_phrase(meaning.things).text}."
        case Say():
            return f'Say "{meaning.words}".' if meaning.words else "Say nothing."
        case EditPicture():
            text = ", then ".join(map(_edit, meaning.actions))
            return f"{capitalized(text)}."


def statement(truth: Truth) -> str:
    """Say a truth as a clause: "there are two dogs", "the dog is red"."""
    match truth:
        case Exist():
            return _exist(truth)
        case CompareCounts():
            return _compare(truth)
        case Are():
            phrase = noun_phrase(truth.things)
            is_all = truth.share == "all"
            subject = phrase.text if is_all else f"most of {phrase.text}"
            if is_all and isinstance(chain(truth.things)[0], Everything) and not phrase.text.startswith("all "):
                subject = f"all {subject}"
            return f"{subject} {predicate(truth.property, is_plural=phrase.is_plural or not is_all)}"
        case AreAlike():
            phrase = noun_phrase(truth.things)
            return f"{phrase.text} {'are' if phrase.is_plural else 'is'} all of the same {truth.by}"
        case SettingIs():
            return f"the {truth.aspect}{_of_picture(truth.picture)} is {truth.value}"
        case SettingsAlike():
            return f"the {truth.aspect} is the same in both pictures"
        case Junction():
            parts = JOINTS[truth.how].join(_unit(each) for each in truth.parts)
            return f"exactly one of these holds: {parts}" if truth.how == "exactly one" else parts
        case Negation():
            return f"it is not true that {_unit(truth.truth)}"


def _unit(truth: Truth) -> str:
    return f"({statement(truth)})" if isinstance(truth, Junction) else statement(truth)


def _enclosed(meaning: Meaning) -> str:
    return f"[{echo(meaning)}]" if isinstance(meaning, IfThen | Several) else echo(meaning)


def _exist(truth: Exist) -> str:
    base, _ = chain(truth.things)
    is_one = truth.number == 1
    number = f"{truth.quantity} {number_word(truth.number)}"
    if not isinstance(base, Everything):
        number = number if truth.number else "none"
        return f"there {'is' if is_one else 'are'} {number} of {noun_phrase(truth.things).text}"
    if truth.number == 0:
        return f"there are no {noun_phrase(truth.things, 'bare').text}"
    if is_one and truth.quantity == "at least":
        return f"there is {noun_phrase(truth.things, 'a').text}"
    if not is_one:
        return f"there are {number} {noun_phrase(truth.things, 'bare').text}"
    return f"there is {number} {noun_phrase(truth.things, 'any').text.removeprefix('any ')}"


def _compare(truth: CompareCounts) -> str:
    one, other = _several_of(truth.one, is_followed=True), _several_of(truth.other)
    if truth.times > 1:
        than = {"more": "more than ", "fewer": "fewer than ", "as many": ""}[truth.how]
        return f"there are {than}{number_word(truth.times)} times as many {one} as {other}"
    if truth.how == "as many":
        return f"there are as many {one} as {other}"
    return f"there are {truth.how} {one} than {other}"


def _several_of(things: Things, *, is_followed: bool = False) -> str:
    """Say a set where it is counted: "cats", "of the two largest dogs"."""
    if isinstance(chain(things)[0], Everything):
        phrase = noun_phrase(things, "bare")
        return phrase.closed if is_followed else phrase.text
    phrase = noun_phrase(things)
    return f"of {phrase.closed if is_followed else phrase.text}"


def _count(meaning: Count) -> str:
    kinds = "kinds of " * meaning.kinds
    if meaning.more_than is not None:
        one, other = _several_of(meaning.things, is_followed=True), _several_of(meaning.more_than)
        if meaning.kinds:  # "kinds of dogs", "kinds of the two largest dogs"
            one, other = (f"kinds of {each.removeprefix('of ')}" for each in (one, other))
        return f"How many more {one} than {other} are there?"
    base, properties = chain(meaning.things)
    if not isinstance(base, Everything):
        return f"How many {kinds or 'of '}{noun_phrase(meaning.things).closed} are there?"
    before, after = counted_things(base, properties)
    return f"How many {kinds}{before} are there{after}?"


def _whether(truth: Truth) -> str:
    clause = statement(truth)
    if isinstance(truth, Negation):
        return f"Is it false that {_unit(truth.truth)}?"
    if isinstance(truth, Exist | CompareCounts | AreAlike | SettingIs | SettingsAlike):
        return _inverted(clause, truth)
    if isinstance(truth, Are) and truth.share == "all":
        phrase = noun_phrase(truth.things)
        said = predicate(truth.property, is_plural=phrase.is_plural)
        verb, _, rest = said.partition(" ")
        if verb in {"is", "are"} and not phrase.is_open:
            return f"{verb.capitalize()} {clause.removesuffix(f' {said}')} {rest}?"
    return f"Is it true that {clause}?"


def _inverted(clause: str, truth: Exist | CompareCounts | AreAlike | SettingIs | SettingsAlike) -> str:
    """Ask whether a clause is so, of which it is known where its verb stands."""
    subject, end = "there", ""
    if isinstance(truth, AreAlike):
        subject, end = noun_phrase(truth.things).text, f" all of the same {truth.by}"
    elif isinstance(truth, SettingIs | SettingsAlike):
        subject = f"the {truth.aspect}" + (_of_picture(truth.picture) if isinstance(truth, SettingIs) else "")
    verb, _, rest = clause.removeprefix(f"{subject} ").partition(" ")
    return f"{verb.capitalize()} {subject}{end or f' {rest}'}?"


def _choose(meaning: Choose) -> str:
    phrase = noun_phrase(meaning.things)
    subject = f"one of {phrase.text}" if phrase.is_plural else phrase.text
    said = [predicate(each, is_plural=False, is_last=False) for each in meaning.properties]
    if not phrase.is_open and not phrase.is_plural and all(each.startswith("is ") for each in said):
        return f"Is {subject} {', or '.join(each.removeprefix('is ') for each in said)}?"
    return f"Which is true of {subject}: it {', or it '.join(said)}?"


def _edit(action: EditAction) -> str:
    phrase = noun_phrase(action.things)
    match action.operation:
        case "colour pop":
            return f"keep {phrase.closed} in colour and make the rest grey"
        case "blur the rest":
            return f"blur everything but {phrase.text}"
        case "replace":
            return f"replace {phrase.closed} with {with_article(action.by or '')}"
        case "emoji":
            return f"cover {phrase.closed} with the emoji: {action.by}"
        case "crop":
            return f"crop the picture to {phrase.text}"
    return f"{action.operation} {phrase.text}"


def _of_picture(picture: PictureName) -> str:
    return "" if picture == "picture" else f" of the {_picture(picture)}"


def _picture(picture: PictureName) -> str:
    return {"picture": "picture", "both": "two pictures"}.get(picture, f"{picture} picture")
