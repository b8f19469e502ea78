# ruff: noqa: ANN401 - outputs are any values
from __future__ import annotations

from typing import Any

import pytest

from snellen.reasoning.contradictions import contradictions
from snellen.values import Picture, Region, to_json

IMAGE = to_json(Picture("p", 10, 10))


def step(address: str, tool: str, output: Any, **arguments: Any) -> dict[str, Any]:
    return {"address": address, "tool": tool, "source": f"X={tool}(…)", "output": output,
            "arguments": {"image": IMAGE, **arguments}}  # fmt: skip


def found(number: int) -> Any:
    return to_json([Region((0, 0, 5, 5), 0.9, "dog")] * number)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([step("2", "VQA", "red", question="Is the lock green or purple?")], "which it was not asked"),
        (
            [step("1", "LOC", found(2), object="dogs"), step("2", "VQA", "no", question="is there a dog?")],
            "Steps 1 and 2 contradict each other",
        ),
        (
            [step("1", "LOC", found(2), object="dog"), step("2", "VQA", "3", question="how many dogs are there?")],
            "Steps 1 and 2 contradict each other",
        ),
    ],
)
def test_a_contradiction_is_found(steps: list[dict[str, Any]], said: str) -> None:
    assert [said in one.sentence for one in contradictions(steps)] == [True]


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [step("1", "SET", [])],
        [step("1", "LOC", [], object="dog")],
        [step("1", "LOC", found(1), object="dog"), step("2", "VQA", "yes", question="is there a dog?")],
        [step("1", "VQA", "purple", question="Is the lock green or purple?")],
    ],
)
def test_what_is_in_order_is_none(steps: list[dict[str, Any]]) -> None:
    assert list(contradictions(steps)) == []
