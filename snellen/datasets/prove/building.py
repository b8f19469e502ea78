"""Building benchmarks of questions whose answers programs verify (PROVE, section 3.1)."""

from __future__ import annotations

import asyncio
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, get_args

from snellen.datasets.benchmark_folders import HEAD, PICTURES, begin, content_of, digest, store, write
from snellen.datasets.prove.benchmark import (
    QUESTIONS,
    REJECTED,
    SCENES,
    VERSION,
    DescribedScene,
    Item,
    QuestionDraft,
    Reason,
    Tuple,
)
from snellen.datasets.prove.filters import (
    DraftReading,
    Objection,
    denied,
    duplicates,
    program_objection,
    text_objection,
)
from snellen.datasets.prove.perturbation import blindness
from snellen.datasets.prove.scenes import Pictured, Scenes
from snellen.errors import BadInput, SnellenError
from snellen.scoring.scene_graph import MAX_FACTS, SceneGraph

if TYPE_CHECKING:
    from snellen.scoring.freeform import Embed, Entails
    from snellen.scoring.scene_graph import Fact
    from snellen.scoring.verification import Verified, Verifier

ASKED: Final = "asked"
"""The key of the funnel for all questions that were written."""
KEPT: Final = "kept"
REASONS: Final[tuple[str, ...]] = get_args(Reason)
_PARTS: Final = "parts"


class Writer(Protocol):
    """Writer of questions about scenes: `CaseQuestionWriter` of `snellen.reasoning`, or a chat model."""

    async def write(self, scene: Pictured, seed: int) -> list[QuestionDraft]:
        """Write ten to fifteen questions with answers and programs."""
        ...


class Reader(Protocol):
    """Reads the tuples of texts: `snellen.reasoning.reading.answers.AnswerReader`, or a chat model."""

    @property
    def unreadable(self) -> int:
        """The number of tuples that could not be read and were left out."""
        ...

    def unread(self, text: str, question: str) -> Sequence[str]:
        """Return the words of an answer that say something and were not read."""
        ...

    async def read_all(self, texts: Sequence[tuple[str, str]]) -> list[list[Fact]]:
        """Return the tuples of each text, which answers the question beside it, if there is one."""
        ...

    async def premises(self, questions: Sequence[str]) -> list[list[Fact]]:
        """Return the tuples that each question takes for granted."""
        ...


@dataclass(frozen=True)
class BenchmarkWriter:
    """Resources for making questions.

    Attributes:
        writer: Writes them.
        reader: Reads what they say.
        verifier: Runs their programs.
        embed: Of texts.
        entails: Says what pictures show, by their names; None leaves that check out.
    """

    writer: Writer
    reader: Reader
    verifier: Verifier
    embed: Embed
    entails: Callable[[Pictured], Entails] | None = None


async def build(
    scenes: Scenes,
    folder: Path,
    workshop: BenchmarkWriter,
    *,
    count: int,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
) -> Path:
    """Build a benchmark of questions about so many pictures.

    One that was interrupted goes on: pictures that are done are not asked about again. The head is written last.

    Args:
        scenes: Where pictures come from.
        folder: Where it goes; empty, or begun with the same arguments.
        workshop: Resources for making questions.
        count: Pictures.
        seed: Chooses the scenes and what is asked.
        progress: Called with the number of pictures that are done.

    Returns:
        The folder.

    Raises:
        BadInput: There are too few pictures, or the folder has something else in it.
        SnellenError: The folder cannot be written to, or whoever writes or reads questions failed.
    """
    if count < 1:
        msg = f"A benchmark needs a picture at least, not {count}."
        raise BadInput(msg)
    scenes.scene(count - 1, seed)  # too few pictures are noticed before anything is made of them
    begun = {"version": VERSION, "source": scenes.title, "seed": seed, "pictures": count, "data": scenes.mark}
    parts = folder / _PARTS
    try:
        if begin(folder, begun, (PICTURES, _PARTS)):
            progress(count)
            return folder
        for number in range(count):
            part = parts / f"{number}.json"
            if not part.is_file():
                write(part, json.dumps(await _made(scenes.scene(number, seed), folder, workshop, number, seed)))
            progress(number + 1)
            await asyncio.sleep(0)  # Ctrl-C is heard here
        rows = [json.loads((parts / f"{number}.json").read_text("utf-8")) for number in range(count)]
        _join(folder, begun, rows)
        for number in range(count):
            (parts / f"{number}.json").unlink()
        parts.rmdir()
    except OSError as error:
        msg = f"The benchmark cannot be written to {folder} ({error.strerror or error}): name another place."
        raise SnellenError(msg) from error
    return folder


def funnel_of(items: Sequence[Item]) -> dict[str, int]:
    """Return how many questions there were, how many were rejected for which reason, and how many stay."""
    reasons = Counter(item.reason for item in items)
    return {ASKED: len(items), **{reason: reasons[reason] for reason in REASONS}, KEPT: reasons[""]}  # type: ignore[index]


def objections(
    drafts: Sequence[QuestionDraft],
    verified: Sequence[Verified],
    readings: Sequence[DraftReading],
    graph: SceneGraph,
    embed: Embed,
    *,
    verifier: Verifier,
) -> list[Objection | None]:
    """Return why each draft does not stay, as far as programs and words tell; None for those that do.

    Args:
        drafts: Questions with answers and programs.
        verified: What the programs said.
        readings: What questions, answers and outputs say.
        graph: The scene's.
        embed: Of texts.
        verifier: Runs the programs on changed graphs, to see whether they look.
    """
    against = [
        program_objection(draft, answer, reading, embed) or text_objection(draft, reading, graph)
        for draft, answer, reading in zip(drafts, verified, readings, strict=True)
    ]
    kept = [place for place, objection in enumerate(against) if objection is None]
    blind = blindness(
        [drafts[place] for place in kept],
        [verified[place] for place in kept],
        [readings[place] for place in kept],
        graph,
        verifier,
    )
    for place, objection in zip(kept, blind, strict=True):
        against[place] = objection
    kept = [place for place in kept if against[place] is None]
    for place in duplicates([f"{drafts[place].question} {drafts[place].answer}" for place in kept], embed):
        against[kept[place]] = Objection("duplicate", "Another question about this picture says the same.")
    return against


async def _made(scene: Pictured, folder: Path, workshop: BenchmarkWriter, number: int, seed: int) -> dict[str, Any]:
    """Store a picture, and write and judge the questions about it."""
    facts, before = scene.facts, workshop.reader.unreadable
    if not facts:
        (facts,) = await workshop.reader.read_all([(scene.caption, "")])
    content = io.BytesIO()
    scene.picture.convert("RGB").save(content, "PNG")
    name = f"{number}.png"
    store(folder / PICTURES / name, content.getvalue())
    counted = {"unreadable": scene.unreadable + workshop.reader.unreadable - before}
    if not facts:
        reason = f"Nothing can be read from the description of {scene.name!r}: nothing is asked about its picture."
        return {"scene": None, "items": [], "left_out": reason, **counted}
    facts = facts[:MAX_FACTS]
    known = Pictured(scene.name, scene.picture, scene.caption, facts)
    stored = DescribedScene(
        name=scene.name, picture=name, digest=digest(content.getvalue()), caption=scene.caption,
        tuples=[Tuple.of(fact) for fact in facts],
    )  # fmt: skip
    items = [item async for item in _judged(known, workshop, number, seed)]
    return {"scene": stored.model_dump(), "items": [item.model_dump() for item in items], **counted}


async def _judged(scene: Pictured, workshop: BenchmarkWriter, number: int, seed: int) -> Any:  # noqa: ANN401 - an iterator
    """Yield the questions about a scene, with the reasons of those that do not stay."""
    drafts = await workshop.writer.write(scene, seed)
    graph = SceneGraph(scene.facts, caption=scene.caption)
    verified = list(workshop.verifier.run_all([(draft.program, graph) for draft in drafts]))
    readings = await _readings(drafts, verified, workshop.reader)
    against = objections(drafts, verified, readings, graph, workshop.embed, verifier=workshop.verifier)
    kept = [place for place, objection in enumerate(against) if objection is None]
    entails = workshop.entails
    if entails is not None:
        facts = {fact.text: fact for place in kept for fact in readings[place].new if fact.kind != "category"}
        pairs = [(scene.name, fact) for fact in facts.values()]
        shown = await asyncio.to_thread(lambda: entails(scene)(pairs))
        probabilities = dict(zip(facts, shown, strict=True))
        for place in kept:
            against[place] = denied(readings[place], probabilities)
    for place, (draft, answered, objection) in enumerate(zip(drafts, verified, against, strict=True)):
        yield Item(
            id=f"{number}-{place}", scene=scene.name, **draft.model_dump(), output=answered.answer or "",
            **({} if objection is None else {"reason": objection.reason, "note": objection.note[:500]}),
        )  # fmt: skip


async def _readings(
    drafts: Sequence[QuestionDraft], verified: Sequence[Verified], reader: Reader
) -> list[DraftReading]:
    premises = await reader.premises([draft.question for draft in drafts])
    answers = await reader.read_all([(draft.answer, draft.question) for draft in drafts])
    outputs = await reader.read_all(
        [(answered.answer or "", draft.question) for draft, answered in zip(drafts, verified, strict=True)]
    )
    return [DraftReading(*each) for each in zip(premises, answers, outputs, strict=True)]


def _join(folder: Path, begun: dict[str, Any], rows: Sequence[dict[str, Any]]) -> None:
    """Write the files of a benchmark, its head last."""
    items = [Item.model_validate(item) for row in rows for item in row["items"]]
    kept = [item for item in items if not item.reason]
    write(folder / SCENES, "".join(f"{json.dumps(row['scene'])}\n" for row in rows if row["scene"]))
    write(folder / QUESTIONS, "".join(_lines(kept)))
    write(folder / REJECTED, "".join(_lines([item for item in items if item.reason])))
    content = content_of(folder, (SCENES, QUESTIONS))
    head = {
        **begun, "rows": len(kept), "funnel": funnel_of(items), "content": content,
        "unreadable_tuples": sum(row.get("unreadable", 0) for row in rows),
        "left_out": [row["left_out"] for row in rows if row.get("left_out")],
    }  # fmt: skip
    write(folder / HEAD, json.dumps(head, indent=2) + "\n")


def _lines(items: Sequence[Item]) -> Iterator[str]:
    return (f"{item.model_dump_json()}\n" for item in items)
