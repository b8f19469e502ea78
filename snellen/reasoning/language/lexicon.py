# ruff: noqa: SIM905 - lists of words read best as running text
"""The words that carry the structure of an instruction, and the nouns that the profile's facts name.

Closed classes (colours, relations, comparators, cues) are tables here; nouns are open: those of the facts file are
known with their groups, and any other run of words is a noun by its place in the sentence.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.reasoning.language.inflection import plural, singular

if TYPE_CHECKING:
    from snellen.profiles import Profile

COLOURS: Final = frozenset(
    "red green blue yellow purple white gray pink orange black brown golden silver violet turquoise".split()
)
SIZES: Final = frozenset("small large big little tiny huge medium".split())
NUMBERS: Final = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
RELATIONS: Final = {
    "left": ("to the left side of", "on the left side of", "on the left hand side of", "to the left of",
             "on the left of", "at the left of", "left of", "the left of", "to the left", "on the left", "left"),
    "right": ("to the right side of", "on the right side of", "on the right hand side of", "to the right of",
              "on the right of", "at the right of", "right of", "the right of", "to the right", "on the right",
              "right"),
    "above": ("higher up than", "higher than", "on top of", "above", "over"),
    "below": ("lower down than", "lower than", "below", "underneath", "beneath", "under"),
    "front": ("in front of",),
    "behind": ("behind", "in back of"),
}  # fmt: skip
RELATION_TOOLS: Final = {
    "left": "CROP_LEFTOF", "right": "CROP_RIGHTOF", "above": "CROP_ABOVE", "below": "CROP_BELOW",
    "front": "CROP_FRONTOF", "behind": "CROP_BEHIND",
}  # fmt: skip
COMPARATORS: Final = {
    ">=": ("at least", "no fewer than", "no less than", "not fewer than", "a minimum of"),
    "<=": ("at most", "no more than", "not more than", "a maximum of", "up to"),
    "==": ("exactly", "precisely", "as many", "equal to", "equally many", "just"),
    "<": ("fewer than", "less than", "smaller than", "lower than", "fewer", "less"),
    ">": ("more than", "greater than", "larger than", "higher than", "more"),
}
PLACES: Final = {
    place: (f"{place} corner", f"{place} part", f"{place} quarter", place, f"{other} {side}")
    for row, other in (("top", "upper"), ("bottom", "lower"))
    for side in ("left", "right")
    for place in (f"{row} {side}",)
}
SETTINGS: Final = {
    "weather": frozenset("clear sunny rainy snowy foggy raining snowing".split()),
    "background": frozenset("plain gradient striped checked dotted grass sand water road".split()),
    "style": frozenset("flat sketch pastel mosaic embossed grayscale posterized".split()),
}
CANONICAL: Final = {"raining": "rainy", "snowing": "snowy", "big": "large", "huge": "large", "little": "small",
                    "tiny": "small"}  # fmt: skip

CUES: Final[tuple[tuple[str, str], ...]] = (
    ("emoji", r"\bemojis?\b|\bsticker|\b(hide|cover|disguise|censor)\b"),
    (
        "pop",
        (
            r"\bcolor ?pop\b|\b(in|its|their) colou?rs?\b.*\b(gray|else|rest)\b|\bblack and white\b|\bdesaturate\b|"
            r"\b(everything|all|rest)\b.*\b(gray|colorless)\b|\bpop\b|\b(keep|leave)\b.*\bcolou?r|\bcolor splash\b"
        ),
    ),
    (
        "blur",
        (
            r"(?=.*\b(background|everything|rest|except|focus|around|else|surroundings|apart|but)\b)"
            r".*\b(blur|blurry|blurred|defocus|bokeh|fuzzy|focus)\b"
        ),
    ),
    (
        "blur of a thing",
        (
            r"^(?!.*\b(background|everything|rest|except|focus|around|else|surroundings|apart|but)\b)"
            r".*\b(blur|blurry|blurred|defocus|bokeh|fuzzy)\b"
        ),
    ),
    ("replace", r"\b(replace|swap|exchange|substitute)\b|\b(turn|transform|change|make)\b.*\binto\b|\binstead of\b"),
    (
        "tag",
        (
            r"^\W*(please |first )?(tag|label|annotate|mark|outline)\b|\btags?\b|"
            r"\b(draw|put) (a )?box(es)? (on|around)\b|^find and name\b|\bwith (their|its) names?\b"
        ),
    ),
    ("count", r"\bhow many\b|\bcount\b|\bnumber of\b"),
    ("color", r"\bcolors?\b"),
    ("size", r"\bwhat size\b|\bhow (big|large|small)\b|\bsize\b"),
    ("bigger", r"\b(larger|bigger|smaller) than\b"),
    ("where", r"\bwhere\b|\bwhich (part|corner|quarter)\b"),
    ("weather", r"\bweather\b"),
    ("background", r"\bbackground\b"),
    ("style", r"\bstyle\b|\bdrawn\b"),
)
"""What an instruction is about, by tell-tale words in its masked text; the first five exclude all later ones."""
EDITS: Final = frozenset({"emoji", "pop", "blur", "replace"})
ASKS: Final = (
    r"^\W*(in |on |at |say )?(what|which|who|name|identify|list|say what|say which)\b|, (what|which) |"
    r"^\W*(is|are) (it|this|that|these|those)\b[^,]* noun or "
)
"""How a question for a name begins, where nothing else says what it asks for."""

ACTS: Final = (
    r"^\W*(make|put|place|turn|change|draw|give|apply|add|keep|leave|let|use|describe|find|add|set|crop|generate|create|"
    r"produce|say|call|answer|check|look)\b"
)
"""How an order begins; with no other cue, nobody knows what it wants."""

STRUCTURE: Final = frozenset(
    "and or but not no none neither nor if otherwise each every all both either only same different equal twice xor "
    "everything except without per respectively".split()
)
"""Words that change what a sentence with the same slots means."""

FILLERS: Final = frozenset(
    "a an the this that these those it its is are was were be been being am do does did has have had having can could "
    "would will should may might shall you i me my we us your there here of in on at to from with by for as than so "
    "too also just very please picture pictures scene one ones thing's what which who where how many much "
    "tell say show shows shown give see find look looks looking count name identify list call answer check describe "
    "contain contains include includes appear appears visible present any some and or but not no none neither nor if "
    "otherwise else then when each every all both either only same different equal twice xor per respectively "
    "everything except without while keep keeping leave leaving let put place make making turn change replace swap "
    "exchange substitute transform hide cover disguise stick sticker censor mask emoji blur blurry blurred defocus "
    "focus sharp pop colorpop color colors colored colorful colorless size weather background backdrop style "
    "number tag label annotate mark outline boxes box draw drawn kind type sort like other others another "
    "whether they them their he she his her rest around using into onto over up out total together altogether "
    "overall combined during true false yes who's set seen located lying standing sitting "
    "whose side part corner hand half between among more most fewer less least larger bigger smaller greater "
    "as many total apply add adding stay stays keep remain remains becomes become effect "
    "know want need like now first second third last after before afterwards finally "
    "these two pair everywhere anywhere something anything somewhere exactly precisely equally at once "
    "respective desaturate gray black white top use outside apart name names named create creating whole entire "
    "unrecognizable call would generate produce give draw original only just rest".split()
)


@dataclass(frozen=True)
class Noun:
    """Meaning of a noun phrase.

    Attributes:
        name: In the singular, as the facts spell it.
        plural: Its plural.
        group: Whether it is a hypernym, a name for many kinds of thing.
    """

    name: str
    plural: str
    group: bool


THING: Final = Noun("object", "objects", group=True)
_THINGS: Final = ("object", "objects", "thing", "things", "item", "items", "stuff")


@dataclass(frozen=True)
class Lexicon:
    """Nouns by every way they may be written, and phrases for facts about them."""

    nouns: dict[str, Noun] = field(default_factory=dict)
    facts: tuple[str, ...] = ()

    @property
    def longest(self) -> int:
        """Words of the longest noun."""
        return max((len(name.split()) for name in self.nouns), default=1)


def lexicon_of(profile: Profile) -> Lexicon:
    """Return the lexicon of a profile: its facts file's nouns, or only the closed classes where it names none."""
    path = profile.facts_path()
    return Lexicon(dict.fromkeys(_THINGS, THING)) if path is None else read_lexicon(path)


@cache
def read_lexicon(path: Path) -> Lexicon:
    """Read the nouns and facts of a facts file (``concepts``, ``groups``, ``facts``), once a process."""
    table = json.loads(path.read_text(encoding="utf-8"))
    nouns = dict.fromkeys(_THINGS, THING)
    for row in table["concepts"]:
        _enter(nouns, Noun(row["name"], plural(row["name"]), group=False))
    for name, row in table["groups"].items():
        _enter(nouns, Noun(row["singular"], name, group=True))
        nouns.setdefault(plural(row["singular"]), nouns[name])
        nouns.setdefault(plural(name), nouns[name])
    facts = sorted({phrase for phrases in table["facts"].values() for phrase in phrases}, key=len, reverse=True)
    return Lexicon(nouns, tuple(facts))


def _enter(nouns: dict[str, Noun], noun: Noun) -> None:
    for written in (noun.name, noun.plural, singular(noun.name)):
        nouns.setdefault(written, noun)


_ANY_SIDE: Final = r"above|below|over|under|beneath|underneath|(?:to the )?(?:left|right) of"
_SPELLINGS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), spelling)
    for pattern, spelling in (
        (r"[\u2018\u2019]", "'"),
        (r"[\u201c\u201d]", '"'),
        (r"\b(what|where|who|that|there|it|how)'s\b", r"\1 is"),
        (r"\b(is|are|does|do|can|has|have)n't\b", r"\1 not"),
        (r"\bcolour(s|ed|ful|less|)\b", r"color\1"),
        (r"\bgrey(scale)?\b", r"gray\1"),
        (r"\b(?:image|photo|photograph|pic|scene|shot|snapshot)(s?)\b", r"picture\1"),
        (r"^(?:(?:and|also|now|then|so|ok|okay|well|great|thanks|thank you|hi|hello|hey|hm+)\b[,.!]*\s+)+(?=\w)", ""),
        (r"\bplease\b,?\s*", ""),
        (r"^(?:can|could|would|will) you (?!say|call|see|find|spot|make out)", ""),
        (r"^color[- ]?pop (?!of\b|every|all\b)", "create a color pop of "),
        (r"^(?:tell|show) me\b", "say"),
        (r"^say (?:whether|if) (?!.*\b(?:otherwise|else)\b)", ""),
        (r"^i (?:want|would like|need) (?:you )?to (?:know )?", ""),
        (r"\bat least one of (?:these|them|the following)\b:?", ""),
        (r"\b(?:the|these) pair of pictures\b", "the two pictures"),
        (r"\bon which side of (?P<y>.+?) (?P<be>is|are) (?P<x>[^,]+), (?P<sides>.+)",
         r"\g<be> \g<x> \g<sides> of \g<y>"),
        (rf"(?P<one>\b(?:{_ANY_SIDE})) (?P<y>[^?,]+?),? or (?P<two>{_ANY_SIDE}) (?:it|them)\b",
         r"\g<one> or \g<two> \g<y>"),
        (r"^what (?:color|size) (?P<be>is|are) (?P<x>[^,:]+)[,:] (?P<options>.+ or .+)", r"\g<be> \g<x> \g<options>"),
        (r"\b(?:put|place) (?P<new>.+?) where (?P<old>.+?) (?:is|are)\b", r"replace \g<old> with \g<new>"),
    )
)  # fmt: skip
"""Ways of saying one thing, and the one that is read; the last four put the slots into the usual order."""


def plain_words(text: str) -> str:
    """Write an instruction in one spelling: ``color``, ``picture`` for photos and images, no contractions."""
    words = " ".join(text.split())
    for pattern, spelling in _SPELLINGS:
        words = pattern.sub(spelling, words).strip()
    # "left? of the cat" after the sides were moved to the front.
    return re.sub(r"[?.!]+(?= of )", "", words)
