"""The echo of a question about models: plain English made from its meaning alone, which reads as the same meaning."""

from __future__ import annotations

from typing import Final

from snellen.reasoning.language.inflection import listing, plural
from snellen.reasoning.queries.abilities import (
    Ability,
    AnswerFreely,
    CountThings,
    Favour,
    IdentifyType,
    JudgePairs,
    Kind,
    Mistake,
    NameColours,
    NoticeSeveral,
    Recognise,
    TellApart,
    TellMembers,
    TellPlaces,
    TellSizes,
)
from snellen.reasoning.queries.conditions import Change, Condition
from snellen.reasoning.queries.model_query import Contrast, ModelQuery, ModelQuestion, Threshold
from snellen.reasoning.queries.quantifiers import Quantifier
from snellen.sentences import capitalized

SPLIT_WORDS: Final = {
    "GB": "blur", "R": "rotation", "CJ": "color jitter", "PS": "changes of perspective", "ET": "elastic warping",
    "SP": "exchanged places",
}  # fmt: skip
"""What changes between the pictures of a pair, for people."""
_GERUNDS: Final = {
    "recognize": "recognizing", "tell": "telling", "identify": "identifying", "count": "counting", "name": "naming",
    "notice": "noticing", "be": "being", "judge": "judging", "order": "ordering", "score": "scoring",
    "follow": "following", "mistake": "mistaking", "favor": "favoring",
    "always": "always",
}  # fmt: skip
_PLACES: Final = {"sides": "left from right", "heights": "above from below", "both": "where things are"}
_BETTER: Final = {
    (False, False): "better", (True, False): "worse", (False, True): "more robust", (True, True): "less robust",
}  # fmt: skip
_BEST: Final = {
    (False, False): "best", (True, False): "worst", (False, True): "most robust", (True, True): "least robust",
}  # fmt: skip
"""By whether the opposite is asked for, and whether of robustness."""


def echo(query: ModelQuery) -> str:
    """Return the questions in words, one after the other."""
    lead = "" if query.confidence is None else f"With {percent(query.confidence)} confidence: "
    return lead + " ".join(map(question_in_words, query.questions))


def question_in_words(question: ModelQuestion) -> str:
    """Return one question as a sentence."""
    sentence = _sentence(question)
    return f"{capitalized(sentence)}{'.' if sentence.startswith('whether') else '?'}"


def percent(share: float) -> str:
    """Write a share: "90 %"."""
    return f"{100 * share:.10g} %"


def share_in_words(bound: Threshold) -> str:
    """Write a bound for the share of right answers: "right in at least 90 %", "no better than guessing"."""
    if bound.guessing:
        return f"{'' if bound.above else 'no '}better than guessing"
    return f"right in {bound.how} {percent(bound.share)}"


def loss_in_words(bound: Threshold, whose: str = "its") -> str:
    """Write a bound for what is lost: "more than 5 points", "at least 50 % of its accuracy"."""
    if bound.relative:
        return f"{bound.how} {percent(bound.share)} of {whose} accuracy"
    return f"{bound.how} {100 * bound.share:.10g} points"


def models_in_words(question: ModelQuestion) -> str:
    """Name the models of a question: "clip and blip", "any of the models"."""
    models = listing(question.models) if question.models else "the models"
    if question.quantifier is None:
        return models
    how, count = question.quantifier.how, question.quantifier.count
    of_them = {"not all": "fewer than all", "at least 1": "any", "at most 0": "none"}
    number = f"{how} {count}" if how in {"at least", "at most", "exactly"} else how
    return f"{of_them.get(number, number)} of {models}"


def condition_in_words(condition: Condition) -> str:
    """Name a condition: "rotation to the left by 45 degrees", "geometric transformations except zoom"."""
    if condition.change is not None:
        return _change(condition.change)
    without = f" except {listing(condition.without)}" if condition.without else ""
    return f"{_strength(condition, condition.family)}{condition.family}{without}"


def kind_in_words(kind: Kind) -> str:
    """Name what pictures show, in the plural."""
    names = listing([plural(name) for name in kind.names], "or") if kind.names else "things"
    fact = f" that {kind.fact.partition('|')[0]}" if kind.fact else ""
    without = f" other than {listing([plural(name) for name in kind.without], 'or')}" if kind.without else ""
    return names + fact + without


def classes_in_words(classes: Quantifier, things: Kind) -> str:
    """Name so many classes of a kind: "all kinds of birds", "at least 5 kinds of birds"."""
    how = {"not all": "fewer than all", "at least half": "at least half of the"}.get(classes.how, classes.how)
    number = f"{how} {classes.count}" if classes.how in {"at least", "at most"} else how
    return f"{'none of the' if number == 'at most 0' else number} kinds of {kind_in_words(things)}"


def ability_in_words(ability: Ability, *, gerund: bool = False, classes: Quantifier | None = None) -> str:
    """Name an ability: "recognize birds" or "recognizing birds"; of so many classes, "recognize most of the birds"."""
    words = _ability(ability)
    if classes is not None and isinstance(ability, Recognise):
        words = f"recognize {classes_in_words(classes, ability.things)}"
    verb, _, rest = words.partition(" ")
    return f"{_GERUNDS[verb]} {rest}" if gerund else words


def _strength(part: Change | Condition, name: str) -> str:
    """Write how severe what has a name is: "heavy " noise, "very " low brightness."""
    slight, heavy = ("slightly ", "very ") if name.startswith(("low ", "high ")) else ("slight ", "heavy ")
    return slight if part.slight else heavy if part.heavy else ""


def _change(change: Change) -> str:
    strength = _strength(change, change.type)
    if change.type == "tilt" and (change.amount is not None or change.side):
        side = f" to the {change.side}" if change.side else ""
        degrees = "" if change.amount is None else f" by {change.amount:g} degrees"
        return f"{strength}tilt{side}{degrees}"
    if change.amount is None:
        return strength + change.type
    return f"{change.type} {amount_in_words(change)}"


def amount_in_words(change: Change) -> str:
    """Name the severity of a change: "by a factor of 2", "by 45 degrees", "at 26 dB"; nothing where none is stated."""
    if change.amount is None:
        return ""
    amount = f"{change.amount:g}"
    match change.type:
        case "tilt":
            return f"by {amount} degrees"
        case "patch shuffling":
            return f"by {amount} parts across"
        case "JPEG compression":
            return f"at {amount} dB"
        case _:
            return f"by a factor of {amount}"


def severity_in_words(condition: Condition) -> str:
    """Say how severe a change is that is not stated: "slight defocus blur is by a factor of 8"; nothing of others."""
    change = condition.change
    if change is None or change.amount is not None or change.severity is None:
        return ""
    amount = amount_in_words(change.model_copy(update={"amount": change.severity}))
    return f"{condition_in_words(condition)} is {amount}"


def _ability(ability: Ability) -> str:  # noqa: C901, PLR0911, PLR0912 - one line each
    match ability:
        case Recognise(size=size, place=place, among=among, things=things):
            where = "among other things" if among else f"in the {place}" if place else ""
            return " ".join(filter(None, ("recognize", size, kind_in_words(things), where)))
        case TellSizes(things=things):
            return f"tell small from large {kind_in_words(things)}"
        case TellApart(kinds=(one, other)):
            return f"tell {kind_in_words(one)} from {kind_in_words(other)}"
        case TellApart(kinds=kinds):
            return f"tell apart {listing([kind_in_words(each) for each in kinds])}"
        case TellMembers(things=things):
            return f"tell {kind_in_words(things)} from one another"
        case Mistake(things=things, other=other):
            return f"mistake {kind_in_words(things)} for {kind_in_words(other)}"
        case Favour(answer="", always=always):
            return "always choose the same answer" if always else "favor any answer"
        case Favour(answer=answer, always=always):
            said = f"the {answer} choice" if answer in {"first", "last"} else f"the answer {answer}"
            return f"always choose {said}" if always else f"favor {said}"
        case IdentifyType(condition=condition, things=things):
            return f"identify {condition_in_words(condition)} in pictures{_of(things)}"
        case TellPlaces(axis=axis, things=things):
            return f"tell {_PLACES[axis]}" + (f" in pictures of {kind_in_words(things)}" if things != Kind() else "")
        case CountThings(up_to=up_to, things=things):
            return f"count up to {up_to} {kind_in_words(things)}" if up_to else f"count {kind_in_words(things)}"
        case NameColours(colours=(one, other), apart=True, things=things):
            return f"tell {one} from {other}" + (f" in pictures of {kind_in_words(things)}" if things != Kind() else "")
        case NameColours(colours=colours, apart=True, things=things):
            of = f" in pictures of {kind_in_words(things)}" if things != Kind() else ""
            return f"tell apart {listing(colours)}{of}"
        case NameColours(colours=colours, things=things):
            if colours:
                return f"recognize {listing(colours, 'or')} {kind_in_words(things)}"
            return f"name the colors of {kind_in_words(things)}"
        case NoticeSeveral(likeness=likeness, things=things):
            return " ".join(filter(None, ("notice several", likeness, kind_in_words(things))))
        case AnswerFreely(measure=measure):
            return "tell the truth" if measure == "truth" else "be helpful"
        case JudgePairs():
            return _judging(ability)


def _of(things: Kind) -> str:
    return f" of {kind_in_words(things)}" if things != Kind() else ""


def _judging(ability: JudgePairs) -> str:
    words = {
        "": "judge the similarity of pictures in every respect", "order": "order pairs of pictures by similarity",
        "symmetry": "score pairs alike both ways round", "heed": "follow the criterion for pairs",
    }[ability.measure]  # fmt: skip
    under = f" under {listing([SPLIT_WORDS[each] for each in ability.splits])}" if ability.splits else ""
    return words + under


def _under(question: ModelQuestion) -> str:
    return "" if question.condition is None else f" in pictures with {condition_in_words(question.condition)}"


def _doing(question: ModelQuestion) -> str:
    """Name the ability, and the condition where it is not one of robustness."""
    doing = ability_in_words(question.ability, gerund=True, classes=question.classes)
    return doing + ("" if question.robust else _under(question))


def _while(question: ModelQuestion) -> str:
    """Name the ability in which robustness is asked for; nothing for that of recognizing anything."""
    return "" if question.ability == Recognise() else f" in {_doing(question)}"


def _sentence(question: ModelQuestion) -> str:  # noqa: PLR0911 - a form each
    if question.asks == "which changes" and question.condition is not None:
        hurt = {"holds": "least", "fails": "most", "open": ""}[question.sense]
        condition = condition_in_words(question.condition).removeprefix("every ")
        return f"which kind of {condition} hurts {models_in_words(question)} {hurt}{_while(question)}"
    if question.comparison is not None:
        return _comparing(question)
    if question.asks == "which classes" and isinstance(question.ability, Recognise):
        be, how = "is" if len(question.models) == 1 else "are", "worst" if question.sense == "fails" else "best"
        things = kind_in_words(question.ability.things)
        return f"which {things} {be} {models_in_words(question)} {how} at recognizing{_under(question)}"
    subject = models_in_words(question)
    if question.asks == "which answer":
        return f"which answer {'does' if len(question.models) == 1 else 'do'} {subject} favor{_under(question)}"
    if question.asks == "limit" and question.condition is not None:
        good = question.model_copy(update={"condition": None, "asks": "whether"})
        held = f"good at {_doing(good)}" if question.threshold is None else _predicate(good)[1].strip()
        be = "is" if len(question.models) == 1 else "are"
        return f"up to what {condition_in_words(question.condition)} {be} {subject} {held}"
    if _is_of_failures(question) and isinstance(question.ability, Recognise):
        things = kind_in_words(question.ability.things)
        return f"are there kinds of {things} that {subject} cannot recognize{_under(question)}"
    auxiliary, rest = _predicate(question)
    if question.sense == "open" and question.asks != "how much":
        return f"whether {subject}{_finite(auxiliary, rest)}"
    if question.quantifier is not None and question.quantifier.how == "how many":
        return f"{subject}{_finite(auxiliary, rest)}"
    return f"{auxiliary} {subject}{rest}"


def _is_of_failures(question: ModelQuestion) -> bool:
    """Tell whether it asks for classes that a model does not recognize."""
    alone = question.threshold is None and question.quantifier is None and question.sense == "holds"
    return alone and question.classes is not None and question.classes.how == "not all"


def _finite(auxiliary: str, rest: str) -> str:
    """Write what stands after the subject of a clause: "favors the answer yes", where "does" asks for it."""
    if auxiliary not in {"do", "does"}:
        return f" {auxiliary}{rest}"
    always = " always" * rest.startswith(" always ")
    verb, _, others = rest.removeprefix(always).strip().partition(" ")
    return f"{always} {verb}{'s' * (auxiliary == 'does')} {others}"


def _predicate(question: ModelQuestion) -> tuple[str, str]:  # noqa: PLR0911 - one way of asking each
    """Return what stands before and after the subject."""
    is_one, fails = len(question.models) == 1, question.sense == "fails"
    be, do = ("is", "does") if is_one else ("are", "do")
    if isinstance(question.ability, Mistake | Favour):
        often = "how often " if question.asks == "how much" else ""
        return often + do, f"{' rarely' if fails else ''} {ability_in_words(question.ability)}{_under(question)}"
    if question.threshold is not None:
        bound = question.threshold
        if question.robust:
            loss = loss_in_words(bound, "its" if is_one else "their")
            return do, f" lose {loss} under {_lost_under(question)}"
        return be, f" {share_in_words(bound)} at {_doing(question)}"
    if question.asks == "how much":
        if question.robust:
            return f"how {'sensitive' if fails else 'robust'} {be}", f" to {_lost_under(question)}"
        return f"how {'bad' if fails else 'good'} {be}", f" at {_doing(question)}"
    if question.than is not None:
        return be, f" {_contrasting(question, question.than)}"
    if question.robust:
        return be, f" {'sensitive' if fails else 'robust'} to {_lost_under(question)}"
    if fails:
        return be, f" bad at {_doing(question)}"
    if isinstance(question.ability, AnswerFreely | JudgePairs):
        return be, f" good at {_doing(question)}"
    return "can", f" {ability_in_words(question.ability, classes=question.classes)}{_under(question)}"


def _lost_under(question: ModelQuestion) -> str:
    condition = "" if question.condition is None else condition_in_words(question.condition)
    return condition + _while(question)


def _contrasting(question: ModelQuestion, than: Contrast) -> str:
    fails = question.sense == "fails"
    if question.robust and than.condition is not None:
        adjective = "less robust" if fails else "more robust"
        return f"{adjective} to {_lost_under(question)} than to {condition_in_words(than.condition)}"
    adjective = "worse" if fails else "better"
    if than.ability is not None:
        one, other = (ability_in_words(each, gerund=True) for each in (question.ability, than.ability))
        return f"{adjective} at {one} than at {other}{_under(question)}"
    condition = "" if than.condition is None else condition_in_words(than.condition)
    return f"{adjective} at {_doing(question)} than in pictures with {condition}"


def _comparing(question: ModelQuestion) -> str:
    comparison, (first, *others) = question.comparison, question.models or ("",)
    assert comparison is not None  # noqa: S101 - the caller looked
    fails, robust = question.sense == "fails", question.robust
    to = f"to {_lost_under(question)}" if robust else f"at {_doing(question)}"
    points = f"{100 * comparison.margin:.10g} points"
    by = f" by more than {points}" if comparison.margin else ""
    lead = "whether " if question.sense == "open" else ""
    if comparison.how == "best":
        which = f"which of {listing(question.models)}" if question.models else "which model"
        return f"{lead}{which} is {_BEST[fails, robust]} {to}{by}"
    verb, subject = "is", first
    if comparison.how == "as good":
        equal = f"as {'robust' if robust else 'good'} as"
        no_worse = f"no {_BETTER[True, robust]} than"
        rest = f"{no_worse if by else equal} {listing(others)} {to}{by}"
    elif comparison.how == "better":
        rest = f"{_BETTER[fails, robust]} than {listing(others)} {to}{by}"
    else:
        verb, subject = "are", models_in_words(question)
        rest = f"within {points} of one another {to}" if comparison.margin else f"equally good {to}"
        if robust:
            rest = f"equally robust {to}" + (f" within {points}" if comparison.margin else "")
    return f"{lead}{subject} {verb} {rest}" if lead else f"{verb} {subject} {rest}"
