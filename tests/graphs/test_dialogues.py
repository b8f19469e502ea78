"""Dialogues that were written blind, held with the chat graph and perfect sight, judged turn by turn."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.dialogues import ConversationReply, SightedConversation, hold, outcome, read_scenes
from snellen.graphs.states import ChatState

ROOT = Path(__file__).parents[2]
FLAG = re.compile(r"(?:^|[ (`])--[a-z]")
FIXTURES = Path(__file__).parent / "fixtures"
BLIND = ROOT / "benchmarks" / "blind_wordings"
SCENES = read_scenes(FIXTURES / "dialogue_scenes.json") | read_scenes(BLIND / "scenes.json")
DIALOGUES: dict[str, Any] = {
    each["id"]: each for each in json.loads((FIXTURES / "dialogues.json").read_text(encoding="utf-8"))
}
HELD_OUT: list[Any] = json.loads((BLIND / "dialogues_held_out.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["d01", "d12", "d19", "d20"])
async def test_every_turn_of_a_dialogue_is_right(name: str, tmp_path: Path) -> None:
    results = await hold(DIALOGUES[name], SCENES, tmp_path / name)
    assert [(each.turn["user"], each.reply.text) for each in results if each.outcome != "right"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dialogues", "right", "wrong"),
    [(list(DIALOGUES.values()), 0.8, 0.05), (HELD_OUT, 0.6, 0.1)],
    ids=["development", "held out"],
)
async def test_most_turns_are_right_and_few_are_wrong(
    dialogues: list[Any], right: float, wrong: float, tmp_path: Path
) -> None:
    outcomes: Counter[str] = Counter()
    for dialogue in dialogues:
        outcomes.update(each.outcome for each in await hold(dialogue, SCENES, tmp_path / dialogue["id"]))
    assert outcomes["right"] >= right * outcomes.total()
    assert outcomes["wrong"] <= wrong * outcomes.total()


@pytest.mark.parametrize(("said", "right"), [("That's right.", True), ("No, you are right", True), ("Wrong.", False)])
async def test_a_judgement_of_an_answer_is_no_instruction(
    said: str,
    right: bool,  # noqa: FBT001 - a case of the test
    tmp_path: Path,
) -> None:
    conversation = SightedConversation(SCENES, tmp_path / "judged")
    await conversation.say("How many lollipops are there?", ["b01"])
    assert bool((await conversation.say(said)).state.remark["right"]) is right


async def test_no_reply_names_a_flag_of_the_command_line(tmp_path: Path) -> None:
    said = ["help", "How many wombats are there?", "learn", "forget it", "No, that cannot be what anybody sees"]
    turns = [{"user": text, "expect": {"kind": "refuse"}} for text in said]
    results = await hold({"id": "flags", "turns": turns}, SCENES, tmp_path / "flags")
    assert [each.reply.text for each in results if "--" in each.reply.text] == []


def test_no_text_of_the_rooms_behind_the_chat_names_a_flag() -> None:
    rooms = ["nodes", *(f"snellen/{name}" for name in ("runtime", "learning", "experiments", "reasoning", "models"))]
    files = [file for room in rooms for file in sorted((ROOT / room).rglob("*.py"))]
    named = [
        (file.name, node.value)
        for file in files
        if "argparse" not in (text := file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and FLAG.search(node.value)
    ]
    assert [row for row in named if '"""' not in row[1] and "\n" not in row[1] and "``" not in row[1]] == []


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (ConversationReply("There are two dogs.", ChatState(route="ask")), "right"),
        (ConversationReply("*Understood: two*\n\nThere are three dogs.", ChatState(route="ask")), "wrong"),
        (ConversationReply("Do you mean 2?", ChatState(route="ask", pending={"choice": ["2"]})), "asked back"),
        (ConversationReply("I do not know the word “two”.", ChatState(route="unclear")), "refused"),
    ],
)
def test_a_turn_is_judged_by_its_reply(reply: ConversationReply, expected: str) -> None:
    assert outcome({"kind": "answer", "answers": ["2", "two"]}, reply) == expected
