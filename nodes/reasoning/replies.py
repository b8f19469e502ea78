"""What a message says about the answer before it: that it was right, or what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from nodes.reasoning.corrections import MAX_CORRECTION, read_correction
from nodes.reasoning.inflection import singular
from nodes.reasoning.lexicon import COLOURS, SIZES
from tools.values import as_number

_HEDGES: Final = re.compile(r"^(?:(?:sorry|hm+|well|but|oh|so|and|i think|i guess|i believe)\b[\s,.:;!-]*)+")
_THAT: Final = r"(?:that|this|it|they|these|those|the (?:(?:right|correct|true) )?(?:answer|result))"
_IS: Final = r"(?:'s|'re| is| are| was| were)"
_DENIALS: Final = re.compile(
    r"^(?:(?:no|nope|nah|wrong|incorrect|false|not (?:quite|right|true|correct)|actually|rather|i mean|i meant"
    rf"|{_THAT}{_IS} (?:wrong|not (?:right|true|correct)|incorrect|false))\b(?P<apart>[\s,.:;!-]*))+"
)
_RIGHT: Final = re.compile(
    r"(?:(?:yes|so|that|it|you|all|very|quite|is|was|are|'s|'re)\b[\s,]*|(?='))*"
    r"(?:(?:'s|'re) )?(?:right|correct|true|exactly(?: right| so)?)"
)
_COURTESY: Final = re.compile(
    r"(?:no,? )?(?:(?:many )?thanks?(?: you| a lot| so much| very much)*|thx|cheers)|you(?:'re| are) welcome|well done|"
    r"(?:good|great|nice|excellent) (?:job|work|one)|ok(?:ay)?|hi|hello|hey|bye|good (?:morning|evening|night)|wow|"
    rf"(?:(?:{_THAT}|you){_IS} )?(?:(?:so|very|really|just|simply|pretty|absolutely) )*"
    r"(?:great|awesome|amazing|perfect|wonderful|brilliant|excellent|lovely|cool|nice|impressive|fantastic|helpful|fine)"
)
_SIDE: Final = re.compile(
    r"^(?:it(?:'s| is)|that(?:'s| is)|i mean|i meant|they(?:'re| are))?\s*(?:(?:in|on|at|to) )?the "
    r"(?:one (?:in|on|at) the )?(?P<side>left|right|top|bottom)(?:most)?(?:\s+(?:one|side|picture|half))?"
    r"(?: of (?:it|the picture))?$"
)
_DEMANDS: Final = re.compile(rf"^(?:{_THAT} (?:should|must|ought to) |the (?:(?:right|correct|true) )?answer is )")
_NEGATES: Final = re.compile(
    rf"^(?:not an? |there (?:is|are) (?:no|not an?|not any) |{_THAT}{_IS} (?:not (?:an?|the|any)|no) "
    r"|(?:they|these|those)(?:'re| are| were) not )"
)
_ADDS: Final = re.compile(
    r"\b(?:missed|overlooked|also|another|more|too|as well)\b|^there (?:is|are|were) (?:only |just |exactly )?"
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|[0-9]+)\b"
)
_MOST_WORDS: Final = 4
"""Words of an answer that is given without saying that it is one: "no, dark blue"."""
_NAME: Final = re.compile(r"(?:an? |the )?[\w-]+(?: [\w-]+)*")
_ARTICLE: Final = re.compile(r"^(?:an?|the) ")
_SENTENCE: Final = re.compile(r"[.!;\n]+")


@dataclass(frozen=True)
class Remark:
    """What is said about an answer.

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


def read_remark(text: str, *, shows: bool, noun: str = "", answer: object = None) -> Remark:
    """Read a message that follows an answer; nothing where it is not about it.

    Only what says that the answer is right, or that it is wrong, counts: a denial, "it should be …", "the answer is …",
    "that is not a …", "you missed …". "It is three" may be a remark or small talk; it comes out `unsure`. Praise and
    thanks are none.

    Args:
        text: The message.
        shows: Whether the answer was a picture or places in one.
        noun: What was looked for, in the singular: what "the left one" is one of.
        answer: What was answered, where it is known: a plain "it is three" only concerns an answer of its kind.
    """
    if text.rstrip().endswith("?") or is_courtesy(text):
        return Remark()
    words = _bare(text)
    if _is_confirmation(words):
        return Remark(right=True)
    words = _HEDGES.sub("", words)
    denial = _DENIALS.match(words)
    bare = _HEDGES.sub("", words[denial.end() :] if denial else words).strip(" .!,")
    side = _SIDE.match(bare)
    if side is not None:
        return _sided(side["side"], shows=shows, noun=noun)
    for said in dict.fromkeys((words, *_sentences(words), bare, *_sentences(bare))):
        found = _corrected(said, denied=denial is not None, answer=answer)
        if found:
            return found
    return _denied(words, bare, denial) if denial else Remark()


def is_courtesy(text: str) -> bool:
    """Tell whether a message is nothing but thanks, praise or a greeting."""
    parts = [part for part in re.split(r"[.!,;\n]+", _bare(text)) if part.strip()]
    whole = _COURTESY.fullmatch(_bare(text)) is not None
    return whole or (bool(parts) and all(_COURTESY.fullmatch(part.strip()) for part in parts))


def _is_confirmation(words: str) -> bool:
    """Tell whether a message says that the answer was right, and nothing else but courtesies."""
    parts = [part.strip() for part in re.split(r"[.!,;\n]+", words) if part.strip()]
    said = [part for part in parts if part != "yes" and not _COURTESY.fullmatch(part)]
    return bool(said) and all(_RIGHT.fullmatch(part) for part in said)


def _corrected(said: str, *, denied: bool, answer: object) -> Remark:
    """Read one sentence that `read_correction` understands: feedback, perhaps feedback, or nothing."""
    found = read_correction(said)
    if not found:
        return Remark()
    contrasts = bool(found.expected and found.absent)
    if denied or found.otherwise or contrasts or any(one.search(said) for one in (_DEMANDS, _NEGATES, _ADDS)):
        return Remark(correction=said)
    if found.absent or not _could_be(found.expected or found.present, said, answer):
        return Remark()
    return Remark(correction=said, unsure=True)


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


def _denied(words: str, bare: str, denial: re.Match[str]) -> Remark:
    """Read what follows a denial that is no sentence: a short answer, or words that only a chat model reads."""
    apart = bool(denial["apart"].strip())
    short = len(bare.split()) <= _MOST_WORDS and _NAME.fullmatch(bare) is not None
    if bare and short and (apart or as_number(bare) is not None or bare in {*COLOURS, "yes"}):
        return Remark(expected=_ARTICLE.sub("", bare))
    return Remark(correction=words) if apart or not bare else Remark()


def _sentences(words: str) -> list[str]:
    return [_HEDGES.sub("", one.strip(" ,")) for one in _SENTENCE.split(words) if one.strip(" ,")]


def _bare(text: str) -> str:
    return " ".join(text[:MAX_CORRECTION].replace("\u2019", "'").casefold().split()).strip(" .!,")


def _sided(side: str, *, shows: bool, noun: str) -> Remark:
    if not shows:
        return Remark(expected=side)
    return Remark(correction=f"you missed the {noun or 'one'} on the {side}")
