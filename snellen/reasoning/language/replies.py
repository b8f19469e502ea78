# ruff: noqa: SIM905 - lists of words read best as running text
"""Replies to an answer: agreement, or a remark that says what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Final

from snellen.reasoning.language.assent import FAULTS, judgement
from snellen.reasoning.language.corrections import MAX_CORRECTION, NUMBER, read_correction
from snellen.reasoning.language.inflection import singular
from snellen.reasoning.language.lexicon import COLOURS, FILLERS, SIZES
from snellen.values import as_number

_HEDGES: Final = re.compile(r"^(?:(?:sorry|hm+|well|but|oh|so|and|i think|i guess|i believe)\b[\s,.:;!-]*)+")
_THAT: Final = r"(?:that|this|it|they|these|those|the (?:(?:right|correct|true) )?(?:answer|result))"
_IS: Final = r"(?:'s|'re| is| are| was| were)"
_NO: Final = r"no|nope|nah|actually|rather|i mean|i meant"
"""What stands before agreement as well: "no, you are right"."""
_LEADS: Final = re.compile(rf"^(?:(?:{_NO})\b[\s,.:;!-]*)+")
_DENIALS: Final = re.compile(
    rf"^(?:(?:{_NO}|wrong|incorrect|false|not (?:quite|right|true|correct)|you(?:'re| are| were) (?:wrong|mistaken)"
    rf"|you got (?:it|that|this) wrong|{_THAT}{_IS} (?:wrong|not (?:right|true|correct)|incorrect|false))\b"
    r"(?P<apart>[\s,.:;!-]*))+"
)
_STRESS: Final = re.compile(r"(?<=\s)(?:actually|really|definitely|clearly|obviously|in fact)\s+")
_SURELY: Final = re.compile(r"^(?:(?:but|no),? )?surely,? (?P<said>[^?]+?)(?:, (?:no|right|[a-z]+n't \w+))?\?*$")
_COURTESY: Final = re.compile(
    r"(?:no,? )?(?:(?:many )?thanks?(?: you| a lot| so much| very much)*|thx|cheers)|you(?:'re| are) welcome|well done|"
    r"(?:good|great|nice|excellent) (?:job|work|one)|ok(?:ay)?|hi|hello|hey|bye|good (?:morning|evening|night)|wow|"
    rf"(?:(?:{_THAT}|you){_IS} )?(?:(?:so|very|really|just|simply|pretty|absolutely) )*"
    r"(?:great|awesome|amazing|perfect|wonderful|brilliant|excellent|lovely|cool|nice|impressive|fantastic|helpful|fine)"
)
_GREETS: Final = re.compile(r"(?:hi|hello|hey|good (?:morning|afternoon|evening|day))\b", re.IGNORECASE)
_SIDE: Final = re.compile(
    r"^(?:it(?:'s| is)|that(?:'s| is)|i mean|i meant|they(?:'re| are))?\s*(?:(?:in|on|at|to) )?the "
    r"(?:one (?:in|on|at) the )?(?P<side>left|right|top|bottom)(?:most)?(?:\s+(?:one|side|picture|half))?"
    r"(?: of (?:it|the picture))?$"
)
_SIDES: Final = frozenset({"left", "right"})
_DEMANDS: Final = re.compile(
    rf"^(?:{_THAT} (?:should|must|ought to) |the (?:(?:right|correct|true) )?answer is "
    r"|the (?:right|correct|true) (?:number|count|colou?r|name|word|result) is )"
)
_NEGATES: Final = re.compile(
    rf"^(?:not an? |there (?:is|are) (?:no|not an?|not any) |{_THAT}{_IS} (?:not (?:an?|the|any)|no) "
    r"|(?:they|these|those)(?:'re| are| were) not )"
)
_ADDS: Final = re.compile(
    r"\b(?:missed|overlooked|forgot|left out|also|another|more|too|as well)\b"
    rf"|^there (?:is|are|were) (?:only |just |exactly )?{NUMBER}\b"
)
_COUNTS: Final = re.compile(
    r"^(?:i (?:can )?(?:only |just )?(?:see|saw|count|counted)"
    rf"|(?:please )?(?:make|correct|change|set) (?:it|that)(?: to)?) {NUMBER}\b"
)
_BESIDE: Final = re.compile(r"^(?:an? |the )?[\w-]+(?: [\w-]+)?, not ")
_TALK: Final = frozenset(
    "stop wait go come continue hold let leave keep never forget try let's nothing something else enough don't cancel "
    "skip yet stay mind thanks sorry please one ones other".split()
)
"""Words of what is said to somebody, of which no name consists."""
_MOST_WORDS: Final = 4
"""Words of an answer that is given without saying that it is one: "no, dark blue"."""
_NAME: Final = re.compile(r"(?:an? |the )?[\w-]+(?: [\w-]+)*")
_ARTICLE: Final = re.compile(r"^(?:an?|the) ")
_SENTENCE: Final = re.compile(r"[.!;\n]+")


@dataclass(frozen=True)
class Remark:
    """Remark about an answer.

    Attributes:
        right: That it was right.
        expected: What it should have been.
        correction: What is wrong with it, in words that `read_correction` reads.
        unsure: Whether this is only perhaps what was meant: then it is asked about before it counts.
    """

    right: bool = False
    expected: str = ""
    correction: str = ""
    unsure: bool = False

    def __bool__(self) -> bool:
        """Whether it is about the answer at all."""
        return self != Remark()


def read_remark(text: str, *, shows: bool, noun: str = "", answer: object = None, names: Container[str] = ()) -> Remark:
    """Read a message that follows an answer; nothing where it is not about it.

    Agreement outranks a leading "no" ("no, you are right"). After a denial, words are the right answer only where they
    could be one: a number in place of a number, yes or no in place of the other, a colour, something known by name.
    Only what says that the answer is right, or that it is wrong, counts: a denial, "it should be …", "the answer is …",
    "that is not a …", "you missed …". "It is three" may be a remark or small talk; it comes out `unsure`. Praise and
    thanks are none.

    Args:
        text: The message.
        shows: Whether the answer was a picture or places in one.
        noun: What was looked for, in the singular: what "the left one" is one of.
        answer: What was answered, where it is known: a plain "it is three" only concerns an answer of its kind.
        names: Names of things that are known: "no, fox" names the right answer, other words are asked about.
    """
    surely = _SURELY.fullmatch(_bare(text))
    if surely is not None:
        found = read_remark(surely["said"], shows=shows, noun=noun, answer=answer, names=names)
        return Remark() if found.right or not found else replace(found, unsure=True)
    if text.rstrip().endswith("?") or is_courtesy(text):
        return Remark()
    words = _bare(text)
    if isinstance(answer, str) and answer in _SIDES and _LEADS.sub("", words) in _SIDES - {answer}:
        # "No, right": a side in place of a side, and no agreement.
        return Remark(expected=_LEADS.sub("", words), unsure=_LEADS.match(words) is None)
    if _is_confirmation(words):
        return Remark(right=True)
    words = _HEDGES.sub("", words)
    plain = _STRESS.sub("", words)
    stressed, words = plain != words, plain
    denial = _DENIALS.match(words)
    bare = _HEDGES.sub("", words[denial.end() :] if denial else words).strip(" .!,")
    if denial and is_courtesy(bare):
        # "That is wrong, thanks"
        words, bare = denial.group().strip(" .!,;:-"), ""
    side = _SIDE.match(bare)
    if side is not None:
        return _sided(side["side"], shows=shows, noun=noun)
    kind = _Kind(answer, names)
    read = [
        _corrected(said, denied=denial is not None or stressed, kind=kind)
        for said in dict.fromkeys((*_sentences(words), bare, *_sentences(bare)))
    ]
    # What should have been says more than that something was wrong.
    found = next((one for one in read if one and not _only_denies(one)), Remark())
    if found:
        return found
    judged = next((one for one in read if one), Remark())
    if not denial:
        return judged
    return _denied(words, bare, denial, kind) or judged


def is_courtesy(text: str) -> bool:
    """Tell whether a message is nothing but thanks, praise or a greeting."""
    parts = _parts(_bare(text))
    return _COURTESY.fullmatch(_bare(text)) is not None or (bool(parts) and all(map(_is_kind, parts)))


def greets(text: str) -> bool:
    """Tell whether a message begins with a greeting."""
    return _GREETS.match(_bare(text)) is not None


def _is_kind(part: str) -> bool:
    return any(_COURTESY.fullmatch(one) or judgement(one) == "kind" for one in (part, _LEADS.sub("", part)))


def _is_confirmation(words: str) -> bool:
    """Tell whether a message says that the answer was right, and nothing else but courtesies."""
    said = [part for part in _parts(words) if part != "yes" and not _is_kind(part)]
    return bool(said) and all(judgement(part) == "right" for part in said)


def _parts(words: str) -> list[str]:
    """Return the clauses of a message, without a leading no, and without what it only asks ("wrong? no, …")."""
    asked = re.sub(r"[^.!,;?\n]*\?+", "", words)
    parts = [part.strip() for part in re.split(r"[.!,;\n]+", asked) if part.strip()]
    # "No errors" is not led by a no.
    led = [part if judgement(part) else _LEADS.sub("", part) for part in parts]
    plain = [part if _COURTESY.fullmatch(part) else _HEDGES.sub("", part) for part in led]
    return [part for part in plain if part]


def _only_denies(remark: Remark) -> bool:
    return bool(remark.correction) and read_correction(remark.correction).otherwise


def _corrected(said: str, *, denied: bool, kind: _Kind) -> Remark:
    """Read one sentence that `read_correction` understands: feedback, perhaps feedback, or nothing."""
    found, verdict = read_correction(said), judgement(said)
    if verdict == "wrong" and not found.present and (not found.expected or found.expected in FAULTS):
        return Remark(correction=said if found and not found.expected else f"that is wrong. {said}")
    if not found or verdict in {"right", "kind"} or _COURTESY.fullmatch(said) or found.present in FAULTS:
        return Remark()
    contrasts = bool(found.expected and found.absent)
    if contrasts and _BESIDE.match(said):
        return _beside(found.expected, found.absent, said, kind.answer)
    if _COUNTS.match(said):
        return Remark(correction=said) if kind.takes(found.expected) else Remark()
    if found.otherwise or contrasts or any(one.search(said) for one in (_DEMANDS, _NEGATES, _ADDS)):
        return Remark(correction=said)
    if denied and (found.absent or found.present or kind.could_take(found.expected)):
        return Remark(correction=said)
    if denied or found.absent or not _could_be(found.expected or found.present, said, kind.answer):
        return Remark()
    return Remark(correction=said, unsure=True)


def _beside(expected: str, absent: str, said: str, answer: object) -> Remark:
    """Read "4, not 3": feedback where it speaks of the answer, or of two values of one closed kind."""
    closed = [("yes", "no"), tuple(COLOURS)]
    alike = as_number(expected) is not None and as_number(absent) is not None
    alike = alike or any(expected in one and absent in one for one in closed)
    names = isinstance(answer, str) and singular(answer.casefold()) == singular(absent)
    return Remark(correction=said) if alike or names else Remark()


def _could_be(name: str, said: str, answer: object) -> bool:
    """Tell whether what a plain sentence says could be meant as an answer instead of the one that was given."""
    number, kind = as_number(name) is not None, as_number(answer) if not isinstance(answer, bool) else None
    if number or kind is not None:
        return number and (answer is None or kind is not None)
    if {name, str(answer)} & {"yes", "no"} or isinstance(answer, bool):
        return name in {"yes", "no"}
    if set(name.split()) & (COLOURS | SIZES):
        return True
    one, several = re.search(rf"\ban? {re.escape(name)}$", said), re.match("(?:they|these|those)\\b", said)
    return one is not None or (several is not None and singular(name) != name)


@dataclass(frozen=True)
class _Kind:
    """The kind of value that an answer could have been.

    Attributes:
        answer: What was answered; None where it is not known.
        names: The names that are known.
    """

    answer: object = None
    names: Container[str] = ()

    def takes(self, name: str) -> bool:
        """Tell whether a name is certainly a value of the kind."""
        number, truth = _as_count(name) is not None, name in {"yes", "no"}
        if self.answer is None:
            return number or truth or self._is_name(name)
        if isinstance(self.answer, bool) or str(self.answer).casefold() in {"yes", "no"}:
            return truth
        if as_number(self.answer) is not None:
            return number
        return not number and not truth and self._is_name(name)

    def could_take(self, name: str) -> bool:
        """Tell whether a name might be one: a value of an open kind need not be known."""
        closed = isinstance(self.answer, bool) or as_number(self.answer) is not None
        open_ = not closed and str(self.answer).casefold() not in {"yes", "no"}
        return self.takes(name) or (open_ and _TALK.isdisjoint(name.split()))

    def _is_name(self, name: str) -> bool:
        bare = _ARTICLE.sub("", name)
        words = set(bare.split())
        coloured = bool(words & (COLOURS | SIZES)) and not _is_talk(name)
        return coloured or bare in self.names or singular(bare) in self.names or (bare != name and not _is_talk(name))


def _is_talk(name: str) -> bool:
    """Tell whether words cannot name anything: they address somebody, or only hold sentences together."""
    bare = _ARTICLE.sub("", name)
    words = bare.split()
    # What has an article is a thing, whatever else the word may be: "a box".
    held = words if bare == name else words[:-1]
    return not _TALK.isdisjoint(words) or any(word in FILLERS and word not in COLOURS for word in held)


def _as_count(name: str) -> float | None:
    """Read "4", "four" and "4 dogs"."""
    number, _, thing = name.partition(" ")
    return None if " " in thing else as_number(number)


def _denied(words: str, bare: str, denial: re.Match[str], kind: _Kind) -> Remark:
    """Read what follows a denial that is no sentence: a short answer, or words that only a chat model reads."""
    apart = bool(denial["apart"].strip())
    short = len(bare.split()) <= _MOST_WORDS and _NAME.fullmatch(bare) is not None
    if short and kind.takes(bare) and (apart or _as_count(bare) is not None or bare in {*COLOURS, "yes"}):
        count = _as_count(bare)
        return Remark(expected=_ARTICLE.sub("", bare if count is None else bare.partition(" ")[0]))
    if short and apart and kind.could_take(bare) and not _is_talk(bare):
        return Remark(expected=_ARTICLE.sub("", bare), unsure=True)
    said = bare.split()
    if short or not _TALK.isdisjoint(said if len(said) <= _MOST_WORDS else said[:1]):
        return Remark()
    if not bare:
        # "No, no" denies no less than "no".
        return Remark(correction=words if read_correction(words) else f"that is wrong. {words}")
    return Remark(correction=words) if apart else Remark()


def _sentences(words: str) -> list[str]:
    return [_HEDGES.sub("", one.strip(" ,")) for one in _SENTENCE.split(words) if one.strip(" ,")]


def _bare(text: str) -> str:
    return " ".join(text[:MAX_CORRECTION].replace("\u2019", "'").casefold().split()).strip(" .!,")


def _sided(side: str, *, shows: bool, noun: str) -> Remark:
    if not shows:
        return Remark(expected=side)
    return Remark(correction=f"you missed the {noun or 'one'} on the {side}")
