"""Reading of questions about models by both readers: by the grammar first, and by the learned reader.

What the grammar only puts together from parts, or reads with sentences left aside, counts as far as the learned reader
takes the question for the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.reasoning.learned.bounding_words import are_meant
from snellen.reasoning.learned.fallback import CERTAIN, LIKELY, MOST_CHARACTERS, RIVAL, SURE, sure_from, unknown
from snellen.reasoning.learned.mentions import ModelNames
from snellen.reasoning.learned.named_text import NamedTexts
from snellen.reasoning.learned.reader import Guess, learned_reader
from snellen.reasoning.queries import reader as queries
from snellen.reasoning.queries.abilities import Recognise, TellApart
from snellen.reasoning.queries.bounds import names_another_answer, unexamined_words
from snellen.reasoning.queries.model_query import ModelQuery, ModelQuestion
from snellen.reasoning.queries.query_readings import AmbiguousQuery, QueryReading, UnderstoodQuery, UnreadQuery
from snellen.reasoning.queries.vocabulary import judges_among

if TYPE_CHECKING:
    from snellen.profiles import Profile

_LIMIT: Final = re.compile(
    r"\b(?:at|from|up to|beyond|past|above|until|till|after|to) (?:what|which)\b|\bhow\b.*\b(?:before|until|till)\b"
    r"|\bhow (?:much|far|strong|dark|bright|many)\b.*\b(?:take|tolerate|stand|handle|withstand|bear|endure)\b",
    re.IGNORECASE,
)
"""It asks up to which severity something holds."""
_ALONE: Final = re.compile(
    r"\b(?:alone|nothing else|(?:all )?by (?:itself|themselves|its lonesome)|on (?:its|their) own)\b", re.IGNORECASE
)
_COMPANY: Final = re.compile(
    r"\b(?:others?|company|amid|clutter\w*|crowd\w*|jumbl\w*|surround\w*)\b"
    r"|\b(?:never|not|rarely|seldom|nothing (?!else))\b|n[’']t\b",
    re.IGNORECASE,
)
"""A thing is shown alone where a text says so, and has none of these."""
_SUPERLATIVE: Final = re.compile(
    r"(?<!\bat )(?<!\bat its )(?<!\bat their )(?<!\bmy )\b(?:best|worst|strongest|weakest)\b"
    r"(?! (?:wishes|regards|before|guess|friend|man|way|practice|case))",
    re.IGNORECASE,
)
"""Some model, class or change is said to come first or last: of 26,000 wordings that mean none of this, one has it."""
_UNUSED: Final = "It names something that has no place in what was understood."


@dataclass(frozen=True)
class QueryGuess:
    """A meaning that the learned reader takes a question for.

    Attributes:
        query: The meaning; None for what no experiment answers.
        guess: The guess that it is of, with the probability of all that ask the same.
        left_out: What of the question it has no place for, in sentences; of the first guess only.
        bounding: Words of the question that deny or bound, and say what such a query means; likewise.
        is_contradicted: Whether words of the question say otherwise: up to which severity something holds, that things
            are alone, that a model is the best, or that another answer is favored; likewise.
    """

    query: ModelQuery | None
    guess: Guess
    left_out: tuple[str, ...] = ()
    is_contradicted: bool = False
    bounding: tuple[str, ...] = ()

    @property
    def probability(self) -> float:
        """Its probability."""
        return self.guess.probability

    def is_sure(self, strange: Sequence[str] = ()) -> bool:
        """Tell whether it counts as understood, beside words that nobody knows."""
        least = CERTAIN if self.left_out else sure_from(self.guess, (*strange, *self.bounding))
        return self.query is not None and not (self.guess.unmet or self.is_contradicted) and self.probability >= least


def read_query(text: str, models: Sequence[str], profile: Profile) -> QueryReading:
    """Read a question about models by both readers; the arguments are those of the grammar's ``read_query``."""
    reading = queries.read_query(text, models, profile)
    if isinstance(reading, AmbiguousQuery) or (isinstance(reading, UnderstoodQuery) and reading.echo == text.strip()):
        return reading
    guesses = guessed_queries(text, models, profile)
    if isinstance(reading, UnderstoodQuery):
        return compared_query(reading, guesses)
    decided = decided_query(reading, guesses)
    if reading.of_all is not None:
        # The grammar knows what is asked, only not of which model: no guess says it better.
        is_same = isinstance(decided, UnderstoodQuery) and decided.echo == UnderstoodQuery(reading.of_all).echo
        return decided if is_same else AmbiguousQuery((reading.of_all,), (reading.why,))
    return decided if reading.by_parts is None else _with_parts(reading.by_parts, decided, guesses)


def guessed_queries(text: str, models: Sequence[str], profile: Profile) -> list[QueryGuess]:
    """Return what a question may mean, the most probable first; nothing where there is no facts file to name things."""
    facts_file, reader = profile.facts_path(), queries.reader_of(models, profile)
    if facts_file is None or len(text) > MOST_CHARACTERS or reader.strangers(text):
        return []
    guesses = _guessed(text, tuple(models), judges_among(models, profile), facts_file)
    found = [QueryGuess(reader.finished(each.meaning), each) for each in guesses]  # of what cannot be examined, none
    ranked = sorted((_together(each, found) for each in found), key=_rank)
    if ranked and (query := ranked[0].query) is not None:  # only the first may count as understood
        meant = {each for each in unexamined_words(text, query) if are_meant(each, query)}
        left_out = (*reader.left_out(text, query, meant), *([_UNUSED] if ranked[0].guess.unused else ()))
        ranked[0] = replace(
            ranked[0],
            left_out=left_out,
            is_contradicted=_is_contradicted(text, query),
            bounding=tuple(each.words for each in meant),
        )
    return ranked


def _rank(guess: QueryGuess) -> tuple[bool, bool, float]:
    """Return the place of a guess: of those that are sure, one that knows what a yes means comes first."""
    is_sure = guess.probability >= SURE
    leaves_open = guess.query is not None and any(each.sense == "open" for each in guess.query.questions)
    return not is_sure, is_sure and leaves_open, -guess.probability


def _together(one: QueryGuess, found: Sequence[QueryGuess]) -> QueryGuess:
    """Return a guess with the probability of all that ask the same."""
    if one.query is None:
        return one
    same = [each.probability for each in found if each.query is not None and alike(one.query, each.query)]
    return replace(one, guess=replace(one.guess, probability=sum(same)))


def decided_query(reading: UnreadQuery, guesses: Sequence[QueryGuess]) -> QueryReading:
    """Return the reading of a question that the grammar does not read."""
    strange = unknown(reading.words)
    best = guesses[0] if guesses else None
    if best is None or best.query is None or best.probability < (SURE if strange or best.guess.unused else LIKELY):
        return reading
    if best.is_sure(strange):
        return UnderstoodQuery(best.query, probability=best.probability)
    others = [each.query for each in guesses if each.query is not None and each.probability >= RIVAL]
    rivals = [each for each in others if not alike(best.query, each)]
    return AmbiguousQuery((best.query, *rivals[:1]), best.left_out)


def compared_query(reading: UnderstoodQuery, guesses: Sequence[QueryGuess]) -> QueryReading:
    """Return the reading of a question that the grammar reads: a question back where the learned reader differs.

    What it reads with sentences left aside is rather doubted than what it reads whole.
    """
    best = guesses[0] if guesses else None
    if best is None or best.query is None or best.probability < (LIKELY if reading.unread else CERTAIN):
        return reading
    if best.left_out or alike(reading.query, best.query):
        return reading
    return AmbiguousQuery((reading.query, best.query))


def _with_parts(by_parts: ModelQuery, decided: QueryReading, guesses: Sequence[QueryGuess]) -> QueryReading:
    """Return the reading of a question of which the grammar only knows the parts.

    Two readers that agree are believed; a meaning that only the parts speak for is a question back.
    """
    best = guesses[0] if guesses else None
    is_refused = best is not None and best.query is None and best.probability >= SURE
    if isinstance(decided, UnderstoodQuery) or is_refused:
        return decided
    if best is None or isinstance(decided, UnreadQuery):
        return AmbiguousQuery((by_parts,))
    if not decided.left_out and alike(by_parts, decided.queries[0]):
        return UnderstoodQuery(by_parts, probability=best.probability)
    others = [each for each in decided.queries if not alike(by_parts, each)]
    return AmbiguousQuery((*others[:1], by_parts), decided.left_out)


def alike(one: ModelQuery, other: ModelQuery) -> bool:
    """Tell whether two queries ask the same, or one leaves open what a yes means and they ask the same otherwise."""
    return len(one.questions) == len(other.questions) and all(
        _unordered(first) == _unordered(second)
        and ("open" in {first.sense, second.sense} or first.sense == second.sense)
        for first, second in zip(one.questions, other.questions, strict=True)
    )


def _unordered(question: ModelQuestion) -> ModelQuestion:
    """Return a question without what a yes means, its models in one order unless the first is compared with others.

    Things that are told from one another are in one order, too.
    """
    of_first = question.comparison is not None and question.comparison.how in {"better", "as good"}
    models = question.models if of_first else tuple(sorted(question.models))
    ability = question.ability
    if isinstance(ability, TellApart):
        ability = TellApart(kinds=tuple(sorted(ability.kinds, key=str)))
    return question.model_copy(update={"sense": "open", "models": models, "ability": ability})


def _is_contradicted(text: str, query: ModelQuery) -> bool:
    loses_limit = all(each.asks in {"whether", "how much"} for each in query.questions) and _LIMIT.search(text)
    is_among = all(isinstance(each.ability, Recognise) and each.ability.among for each in query.questions)
    is_alone = is_among and _ALONE.search(text) and not _COMPANY.search(text)
    is_superlative = all(map(_is_plain, query.questions)) and _SUPERLATIVE.search(text)
    return bool(loses_limit or is_alone or is_superlative or names_another_answer(text, query))


def _is_plain(question: ModelQuestion) -> bool:
    """Tell whether a question compares nothing, and asks for no figure."""
    compares = question.comparison or question.than or question.threshold or question.classes
    return not compares and question.asks == "whether"


@lru_cache(maxsize=256)
def _guessed(text: str, models: tuple[str, ...], judges: tuple[str, ...], facts_file: Path) -> list[Guess]:
    said = _texts_about(facts_file, models, judges).of(text)
    return learned_reader().read(said, 0) if said.says_something else []  # a mere name asks nothing


@lru_cache(maxsize=8)
def _texts_about(facts_file: Path, models: tuple[str, ...], judges: tuple[str, ...]) -> NamedTexts:
    return NamedTexts(facts_file, models=ModelNames(models, frozenset(judges)))
