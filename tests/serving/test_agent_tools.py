"""The records that tools for other agents return."""

from __future__ import annotations

from pathlib import Path

from snellen.api.asking import AskResult
from snellen.graphs.states import AskState
from snellen.memory.artifacts import ArtifactStore
from snellen.reasoning.reading.remarks import Remark
from snellen.reasoning.revision import Revision
from snellen.serving.agent_tools import answer_of
from snellen.summaries.chat_replies import answer_in_words, steps_in_words
from snellen.summaries.runs import answer_with_confidence

HELPED = Revision("empty", "Step 2 rests on nothing.", "Look for <hens>.", "A", "B", helped=True)
IN_VAIN = Revision("error", "Step 3 failed.", "Widen the crop.", "B", "C", helped=False)
STATE = AskState(
    instruction="What color is the hen?", answer="red", revisions=[HELPED.to_json(), IN_VAIN.to_json()], program="B"
)
LINES = [
    "Step 2 rests on nothing. Look for <hens>. It helped.",
    "Step 3 failed. Widen the crop. It did not help: the run before is kept.",
]


def test_an_answer_to_an_agent_has_its_revisions(tmp_path: Path) -> None:
    answer = answer_of("t", STATE, ArtifactStore(tmp_path))

    assert (answer.answer, answer.revisions) == ("red", LINES)


def test_a_result_of_the_api_has_typed_revisions(tmp_path: Path) -> None:
    result = AskResult("t", STATE, None, ArtifactStore(tmp_path))

    assert result.revisions == [HELPED, IN_VAIN]
    assert result.markdown().startswith("**red (after one revision: look for <hens>)**")


def test_a_conversation_tells_revisions() -> None:
    assert answer_in_words(STATE, Remark()).startswith("Red (after one revision: look for <hens>)")
    assert [line for line in steps_in_words(STATE).splitlines() if line.startswith("Revised: ")] == [
        f"Revised: {line}" for line in LINES
    ]


def test_an_answer_says_after_how_many_revisions_it_came() -> None:
    twice = AskState(answer="red", revisions=[HELPED.to_json(), HELPED.to_json()])
    never = AskState(answer="red", revisions=[IN_VAIN.to_json()])

    assert answer_with_confidence("red", twice) == "red (after two revisions: look for <hens>; look for <hens>)"
    assert answer_with_confidence("red", never) == "red"
