# ruff: noqa: ARG002 - an error leaves alone what it does not concern
"""Faults planted into right runs, for measuring reflection; nothing here knows how reflection works.

A fault of a tool is planted beneath the tool, in the models: for one call it sees wrongly, and it does so whenever the
same is asked again, by whomever. A fault of a program is planted in its text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Final, Protocol

from snellen.models.vision.detection import Detection
from snellen.scoring import iou
from snellen.tools.program import StepRecord
from snellen.tools.vision.context import widened
from snellen.values import Picture, PictureStore, Region, from_json

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    from numpy.typing import NDArray

    from snellen.tools.vision import Models

KINDS: Final = (
    "LOC misses", "LOC adds", "LOC shifts", "VQA answers", "SELECT picks", "CLASSIFY mislabels",
    "wrong argument", "wrong operator", "wrong direction",
)  # fmt: skip
COLOURS: Final = ("red", "green", "blue", "yellow", "purple")
SIZES: Final = ("small", "large")
ON_A_THING: Final = 0.5
"""How often a box that is not there is put on another thing, rather than anywhere."""
CLEAR: Final = 0.2
"""Below this overlap a place is free."""
SAME: Final = 0.5
"""From this overlap on, two boxes are the same thing."""


def digest(picture: PIL.Image.Image) -> str:
    """Name a picture by its pixels."""
    return hashlib.sha256(repr(picture.size).encode() + picture.convert("RGB").tobytes()).hexdigest()


class Error(Protocol):
    """What a model sees wrongly; a method that the error does not concern returns what it is given."""

    def detected(
        self, picture: str, names: Sequence[str], found: list[Detection], again: Callable[[list[str]], list[Detection]]
    ) -> list[Detection]:
        """Return what the detector says instead; ``again`` asks it for other names in the same picture."""
        ...

    def answered(self, picture: str, question: str, answer: str) -> str:
        """Return what the answering model says instead."""
        ...

    def compared(self, pictures: Sequence[str], texts: Sequence[str], logits: NDArray[np.float32]) -> None:
        """Change what the classifier says in place."""
        ...


@dataclass(frozen=True)
class Right:
    """No error."""

    def detected(
        self, picture: str, names: Sequence[str], found: list[Detection], again: Callable[[list[str]], list[Detection]]
    ) -> list[Detection]:
        """Return what the detector says instead."""
        return found

    def answered(self, picture: str, question: str, answer: str) -> str:
        """Return what the answering model says instead."""
        return answer

    def compared(self, pictures: Sequence[str], texts: Sequence[str], logits: NDArray[np.float32]) -> None:
        """Change what the classifier says in place."""


@dataclass(frozen=True)
class WrongBoxes(Right):
    """In one picture, looking for these names, the detector is blind for some boxes and sees others."""

    picture: str
    names: frozenset[str]
    blind: tuple[tuple[int, int, int, int], ...] = ()
    seen: tuple[Detection, ...] = ()

    def detected(
        self, picture: str, names: Sequence[str], found: list[Detection], again: Callable[[list[str]], list[Detection]]
    ) -> list[Detection]:
        """Return what the detector says instead."""
        asked = self.names & set(names)
        if picture != self.picture or not asked:
            return found
        left = [one for one in found if all(iou(one.box, box) < SAME for box in self.blind)]
        others = [name for name in names if name not in self.names]
        if self.blind and others:
            left += [one for one in again(others) if any(iou(one.box, box) >= SAME for box in self.blind)]
        left += [one for one in self.seen if all(iou(one.box, other.box) < SAME for other in left)]
        return sorted(left, key=lambda one: -one.score)


@dataclass(frozen=True)
class WrongAnswer(Right):
    """One question about one picture is answered wrongly."""

    picture: str
    question: str
    answer: str

    def answered(self, picture: str, question: str, answer: str) -> str:
        """Return what the answering model says instead."""
        return self.answer if (picture, question) == (self.picture, self.question) else answer


@dataclass(frozen=True)
class WrongLikeness(Right):
    """One picture looks to the classifier like a text that does not describe it."""

    picture: str
    text: str
    lead: float = 3.0

    def compared(self, pictures: Sequence[str], texts: Sequence[str], logits: NDArray[np.float32]) -> None:
        """Change what the classifier says in place."""
        for row, picture in enumerate(pictures):
            if picture == self.picture and self.text in texts:
                # Among one text alone, the picture must lead the other pictures; among texts, its own ones.
                highest = logits.max() if len(texts) == 1 else logits[row].max()
                logits[row, list(texts).index(self.text)] = highest + self.lead


class PlantedModels:
    """The models of a profile with one error; everything else is theirs."""

    def __init__(self, models: Models, error: Error) -> None:
        self._models = models
        self._error = error

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the models have
        return getattr(self._models, name)

    def detect(self, pictures: Sequence[PIL.Image.Image], names: Sequence[Sequence[str]]) -> list[list[Detection]]:
        """Detect, with the error."""
        return self._looked(self._models.detect, pictures, names)

    def glimpse(
        self, pictures: Sequence[PIL.Image.Image], names: Sequence[Sequence[str]], *, threshold: float
    ) -> list[list[Detection]]:
        """Detect at another threshold, with the error."""

        def look(pictures: Sequence[PIL.Image.Image], names: Sequence[Sequence[str]]) -> list[list[Detection]]:
            return self._models.glimpse(pictures, names, threshold=threshold)

        return self._looked(look, pictures, names)

    def answer(self, pictures: Sequence[PIL.Image.Image], questions: Sequence[str]) -> list[str]:
        """Answer, with the error."""
        said = self._models.answer(pictures, questions)
        asked = zip(pictures, questions, said, strict=True)
        return [self._error.answered(digest(picture), question, answer) for picture, question, answer in asked]

    def similarity(
        self,
        pictures: Sequence[PIL.Image.Image],
        texts: Sequence[str],
        **options: Any,  # noqa: ANN401
    ) -> NDArray[np.float32]:
        """Compare, with the error."""
        logits = self._models.similarity(pictures, texts, **options)
        self._error.compared([digest(one) for one in pictures], texts, logits)
        return logits

    def _looked(
        self,
        look: Callable[[Sequence[PIL.Image.Image], Sequence[Sequence[str]]], list[list[Detection]]],
        pictures: Sequence[PIL.Image.Image],
        names: Sequence[Sequence[str]],
    ) -> list[list[Detection]]:
        changed = []
        for picture, wanted, found in zip(pictures, names, look(pictures, names), strict=True):

            def again(others: list[str], picture: PIL.Image.Image = picture) -> list[Detection]:
                return look([picture], [others])[0]

            changed.append(self._error.detected(digest(picture), wanted, found, again))
        return changed


@dataclass(frozen=True)
class Planted:
    """A fault: its kind, the addresses of the steps that are wrong, and how the run becomes wrong."""

    kind: str
    addresses: tuple[str, ...]
    program: str
    error: Error = field(default_factory=Right)
    said: str = ""


@dataclass(frozen=True)
class RightRun:
    """A run that was right, to plant a fault into."""

    program: str
    records: Sequence[StepRecord]
    pictures: PictureStore
    models: Models
    answer: str
    words: Sequence[str]
    """Names of things, to be wrong with."""

    def same_call(self, record: StepRecord) -> tuple[str, ...]:
        """Return the addresses of all steps that make the same call."""
        call = (record.tool, record.arguments)
        return tuple(one.address for one in self.records if (one.tool, one.arguments) == call)


def plants(kind: str, run: RightRun, dice: Random) -> Iterator[Planted]:
    """Return the faults of a kind that a run may have, in random order; the answer may stay right."""
    found = list(_PLANTERS[kind](run, dice))
    dice.shuffle(found)
    yield from found


def _steps(run: RightRun, tool: str) -> Iterator[tuple[StepRecord, PIL.Image.Image, dict[str, Any]]]:
    for record in run.records:
        if record.tool == tool:
            arguments = {name: from_json(value) for name, value in record.arguments.items()}
            if isinstance(arguments.get("image"), Picture):
                yield record, run.pictures.get(arguments["image"].id), arguments


def _wrong_boxes(run: RightRun, dice: Random, make: Callable[..., WrongBoxes | None], kind: str) -> Iterator[Planted]:
    for record, picture, arguments in _steps(run, "LOC"):
        names = frozenset(run.models.expansion.names(str(arguments["object"])))
        error = make(digest(picture), names, list(record.value), picture, dice)
        if error is not None:
            yield Planted(kind, run.same_call(record), run.program, error, f"{error.blind} {error.seen}")


def _misses(run: RightRun, dice: Random) -> Iterator[Planted]:
    def make(
        picture: str, names: frozenset[str], found: list[Region], _: PIL.Image.Image, dice: Random
    ) -> WrongBoxes | None:
        return WrongBoxes(picture, names, (dice.choice(found).box,)) if found else None

    yield from _wrong_boxes(run, dice, make, "LOC misses")


def _adds(run: RightRun, dice: Random) -> Iterator[Planted]:
    def make(
        picture: str, names: frozenset[str], found: list[Region], image: PIL.Image.Image, dice: Random
    ) -> WrongBoxes | None:
        box = _elsewhere(run, image, found, dice)
        seen = Detection(box, dice.uniform(0.3, 0.95), min(names)) if box and names else None
        return WrongBoxes(picture, names, (), (seen,)) if seen else None

    yield from _wrong_boxes(run, dice, make, "LOC adds")


def _shifts(run: RightRun, dice: Random) -> Iterator[Planted]:
    def make(
        picture: str, names: frozenset[str], found: list[Region], image: PIL.Image.Image, dice: Random
    ) -> WrongBoxes | None:
        box = _elsewhere(run, image, found, dice)
        if not found or box is None:
            return None
        moved = dice.choice(found)
        return WrongBoxes(picture, names, (moved.box,), (Detection(box, moved.score, moved.label or min(names)),))

    yield from _wrong_boxes(run, dice, make, "LOC shifts")


def _elsewhere(
    run: RightRun, image: PIL.Image.Image, found: Sequence[Region], dice: Random
) -> tuple[int, int, int, int] | None:
    """Return where nothing of the kind is: on another thing, or anywhere."""
    things = [one.box for one in run.models.detect([image], [run.models.expansion.all_names()])[0]]
    width, height = image.size
    side = max(min(width, height) // 4, 4)
    corners = [(dice.randrange(max(width - side, 1)), dice.randrange(max(height - side, 1))) for _ in range(8)]
    anywhere = [(x, y, min(x + side, width), min(y + side, height)) for x, y in corners]
    first, then = (things, anywhere) if dice.random() < ON_A_THING else (anywhere, things)
    free = (box for box in [*first, *then] if all(iou(box, one.box) < CLEAR for one in found))
    return next(free, None)


def _wrong_answers(run: RightRun, dice: Random) -> Iterator[Planted]:
    for record, picture, arguments in _steps(run, "VQA"):
        question, right = " ".join(str(arguments["question"]).split()).casefold(), str(record.value)
        for answer in _plausible(question, right, run.words, dice):
            error = WrongAnswer(digest(picture), question, answer)
            yield Planted("VQA answers", run.same_call(record), run.program, error, f"{question} {answer}")


def _plausible(question: str, right: str, words: Sequence[str], dice: Random) -> list[str]:
    choice = re.search(r"(\w+) or (\w+)\W*$", question)
    if choice:
        return [one for one in choice.groups() if one != right]
    for options in (("yes", "no"), COLOURS, SIZES):
        if right in options:
            return [dice.choice([one for one in options if one != right])]
    if right.isdigit():
        return [str(int(right) + 1)]
    return [dice.choice([word for word in words if word != right])]


def _picks(run: RightRun, dice: Random) -> Iterator[Planted]:
    clip = run.models.profile.models.clip
    for record, picture, arguments in _steps(run, "SELECT"):
        given, chosen = list(arguments["object"]), {one.box for one in record.value}
        others = [one for one in given if one.box not in chosen]
        if not others or clip is None:
            continue
        crop = picture.crop(widened(dice.choice(others).box, picture.size, margin=clip.margin))
        error = WrongLikeness(digest(crop), clip.template.format(arguments["query"]))
        yield Planted("SELECT picks", run.same_call(record), run.program, error)


def _mislabels(run: RightRun, dice: Random) -> Iterator[Planted]:
    clip = run.models.profile.models.clip
    for record, picture, arguments in _steps(run, "CLASSIFY"):
        labelled = {one.box for one in record.value}
        for region in arguments["object"]:
            others = [word for word in run.words if word not in {one.label for one in record.value}]
            names = list(arguments["categories"]) if region.box not in labelled else others
            if clip is None or not names:
                continue
            crop = picture.crop(widened(region.box, picture.size, margin=clip.margin))
            error = WrongLikeness(digest(crop), clip.template.format(dice.choice(names)))
            yield Planted("CLASSIFY mislabels", run.same_call(record), run.program, error)


def _lines(run: RightRun) -> list[str]:
    """Return the lines of a program without branches, whose numbers are the addresses of its statements."""
    lines = run.program.strip().split("\n")
    return [] if any(line.startswith((" ", "if ", "for ")) for line in lines) else lines


def _rewritten(run: RightRun, kind: str, number: int, line: str) -> Planted:
    lines = _lines(run)
    program = "\n".join([*lines[:number], line, *lines[number + 1 :]]) + "\n"
    return Planted(kind, (str(number + 1),), program, said=line)


def _wrong_arguments(run: RightRun, dice: Random) -> Iterator[Planted]:
    for number, line in enumerate(_lines(run)):
        noun = re.search(r"(?<=object=')[^']+(?=')", line)
        if noun:
            changed = line[: noun.start()] + dice.choice(run.words) + line[noun.end() :]
            yield _rewritten(run, "wrong argument", number, changed)
        colour = re.search(rf"(?<=')({'|'.join(COLOURS)})(?=')", line)
        if colour and "EVAL" in line:
            other = dice.choice([one for one in COLOURS if one != colour[0]])
            yield _rewritten(run, "wrong argument", number, line[: colour.start()] + other + line[colour.end() :])
        holder = re.search(r"(?<=box=)BOX\d+", line)
        earlier = [f"BOX{i}" for i in range(9) if any(one.startswith(f"BOX{i}=") for one in _lines(run)[:number])]
        others = [one for one in earlier if holder and one != holder[0]]
        if holder and others:
            changed = line[: holder.start()] + dice.choice(others) + line[holder.end() :]
            yield _rewritten(run, "wrong argument", number, changed)


_OPERATORS: Final = {
    " > ": (" < ", " <= "), " < ": (" > ", " >= "), " == ": (" != ",), " >= ": (" < ",), " <= ": (" > ",),
    " and ": (" or ",), " or ": (" and ",), " xor ": (" or ", " and "), "not ": ("",),
}  # fmt: skip


def _wrong_operators(run: RightRun, dice: Random) -> Iterator[Planted]:
    for number, line in enumerate(_lines(run)):
        if "EVAL" not in line:
            continue
        for operator, others in _OPERATORS.items():
            if operator in line:
                yield _rewritten(run, "wrong operator", number, line.replace(operator, dice.choice(others), 1))
        literal = re.search(r"(?<=[=<>] )\d+\b", line)
        if literal:
            changed = line[: literal.start()] + str(int(literal[0]) + 1) + line[literal.end() :]
            yield _rewritten(run, "wrong operator", number, changed)


_DIRECTIONS: Final = {
    "CROP_LEFTOF": ("CROP_RIGHTOF", "CROP_ABOVE", "CROP_BELOW"), "CROP_RIGHTOF": ("CROP_LEFTOF", "CROP_ABOVE"),
    "CROP_ABOVE": ("CROP_BELOW", "CROP_LEFTOF"), "CROP_BELOW": ("CROP_ABOVE", "CROP_RIGHTOF"),
    "image=LEFT": ("image=RIGHT",), "image=RIGHT": ("image=LEFT",),
}  # fmt: skip


def _wrong_directions(run: RightRun, dice: Random) -> Iterator[Planted]:
    for number, line in enumerate(_lines(run)):
        for direction, others in _DIRECTIONS.items():
            if direction in line:
                changed = line.replace(direction, dice.choice(others), 1)
                yield _rewritten(run, "wrong direction", number, changed)


_PLANTERS: Final[dict[str, Callable[[RightRun, Random], Iterator[Planted]]]] = {
    "LOC misses": _misses,
    "LOC adds": _adds,
    "LOC shifts": _shifts,
    "VQA answers": _wrong_answers,
    "SELECT picks": _picks,
    "CLASSIFY mislabels": _mislabels,
    "wrong argument": _wrong_arguments,
    "wrong operator": _wrong_operators,
    "wrong direction": _wrong_directions,
}
