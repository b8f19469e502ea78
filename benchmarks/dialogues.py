"""How well conversations are held: dialogues with the chat graph, turn by turn, with perfect sight.

    python -m benchmarks.dialogues dialogues.json --scenes specs.json          # a table
    python -m benchmarks.dialogues dialogues.json --scenes specs.json --turns  # and each turn that was not right

A dialogue has `turns`; each has what the `user` says, the names of `pictures` that are sent with it, and what to
`expect`: its `kind` and, where they are judged, `answers` (one of them is in the reply), `all_of` (one of each group
is), `not` (none of them is), `names` (all of them are), `also_ok` (other kinds that will do). Scenes are those of the
microworld, by the names of the pictures. A turn is right, wrong (something else was done or said), asked back, or
refused. Investigations and lessons are not run: where they begin, the turn ends.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from numpy.typing import NDArray
from PIL import Image

from benchmarks.oracle import Oracle, View
from snellen.errors import SnellenError
from snellen.graphs import chat
from snellen.graphs.messages import text_of
from snellen.graphs.states import ChatState
from snellen.learning.resources import Learning
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.drafts import Drafts
from snellen.microworld.drawing import draw
from snellen.microworld.scenes import Scene
from snellen.reasoning.case_based.reasoner import CaseReasoner
from snellen.runtime.context import Context
from snellen.values import Picture, from_json

OUTCOMES: Final = ("right", "wrong", "asked back", "refused")
Turn = Mapping[str, Any]


@dataclass(frozen=True)
class ConversationReply:
    """A reply of the chat graph.

    Attributes:
        text: Its words.
        state: The conversation after it.
        stopped: Whether the work that it began is not done here.
    """

    text: str
    state: ChatState
    stopped: bool = False


@dataclass(frozen=True)
class TurnResult:
    """A turn with what came of it."""

    dialogue: str
    turn: Turn
    reply: ConversationReply
    outcome: str


Check = Callable[[Mapping[str, Any], ConversationReply], bool]
"""Judges a reply by what is expected."""


class SightedConversation:
    """A conversation about scenes that are seen perfectly."""

    def __init__(self, scenes: Mapping[str, Scene], folder: Path) -> None:
        self._scenes = scenes
        self._sight = Oracle(())
        self._context = Context(
            pictures=ArtifactStore(folder / "artifacts"),
            reasoner=CaseReasoner(self._sight.profile),
            pool=DemonstrationPool(folder, embed=_letters),
            learning=Learning(prompts=PromptPool(folder), drafts=Drafts(folder)),
            profile=self._sight.profile,
        )
        self._sight.put = self._context.pictures.put  # type: ignore[method-assign]
        self._sight.get = self._context.pictures.get  # type: ignore[method-assign]
        self._graph = chat.builder.compile(checkpointer=InMemorySaver(), name="chat")
        self._address: Any = {"configurable": {"thread_id": folder.name}, "recursion_limit": chat.RECURSION_LIMIT}

    async def say(self, text: str, pictures: Sequence[str] = ()) -> ConversationReply:
        """Say something, and return the reply."""
        shown = [{"type": "image_url", "image_url": {"url": self._sent(name)}} for name in pictures]
        message = HumanMessage(content=[{"type": "text", "text": text}, *shown])
        trouble = ""
        try:
            with self._sight.seeing():
                await self._graph.ainvoke({"messages": [message]}, self._address, context=self._context)
        except SnellenError as error:
            trouble = str(error)
        values = (await self._graph.aget_state(self._address)).values
        state = ChatState(**{**values, "messages": list(values["messages"])})
        last = state.messages[-1]
        said = text_of(last) if isinstance(last, AIMessage) else ""
        return ConversationReply(trouble or said, state, stopped=bool(trouble))

    def _sent(self, name: str) -> str:
        scene = self._scenes[name]
        picture = draw(scene)
        stored = self._context.pictures.put(picture)
        self._sight.views[stored.id] = View(scene, (0, 0, stored.width, stored.height))
        return _data_address(picture)


def _data_address(picture: Image.Image) -> str:
    held = io.BytesIO()
    picture.save(held, "PNG")
    return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()


def _letters(texts: list[str]) -> NDArray[np.float32]:
    """Count letters: demonstrations need not be near to be recalled."""
    counts = [[text.casefold().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    return np.array(counts).astype(np.float32)


async def hold(dialogue: Mapping[str, Any], scenes: Mapping[str, Scene], folder: Path) -> list[TurnResult]:
    """Hold a dialogue and judge each turn.

    Args:
        dialogue: The dialogue.
        scenes: What its pictures show, by their names.
        folder: An empty folder, for the memory.
    """
    conversation, results = SightedConversation(scenes, folder), []
    for turn in dialogue["turns"]:
        reply = await conversation.say(turn["user"], turn.get("pictures", ()))
        results.append(TurnResult(dialogue["id"], turn, reply, outcome(turn["expect"], reply)))
    return results


def outcome(expect: Mapping[str, Any], reply: ConversationReply) -> str:
    """Return what became of a turn: one of `OUTCOMES`."""
    kinds = (expect["kind"], *expect.get("also_ok", ()))
    forbidden = [each for each in expect.get("not", ()) if each.casefold() in _body(reply).casefold()]
    if not forbidden and any(_is(kind, expect, reply) for kind in kinds):
        return "right"
    if _is_refusal(reply):
        return "refused"
    return "asked back" if reply.state.pending else "wrong"


def _is(kind: str, expect: Mapping[str, Any], reply: ConversationReply) -> bool:
    return _CHECKS[kind](expect, reply)


def _answers(expect: Mapping[str, Any], reply: ConversationReply) -> bool:
    return reply.state.route == "ask" and not reply.state.pending and _says(expect, reply)


def _corrects(_: Mapping[str, Any], reply: ConversationReply) -> bool:
    meant = reply.state.remark or reply.state.pending.get("remark", {})
    return bool(meant) and not meant.get("right")


def _forgets(expect: Mapping[str, Any], reply: ConversationReply) -> bool:
    return "forgotten nothing" in reply.text if expect.get("declined") else reply.state.route == "forget"


def _clarifies(_: Mapping[str, Any], reply: ConversationReply) -> bool:
    return bool(reply.state.pending) or "?" in reply.text or "no picture" in reply.text


def _refuses(expect: Mapping[str, Any], reply: ConversationReply) -> bool:
    return _is_refusal(reply) and all(name in reply.text.casefold() for name in expect.get("names", ()))


def _talks(kind: str) -> Check:
    return lambda expect, reply: reply.state.talk.get("kind") == kind and _says(expect, reply)


def _routes(route: str) -> Check:
    return lambda _, reply: reply.state.route == route


def _contains(text: str) -> Check:
    return lambda _, reply: text in reply.text


_CHECKS: Final[dict[str, Check]] = {
    "answer": _answers,
    "describe": _answers,
    "greeting": _contains("Hello."),
    "thanks": _contains("You are welcome."),
    "goodbye": _contains("Goodbye."),
    "help": _contains("Show me pictures"),
    "doubt": _talks("doubt"),
    "explanation": _talks("why"),
    "memory": _talks("knowledge"),
    "learn": _routes("learn"),
    "investigate": _routes("investigate"),
    "edit": lambda _, reply: reply.state.route == "ask" and isinstance(_answer(reply.state), Picture),
    "feedback right": lambda _, reply: bool(reply.state.remark.get("right")),
    "feedback wrong": _corrects,
    "forget": _forgets,
    "clarify": _clarifies,
    "refuse": _refuses,
}


def _is_refusal(reply: ConversationReply) -> bool:
    state = reply.state
    failed = state.route == "ask" and bool(state.last.get("state", {}).get("error")) and not state.pending
    return state.route == "unclear" or failed or "do not know" in reply.text or "not understand" in reply.text


def _says(expect: Mapping[str, Any], reply: ConversationReply) -> bool:
    groups = [*([expect["answers"]] if expect.get("answers") else []), *expect.get("all_of", ())]
    return all(any(_has(reply, each) for each in group) for group in groups)


def _has(reply: ConversationReply, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", _body(reply).casefold()) is not None


def _body(reply: ConversationReply) -> str:
    """Return a reply without the line that says what was understood."""
    return "\n".join(line for line in reply.text.splitlines() if not line.startswith("*"))


def _answer(state: ChatState) -> object:
    return from_json(state.last["state"]["answer"]) if state.last.get("graph") == "ask" else None


def read_scenes(file: Path) -> dict[str, Scene]:
    """Read scenes by the names of their pictures."""
    return {name: Scene.from_json(row) for name, row in json.loads(file.read_text(encoding="utf-8")).items()}


def main() -> None:
    """Hold all dialogues of a file, and print what became of the turns."""
    options = _options()
    scenes = read_scenes(options.scenes)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for dialogue in json.loads(options.dialogues.read_text(encoding="utf-8")):
            results += asyncio.run(hold(dialogue, scenes, Path(folder) / dialogue["id"]))
    if options.turns:
        for each in results:
            if each.outcome != "right" or options.all:
                print(f"{each.dialogue} {each.outcome:10s} {each.turn['expect']['kind']:14s} {each.turn['user']}")
                print("      " + each.reply.text.replace("\n", "\n      ")[:600])
    print(json.dumps(_report(results), indent=2) if options.json else _table(results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("dialogues", type=Path, help="JSON: a list of dialogues")
    parser.add_argument("--scenes", type=Path, required=True, help="JSON: scenes by name")
    parser.add_argument("--turns", action="store_true", help="print each turn that was not right")
    parser.add_argument("--all", action="store_true", help="with --turns: print all turns")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _report(results: Sequence[TurnResult]) -> dict[str, Any]:
    kinds = sorted({each.turn["expect"]["kind"] for each in results})
    counted = {kind: Counter(r.outcome for r in results if r.turn["expect"]["kind"] == kind) for kind in kinds}
    total = Counter(each.outcome for each in results)
    whole = {each.dialogue for each in results} - {each.dialogue for each in results if each.outcome != "right"}
    return {
        "turns": len(results),
        "dialogues": len({each.dialogue for each in results}),
        "dialogues right throughout": len(whole),
        **{name: total[name] for name in OUTCOMES},
        "by kind": {kind: dict(counts) for kind, counts in counted.items()},
    }


def _table(results: Sequence[TurnResult]) -> str:
    report = _report(results)
    lines = [f"{'':16s}" + "".join(f"{name:>12s}" for name in OUTCOMES)]
    for kind, counts in (*report["by kind"].items(), ("all", report)):
        lines.append(f"{kind:16s}" + "".join(f"{counts.get(name, 0):12d}" for name in OUTCOMES))
    held = f"{report['turns']} turns of {report['dialogues']} dialogues"
    lines.append(f"{held}; {report['dialogues right throughout']} dialogues right throughout")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
