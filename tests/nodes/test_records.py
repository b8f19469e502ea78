"""What a run leaves behind fits a checkpoint, and says what was cut."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.records import (
    MAX_SENTENCES_BYTES,
    fitted_answer,
    fitted_plan,
    fitted_sentences,
    fitted_steps,
)


def size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass"))


def step(number: int, **fields: object) -> dict[str, Any]:
    return {
        "address": str(number),
        "line": number,
        "source": f"A{number}=EVAL(expr='1')",
        "tool": "EVAL",
        "arguments": {},
        "output": 1,
        "target": f"A{number}",
        "pictures": [],
        "seconds": 0.1,
        "error": None,
        "warnings": [],
    } | fields


def test_a_usual_run_is_kept_whole() -> None:
    steps = [step(number) for number in range(1, 12)]

    assert fitted_steps(steps).value == steps
    assert fitted_steps(steps).notice is None


def test_long_results_are_shortened_and_marked() -> None:
    regions = [{"type": "Region", "box": [0, 0, 1, 1], "label": "dog" * 100} for _ in range(300)]
    fitted = fitted_steps([step(1, output=regions), step(2)])

    assert size(fitted.value) <= 14_000
    assert "shortened" in fitted.value[0]["warnings"][-1]
    assert fitted.value[0]["output"][0]["box"] == [0, 0, 1, 1]
    assert fitted.value[1] == step(2)
    assert fitted.notice == "Long results are shortened in the saved steps."


def test_of_very_many_steps_the_first_and_last_are_kept() -> None:
    fitted = fitted_steps([step(number) for number in range(1, 201)])

    assert size(fitted.value) <= 14_000
    assert fitted.value[0]["address"] == "1"
    assert fitted.value[-1]["address"] == "200"
    assert fitted.notice == f"The saved steps leave out {200 - len(fitted.value)} of 200 in the middle of the run."


def test_a_shortened_answer_says_so() -> None:
    assert fitted_answer("yes").notice is None
    assert fitted_answer("long " * 5000).value.endswith("…")
    assert fitted_answer("long " * 5000).notice is not None
    assert fitted_answer([{"type": "Region", "label": "x"}] * 900).value[0] == {"type": "Region", "label": "x"}


def test_sentences_are_said_once_and_counted_when_left_out() -> None:
    assert fitted_sentences(["a", "b", "a"]) == ["a", "b"]
    many = fitted_sentences([f"{number} {'long ' * 100}" for number in range(30)])
    assert many[-1] == f"… and {30 - len(many) + 1} more."


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3000),
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=30,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ANYTHING, max_size=60), st.lists(st.text(max_size=900), max_size=40))
def test_whatever_happens_it_fits(outputs: list[Any], texts: list[str]) -> None:
    steps = [step(number, output=output) for number, output in enumerate(outputs, 1)]

    assert size(fitted_steps(steps).value) <= 14_000
    assert size(fitted_sentences(texts)) <= MAX_SENTENCES_BYTES
    assert size(fitted_plan(texts).value) <= 8_000
    for output in outputs:
        assert size(fitted_answer(output).value) <= 3_000
