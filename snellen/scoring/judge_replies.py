r"""The score that a judge states in its reply, read from whichever form it has.

The request asks for the line ``Score: N``, but models answer with JSON, Markdown, tags, fractions, ``\boxed{7}`` or
whole sentences. A reply is invalid where which score it states is not
clear: two different ones, a range, arithmetic, another scale than 1 to 10, a decimal comma. What was meant is never
guessed. A number is a score only where it ends its statement and where the words before it say that it is the score of
the whole: neither a part of it ("color score"), nor a condition, nor a number of things.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Final

from snellen.scoring.judge_numbers import (
    HIGHEST,
    LOWEST,
    NUMBER,
    NUMBER_WORDS,
    ReplyNumber,
    is_ten,
    json_scores,
    leading_number,
    number_value,
    whole_number,
)

_QUOTED: Final = 120
"""Characters of a reply that is quoted."""
_MOST_READ: Final = 20_000
"""Characters of a reply in which a score is looked for."""
_MOST_LABELS: Final = 50
"""Labels of a score in a reply that are looked at: whoever writes more of them does not answer."""
_REACH: Final = 200
"""Characters beside a number that decide what it is."""
_WHOLE: Final = r"(?:(?:overall|final|total|visual|image|similarity)\s+)"
_LABEL: Final = re.compile(
    rf"\b(?:(?P<final>(?:final|overall)\s+{_WHOLE}{{0,3}}(?:score|rating|similarity)|final (?:answer|verdict)"
    r"|(?:final|overall)(?=\s*[:=]))"
    r"|(?P<weak>similarity(?=\s*[:=])|(?<=the )answer(?=\s+is\b))|score|(?P<rating>rating))\b"
    r"(?:\s+for\s+(?:this|the|these|both)(?:\s+two)?\s+(?:pair|images|pictures|photos|comparison)\b)?"
    r"(?:\s*\((?P<range>[^()\n]{0,30})\)|\s*\[(?P<bracket>[^\[\]\n0-9]{0,9}[0-9]+\s*(?:-|–|to)\s*[0-9]+\s*)\]"
    r"|\s*(?:/|\bout\s+of\b)\s*(?P<scale>[0-9]+|ten|five)(?=\s*[:=]))?"
    r"\s*(?:(?P<sign>::?=?|=|\||->|→|[-–—](?=\s))|(?P<verb>\b(?:is|of|would be)\b:?)|(?=[\[(<{0-9]))[^\S\n]*",
    re.IGNORECASE,
)
_UNCLEAR_BEFORE: Final = re.compile(
    rf"(?:{NUMBER}\s*(?:[-–—~,/]|\b(?:or|to|and)\b)\s*"
    r"|(?:\b(?:at (?:least|most)|(?:more|less|higher|lower) than|over|under|above|below|almost|nearly|"
    r"far from|not quite|close to|barely)|[<>≤≥])\s*)$",
    re.IGNORECASE,
)
_EXPLAINS_AFTER: Final = re.compile(
    r"[^\S\n]*[),]?[^\S\n]*\b(?:would|could|might|should|means?|requires?|needs?|indicates?|implies|represents?|denotes?|if|"
    r"(?:is|are)\s+(?:for|only|reserved|given|kept))\b",
    re.IGNORECASE,
)
"""Follows a number that explains the scale: "a score of 10 would need the same colors"."""
_DENIES_BEFORE: Final = re.compile(r"\b(?:no|not|n't|than|instead of|if)\s+(?:an?\s+)?(?:\w+\s+)?$", re.IGNORECASE)
_MENTIONS_BEFORE: Final = re.compile(r"\b(?:an?|any|for)\s+(?:\w+\s+)?$", re.IGNORECASE)
_REASON: Final = re.compile(
    r"\b(?:reason(?:ing|s)?|explanation|rationale|justification|analysis|because|note|comment)\b", re.IGNORECASE
)
_SPOKEN: Final = re.compile(
    r"(?:\bI(?:['’]d|['’]ll| would| will)?\s+(?:\w+\s+)?(?:rate|give|assign|score)|\b(?:deserves?|merits?))\b"
    r"(?P<gap>(?:(?!\b(?:from|between)\b)[^\n.;:0-9]){0,60})(?=[0-9])"
    r"|\bon\s+a\s+scale\s+(?:of|from)\s+(?:1|one)\s*(?:to|-|–)\s*(?:10|ten)\b(?P<scaled>[^\n.;:0-9]{0,60})(?=[0-9])"
    rf"|(?P<fraction>)(?={NUMBER}\s*(?:/|\bout\s+of\b)\s*(?:10|ten)\b)",
    re.IGNORECASE,
)
_ENDS_AFTER: Final = re.compile(
    r"\s*(?:$|[.,;:!?(){}\[\]<>|\n–—-]|[A-Z]\w+:"
    r"|(?i:\b(?:because|since|as|for|in|on|with|due|given|from|and|but|is|overall|similarity)\b"
    r"|points\b(?!\s+(?!(?:out|of|because|since|as|for|due|in|on|overall)\b)\w)))"
)
"""Follows a number that is a score, and no number of things."""
_SENTENCE_END: Final = re.compile(r"(?<!\be\.g)(?<!\bi\.e)[.!?](?=\s|$)|(?<!,)\n")
_NO_COUNT: Final = (
    r"(?!\s*(?:(?:out\s+)?of\b(?!\s*(?:10|ten)\b)|-?\s*(?!(?:for|on|in|at|by|from|because|since|as|if|when|due|now|instead|"
    r"overall|otherwise|points?|and|or|but|after|out|then|with|without|given|considering|is|was|would|seems|fits)\b)[a-z]+))"
)
"""Fails where a number has a noun: "3 dogs", "2 of them"."""
_ANOTHER: Final = re.compile(
    rf"(?<![\w.])(?P<number>{NUMBER})(?:\s*/\s*10\b)?(?P<percent>\s*%)?(?![\w%]|\.[0-9]){_NO_COUNT}", re.IGNORECASE
)
"""A number of an explanation that may be the score as well, as it counts no things: "(was 7)", but not "3 dogs"."""
_COUNTS_BEFORE: Final = re.compile(
    r"(?:\b(?:has|have|having|contains?|shows?|another|images?|pictures?|photos?|steps?)|\bconfidence:)\s*$",
    re.IGNORECASE,
)
_REVISED: Final = re.compile(
    r"\b(?:actually|correct(?:ion|ed)|revis(?:ed|ion|ing)|adjust(?:ed|ment|ing)|wait|second thoughts?|deduct\w*|"
    rf"subtract\w*|minus|I mean|sorry|hmm|make that|no(?=,))\b[^.\n]{{0,60}}?\b{NUMBER}\b{_NO_COUNT}",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    r"^\W*(?:had|were|should)\b|\b(?:if|unless|could|might|suppos\w+|assum\w+|otherwise|hypothetical\w*|had\b.*\bbeen|"
    r"example|for instance|such as|(?<!I )(?:gave|assigned))\b|\be\.g\.",
    re.IGNORECASE | re.DOTALL,
)
"""Makes what a sentence states afterwards no judgment: a condition, an example, what another judge said."""
_CONDITION_AFTER: Final = re.compile(
    r"(?:[^\S\n]|[(,;–—-])*\b(?:if|unless|had|were|when|once|provided|assuming|without|before|ignoring|otherwise)\b",
    re.IGNORECASE,
)
_CONNECTS: Final = re.compile(
    r"[\s,>#*-]*(?:\b(?:so|thus|hence|therefore|overall|in my opinion|i think|i believe|and|my|the|this|"
    r"that|a)\b[\s,]*)*",
    re.IGNORECASE,
)
_OF_THE_WHOLE: Final = frozenset((
    "overall", "final", "total", "similarity", "visual", "image",
))  # fmt: skip
_LEADS: Final = frozenset((
    "the", "my", "a", "an", "this", "that", "say", "says", "is", "be", "give", "given", "gives", "assign",
    "of", "for", "so", "therefore", "thus", "hence", "and", "as", "no", "to", "i", "rate", "answer",
    "it", "them", "these", "pair", "pictures", "images", "photos", "two", "at", "their", "your", "our", "on",
    "verdict", "conclusion", "result",
))  # fmt: skip
"""Words that stand before a score of the whole; any other names a part of it or another quantity."""
_HEADING: Final = re.compile(r"\W*(?:[^\W\d]+\s+){0,2}([^\W\d]+)\s*(?::|-|–|—)\s*")
_HEADINGS: Final = _LEADS | _OF_THE_WHOLE | frozenset((
    "assistant", "output", "response", "judge", "model", "evaluation", "judgment", "consideration",
    "comparison", "analysis", "reasoning", "assessment", "summary",
))  # fmt: skip
_IN_SPOKEN: Final = _OF_THE_WHOLE | _LEADS | frozenset((
    "score", "rating", "deserve", "deserves", "merit", "merits", "both", "between", "level", "are", "d", "ll",
    "would", "will", "only", "about", "around",
))  # fmt: skip
_BEFORE_BARE: Final = re.compile(r"[\s>#-]*(?:answer\s*[:=]\s*)?", re.IGNORECASE)
_THOUGHT: Final = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_MARK: Final = re.compile(
    r"<(?P<tag>(?:final[_ ])?(?:score|rating|answer))>(?P<tagged>[^<>]{1,80})</(?P=tag)>"
    r"|\\boxed\s*\{(?P<boxed>(?:[^{}]|\{[^{}]{0,80}\}){1,80})\}",
    re.IGNORECASE,
)
_TEXT: Final = re.compile(r"\\text(?:bf)?\s*\{([^{}]{0,80})\}")
_MARKUP: Final = re.compile(
    r"</?(?:b|i|strong|em|p|br|div|span|code|u|h[1-6])\s*/?>|\\[()\[\]]|\\text|[*`$\"“”„]|(?<!\w)['\u2018\u2019]|['\u2018\u2019](?!\w)",
    re.IGNORECASE,
)
_FULL_WIDTH: Final = {0xFF00 + ord(plain) - 0x20: plain for plain in "0123456789:=/.()[]<>,"}
"""Digits and marks as texts in Chinese and Japanese have them, and what they stand for."""


@dataclass
class _Statements:
    """The scores that a reply states, by how plainly; None stands for a statement that is unclear.

    Attributes:
        final: Called final or overall.
        plain: In the form ``Score: N``, of JSON, or of a mark such as a tag.
        bare: Alone on a line.
        mentioned: In a sentence.
    """

    final: list[float | None] = field(default_factory=list)
    plain: list[float | None] = field(default_factory=list)
    bare: list[float | None] = field(default_factory=list)
    mentioned: list[float | None] = field(default_factory=list)

    def score(self) -> float | None:
        """Return the one score that the plainest statements agree on."""
        plainest = next((row for row in (self.final, self.plain, self.bare, self.mentioned) if row), [])
        if len(set(plainest)) != 1:
            return None
        (score,) = set(plainest)
        return score if score is not None and LOWEST <= score <= HIGHEST else None


@lru_cache(maxsize=64)  # the same replies are read again for reports, and judges repeat themselves
def parsed_score(text: str) -> float | None:
    """Read the score of a reply that was asked for ``Score: N``.

    Args:
        text: What a model wrote; of a long text only the beginning is read.

    Returns:
        A number from 1 to 10. None where there is none, one outside of that, or several that differ: which of them was
        meant is not for us to choose.
    """
    statements = _Statements()
    text = _THOUGHT.sub("\n", text[:_MOST_READ].translate(_FULL_WIDTH))
    objects = json_scores(text)
    statements.plain += objects.scores
    statements.bare += objects.similarities
    text = _without_marks(objects.beside, statements)
    text = _MARKUP.sub("", _TEXT.sub(r"\1", text)).replace("_", " ")
    _read_labels(text, statements)
    _read_bare_lines(text, statements)
    _read_sentences(text, statements)
    return statements.score()


def not_understood(replies: Iterable[str], *, most: int = 3) -> list[str]:
    """Quote replies in which no score could be read, for people to see why.

    Args:
        replies: What a model wrote.
        most: Replies that are quoted.

    Returns:
        Different ones, each on one line, shortened, with escapes for whatever cannot be printed.
    """
    return quoted((reply for reply in replies if parsed_score(reply) is None), most=most)


def quoted(replies: Iterable[str], *, most: int = 3) -> list[str]:
    """Quote a few different replies, each on one line, shortened, with escapes for whatever cannot be printed."""
    quotes: dict[str, None] = {}
    for reply in replies:
        if len(quotes) == most:
            break
        quotes[_quoted(reply)] = None
    return list(quotes)


def _quoted(reply: str) -> str:
    line = " ".join(reply[: 4 * _QUOTED].split())
    shown = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in line
    )
    return shown if len(shown) <= _QUOTED else shown[: _QUOTED - 1] + "…"


def _without_marks(text: str, statements: _Statements) -> str:
    r"""Read tags such as ``<score>7</score>`` and ``\boxed{7}``, and return the text without them."""
    for mark in _MARK.finditer(text):
        content = mark["tagged"] or mark["boxed"].replace("{", " ").replace("}", " ")
        content = _MARKUP.sub("", content).strip()
        label = _LABEL.match(content)
        statements.plain.append(whole_number(content[label.end() :] if label else content))
    return _MARK.sub("\n", text)


def _read_labels(text: str, statements: _Statements) -> None:
    """Read ``Score: N`` and its like."""
    labels = islice(_LABEL.finditer(text), _MOST_LABELS)
    for label in sorted(labels, key=lambda label: bool(label["rating"])):  # the line asked for comes first
        number = _after_label(text, label)
        before = text[max(text.rfind("\n", 0, label.start()) + 1, label.start() - _REACH) : label.start()]
        if number is None or _names_another(text, label) or _DENIES_BEFORE.search(before):
            continue
        number = _settled(number)
        if number is not None and not (label["rating"] and number.score is None and statements.plain):
            _rows(label, before, statements).append(_labelled(label, number))


def _labelled(label: re.Match[str], number: ReplyNumber) -> float | None:
    """Return the score beside a label, or None where the label makes it unclear."""
    if not (label["sign"] or label["verb"]) and number.after.lstrip().startswith(":"):
        return None  # "Score 1: 5" is the first of several
    ranges = [part for part in (label["range"], label["bracket"], label["scale"]) if part]
    return number.score if all(map(is_ten, ranges)) else None


def _rows(label: re.Match[str], before: str, statements: _Statements) -> list[float | None]:
    """Return the row of statements that are as plain as one with this label."""
    begins = not before.strip(" \t>#|-.([{<0123456789")
    sentence = label["verb"] or _REASON.search(before) or _MENTIONS_BEFORE.search(before)
    if label["final"]:
        return statements.final
    if label["weak"] and not sentence:
        return statements.bare
    return statements.mentioned if sentence or not (label["sign"] or begins) else statements.plain


def _names_another(text: str, label: re.Match[str]) -> bool:
    """Tell whether a label is that of a part, of another quantity, or of what only might have been."""
    before = _sentence_before(text, label.start())
    noted = re.findall(r"\w+", (label["range"] or "").casefold())
    part = not _is_of_the_whole(before) or not (any(map(_is_scale_word, noted)) or _OF_THE_WHOLE.issuperset(noted))
    if part or _CONDITION.search(before):
        return True
    return (label["verb"] or "").casefold().startswith("would") and _CONNECTS.fullmatch(
        _without_qualifiers(before)
    ) is None


def _is_scale_word(word: str) -> bool:
    return word.isdecimal() or word in {*NUMBER_WORDS, "max", "scale", "n"}


def _sentence_before(text: str, place: int) -> str:
    """Return what a sentence has before a place."""
    preceding = text[max(place - _REACH, 0) : place]
    ends = [end.end() for end in _SENTENCE_END.finditer(preceding) if end.end() < len(preceding) or end[0] == "\n"]
    return preceding[ends[-1] :] if ends else preceding


def _without_qualifiers(before: str) -> str:
    return re.sub(rf"{_WHOLE}{{1,4}}$", "", before, flags=re.IGNORECASE)


def _is_of_the_whole(before: str) -> bool:
    """Tell whether the words directly before "score" leave it the score of the whole: "color score" is not."""
    heading = _HEADING.fullmatch(before)
    if heading is not None and heading[1].casefold() not in _HEADINGS:
        return False
    named = re.search(r"([^\W\d]+)[^\S\n]*$", _without_qualifiers(before))
    return named is None or named[1].casefold() in _LEADS


def _settled(number: ReplyNumber) -> ReplyNumber | None:
    """Return a number as the score of its statement: unclear beside another, None where it explains or counts."""
    after = number.after
    if number.score is None:
        return number
    if _CONDITION_AFTER.match(after):
        return ReplyNumber(None, after)
    if _EXPLAINS_AFTER.match(after) or not _ENDS_AFTER.match(after):
        return None
    end = _SENTENCE_END.search(after)
    rest = after[: end.start()] if end else after
    others = (another for another in _ANOTHER.finditer(rest) if not _is_no_rival(another, number.score))
    unclear = any(others) or _REVISED.search(after)
    return ReplyNumber(None, after) if unclear else number


def _is_no_rival(another: re.Match[str], score: float) -> bool:
    """Tell whether a number of an explanation leaves the score clear: a percentage, a count, or the score once more."""
    same = number_value(another["number"]) == score
    return bool(same or another["percent"] or _COUNTS_BEFORE.search(another.string[: another.start()]))


def _after_label(text: str, label: re.Match[str]) -> ReplyNumber | None:
    """Return the number that a label names: beside it, or alone on the next line that is not empty."""
    rest = text[label.end() : label.end() + _REACH]
    line, _, below = rest.partition("\n")
    if line.strip():
        number = leading_number(rest)
        # "Score: -7" and "Score: >7" state a number that is no score; "Score: the two share 3 things" states none.
        return ReplyNumber(None, "") if number is None and re.match(r"\S*[0-9]", line) else number
    if label["sign"] == "|":
        below = re.sub(r"\A[\s|:-]+\n", "", below).strip().removeprefix("|")
    score = whole_number(below.lstrip().partition("\n")[0].rstrip(" \t|" if label["sign"] == "|" else None))
    return None if score is None else ReplyNumber(score, "")


def _read_bare_lines(text: str, statements: _Statements) -> None:
    before = ""
    for line in filter(str.strip, text.splitlines()):
        begin = _BEFORE_BARE.match(line)
        score = whole_number(line[begin.end() :] if begin else line)
        if score is not None:
            statements.bare.append(None if _UNCLEAR_BEFORE.search(before[-_REACH:]) else score)
        before = line


def _read_sentences(text: str, statements: _Statements) -> None:
    """Read "I would give them 7 out of 10" and its like."""
    for match in _SPOKEN.finditer(text):
        number = leading_number(text[match.end() : match.end() + _REACH])
        before = text[max(match.end() - _REACH, 0) : match.end()]
        if number is None or _says_another(text, match) or _DENIES_BEFORE.search(before):
            continue
        number = _settled(number)
        if number is None:
            continue
        unclear = _UNCLEAR_BEFORE.search(before) or re.search(r"[\w.,/-]$", before)
        statements.mentioned.append(None if unclear else number.score)


def _says_another(text: str, match: re.Match[str]) -> bool:
    """Tell whether a sentence speaks of a part, of another quantity, or of what only might have been."""
    before = _sentence_before(text, match.end())
    if _CONDITION.search(before):
        return True
    if match["fraction"] is None:
        words = re.findall(r"[^\W\d]+", (match["gap"] or match["scaled"] or "").casefold())
        return not _IN_SPOKEN.issuperset(words)
    subject = re.search(r"([^\W\d]+)\s*(?::|=|\||[-–—]|\b(?:is|are|was|at|of|would be)(?:\s+an?)?\b)\s*$", before)
    if subject is None:
        return False
    return subject[1].casefold() not in _IN_SPOKEN or not _is_of_the_whole(before[: subject.start()])
