"""The reading of a question by its parts, where no rule of the grammar says how they are put together.

"Would it be a bad idea to use clip on dark photos?" has models, a change of pictures, and words that only frame them.
It asks whether the models are robust to the change, whichever way it is put: what a yes means stays open. Every other
word (a comparison, a number, a negation, an exception, another thing) makes the question one that is not read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from snellen.reasoning.queries.ability_actions import Aims, opened, robust
from snellen.reasoning.queries.nominal_actions import PRONOUNS, ModelSubject
from snellen.reasoning.queries.question_actions import ask

if TYPE_CHECKING:
    from snellen.reasoning.queries.conditions import Condition
    from snellen.reasoning.reading.chart import Chart

_EFFECTS: Final = frozenset({
    "ROBUST", "SENSITIVE", "AFFECTED", "HURT", "SUFFER", "STRUGGLE", "COPE", "COPE_BARE", "PROBLEM", "NO_PROBLEM",
    "GOOD", "BAD", "LOSS", "EFFECT", "PERFORMANCE", "ROBUSTNESS", "TROUBLE", "TRUST",
})  # fmt: skip
"""Classes of words that say that something has an effect, or none."""
Terminals = Mapping[int, Sequence[tuple[int, str]]]
"""Where word classes begin: for each place, where each ends, and its name."""


class Parts(NamedTuple):
    """The parts that were met so far.

    Attributes:
        subject: The models.
        conditions: The changes of pictures.
        aims: The abilities.
        effect: Whether a word says that something has an effect.
    """

    subject: ModelSubject | None = None
    conditions: tuple[Condition, ...] | None = None
    aims: Aims | None = None
    effect: bool = False

    def with_part(self, symbol: str, value: Hashable) -> Parts | None:
        """Return the parts with one more; None where there is another of its sort already."""
        if symbol == "subject":
            return self._replace(subject=cast("ModelSubject", value)) if self.subject in {None, value} else None
        if symbol == "doing":
            return self._replace(aims=cast("Aims", value)) if self.aims in {None, value} else None
        if symbol in _CAUSES:
            conditions = cast("tuple[Condition, ...]", value)
            return self._replace(conditions=conditions) if self.conditions in {None, conditions} else None
        return self._replace(effect=self.effect or symbol in _EFFECTS)

    def question(self) -> Aims | None:
        """Return what is asked; None where parts are missing, or make no question together."""
        if self.subject is None or not (self.aims or (self.conditions and self.effect)):
            return None
        try:
            return ask(self.subject, opened(robust(self.conditions, self.aims) if self.conditions else self.aims))
        except ValueError:
            return None


_CAUSES: Final = ("causes", "under")


def questions_by_parts(
    chart: Chart, terminals: Terminals, skips: Mapping[int, Sequence[int]], length: int
) -> list[Aims]:
    """Return what a text of some words may ask by its parts, which are as few as possible."""
    reached: list[dict[Parts, int]] = [{} for _ in range(length + 1)]
    reached[0][Parts()] = 0
    for start in range(length):
        steps = list(_steps(chart, terminals.get(start, ()), start, length))
        for parts, count in reached[start].items():
            for end in skips.get(start, ()):
                _keep(reached[end], parts, count)
            for end, symbol, value in steps:
                further = parts.with_part(symbol, value)
                if further is not None:
                    _keep(reached[end], further, count + 1)
    asked: dict[Aims, int] = {}
    for parts, count in reached[length].items():
        question = parts.question()
        if question is not None:
            asked[question] = min(count, asked.get(question, count))
    fewest = min(asked.values(), default=0)
    return [question for question, count in asked.items() if count == fewest]


def _steps(
    chart: Chart, terminals: Sequence[tuple[int, str]], start: int, length: int
) -> Iterator[tuple[int, str, Hashable]]:
    yield from ((end, symbol, None) for end, symbol in terminals if symbol == "FRAME" or symbol in _EFFECTS)
    for end in range(start + 1, length + 1):
        for symbol in ("subject", "doing", *_CAUSES):
            for value in chart.values(symbol, start, end):
                # Several models may be compared, and a pronoun needs a sentence before it: both are for the grammar.
                names = cast("ModelSubject", value).names if symbol == "subject" else ()
                if len(names) <= 1 and not set(names) & set(PRONOUNS.values()):
                    yield end, symbol, value


def _keep(states: dict[Parts, int], parts: Parts, count: int) -> None:
    states[parts] = min(count, states.get(parts, count))
