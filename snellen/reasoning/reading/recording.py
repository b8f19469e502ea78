"""Instructions are read, and what came of it is recorded (`ReadingRecord`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from snellen.reasoning.learned.fallback import names_unknown, read
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.reading.lexical_entries import LexicalNoun, entries
from snellen.reasoning.reading.reader import Ambiguous, Reading, Understood, Unread
from snellen.reasoning.reading.reading_record import MAX_OPTIONS, ReadingRecord, UnknownWord, option_of

MAX_PICTURES: Final = 2
"""Pictures that a meaning is about."""
_QUESTION: Final = re.compile(
    r"\s*(?:what|which|who|whose|where|when|why|how|is|are|was|were|does|do|did|can|could|has|have|will)\b.*\w",
    re.IGNORECASE | re.DOTALL,
)


def read_instruction(
    instruction: str, pictures: int, facts_file: Path | None, taught: Iterable[str] = ()
) -> ReadingRecord:
    """Read an instruction and record what came of it.

    Args:
        instruction: The instruction.
        pictures: The number of pictures that it is about.
        facts_file: The concepts, groups and facts that it may name. Without one the models know words that nobody
            listed: any word may be a name, and a question that has no meaning is asked as it stands.
        taught: Names that tools were taught.
    """
    if pictures > MAX_PICTURES:
        return ReadingRecord(
            "unread", why=f"Instructions are read about one picture or two; there are {pictures} pictures."
        )
    names = frozenset(taught) - _named_in(facts_file)
    record = recorded(read(instruction, pictures, facts_file, names=names))
    if record.status != "unread":
        return record
    if facts_file is None:
        is_question = pictures == 1 and _QUESTION.match(instruction)
        return ReadingRecord("as it stands") if is_question else record
    if not record.unknown or not names_unknown(instruction, pictures, facts_file, names):
        return record
    unknown = tuple(UnknownWord(each.word, each.nearest, learnable=True) for each in record.unknown)
    return ReadingRecord("unread", unknown=unknown, why=record.why)


def recorded(reading: Reading) -> ReadingRecord:
    """Return the record of a reading."""
    match reading:
        case Understood():
            option = option_of(reading.meaning, echo(reading.meaning))
            return ReadingRecord(
                "understood", option.understood, option.meaning, asides=reading.asides, corrected=reading.corrected,
                probability=reading.probability,
            )  # fmt: skip
        case Ambiguous():
            # Meanings have one sentence where they are the same.
            by_sentence = {echo(each): each for each in reading.meanings}
            options = tuple(option_of(each, sentence) for sentence, each in by_sentence.items())[:MAX_OPTIONS]
            if len(options) == 1 < len(reading.meanings):
                return ReadingRecord("understood", options[0].understood, options[0].meaning)
            return ReadingRecord("ambiguous", options=options)
        case Unread():
            unknown = tuple(map(UnknownWord, reading.words, reading.nearest))
            return ReadingRecord("unread", unknown=unknown, why=reading.why)


def _named_in(facts_file: Path | None) -> frozenset[str]:
    nouns = [each.value for each in entries(facts_file) if isinstance(each.value, LexicalNoun)]
    return frozenset(name for noun in nouns for name in noun.names)
