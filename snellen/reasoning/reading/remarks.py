"""Remarks: what a correction says of the answer that was given, and how sure it is that it speaks of it at all."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Final, get_args

from snellen.reasoning.language.inflection import singular, with_article
from snellen.reasoning.meanings.talk import Correction
from snellen.reasoning.meanings.things import Colour
from snellen.values import as_number

_COLOURS: Final = frozenset({*get_args(Colour), "grey", "golden", "silver", "violet", "turquoise"})
_SIZES: Final = frozenset({"small", "large", "big", "little", "tiny", "huge"})
_SIDES: Final = frozenset({"left", "right", "top", "bottom"})
_TRUTHS: Final = frozenset({"yes", "no"})


@dataclass(frozen=True)
class Remark:
    """Remark about an answer.

    Attributes:
        right: That it was right.
        expected: What it should have been.
        correction: What is wrong with it, in words that `snellen.reasoning.reading.talk_reader.read_correction` reads.
        unsure: Whether this is only perhaps what was meant: then it is asked about before it counts.
    """

    right: bool = False
    expected: str = ""
    correction: str = ""
    unsure: bool = False

    def __bool__(self) -> bool:
        """Whether it is about the answer at all."""
        return self != Remark()


@dataclass(frozen=True)
class GivenAnswer:
    """The answer that a remark may be about.

    Attributes:
        value: What was answered.
        shows: Whether it was a picture, or places in one.
        noun: What was looked for, in the singular: what "the left one" is one of.
        names: Names of things that are known.
    """

    value: object = None
    shows: bool = False
    noun: str = ""
    names: Container[str] = ()

    def takes(self, name: str) -> bool:
        """Tell whether a name is certainly a value of the answer's kind."""
        number, truth = as_number(name) is not None, name in _TRUTHS
        if self._is_truth:
            return truth
        if self._is_number:
            return number
        return not number and not truth and self._knows(name)

    def could_take(self, name: str) -> bool:
        """Tell whether a name might be one: a value of an open kind need not be known."""
        return self.takes(name) or not (self._is_truth or self._is_number)

    @property
    def _is_truth(self) -> bool:
        return isinstance(self.value, bool) or str(self.value).casefold() in _TRUTHS

    @property
    def _is_number(self) -> bool:
        return not isinstance(self.value, bool) and as_number(self.value) is not None

    def _knows(self, name: str) -> bool:
        own = isinstance(self.value, str) and self.value.casefold() in _COLOURS | _SIZES | _SIDES
        words = set(name.split())
        if own:
            return bool(words & (_COLOURS | _SIZES | _SIDES))
        return bool(words & (_COLOURS | _SIZES)) or name in self.names or singular(name) in self.names


def remark_of(correction: Correction, answer: GivenAnswer) -> Remark:
    """Return what a correction says of an answer; nothing where it cannot be about it.

    A demand ("it should be four") counts as it is; after a denial, a value counts where it could be the answer, and is
    asked about where it is no known name; a plain sentence ("it is four") is only asked about. Nothing that is of
    another kind than the answer is a remark.
    """
    if correction.side and not (correction.present or correction.expected or correction.absent):
        if answer.shows:
            return Remark(correction=f"you missed the {answer.noun or 'one'} on the {correction.side}")
        fits = not _SIDES.isdisjoint(str(answer.value).casefold().split())
        return Remark(expected=correction.side, unsure=correction.manner == "stated") if fits else Remark()
    if correction.only_denies or (correction.absent and not correction.expected) or _adds(correction):
        return Remark(correction=in_words(correction))
    return _expecting(correction, answer)


def _expecting(correction: Correction, answer: GivenAnswer) -> Remark:
    named = correction.absent and singular(str(answer.value).casefold()) == correction.absent
    if correction.present and not answer.takes(correction.expected):
        # "There are two dogs" says of a picture, or of a "no", what is there.
        fits = answer.shows or answer.takes("yes") or correction.manner != "stated"
        return Remark(correction=in_words(correction), unsure=correction.manner == "stated") if fits else Remark()
    if correction.manner == "demanded" or named:
        return Remark(correction=in_words(correction))
    if answer.value is None or answer.takes(correction.expected):
        return Remark(correction=in_words(correction), unsure=correction.manner == "stated")
    if answer.could_take(correction.expected) and not correction.absent:
        return Remark(correction=in_words(correction), unsure=True)
    return Remark()


def _adds(correction: Correction) -> bool:
    return bool(correction.present) and not correction.expected


def in_words(correction: Correction) -> str:
    """Say a correction in words that read as the same: "that is a goose, not a swan"."""
    where = f" on the {correction.side}" if correction.side else ""
    if correction.expected and correction.absent:
        return f"it is {correction.expected}, not {correction.absent}"
    if correction.expected and correction.present:
        return f"there are {correction.expected} {correction.present}{where}"
    if correction.expected:
        return f"it should be {correction.expected}"
    if correction.absent:
        return f"that is not {with_article(correction.absent)}"
    if correction.present:
        return f"you missed {with_article(correction.present)}{where}"
    return f"it is the {correction.side} one" if correction.side else "that is wrong"
