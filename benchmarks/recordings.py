"""Recordings of a chat model: the question of each request, and the reply to it.

A request is known again by its *question*, not by its text: the kind of reply, how many replies came before it in the
same conversation, and what stands in bars behind the examples (instruction, plan, program, steps). Rules, tools and
examples may change; a recording stays usable. What has been learned from the prompt itself does not show in it: the
digest of the whole prompt does, which is kept beside it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from snellen.errors import BadInput

Part = tuple[str, str]
"""A label of a prompt and the text below it, without bars: ("Instruction", "How many cats are there?")."""
Reply = dict[str, Any]
"""A reply of a chat model: one JSON object."""

MAIN: Final = "Instruction"
"""The part that a question is about; where there is none, its last part."""
HINTS: Final = frozenset({"Understood"})
"""Parts that only repeat what a question is about, in other words."""
_LABELLED: Final = re.compile(r"([A-Z][\w ]*): (\S.*)")
_DIGEST: Final = 16
"""Hexadecimal digits of a prompt's SHA-256 that are kept."""


@dataclass(frozen=True)
class RecordedRequest:
    """One call of a chat model.

    Attributes:
        kind: The name of the reply's schema: ``PlanReply``.
        schema: The JSON schema of the reply.
        messages: The conversation, each with ``role`` and ``content``.
    """

    kind: str
    schema: Mapping[str, Any]
    messages: Sequence[Mapping[str, str]]

    @property
    def digest(self) -> str:
        """Digest of the whole conversation."""
        text = json.dumps([self.kind, list(map(dict, self.messages))], ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]


@dataclass(frozen=True)
class RecordedQuestion:
    """The part of a request that is its own: not the rules, the tools and the examples.

    Attributes:
        kind: The kind of reply.
        turn: How many replies of the same conversation came before.
        parts: Labels and texts, in order.
    """

    kind: str
    turn: int
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, request: RecordedRequest) -> RecordedQuestion:
        """Read the question out of a request."""
        texts = [message["content"] for message in request.messages if message["role"] == "user"]
        opening = _without_examples(_parts(texts[0])) if texts else []
        later = [part for text in texts[1:] for part in _parts(text)]
        turn = sum(message["role"] == "assistant" for message in request.messages)
        return cls(request.kind, turn, tuple(part for part in (*opening, *later) if part[0] not in HINTS))

    @property
    def about(self) -> str:
        """The instruction, or what else it is about."""
        named = [text for label, text in self.parts if label == MAIN]
        return (named or [text for _, text in self.parts[-1:]] or [""])[0]

    @property
    def form(self) -> tuple[str, int, str, tuple[str, ...]]:
        """The part of a question that a recording of it must share."""
        return self.kind, self.turn, self.about, tuple(label for label, _ in self.parts)

    def __str__(self) -> str:
        again = f", correction {self.turn}" if self.turn else ""
        return f"{self.kind}{again}: {' '.join(self.about.split())}"


@dataclass(frozen=True)
class Recording:
    """A reply that was given once, and the question that it answered."""

    question: RecordedQuestion
    reply: Reply
    prompt: str
    """The digest of the prompt that was answered."""


class Recordings:
    """A file of recordings, one a line, to which new ones are added.

    Args:
        path: The file; a missing one is made with the first recording.

    Raises:
        BadInput: A line is no recording, or the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept = list(_read(path))

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, question: RecordedQuestion, *, whole: bool = False) -> Recording | None:
        """Return the recording of a question: the one of the same form that shares most parts, the latest of equals.

        Args:
            question: What is asked.
            whole: Return only a recording that shares every part.
        """
        alike = [one for one in reversed(self._kept) if one.question.form == question.form]
        nearest = max(alike, key=lambda one: _shared(one.question, question), default=None)
        if nearest is None or (whole and nearest.question != question):
            return None
        return nearest

    def add(self, request: RecordedRequest, reply: Reply) -> Recording:
        """Keep a reply, in memory and in the file."""
        made = Recording(RecordedQuestion.of(request), reply, request.digest)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(made), ensure_ascii=False) + "\n")
        self._kept.append(made)
        return made


def _shared(one: RecordedQuestion, other: RecordedQuestion) -> int:
    return sum(mine == theirs for mine, theirs in zip(one.parts, other.parts, strict=True))


def _read(path: Path) -> list[Recording]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        msg = f"The recordings {path} cannot be read ({error}): name a file of JSON lines."
        raise BadInput(msg) from error
    return [_recording(line, f"Line {number} of {path}") for number, line in enumerate(lines, start=1) if line.strip()]


def _recording(line: str, place: str) -> Recording:
    try:
        data = json.loads(line)
        asked, reply = data["question"], data["reply"]
        parts = tuple((str(label), str(text)) for label, text in asked["parts"])
        question = RecordedQuestion(str(asked["kind"]), int(asked["turn"]), parts)
        prompt = str(data["prompt"])
    except (ValueError, TypeError, KeyError) as error:
        msg = f"{place} is no recording ({type(error).__name__}: {error}): remove that line."
        raise BadInput(msg) from error
    if not isinstance(reply, dict):
        msg = f"{place} has a reply that is no JSON object: remove that line."
        raise BadInput(msg)
    return Recording(question, reply, prompt)


def _without_examples(parts: list[Part]) -> list[Part]:
    """Return what begins with the last instruction, and the inputs before it: each example has an instruction, too."""
    starts = [place for place, (label, _) in enumerate(parts) if label == MAIN]
    if not starts:
        return parts
    last = starts[-1]
    return parts[last - 1 :] if last and parts[last - 1][0] == "Inputs" else parts[last:]


def _parts(text: str) -> list[Part]:
    """Split a user's message into labels and what stands below each in bars, or beside it in the same line."""
    parts: list[Part] = []
    label, block = "", list[str]()
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            block.append(line.removeprefix("|").removeprefix(" "))
            continue
        if block:
            parts.append((label, "\n".join(block)))
            block = []
        if beside := _LABELLED.fullmatch(line):
            parts.append((beside[1], beside[2]))
        label = line.strip().removesuffix(":") or label
    return parts
