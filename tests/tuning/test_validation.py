from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from snellen.profiles import SnellenError
from snellen.tools.vision import Models
from snellen.tuning import TunedPrompt, tune, tuner_of, validate
from tests.tuning.conftest import examples, instances


def _prompt(name: str, *, loss: float = 0.1) -> TunedPrompt:
    empty = np.ones((1, 1), dtype=np.float32)
    return TunedPrompt(name, "CLIP", "cat", empty, empty[0], 3, loss, accepted=True)


class Marks:
    """A tool whose results are written down: of the held-out examples, then of the others, by prompt."""

    def __init__(self, **marks: tuple[list[bool], list[bool]]) -> None:
        self.marks = marks
        self.settings: Any = SimpleNamespace(held_out=0.5, spoilt=0.0)

    def look(self, given: Any, names: Any) -> Any:  # noqa: ANN401
        return len(given)

    def right(self, seen: int, tuned: TunedPrompt | None, concept: str) -> list[bool]:
        new, old = self.marks["before" if tuned is None else tuned.instance]
        return new if seen == len(new) else old


Y, N = True, False


@pytest.mark.parametrize(
    ("after", "kept", "reason"),
    [
        (([Y, Y, N], [Y, Y, N, N]), True, "Kept: right on 2 of 3 held-out examples, 0 without it"),
        (([Y, Y, Y], [Y, N, N, N]), False, "Discarded: 1 right answers about other things became wrong"),
        (([Y, N, N], [Y, Y, N, N]), False, "Discarded: what it learned does not hold elsewhere"),
        (([N, N, N], [Y, Y, N, N]), False, "Discarded: it is of no use"),
        (([Y, Y, Y], [Y, Y, Y, N]), True, "Kept: right on 3 of 3"),
    ],
)
def test_a_prompt_stays_if_it_holds_elsewhere_and_spoils_nothing(
    *, after: tuple[list[bool], list[bool]], kept: bool, reason: str
) -> None:
    tool: Any = Marks(before=([N, N, N], [Y, Y, N, N]), p=after)
    (verdict,) = validate(tool, [_prompt("p")], examples("CLIP", 3), others=examples("CLIP", 4))
    assert verdict.kept is kept
    assert verdict.reason.startswith(reason)
    assert (verdict.expected.right, verdict.expected.of) == (sum(after[0]), 3)
    assert (verdict.others.right, verdict.others_before.right) == (sum(after[1]), 2)


def test_where_a_tool_is_always_right_there_is_nothing_to_learn() -> None:
    """No prompt can prove itself there, not even one that changes nothing."""
    tool: Any = Marks(before=([Y, Y, Y], [Y]), p=([Y, Y, Y], [Y]))
    (verdict,) = validate(tool, [_prompt("p")], examples("CLIP", 3), others=examples("CLIP", 1))
    assert not verdict.kept
    assert verdict.reason == "Discarded: there is nothing to learn (right on 3 of 3 held-out examples, 3 without it)."


def test_numbers_that_are_none_are_discarded() -> None:
    tool: Any = Marks(before=([N], []), p=([Y], []))
    (verdict,) = validate(tool, [_prompt("p", loss=float("nan"))], examples("CLIP", 1))
    assert not verdict.kept
    assert "numbers that are none" in verdict.reason


def test_without_held_out_examples_nothing_is_proved() -> None:
    tool: Any = Marks()
    with pytest.raises(SnellenError, match="Nothing of 'cat' was held out"):
        validate(tool, [_prompt("p")], [])
    assert validate(tool, [], []) == []


@pytest.mark.parametrize("pool", ["CLIP", "LOC", "VQA"])
def test_every_tool_is_run_with_and_without_its_prompts(models: Models, pool: str) -> None:
    tuner = tuner_of(models, pool)
    tuned = tune(tuner, instances(pool, 1))
    verdicts = validate(tuner, tuned, examples(pool, 3), others=examples(pool, 4, seed=9), names=["house", "tree"])
    assert [verdict.tuned for verdict in verdicts] == tuned
    assert all(verdict.expected.of == 3 and verdict.others.of == 4 for verdict in verdicts)
    assert all(verdict.reason for verdict in verdicts)
