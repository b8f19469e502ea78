"""Reading of instructions by both readers: by the grammars first, and what they do not read by the learned reader.

What the learned reader takes for the meaning is never certain. Where it is nearly so, the meaning counts as understood,
with its probability; where it is likely, the user is asked; otherwise the text stays unread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from snellen.reasoning.language.inflection import plural
from snellen.reasoning.learned.languages import PlainTalk, Unanswerable
from snellen.reasoning.learned.named_text import NamedTexts
from snellen.reasoning.learned.reader import Guess, learned_reader, learned_words
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.difference import differ
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.meanings import Meaning, pictures_in
from snellen.reasoning.meanings.talk import Courtesy, Doubt, Help, Repeat, Why
from snellen.reasoning.meanings.things import Filter, HasFact, IsA, Part
from snellen.reasoning.reading.lexical_entries import covered_names, known_names
from snellen.reasoning.reading.reader import Ambiguous, Reading, Understood, Unread
from snellen.reasoning.reading.reader import read as read_by_grammar
from snellen.reasoning.reading.talk_reader import sentences
from snellen.reasoning.reading.words import ASKING, SPEAKER_ALONE

if TYPE_CHECKING:
    from snellen.reasoning.meanings.talk import Talk

SURE: Final = 0.8
"""From this probability on a meaning counts as understood."""
WARY: Final = 0.9
"""From this probability on a meaning counts as understood beside words that nobody knows, or that may name things."""
CERTAIN: Final = 0.97
"""From this probability on a meaning casts doubt on what the grammar reads of every word, and talk has effects."""
LIKELY: Final = 0.4
"""From this probability on the user is asked whether a meaning is meant."""
HARMLESS: Final = 0.6
"""From this probability on talk counts that changes nothing."""
RIVAL: Final = 0.15
"""From this probability on another meaning is offered beside the one that is asked about."""
_PARTS_OF_A_WORD: Final = re.compile(r"\w+")
MOST_CHARACTERS: Final = 400


def read(instruction: str, pictures: int, facts_file: Path | None, *, names: frozenset[str] = frozenset()) -> Reading:
    """Read an instruction by both readers.

    Args:
        instruction: The instruction.
        pictures: The number of pictures.
        facts_file: The concepts, groups and facts that it may name; without one any word may be a name, and the grammar
            reads alone.
        names: Further names of things.
    """
    reading = read_by_grammar(instruction, pictures, facts_file, names=names, open_=facts_file is None)
    if facts_file is None or not pictures or isinstance(reading, Ambiguous) or is_echo(instruction, reading):
        return reading
    guesses = guessed(instruction, pictures, facts_file, names)
    if isinstance(reading, Understood):
        return compared(reading, guesses)
    if unknown(reading.words) and names_unknown(instruction, pictures, facts_file, names):
        return reading
    settled = decided(reading, guesses)
    if isinstance(settled, Understood):
        return settled
    return after_a_story(instruction, pictures, facts_file, names) or settled


def is_echo(text: str, reading: Reading) -> bool:
    """Tell whether a text is the echo of its reading, word for word: then it means that for sure."""
    return isinstance(reading, Understood) and echo(canonical(reading.meaning)) == text.strip()


def after_a_story(
    text: str, pictures: int, facts_file: Path, names: frozenset[str] = frozenset()
) -> Understood | Ambiguous | None:
    """Read the last sentence where those before it tell of the speaker; None where they do not, or it is not read.

    What was told may bear on what is asked ("I only care about the red ones"). So the meaning is understood only where
    the learned reader takes the whole text for the same; otherwise the user is asked.
    """
    *story, question = [each for line in sentences(text) for each in re.split(r"(?<=\w):\s", line)]
    told = set(re.findall(r"\w+", " ".join(story).casefold()))
    if told.isdisjoint(SPEAKER_ALONE) or not told.isdisjoint(ASKING):
        return None
    reading = read_by_grammar(question, pictures, facts_file, names=names)
    if not isinstance(reading, Understood) or reading.asides:
        return None
    best = next(iter(guessed(text, pictures, facts_file, names)), None)
    if best is None or not is_instruction(best) or differ(canonical(reading.meaning), best.meaning):
        return Ambiguous((reading.meaning,))
    return replace(reading, asides=(" ".join(story),), probability=max(best.probability, LIKELY))


def names_unknown(
    text: str,
    pictures: int,
    facts_file: Path | None,
    names: frozenset[str] = frozenset(),
    before: Meaning | None = None,
) -> bool:
    """Tell whether a text that is not read would be, if words that are not known were names of things to be taught."""
    opened = read_by_grammar(text, pictures, facts_file, names=names, open_=True, before=before)
    return not isinstance(opened, Unread)


def guessed(
    text: str, pictures: int, facts_file: Path, names: frozenset[str] = frozenset(), before: Meaning | None = None
) -> list[Guess]:
    """Return what a text may mean, the most probable first: an instruction, talk, or nothing that can be answered.

    Who goes on does not ask again what was asked before; who does says so ("again?").
    """
    if len(text) > MOST_CHARACTERS:
        return []
    guesses = _guessed(text, pictures, facts_file, names, "" if before is None else echo(before))
    return guesses if before is None else [each for each in guesses if each.meaning != canonical(before)]


def decided(unread: Unread, guesses: Sequence[Guess]) -> Reading:
    """Return the reading of an instruction that the grammar does not read."""
    best = guesses[0] if guesses else None
    strange = unknown(unread.words)
    if best is None or best.unused or not is_instruction(best) or best.probability < (SURE if strange else LIKELY):
        return unread
    if is_sure(best, strange):
        return Understood(best.meaning, probability=best.probability)
    second = [each for each in guesses[1:] if not each.unused][:1]
    rivals = [each.meaning for each in second if each.probability >= RIVAL and is_instruction(each)]
    return Ambiguous((best.meaning, *rivals))


def compared(reading: Understood, guesses: Sequence[Guess]) -> Reading:
    """Return the reading of an instruction that the grammar reads: a question back where the learned reader differs.

    What the grammar reads with words left aside is rather doubted than what it reads whole. A guess that has no place
    for what the text names, or denies, casts no doubt.
    """
    best = guesses[0] if guesses else None
    if best is None or best.probability < (LIKELY if reading.asides else CERTAIN) or is_talk(best):
        return reading
    if not is_instruction(best):
        return Ambiguous((reading.meaning,))
    if not best.leaves_nothing_out or not differ(canonical(reading.meaning), best.meaning):
        return reading
    return Ambiguous((reading.meaning, best.meaning))


def continued(reading: Understood, guesses: Sequence[Guess]) -> Reading:
    """Return the reading of what only means something after another instruction and the grammar reads, too.

    Of how people go on, the learned reader knows more than the grammar: where it is sure, its reading counts.
    """
    best = guesses[0] if guesses else None
    if best is None or not is_instruction(best) or best.unused or best.probability < LIKELY:
        return reading
    if is_sure(best):
        return Understood(best.meaning, probability=best.probability)
    if not differ(canonical(reading.meaning), best.meaning):
        return reading
    return Ambiguous((reading.meaning, best.meaning))


def is_sure(guess: Guess, strange: Sequence[str] = ()) -> bool:
    """Tell whether a guess counts as understood.

    Args:
        guess: The guess.
        strange: Words of the text that nobody knows.
    """
    return guess.leaves_nothing_out and guess.probability >= sure_from(guess, strange)


def sure_from(guess: Guess, strange: Sequence[str] = ()) -> float:
    """Return the probability from which on a guess that leaves nothing out counts as understood; see ``is_sure``."""
    return WARY if strange or guess.perhaps_unused else SURE


def unknown(words: Sequence[str]) -> list[str]:
    """Return those of some words that no reader knows; it knows one with hyphens if it knows each of its parts."""
    learned = learned_words()
    return [
        word
        for word in words
        if word.casefold() not in learned and not learned.issuperset(_PARTS_OF_A_WORD.findall(word.casefold()))
    ]


def is_talk(guess: Guess) -> bool:
    """Tell whether a guess is talk."""
    return isinstance(guess.meaning, get_args(PlainTalk))


def is_instruction(guess: Guess) -> bool:
    """Tell whether a guess is an instruction about pictures."""
    return not is_talk(guess) and not isinstance(guess.meaning, Unanswerable)


def talk_of(guesses: Sequence[Guess]) -> tuple[Talk, ...]:
    """Return what a message says as talk; nothing where it is none for sure.

    Of what does no harm if it is taken amiss, such as a greeting or a doubt, less is asked.
    """
    best = guesses[0] if guesses else None
    if best is None or not is_talk(best) or best.unused:
        return ()
    is_harmless = isinstance(best.meaning, Courtesy | Help | Why | Doubt | Repeat)
    return (best.meaning,) if best.probability >= (HARMLESS if is_harmless else CERTAIN) else ()


@lru_cache(maxsize=256)
def _guessed(text: str, pictures: int, facts_file: Path, names: frozenset[str], before: str) -> list[Guess]:
    said = _texts(facts_file, names).of(text, before)
    kinds = {each.values[0].fact: each.kind for each in said.copyables if each.kind is not None}
    covered = {
        name: others
        for name, others in covered_names(known_names(facts_file).kinds).items()
        if name in text.casefold() or plural(name) in text.casefold()  # a smartphone is no telephone
    }
    guesses = [
        replace(each, meaning=canonical(covering(_with_kinds(each.meaning, kinds), covered)))
        for each in learned_reader().read(said, pictures)
    ]
    return _merged([each for each in guesses if not is_instruction(each) or is_of(each.meaning, pictures)])


def _with_kinds(part: Any, kinds: Mapping[str, IsA]) -> Any:  # noqa: ANN401 - of any part, the same part
    """Add the kind of the things to facts that one noun says along with it: pets are animals that are kept so."""
    if isinstance(part, tuple):
        return tuple(_with_kinds(each, kinds) for each in part)
    if not isinstance(part, Part) or not kinds:
        return part
    form = part.model_copy(update={name: _with_kinds(value, kinds) for name, value in part})
    if isinstance(form, Filter) and isinstance(form.property, HasFact) and form.property.fact in kinds:
        of_kind = Filter(things=form.things, property=kinds[form.property.fact])
        return canonical(form.model_copy(update={"things": of_kind}))
    return form


def covering(part: Any, covered: Mapping[str, Sequence[str]]) -> Any:  # noqa: ANN401 - of any part, the same part
    """Add to the names of things what they cover, too: whoever says "phone" means a telephone as well."""
    if isinstance(part, tuple):
        return tuple(covering(each, covered) for each in part)
    if not isinstance(part, Part):
        return part
    form = part.model_copy(update={name: covering(value, covered) for name, value in part})
    if not isinstance(form, IsA):
        return form
    name, *others = dict.fromkeys((*form.names, *(each for name in form.names for each in covered.get(name, ()))))
    return IsA(name=name, or_names=tuple(others))


@lru_cache(maxsize=8)
def _texts(facts_file: Path, names: frozenset[str]) -> NamedTexts:
    return NamedTexts(facts_file, names)


def _merged(guesses: Sequence[Guess]) -> list[Guess]:
    """Return guesses with the probabilities of meanings that every scene answers alike taken together."""
    merged: list[Guess] = []
    for guess in guesses:
        for place, other in enumerate(merged):
            both = is_instruction(guess) and is_instruction(other) and guess.unused == other.unused
            if both and not differ(guess.meaning, other.meaning):
                merged[place] = replace(other, probability=other.probability + guess.probability)
                break
        else:
            merged.append(guess)
    return sorted(merged, key=lambda each: -each.probability)


def is_of(meaning: Any, pictures: int) -> bool:  # noqa: ANN401 - a meaning
    """Tell whether a meaning is about pictures that there are."""
    names = pictures_in(meaning)
    return names <= {"picture"} if pictures == 1 else "picture" not in names
