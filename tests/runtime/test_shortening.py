"""What a run leaves behind fits a checkpoint, and says what was cut."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.memory.shortening import (
    MAX_ANSWER_BYTES,
    MAX_SENTENCES_BYTES,
    MAX_STEPS_BYTES,
    fitted_answer,
    fitted_plan,
    fitted_sentences,
    fitted_steps,
    is_whole,
)
from snellen.tools.program import StepRecord
from snellen.values import Picture, Region, from_json, to_json


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
    assert fitted.value[0]["warnings"][-1].startswith("This record is shortened, 276 items of its lists left out")
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
    many = fitted_answer(["a name"] * 900)
    assert many.notice == f"The saved answer is shortened: it leaves out {900 - len(many.value)} of 900 items."
    assert size(many.value) > MAX_ANSWER_BYTES - 20


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


NAME = st.text(max_size=12) | st.text(min_size=200, max_size=900)
PICTURES = st.builds(Picture, st.text("0123456789abcdef", min_size=64, max_size=64), st.integers(1, 9999), st.just(7))
REGIONS = st.builds(
    Region,
    st.tuples(*[st.integers(0, 9999)] * 4),
    st.floats(),
    NAME,
    st.none() | st.text("0123456789abcdef", min_size=64, max_size=64),
    st.text("0123456789abcdef", min_size=64, max_size=64),
)
SCALARS = st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats() | NAME
LISTS = st.lists(REGIONS, max_size=70) | st.lists(NAME, max_size=70) | st.lists(st.integers(), max_size=70)
VALUES = PICTURES | REGIONS | SCALARS | LISTS
RECORDS = st.builds(
    lambda number, output, arguments: step(
        number, output=to_json(output), arguments={name: to_json(value) for name, value in arguments.items()}
    ),
    st.integers(1, 200),
    VALUES,
    st.dictionaries(st.sampled_from(["image", "box", "object", "type"]), VALUES, max_size=4),
)


def beginning_of(short: Any, whole: Any) -> bool:  # noqa: ANN401 - values
    """Tell whether a shortened value says nothing but what the whole one says, if less of it."""
    if isinstance(short, list):
        return len(short) <= len(whole) and all(map(beginning_of, short, whole))
    if isinstance(short, str):
        return short == whole or str(whole).startswith(short.removesuffix("…"))
    if isinstance(short, Region):
        return beginning_of(short.label, whole.label) and repr(short).startswith(f"Region(box={whole.box}")
    return repr(short) == repr(whole)


@settings(max_examples=80, deadline=None)
@given(st.lists(RECORDS, max_size=60))
def test_what_is_shortened_fits_and_reads_as_what_it_was(steps: list[dict[str, Any]]) -> None:
    fitted = fitted_steps(steps)
    whole = {id(one): one for one in steps}

    assert size(fitted.value) <= MAX_STEPS_BYTES
    if len(fitted.value) < len(steps):
        assert fitted.notice is not None
        return
    for short, long in zip(fitted.value, steps, strict=True):
        record = StepRecord.from_json(short)
        assert beginning_of(record.value, from_json(long["output"]))
        for name, value in record.arguments.items():
            assert beginning_of(from_json(value), from_json(long["arguments"][name]))
        assert is_whole(short) == (id(short) in whole)


@settings(max_examples=80, deadline=None)
@given(st.lists(RECORDS, min_size=1, max_size=60))
def test_the_last_step_is_always_kept(steps: list[dict[str, Any]]) -> None:
    assert fitted_steps(steps).value[-1]["address"] == steps[-1]["address"]


@settings(max_examples=80, deadline=None)
@given(VALUES)
def test_a_shortened_answer_fits_and_reads_as_what_it_was(value: Any) -> None:  # noqa: ANN401
    fitted = fitted_answer(to_json(value))

    assert size(fitted.value) <= MAX_ANSWER_BYTES
    assert beginning_of(from_json(fitted.value), from_json(to_json(value)))
