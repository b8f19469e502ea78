"""Reading a question about models: which models, which ability, under which condition (for the `CaseReasoner`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from snellen.errors import BadInput
from snellen.experiments.queries import polarity
from snellen.experiments.queries.class_groups import Subjects
from snellen.experiments.queries.polarity import Polarity
from snellen.reasoning.language.inflection import listing
from snellen.tools.transforms import DATA_TYPES, TYPE_GROUPS, grouped

Ability = Literal["recognise", "identify", "position", "count", "color", "several"]
"""What is asked for: naming things of a group, telling of what type a picture is, where things are, how many, of which
color, whether there are several."""

MAX_QUERY: Final = 1_000
"""Characters of a query that are read; longer ones are texts pasted by mistake."""

CAN: Final = (
    "recognizing a group of things (birds, vehicles …); identifying a type of picture (rotated, noisy, blurred, "
    "compressed, dark, of low contrast, sketches, snow …) or a group of types (geometric, pixel, style, semantic); "
    "robustness to one; telling left from right and above from below; counting; colors; which of two models is better; "
    "whether free answers are true and helpful (the protocol freeform); and whether a model judges similarity well "
    "(the protocol pairs)"
)


@dataclass(frozen=True)
class ReadModelQuery:
    """A query about models.

    Attributes:
        ability: What models shall be able to do.
        models: Those that it names; none for all.
        group: The group of things that it is about; "" for any.
        types: Data types that it is about, by their names in `DATA_TYPES`.
        type_group: The group of types, where it names one rather than single types.
        robust: Whether it asks what is lost under them.
        compared: Whether it asks which of two models is better.
        polarity: Whether "yes" to it means that models are able or robust, or the first is better; or the opposite.
    """

    ability: Ability
    models: tuple[str, ...] = ()
    group: str = ""
    types: tuple[str, ...] = ()
    type_group: str = ""
    robust: bool = False
    compared: bool = False
    polarity: Polarity = "unknown"


class UnexaminableError(BadInput):
    """A query that experiments cannot answer here; the message says what can be asked."""


def read_query(query: str, models: Sequence[str], subjects: Subjects) -> ReadModelQuery:
    """Read a query.

    Args:
        query: In the user's words.
        models: The models that can be examined.
        subjects: What pictures can be of.

    Raises:
        UnexaminableError: It is empty, too long, about models that there are not, or about what cannot be examined.
    """
    words = " ".join(query.split())
    if not words:
        msg = f"The query is empty. What can be examined: {CAN}."
        raise UnexaminableError(msg)
    if len(words) > MAX_QUERY:
        msg = f"The query has {len(words):,} characters; say it in at most {MAX_QUERY:,}."
        raise UnexaminableError(msg)
    named, rest = _models(words.casefold(), models)
    _refuse_strangers(rest, models, subjects)
    mentions = rest
    types, type_group, rest = _types(rest)
    groups = subjects.named(rest)
    if not groups and (unknown := _unknown_things(rest)):
        msg = f"There is no group {unknown[:80]!r} to recognize; there are {listing(sorted(subjects.groups))}."
        raise UnexaminableError(msg)
    robust = bool(types) and bool(_ROBUST.search(rest))
    ability = _ability(rest, types=bool(types), group=bool(groups), robust=robust)
    compared = bool(_BETTER.search(rest)) and len(named or models) > 1
    if ability is None:
        groups_known = f" Groups are {listing(sorted(subjects.groups))}." if _THINGS.search(rest) else ""
        msg = f"This cannot be examined here: {words[:120]!r}. What can be: {CAN}.{groups_known}"
        raise UnexaminableError(msg)
    group = groups[0] if groups else ""
    parsed = ReadModelQuery(ability, tuple(named), group, types, type_group, robust, compared)
    return replace(parsed, polarity=_polarity(parsed, mentions, subjects))


def _polarity(query: ReadModelQuery, words: str, subjects: Subjects) -> Polarity:
    """Return the polarity of a query of which models are masked; unknown where it asks more than is examined."""
    grouped_away = _TYPE_GROUP.sub(lambda match: "_" * len(match[0]), words)
    groups, rest = subjects.masked(_types(grouped_away)[2])
    abilities = sum(bool(pattern.search(rest)) for _, pattern in _CUES)
    if len(groups) > 1 or abilities > 1 or (query.compared and len(query.models) != _TWO):
        return "unknown"
    if query.ability == "identify" and not polarity.names_seeing(rest):
        return "unknown"  # "good at rotated pictures" asks more than whether rotation is noticed
    return polarity.of_ability(rest, robust=query.robust, compared=query.compared)


_ROBUST: Final = re.compile(
    r"\brobust|\b(?:cop|withst|resist|resilien|sensitiv|affect|hurt|harm|suffer|stable|degrad|toler|fool|confus|fragil|"
    r"vulnerab|weaken|damag|disturb|thrown|break|brok|drop|los[et]|worse)\w*|\bhandl\w+|\bstruggl\w+|\bfail\w*\s+(?:under|with|on|when)\b|"
    r"\bstill\b|\bdespite\b"
)
_BETTER: Final = re.compile(
    r"\b(?:better|worse|best|worst|compare[ds]?|comparison|outperforms?|stronger|weaker|beats?|superior|inferior|"
    r"more accurate|less accurate|vs\.?|versus|which (?:of|model|one))\b"
)
_POSITION: Final = re.compile(
    r"\bleft (?:from|and|or|vs\.?) right\b|\bright (?:from|and|or) left\b|\bposition(?:s|al)?\b|\bspatial\b|"
    r"\blocations?\b|"
    r"\bwhere (?:things|objects|they)\b|\babove (?:from|and|or) below\b|\brelations?(?:hips)?\b|\bsides?\b"
)
_COUNT: Final = re.compile(r"\bcount(?:s|ing|ed)?\b|\bhow many\b|\bnumber of\b|\bnumbers\b|\bquantit(?:y|ies)\b")
_COLOR: Final = re.compile(r"\bcolou?rs?\b")
_SEVERAL: Final = re.compile(r"\b(?:several|multiple|multi|more than one)\b")
_CUES: Final[tuple[tuple[Ability, re.Pattern[str]], ...]] = (
    ("position", _POSITION),
    ("count", _COUNT),
    ("color", _COLOR),
    ("several", _SEVERAL),
)
_TWO: Final = 2
_CAN: Final = re.compile(
    r"\b(?:recogni[sz]|identif|distinguish|tell|know|nam|see|spot|detect|notic|classif|understand|differentiat|discern|"
    r"good at|categori[sz]|perceiv|find|mistake|mix up|determin)\w*|"
    r"\b(?:better|worse|best|worst|accura\w+|robust\w*|well|reliabl\w+|how good|weak|fails?|evaluate|compare[ds]?|"
    r"vs\.?|versus|beats?|outperforms?)\b"
)
_MENTION: Final = "MODEL"
_ALL: Final = re.compile(
    r"\b(?:all |any |the |these |those |our |both |each |every |which |what )*(?:embedded |vision[- ]language |"
    r"multi-?modal |large )*(?:models?|vlms?|lmms?|mllms?)\b(?: under test)?|\bthey\b|\bthem\b|\bany of these\b"
)
_SUBJECT: Final = re.compile(
    r"^(?:is|are|can|could|does|do|will|would|how (?:well|good|robust) (?:is|are|can|does|do))\s+(?P<who>.+?)\s+"
    r"(?:and|or|more|less|better|worse|robust|able|good|bad|sensitive|still|recogni\w+|identify|tell|count|distinguish|"
    r"cope|handle|see|notice|know|understand|detect|name|suffer|lose|get|struggle|affected|hurt|resilient|confuse\w*|spot)\b"
)
_NAME: Final = r"[a-z][\w.-]*"
_LIST: Final = r"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|vs\.?|versus)\s+)"
_END: Final = r"[\s?.!]*$"
_AGAINST: Final = r"\b(?:better|worse|than|as|with|against|to) (?:(?:good|well) as )?"
_AUXILIARY: Final = "(?:is|are|does|do|can|could|will|would)"
_BESIDE: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\bMODEL{_LIST}(?P<name>{_NAME})",
        rf"(?P<name>{_NAME}){_LIST}MODEL\b",
        rf"{_AGAINST}(?P<name>{_NAME})(?=\s+(?:at|in|on)\b|{_END})",
        rf"\bof (?P<name>{_NAME}){_LIST}{_NAME} (?:is|are|has|can|does)\b",
        rf"^{_AUXILIARY}\s+(?P<name>{_NAME})\s.*\b(?:than|as|outperforms?|beats?)\s+(?:\w+\s+as\s+)?MODEL\b",
        r"(?<![\w-])(?P<name>[a-z][a-z.-]*\d[\w.-]*)",
    )
)
"""What stands where a model would: beside one in a list, compared with one, or with a number in its name."""
_HYPHENED: Final = re.compile(rf"^{_AUXILIARY} (?P<name>[a-z][\w.]*(?:-[\w.]+)+)\b")
"""A subject with a hyphen is called like a model."""
_NO_NAMES: Final = frozenset(
    [
        "the",
        "other",
        "others",
        "it",
        "its",
        "them",
        "they",
        "which",
        "all",
        "both",
        "each",
        "not",
        "any",
        "rest",
        "model",
        "one",
        "a",
        "an",
        "this",
        "that",
        "these",
        "those",
        "is",
        "are",
        "was",
        "do",
        "does",
        "did",
        "can",
        "could",
        "will",
        "would",
        "how",
        "what",
        "when",
        "where",
        "why",
        "if",
        "so",
        "at",
        "in",
        "on",
        "by",
        "of",
        "for",
        "to",
        "from",
        "with",
        "and",
        "or",
        "but",
        "less",
        "more",
        "most",
        "chance",
        "guessing",
        "average",
        "before",
        "random",
        "half",
        "expected",
        "usual",
        "good",
        "bad",
        "well",
        "equal",
        "equally",
        "left",
        "right",
        "above",
        "below",
        "top",
        "bottom",
        "things",
        "objects",
        "pictures",
        "images",
        "photos",
        "people",
        "humans",
        "image",
        "picture",
        "photo",
        "under",
        "after",
    ]
)
_THINGS: Final = re.compile(r"\b(?:recogni[sz]\w*|see|name|spot|detect|find|know|tell|distinguish|identify)\b")
_ANYTHING: Final = re.compile(
    r"\b(?:things|objects|anything|everything|classes|(?:my|these|our) (?:pictures|images|photos))\b"
)
_UNDER: Final = re.compile(
    r"\b(?:recogni[sz]\w*|see|name|spot|detect|find|know)\s+(?:the |an? |any )?(?P<what>[a-z][a-z ]*?)\s+"
    r"(?:under|despite|with|after)\s+(?:the |an? |any )?(?:\w+ )?_"
)
_PRONOUNS: Final = frozenset(
    {"it", "there", "this", "that", "we", "i", "you", "one", "a picture", "pictures", "images"}
)


def _models(words: str, models: Sequence[str]) -> tuple[list[str], str]:
    """Find the models that are named, and mask them: their names may contain words."""
    by_place: dict[int, str] = {}
    for name in sorted(models, key=len, reverse=True):
        spelled = r"[-_. ]?".join(re.escape(part) for part in re.split(r"[-_. ]", name.casefold()) if part)
        pattern = re.compile(rf"(?<![\w-]){spelled}(?![\w-])")
        for match in pattern.finditer(words):
            by_place[match.start()] = name
        words = pattern.sub(lambda match: _MENTION.ljust(len(match[0]), "~"), words)
    words = _ALL.sub(lambda match: _MENTION.ljust(len(match[0]), "~"), words)
    return list(dict.fromkeys(by_place[place] for place in sorted(by_place))), words.replace("~", "")


def named_models(query: str, models: Sequence[str]) -> tuple[list[str], str]:
    """Return the models that a query names, and its words without them.

    Raises:
        UnexaminableError: It is empty, too long, or names a model with a number in its name that there is not.
    """
    words = " ".join(query.split())
    if not words or len(words) > MAX_QUERY:
        msg = f"The query has {len(words):,} characters; say it in 1 to {MAX_QUERY:,}."
        raise UnexaminableError(msg)
    named, rest = _models(words.casefold(), models)
    stranger = _BESIDE[-1].search(rest) or _HYPHENED.search(rest)
    if stranger:
        msg = f"There is no model {stranger['name'][:80]!r} to examine; there are {', '.join(models)}."
        raise UnexaminableError(msg)
    return named, rest


def _is_word(name: str, subjects: Subjects) -> bool:
    """Whether something where a model could stand is a word of the query instead."""
    known = (_ROBUST, _BETTER, _POSITION, _COUNT, _COLOR, _SEVERAL, _CAN)
    return (
        name in _NO_NAMES
        or _MENTION.casefold() in name.casefold()
        or any(pattern.search(name) for pattern in known)
        or bool(_types(name)[0])
        or bool(subjects.named(name))
    )


def _refuse_strangers(words: str, models: Sequence[str], subjects: Subjects) -> None:
    """Refuse a query of which a subject, or what a model is compared with, is no model that there is."""
    for match in (beside for pattern in _BESIDE for beside in pattern.finditer(words)):
        name = match["name"].strip(".-")
        if not _is_word(name, subjects):
            msg = f"There is no model {name[:80]!r} to examine; there are {', '.join(models)}."
            raise UnexaminableError(msg)
    subject = _SUBJECT.match(words)
    who = subject["who"].strip(" ,") if subject else ""
    if not who or _MENTION in who or who in _PRONOUNS:
        return
    if _MENTION in words and not re.search(r"[\d-]", who):  # "does noise hurt the models?"
        return
    msg = f"There is no model {who[:80]!r} to examine; there are {', '.join(models)}."
    raise UnexaminableError(msg)


def _unknown_things(words: str) -> str:
    """Return what should be recognized under some change of the picture, where that is no group."""
    change = _UNDER.search(words)
    what = change["what"] if change else ""
    return "" if set(what.split()) & {"things", "objects", "anything", "something", "pictures", "images"} else what


_TYPE_GROUP: Final = re.compile(
    rf"\b({'|'.join(TYPE_GROUPS)})[- ]?(?:type|level|al)?\s+(?:transformations?|transforms?|types?|changes?|"
    r"corruptions?|edits?|manipulations?|distortions?|perturbations?)\b"
)
_FAMILIES: Final = {
    r"\b(?:corruptions?|image quality|degradations?)\b": ("Gaussian noise", "JPEG compression", "defocus blur"),
    r"\bweather\b": ("snowy weather", "rainy weather", "foggy weather"),
    r"\brotat(?:ions?|ed|ing|e)\b|\bturned\b|\borientations?\b": ("left rotation", "right rotation", "half turn"),
    r"\bflip(?:ped|ping|s)?\b|\bmirror(?:ed|ing)\b": ("vertical flip",),
    r"\bnois[ey]\b": ("Gaussian noise",),
    r"\bblurr?(?:ed|ing|s|y)?\b": ("defocus blur",),
    r"\bcompress(?:ed|ion|ing)\b": ("JPEG compression",),
    r"\btilt(?:ed|ing)?\b": ("tilt",),
    r"\bdark(?:er|ened|ness)?\b|\blighting\b": ("low brightness",),
    r"\b(?:bright(?:er|ened)?|overexposed)\b": ("high brightness",),
    r"\bbrightness\b": ("low brightness", "high brightness"),
    r"\bcontrast\b": ("low contrast", "high contrast"),
    r"\bshuffl\w+\b": ("patch shuffling",),
    r"\bzoom\w*\b": ("zoom",),
    r"\bsketches\b": ("sketch style",),
    r"\bstyles?\b": ("sketch style", "pastel style", "mosaic style", "embossed style", "grayscale style"),
}
"""Words that stand for one type or several, where no type is named outright."""


def named_types(words: str) -> tuple[tuple[str, ...], str, str]:
    """Return the data types that words name, the group of types, and what is left of the words."""
    return _types(words)


def _types(words: str) -> tuple[tuple[str, ...], str, str]:
    """Find the data types that are meant, the group of types, and what is left of the words."""
    if group := _TYPE_GROUP.search(words):
        name = next(one for one in TYPE_GROUPS if one == group[1])
        rest = words.replace(group[0], " ")
        return tuple(one.name for one in grouped(name)), name, rest
    by_place: dict[int, str] = {}
    written = {text.casefold(): one.name for one in DATA_TYPES.values() for text in (one.name, *one.said, *one.words)}
    for text in sorted(written, key=len, reverse=True):
        pattern = re.compile(rf"(?<![\w-]){re.escape(text)}s?(?![\w-])")
        for match in pattern.finditer(words):
            by_place[match.start()] = written[text]
        words = pattern.sub(lambda match: "_" * len(match[0]), words)
    for pattern_text, names in _FAMILIES.items():
        named = re.search(pattern_text, words)
        if named and not set(names) & set(by_place.values()):
            by_place.update({named.start() + place: name for place, name in enumerate(names)})
            words = words.replace(named[0], "_" * len(named[0]))
    return tuple(dict.fromkeys(by_place[place] for place in sorted(by_place))), "", words


def _ability(words: str, *, types: bool, group: bool, robust: bool) -> Ability | None:
    for ability, pattern in _CUES:
        if pattern.search(words):
            return ability
    if robust or (types and _UNDER.search(words)) or (group and (_CAN.search(words) or types)):
        return "recognise"
    if types and _CAN.search(words):
        return "identify"
    return "recognise" if _CAN.search(words) and _ANYTHING.search(words) else None
