"""Sentences of answers, covered by parts that captions.grammar derives: as many words as can be, at the least cost."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from snellen.reasoning.reading.answer_parts import AnswerPart, RefusedAnswer
from snellen.reasoning.reading.chart import Chart
from snellen.reasoning.reading.words import PUNCTUATION, WordToken

_PART: Final = 0.3
"""What a further part of a sentence costs."""
_UNREAD: Final = 2.0
"""What a word costs that no part covers."""
LEFT_OUT: Final = 0.02
"""What a word costs that means nothing, or joins parts."""


@dataclass(frozen=True)
class CoveredSentence:
    """A sentence with all that the grammar derives of it.

    Attributes:
        text: Its words.
        chart: What they are derived to.
        ends: Where what means nothing ends, by where it begins.
        joints: The same of what joins parts.
        structural: Words that no aside has.
    """

    text: tuple[WordToken, ...]
    chart: Chart
    ends: dict[int, list[int]]
    joints: dict[int, list[int]]
    structural: Collection[str]

    def whole(self, symbol: str) -> object | None:
        """Return the cheapest value of a symbol over all words."""
        best: tuple[float, object | None] = (math.inf, None)
        for start in reached_from(0, self.ends):
            if (symbol, start, len(self.text)) in self.chart.spans:
                values = self._values(symbol, start, len(self.text))
                for value, cost in values.items():
                    best = min(best, (cost + LEFT_OUT * start, value), key=lambda pair: pair[0])
        return best[1]

    def parts(self) -> tuple[list[AnswerPart], list[str]]:
        """Return the parts that cover the sentence at the least cost, and the words that none covers.

        Raises:
            ParsingTooLong: It takes too many steps.
        """
        parts, unread = self._cover()
        if not all(self._is_in_aside(place, unread) for place in unread):
            return [], self.words()
        if any(isinstance(part, RefusedAnswer) for part in parts):
            is_whole = not unread and all(isinstance(part, RefusedAnswer) for part in parts)
            return [], [] if is_whole else self.words()
        return parts, [self.text[place].written for place in unread]

    def words(self) -> list[str]:
        """Return its words as they were written."""
        return [token.written for token in self.text if token.text not in PUNCTUATION]

    def _is_in_aside(self, place: int, unread: Collection[int]) -> bool:
        """Return whether a word is between punctuation marks with unread words alone that the grammar does not know."""
        start, end = place, place
        while start and self.text[start - 1].text not in PUNCTUATION:
            start -= 1
        while end < len(self.text) and self.text[end].text not in PUNCTUATION:
            end += 1
        return all(each in unread and self.text[each].text not in self.structural for each in range(start, end))

    def _cover(self) -> tuple[list[AnswerPart], list[int]]:
        """Return parts, and the places of words that are in none of them, from the first to the last."""
        spans: dict[int, list[int]] = {}
        for symbol, start, end in sorted(self.chart.spans):
            if symbol == "part":
                spans.setdefault(start, []).append(end)
        best: list[tuple[float, int, AnswerPart | None, bool]] = [(math.inf, 0, None, False)] * (len(self.text) + 1)
        best[0] = (0.0, 0, None, False)
        for start in range(len(self.text)):
            for end, cost, part, is_read in self._steps(start, spans.get(start, ())):
                if best[start][0] + cost < best[end][0]:
                    best[end] = (best[start][0] + cost, start, part, is_read)
        parts, unread = list[AnswerPart](), list[int]()
        place = len(self.text)
        while place:
            _, place, part, is_read = best[place]
            parts += [] if part is None else [part]
            unread += [] if is_read else [place]
        return parts[::-1], unread[::-1]

    def _steps(self, start: int, ends: Sequence[int]) -> Iterator[tuple[int, float, Any, bool]]:
        """Yield how one may go on from a place: where to, at what cost, by what, and whether it is read."""
        for end in ends:
            values = self._values("part", start, end)
            if values:
                value, cost = next(iter(values.items()))
                yield end, cost + _PART, value, True
        for end in (*self.ends[start], *self.joints[start]):
            yield end, LEFT_OUT, None, True
        yield start + 1, _UNREAD, None, False

    def _values(self, symbol: str, start: int, end: int) -> dict[Any, float]:
        return self.chart.values(symbol, start, end)


def reached_from(place: int, ends: dict[int, list[int]]) -> list[int]:
    """Return all places that can be reached from one by leaving out what means nothing, itself first."""
    reached = [place]
    for each in reached:
        reached += [end for end in ends.get(each, ()) if end not in reached]
    return reached
