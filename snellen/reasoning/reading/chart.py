"""A chart parser: all ways in which a grammar derives a text, and the values of the cheapest of them.

First, bottom-up, which symbols span which words (at most cubic in the words). Then, top-down from the whole text, the
values of what is part of a derivation; of each symbol over the same words only the cheapest few different values are
kept, so that ambiguity never multiplies: two derivations with one meaning are one value.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

_VALUES: Final = 8
"""Different values of one symbol over the same words that are kept, the cheapest."""
_COMBINATIONS: Final = 64

Span = tuple[str, int, int]


class ParsingTooLong(Exception):  # noqa: N818 - it says what happened
    """Parsing took longer, or more steps, than it may."""


@dataclass(frozen=True)
class Production:
    """A rule of the grammar: what derives what, what it means and how far-fetched it is.

    Attributes:
        symbol: What is derived.
        items: The symbols that it consists of, at least one.
        action: Makes the value of the items' values; None where the items do not go together.
        cost: Zero or more; the cheapest derivations count.
    """

    symbol: str
    items: tuple[str, ...]
    action: Callable[[Sequence[Hashable]], Hashable | None]
    cost: float = 0.0


@dataclass(frozen=True)
class Word:
    """A terminal over words from `start` to `end` (exclusive), with a value."""

    symbol: str
    start: int
    end: int
    value: Hashable = None
    cost: float = 0.0


@dataclass
class Chart:
    """The spans that were derived of one text.

    Attributes:
        words: The terminals.
        derivations: The numbers of the productions by which a symbol derives words from a start to an end.
        splits: Where the last item of the first items of a production begins.
        productions: The grammar.
        deadline: When to give up, by the time that this thread has computed, however busy the machine is.
        spans: Every symbol that derives words from a start to an end.
        steps: How many more spans may be derived and values made; unlike the clock it is the same on every machine.
    """

    words: dict[Span, list[Word]]
    derivations: dict[Span, dict[int, None]]
    splits: dict[tuple[int, int, int, int], dict[int, None]]
    productions: Sequence[Production]
    deadline: float
    spans: set[Span] = field(default_factory=set)
    steps: float = math.inf
    _values: dict[Span, dict[Hashable, float]] = field(default_factory=dict)
    _open: set[Span] = field(default_factory=set)

    def values(self, symbol: str, start: int, end: int) -> dict[Hashable, float]:
        """Return the cheapest different values of a symbol over these words, with what each costs."""
        span = (symbol, start, end)
        if span in self._values:
            return self._values[span]
        if span in self._open:
            return {}
        if time.thread_time() > self.deadline:
            raise ParsingTooLong
        self.spend()
        self._open.add(span)
        best: dict[Hashable, float] = {}
        for word in self.words.get(span, ()):
            _keep(best, word.value, word.cost)
        for number in self.derivations.get(span, ()):
            production = self.productions[number]
            for items, cost in self._items(number, len(production.items), start, end):
                self.spend()
                value = production.action(items)
                if value is not None:
                    _keep(best, value, cost + production.cost)
        self._open.discard(span)
        ranked = sorted(best.items(), key=lambda pair: pair[1])[:_VALUES]
        self._values[span] = dict(ranked)
        return self._values[span]

    def spend(self) -> None:
        """Count a step.

        Raises:
            ParsingTooLong: It is one too many.
        """
        self.steps -= 1
        if self.steps < 0:
            raise ParsingTooLong

    def _items(self, number: int, dot: int, start: int, end: int) -> list[tuple[tuple[Hashable, ...], float]]:
        """Return the values of the first items of a production over these words."""
        symbol = self.productions[number].items[dot - 1]
        if dot == 1:
            return [((value,), cost) for value, cost in self.values(symbol, start, end).items()]
        combinations = []
        for middle in self.splits.get((number, dot, start, end), ()):
            last = self.values(symbol, middle, end)
            if last:
                combinations += [
                    ((*values, value), cost + more)
                    for values, cost in self._items(number, dot - 1, start, middle)
                    for value, more in last.items()
                ]
        combinations.sort(key=lambda pair: pair[1])
        return combinations[:_COMBINATIONS]


def _keep(best: dict[Hashable, float], value: Hashable, cost: float) -> None:
    if cost < best.get(value, float("inf")):
        best[value] = cost


class ChartParser:
    """A parser of one grammar."""

    def __init__(self, productions: Sequence[Production]) -> None:
        self._productions = productions
        self._beginning: dict[str, list[int]] = defaultdict(list)
        for number, production in enumerate(productions):
            self._beginning[production.items[0]].append(number)

    def parse(self, words: Iterable[Word], *, seconds: float, steps: float = math.inf) -> Chart:
        """Derive whatever the words are part of.

        Args:
            words: The terminals.
            seconds: For the derivations and their values.
            steps: The number of spans and values.

        Raises:
            ParsingTooLong: It took more of either.
        """
        chart = Chart({}, {}, {}, self._productions, time.thread_time() + seconds, steps=steps)
        agenda: list[Span] = []
        for word in words:
            span = (word.symbol, word.start, word.end)
            chart.words.setdefault(span, []).append(word)
            if span not in chart.spans:
                chart.spans.add(span)
                agenda.append(span)
        self._derive(chart, agenda)
        return chart

    def _derive(self, chart: Chart, agenda: list[Span]) -> None:
        state = _Derivation(chart, self._productions, agenda)
        steps = 0
        while agenda:
            chart.spend()
            steps += 1
            if steps % 256 == 0 and time.thread_time() > chart.deadline:
                raise ParsingTooLong
            symbol, start, end = agenda.pop()
            state.starting[symbol, start].append(end)
            for number in self._beginning.get(symbol, ()):
                state.advance(number, 1, start, (start, end))
            for number, dot, first in tuple(state.waiting.get((symbol, start), ())):
                state.advance(number, dot + 1, first, (start, end))


class _Derivation:
    """What is half derived: complete symbols by where they start, productions by the symbol that they wait for."""

    def __init__(self, chart: Chart, productions: Sequence[Production], agenda: list[Span]) -> None:
        self.starting: dict[tuple[str, int], list[int]] = defaultdict(list)
        self.waiting: dict[tuple[str, int], list[tuple[int, int, int]]] = defaultdict(list)
        self._chart, self._productions, self._agenda = chart, productions, agenda
        self._partial: set[tuple[int, int, int, int]] = set()

    def advance(self, number: int, dot: int, start: int, last: tuple[int, int]) -> None:
        """Note that the first items of a production span words from a start on, the last of them these."""
        middle, end = last
        if dot > 1:
            self._chart.splits.setdefault((number, dot, start, end), {})[middle] = None
        if (number, dot, start, end) in self._partial:
            return
        self._partial.add((number, dot, start, end))
        items = self._productions[number].items
        if dot == len(items):
            self._complete(number, start, end)
            return
        self.waiting[items[dot], end].append((number, dot, start))
        for further in tuple(self.starting[items[dot], end]):
            self.advance(number, dot + 1, start, (end, further))

    def _complete(self, number: int, start: int, end: int) -> None:
        span = (self._productions[number].symbol, start, end)
        self._chart.derivations.setdefault(span, {})[number] = None
        if span not in self._chart.spans:
            self._chart.spans.add(span)
            self._agenda.append(span)


def reachable(place: int, ends: Mapping[int, list[int]]) -> list[int]:
    """Return all places that can be reached from one by skipping, itself first."""
    reached = [place]
    for each in reached:
        reached += [end for end in ends.get(each, ()) if end not in reached]
    return reached
