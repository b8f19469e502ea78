"""Which designs are one and the same for the ledger of pictures."""

from __future__ import annotations

from typing import Any

import pytest

from snellen.runtime.picture_allotment import name_of_design
from tests.experiments.test_drawn_names import THINGS, design_of

CHANGES: list[dict[str, Any]] = [
    {"pools": {"thing": [*THINGS, "anvil"]}}, {"known": ["thing"]}, {"against": "under blur"},
    {"kinds": {"yes": ["yes"]}},
]  # fmt: skip


@pytest.mark.parametrize("changes", CHANGES, ids=lambda each: next(iter(each)))
def test_designs_that_show_or_count_otherwise_have_other_names(changes: dict[str, Any]) -> None:
    assert name_of_design(design_of()) != name_of_design(design_of(**changes))


def test_what_is_only_said_of_a_design_does_not_name_it() -> None:
    assert name_of_design(design_of()) == name_of_design(design_of(purpose="Another.", difficulty=5))
