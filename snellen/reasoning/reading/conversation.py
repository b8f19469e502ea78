"""A message in a conversation: the sentences that want an answer, and which grammar reads each of them.

A message is cut into its sentences. Those that belong together ("If there is a dog, … Otherwise, …"; "Wrong. There are
four.") are one part; courtesies beside a request want no answer; sentences that no grammar reads are asides where
another sentence is a request, and are told. Each part is read with the meaning of the one before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from snellen.reasoning.learned.fallback import compared, continued, decided, guessed, is_echo, names_unknown, talk_of
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.meanings import EditPicture, Exist, Meaning, Several
from snellen.reasoning.meanings.talk import Correction, Courtesy, Decline, Naming, Talk
from snellen.reasoning.meanings.things import Everything, Things
from snellen.reasoning.reading.reader import (
    MAX_CHARACTERS,
    Ambiguous,
    Reading,
    Understood,
    Unread,
    mentioned,
    read,
)
from snellen.reasoning.reading.talk_reader import read_talk, sentences

_CLAUSE: Final = re.compile(r",|;|:|\s-\s|\bbut\b")
_QUESTIONING: Final = frozenset({"what", "which", "how", "where", "who", "count", "find", "describe", "list"})
_BINDING: Final = frozenset({"if", "otherwise", "unless", "except", "without", "ignore", "ignoring", "each", "every"})
"""Words of sentences that change what another one asks: they are no asides."""
MAX_PICTURES: Final = 2
"""Pictures that an instruction may be about."""
_MOST_PARTS: Final = 6


@dataclass(frozen=True)
class Dialogue:
    """The circumstances in which a message is read.

    Attributes:
        pictures: The number of pictures that are spoken of.
        facts_file: The concepts, groups and facts that may be named.
        before: The meaning of the last instruction about them; None where there was none.
        names: Further names of things, such as those that were taught.
        is_elsewhere: Tells whether a text is about something else than pictures.
    """

    pictures: int
    facts_file: Path | None
    before: Meaning | None = None
    names: frozenset[str] = frozenset()
    is_elsewhere: Callable[[str], bool] = field(default=lambda _: False, compare=False)

    def read(self, text: str) -> SentenceReading:
        """Read one part of a message by all grammars."""
        about_pictures = read(
            text,
            min(self.pictures, MAX_PICTURES),
            self.facts_file,
            names=self.names,
            before=self.before,
        )
        return SentenceReading(text, about_pictures, read_talk(text))

    def understand(self, text: str) -> SentenceReading:
        """Read one part of a message by all grammars, and instructions and what is not read by the learned reader."""
        reading = self.read(text)
        about_pictures, is_talk = reading.about_pictures, bool(reading.talk) and not isinstance(reading.talk[0], Naming)
        if is_talk or self.facts_file is None or isinstance(about_pictures, Ambiguous):
            return reading
        if is_echo(text, about_pictures) or self.is_elsewhere(text):
            return reading
        pictures = min(self.pictures, MAX_PICTURES)
        if isinstance(about_pictures, Understood):
            stands_alone = reading.meaning is not None and (
                self.before is None or replace(self, before=None).read(text).meaning == reading.meaning
            )
            before, settle = (None, compared) if stands_alone else (self.before, continued)
            guesses = guessed(text, pictures, self.facts_file, self.names, before)
            return replace(reading, about_pictures=settle(about_pictures, guesses))
        guesses = guessed(text, pictures, self.facts_file, self.names, self.before)
        talk = talk_of(guesses)
        if (
            not talk
            and about_pictures.words
            and names_unknown(text, pictures, self.facts_file, self.names, self.before)
        ):
            return reading
        return (
            replace(reading, talk=talk) if talk else replace(reading, about_pictures=decided(about_pictures, guesses))
        )

    def after(self, reading: SentenceReading) -> Dialogue:
        """Return what the next part is read with: small talk, too, may name what it speaks of."""
        meaning = reading.meaning
        if meaning is None and not reading.is_read:
            things = self.mentioned(reading.text)
            meaning = None if things is None else Exist(things=things)
        return self if meaning is None else replace(self, before=meaning)

    def mentioned(self, text: str) -> Things | None:
        """Return what a text names last that can be seen; None where it names nothing."""
        return mentioned(text, self.facts_file, names=self.names)


@dataclass(frozen=True)
class SentenceReading:
    """A part of a message, read.

    Attributes:
        text: The part.
        about_pictures: As an instruction about pictures.
        talk: As talk, the likeliest first; empty where it is none.
    """

    text: str
    about_pictures: Reading
    talk: tuple[Talk, ...]

    @property
    def meaning(self) -> Meaning | None:
        """Its meaning as an instruction that leaves nothing aside; None where it has not one such."""
        reading = self.about_pictures
        if not isinstance(reading, Understood) or reading.asides or reading.meaning == Exist(things=Everything()):
            return None  # nobody asks whether there is anything: "Whatever."
        return reading.meaning

    @property
    def is_understood(self) -> bool:
        """True if it has one meaning, as an instruction or as talk."""
        return self.is_read and not isinstance(self.about_pictures, Ambiguous)

    @property
    def is_read(self) -> bool:
        """True if any grammar reads it whole; a mere name is no sentence."""
        return self.is_instruction or bool(self.talk and not isinstance(self.talk[0], Naming))

    @property
    def is_instruction(self) -> bool:
        """True if it is an instruction about pictures, with one meaning or several."""
        return self.meaning is not None or isinstance(self.about_pictures, Ambiguous)

    @property
    def is_courteous(self) -> bool:
        """True if it wants no answer beside others: a courtesy, a "never mind"."""
        return not self.is_instruction and bool(self.talk) and isinstance(self.talk[0], Courtesy | Decline)


@dataclass(frozen=True)
class MessageParts:
    """The parts of a message.

    Attributes:
        parts: Those that want an answer, in order; at least one.
        asides: What was left aside.
        unread: Questions that were not read, beside parts that were.
    """

    parts: tuple[str, ...]
    asides: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def parts_of(text: str, dialogue: Dialogue) -> MessageParts:
    """Cut a message into the parts that want an answer."""
    single = sentences(text[: 2 * MAX_CHARACTERS])
    if not single:
        return MessageParts((text,))
    whole = dialogue.read(text)
    if len(single) > 1 and whole.meaning is not None and any(map(_binds, single)):
        return MessageParts((text,))
    readings, asides = _readings(single, dialogue)
    unread = [each for each in readings if not each.is_read]
    if len(single) > 1 and whole.meaning is not None and unread:
        return MessageParts((text,))
    strong = [each for each in readings if each.is_read and not each.is_courteous]
    if any(_binds(each.text) for each in unread) or not any(each.is_read for each in readings):
        return MessageParts((text,))
    if not strong:
        # Thanks beside a question that was not read do not answer it.
        asking = [each for each in unread if _asks(each.text)]
        parts = asking or [each for each in readings if each.is_read]
        left = [each.text for each in unread if each not in asking]
    else:
        parts = strong
        left = [each.text for each in unread if not _asks(each.text)]
    missed = [each.text for each in unread if each.text not in left and each not in parts]
    return MessageParts(tuple(each.text for each in parts[:_MOST_PARTS]), (*asides, *left), tuple(missed))


def _readings(single: list[str], dialogue: Dialogue) -> tuple[list[SentenceReading], list[str]]:
    """Read sentences one after the other; talk that goes on over several is one part.

    Returns:
        The readings, and clauses that were left aside within them.
    """
    readings: list[SentenceReading] = []
    asides: list[str] = []
    before, small_talk = dialogue.before, False
    for sentence in single:
        reading = dialogue.read(sentence)
        last = readings[-1] if readings else None
        if last is not None and last.talk and not last.is_instruction and (reading.talk or not reading.is_read):
            joined = read_talk(f"{last.text} {sentence}")
            if joined and not isinstance(joined[0], Naming):
                readings[-1] = SentenceReading(f"{last.text} {sentence}", Unread((), (), ""), joined)
                continue
        if not reading.is_read:
            reading, left = _main_clause(reading, dialogue)
            asides += left
        if not reading.is_read:
            guess = dialogue.understand(sentence)
            if guess.is_understood or len(single) == 1:
                reading = guess
        if small_talk and reading.meaning is not None and dialogue.before != before:
            # What small talk has named is said, as nothing else keeps it.
            reading = replace(reading, text=echo(reading.meaning))
        small_talk = not reading.is_read
        readings.append(reading)
        dialogue = dialogue.after(reading)
    return readings, asides


def _main_clause(reading: SentenceReading, dialogue: Dialogue) -> tuple[SentenceReading, list[str]]:
    """Return the longest run of clauses that is read, where the others are mere asides; else the sentence."""
    clauses = [each for each in _CLAUSE.split(reading.text) if each.strip()]
    for length in range(len(clauses) - 1, 0, -1):
        for start in range(len(clauses) - length + 1):
            others = [*clauses[:start], *clauses[start + length :]]
            if any(_binds(each) or _asks(each) or dialogue.mentioned(each) for each in others):
                continue
            end = "?" if reading.text.rstrip().endswith("?") else ""
            part = dialogue.read(", ".join(map(str.strip, clauses[start : start + length])).rstrip("?") + end)
            if part.is_instruction or (part.is_read and not isinstance(part.talk[0], Correction)):
                return part, [each.strip() for each in others]
    return reading, []


def _binds(text: str) -> bool:
    return not _BINDING.isdisjoint(re.findall(r"\w+", text.casefold()))


def _asks(text: str) -> bool:
    """Tell whether a sentence looks like a question or names none but what is asked for."""
    return text.rstrip().endswith("?") or not _QUESTIONING.isdisjoint(re.findall(r"\w+", text.casefold()))


def single_meanings(meaning: Meaning) -> tuple[Meaning, ...]:
    """Return the meanings that are answered one by one: those of several questions, else the one itself."""
    if isinstance(meaning, Several) and not any(isinstance(each, EditPicture) for each in meaning.parts):
        return meaning.parts
    return (meaning,)
