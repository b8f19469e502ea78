"""25 tasks that a chat model plans and programs, asked with ``snellen.ask`` as any other task is.

    python -m benchmarks.chat_tasks
    python -m benchmarks.chat_tasks --recordings out/kept.jsonl --mailbox out/mailbox --out out/chat_tasks.json
    python -m benchmarks.chat_tasks --profile mine.toml

The tasks are those of ``tests/reasoning/chat_tasks``. The chat model is one of

    recordings   the replies that a model gave once; by default those of the repository, which need nobody
    a mailbox    whoever answers the files in ``--mailbox``: a person, or any model that reads and writes files. The
                 replies are added to ``--recordings``; stopped and begun again, it goes on where it was
    a profile    the ``[reasoner]`` of yours, of the kind "chat"

With ``--sight embedded`` the shipped models see. A task that comes out wrong is then asked once more with perfect
sight, by tools that answer from the description of the scene. Where it comes out right, sight was at fault; else what
the chat model wrote. A mailbox may be asked again for that: what was seen decides what goes back to the writer.

Keys of the JSON: ``n``, ``right``, ``sight`` (wrong, and right with perfect sight), ``written`` (wrong with either
sight), ``replies`` (``replayed``, ``changed``: replayed although the prompt has changed since, ``recorded``,
``unanswered``), and ``tasks`` with the answer, program and cause of each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any, Final, Literal

from PIL import Image

from benchmarks.instruction_scores import InstructionAnswer, is_right
from benchmarks.oracle import Oracle
from benchmarks.recorded_model import RecordedModel, add_options, model_of, profile_of, serving, tell
from benchmarks.reference_programs import Reference, SeenScenes, read_references, tagged
from benchmarks.step_faults import faults_of
from snellen.api.asking import AskResult, ask_async
from snellen.errors import SnellenError
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.home import using_home
from snellen.microworld.drawing import draw
from snellen.microworld.scenes import Scene
from snellen.models.vision.models import Models
from snellen.profiles import load_profile
from snellen.runtime.resources import open_pictures
from snellen.values import Picture

FOLDER: Final = Path(__file__).parents[1] / "tests" / "reasoning" / "chat_tasks"
RECORDINGS: Final = FOLDER / "recordings.jsonl"
Sight = Literal["embedded", "perfect"]
SIGHTS: Final[tuple[Sight, ...]] = ("embedded", "perfect")
_AT_ONCE: Final = 8


@dataclass(frozen=True)
class ChatTaskResult:
    """Result of a task.

    Attributes:
        id: Its task's.
        instruction: Its task's.
        right: Whether the answer is right.
        answer: The answer in words, or why there is none.
        program: The program that gave it.
        plan: The plan that it follows.
        caveats: What was told beside the answer.
        seconds: How long it took, waiting for the chat model included.
        cause: Where it is wrong, "sight" or what was "written"; empty where that was not looked at.
        with_perfect_sight: Where it is wrong, the answer with perfect sight.
        faults: Where sight was at fault, the steps of the program that saw something else than there is.
    """

    id: str
    instruction: str
    right: bool
    answer: str
    program: str = ""
    plan: Sequence[str] = ()
    caveats: Sequence[str] = ()
    seconds: float = 0.0
    cause: Literal["", "sight", "written"] = ""
    with_perfect_sight: str = ""
    faults: Sequence[str] = ()

    def __str__(self) -> str:
        lines = [f"{self.id} {'right' if self.right else 'WRONG'}  {self.instruction}  →  {shorten(self.answer, 200)}"]
        if self.cause:
            lines.append(f"          {self.cause}; with perfect sight: {shorten(self.with_perfect_sight, 200)}")
        return "\n".join([*lines, *(f"          {fault}" for fault in self.faults)])


class StoredOracle(Oracle):
    """Perfect sight for threads: the pictures of its scenes lie in a home, where threads look for them."""

    def __init__(self, scenes: Sequence[Scene], store: ArtifactStore) -> None:
        self._store = store
        super().__init__(scenes)

    def put(self, picture: Image.Image) -> Picture:
        """Store a picture."""
        return self._store.put(picture)

    def get(self, picture_id: str) -> Image.Image:
        """Return a stored picture."""
        return self._store.get(picture_id)


async def measure(
    tasks: Sequence[Reference], profile: str | Path, *, sight: Sight = "embedded", at_once: int = _AT_ONCE
) -> list[ChatTaskResult]:
    """Ask all tasks; those that embedded sight gets wrong are asked again with perfect sight.

    Args:
        tasks: What is asked.
        profile: Name or path of the profile whose Reasoner plans and programs.
        sight: The tools that see.
        at_once: Tasks under way at the same time; a mailbox holds so many requests.
    """
    first = await _asked(tasks, profile, sight, at_once)
    wrong = [task for task, result in zip(tasks, first, strict=True) if not result.right]
    if sight == "perfect" or not wrong:
        return first
    tell(f"\n{len(wrong)} of {len(tasks)} are wrong; these once more, with perfect sight")
    second = {result.id: result for result in await _asked(wrong, profile, "perfect", at_once)}
    models = Models(load_profile("embedded"))
    explained = {task.id: (task, second[task.id]) for task in wrong}
    return [_explained(each, *explained[each.id], models) if each.id in explained else each for each in first]


def _explained(wrong: ChatTaskResult, task: Reference, seen: ChatTaskResult, models: Models) -> ChatTaskResult:
    if not seen.right:
        return replace(wrong, cause="written", with_perfect_sight=seen.answer)
    scenes, program = SeenScenes(task.scenes, models), wrong.program or seen.program
    faults = faults_of(scenes, program, lambda records: scenes.is_right(records, task.row))
    told = [f"{fault.tool} {fault.cause}: {fault.source}" for fault in faults]
    return replace(wrong, cause="sight", with_perfect_sight=seen.answer, faults=told)


async def _asked(tasks: Sequence[Reference], profile: str | Path, sight: Sight, at_once: int) -> list[ChatTaskResult]:
    turns = asyncio.Semaphore(at_once)

    async def one(task: Reference) -> ChatTaskResult:
        async with turns:
            result = await _asked_one(task, profile)
        tell(str(result))
        return result

    with _home(tasks, sight):
        return list(await asyncio.gather(*map(one, tasks)))


@contextmanager
def _home(tasks: Sequence[Reference], sight: Sight) -> Iterator[None]:
    """Have a new home, so that nothing remembered helps, and the tools that see."""
    with tempfile.TemporaryDirectory() as folder, using_home(Path(folder)):
        scenes = [scene for task in tasks for scene in task.scenes]
        oracle = StoredOracle(scenes, open_pictures(Path(folder))) if sight == "perfect" else None
        with oracle.seeing() if oracle else nullcontext():
            yield


async def _asked_one(task: Reference, profile: str | Path) -> ChatTaskResult:
    began, pictures = time.perf_counter(), [draw(scene) for scene in task.scenes]
    try:
        result = await ask_async(pictures, task.says, profile=profile)
    except SnellenError as error:
        return ChatTaskResult(task.id, task.says, right=False, answer=str(error))
    return ChatTaskResult(
        task.id,
        task.says,
        right=result.status == "finished" and is_right(task.row, _answer(result), pictures[0]),
        answer=result.text,
        program=result.program,
        plan=result.plan,
        caveats=result.caveats,
        seconds=round(time.perf_counter() - began, 1),
    )


def _answer(result: AskResult) -> InstructionAnswer:
    if not isinstance(result.answer, Image.Image):
        return InstructionAnswer(result.text)
    return InstructionAnswer("", result.answer.convert("RGB"), tagged([step.record for step in result.steps]))


def report(results: Sequence[ChatTaskResult], model: RecordedModel | None) -> dict[str, Any]:
    """Sum up; see the module for the keys."""
    return {
        "n": len(results),
        "right": sum(result.right for result in results),
        "sight": sum(result.cause == "sight" for result in results),
        "written": sum(result.cause == "written" for result in results),
        "replies": None if model is None else model.counts(),
        "tasks": [asdict(result) for result in results],
    }


def main() -> None:
    """Ask and print."""
    options = _options()
    tasks = [task for task in read_references(FOLDER) if not options.only or task.id in options.only]
    try:
        with _chat_model(options) as (profile, model):
            results = asyncio.run(measure(tasks, profile, sight=options.sight, at_once=options.at_once))
    except SnellenError as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        msg = "Stopped. Replies that came are kept: the same command goes on from there."
        raise SystemExit(msg) from None
    summed = report(results, model)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(summed, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if options.json:
        print(json.dumps(summed, ensure_ascii=False, indent=1))
        return
    print("", *(result for result in results if not result.right), sep="\n")
    counts = ", ".join(f"{number} {name}" for name, number in (summed["replies"] or {}).items())
    wrong = ", ".join(f"{summed[cause]} {cause}" for cause in ("sight", "written"))
    print(f"\n{summed['right']} of {summed['n']} right; wrong by cause: {wrong}")
    print(f"replies: {counts}" if counts else "")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, recordings=RECORDINGS)
    parser.add_argument("--profile", type=Path, help="a profile with a chat model of yours, instead of recordings")
    parser.add_argument("--sight", choices=SIGHTS, default="embedded", help="the tools that see (%(default)s)")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these tasks alone: a03 a16")
    parser.add_argument("--at-once", type=int, default=_AT_ONCE, metavar="N", help="tasks under way (%(default)s)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the JSON there")
    parser.add_argument("--json", action="store_true", help="print the JSON")
    return parser.parse_args()


@contextmanager
def _chat_model(options: argparse.Namespace) -> Iterator[tuple[Path, RecordedModel | None]]:
    """Have a profile, and the recorded model that it names unless it is the user's own."""
    if options.profile:
        yield options.profile, None
        return
    model = model_of(options)
    with serving(model) as base_url, tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "recorded.toml"
        profile.write_text(profile_of(base_url), encoding="utf-8")
        yield profile, model


if __name__ == "__main__":
    main()
