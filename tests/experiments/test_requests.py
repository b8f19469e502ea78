"""What an investigation is begun with: whatever is given counts, and settings fill only what is not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from snellen.graphs.states import ChatState, InvestigateState
from snellen.nodes.chat.delegation import investigation_of
from snellen.runtime.context import Context
from snellen.runtime.investigation_requests import InvestigationRequest, fields_filled_by, initial_fields
from snellen.runtime.settings import InvestigationSettings
from tests.graphs.scripted import make_context

QUERY = "Can models recognize birds?"
VALUES = {
    "alpha": (0.01, 0.05, 0.2),
    "protocol": ("choice", "freeform", "pairs"),
    "approve": (False, True),
}


def said(values: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({name: st.none() | st.sampled_from(each) for name, each in values.items()})


@settings(max_examples=60)
@given(state=said(VALUES), given_=said(VALUES))
def test_what_a_state_says_counts_and_settings_fill_what_it_leaves_open(
    state: dict[str, Any], given_: dict[str, Any]
) -> None:
    chosen = InvestigationSettings(**{name: value for name, value in given_.items() if value is not None})
    found = fields_filled_by(InvestigateState(query=QUERY, **state), chosen, "t")
    for name, value in state.items():
        wanted = getattr(chosen, name) if value is None else value
        assert found[name] == ("choice" if wanted == "auto" else wanted)


def test_what_equals_a_default_is_no_less_said() -> None:
    chosen = InvestigationSettings(alpha=0.2, protocol="freeform", approve=True, correct=True)
    explicit = InvestigateState(query=QUERY, alpha=0.05, protocol="choice", approve=False, correct=False)
    found = fields_filled_by(explicit, chosen, "t")
    assert (found["alpha"], found["protocol"], found["approve"], found["correct"]) == (0.05, "choice", False, False)


def test_a_seed_is_none_until_somebody_says_one() -> None:
    assert initial_fields("t", InvestigationRequest(query=QUERY))["seed"] is None
    assert fields_filled_by(InvestigateState(query=QUERY), None, "t")["seed"] is None
    assert fields_filled_by(InvestigateState(query=QUERY, seed=0), None, "t")["seed"] == 0


def test_whoever_brings_the_resources_gets_the_defaults(tmp_path: Any) -> None:  # noqa: ANN401 - a path
    given_: Context = make_context(tmp_path)
    found = fields_filled_by(InvestigateState(query=QUERY), given_, "t")
    assert (found["alpha"], found["protocol"], found["approve"], found["correct"]) == (0.05, "choice", False, False)
    kept = fields_filled_by(InvestigateState(query=QUERY, alpha=0.2, approve=True), given_, "t")
    assert (kept["alpha"], kept["approve"]) == (0.2, True)


@pytest.mark.parametrize(("said_", "asks"), [(None, True), (False, False), (True, True)])
def test_in_a_conversation_as_well(said_: bool | None, asks: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    monkeypatch.setattr("snellen.nodes.chat.delegation.thread_name", lambda: "t")
    state = ChatState(messages=[HumanMessage(QUERY)], approve=said_)
    assert investigation_of(state, InvestigationSettings(approve=True))["approve"] is asks
