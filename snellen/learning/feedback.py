"""Feedback on answers: an expected answer, a correction in words, or a region, and judges of answers by them.

A correction and a region speak of one answer, the first that the user saw; whether a later one mends it is judged
beside that one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from snellen.reasoning.critique import Feedback
from snellen.reasoning.language.inflection import singular
from snellen.reasoning.meanings.talk import Correction
from snellen.reasoning.reading.talk_reader import read_correction
from snellen.scoring import iou
from snellen.scoring.answers import same
from snellen.tools.program import StepRecord
from snellen.values import Picture, Region, as_number, named_regions, to_json

Json = dict[str, Any]

Agreement = Callable[[Any, Sequence["StepRecord"]], bool]
"""Judges an answer and the steps that led to it."""

Closeness = Callable[[Any, Sequence["StepRecord"]], float]
"""Measures how much of what is expected an answer says, in [0, 1]."""

FOUND_IOU = 0.5
"""From this overlap on, a region of the answer is the one that the feedback shows."""

MARKING: Final = ("TAG",)
"""Tools that draw the regions they are given: what a picture then shows by name."""
EDITING: Final = ("COLORPOP", "BGBLUR", "REPLACE", "EMOJI")
"""Tools that change a picture inside the regions they are given, or all around them."""


def fields_changed_by(feedback: Feedback, learned: Sequence[Json]) -> Json:
    """Return the fields that feedback on an answer changes in its task; run on, the task is judged anew.

    Args:
        feedback: What is said of the right answer.
        learned: What the task has learned so far.
    """
    return {
        "expected": feedback.expected,
        "correction": feedback.correction or "",
        "region": None if feedback.region is None else to_json(feedback.region),
        # It is about the answer that stands: what was tried about an earlier one is over.
        **{name: [] for name in ("attempts", "critiques", "described", "lessons", "needs")},
        # What could not be learned then, or was rejected, may be asked for again.
        "learned": [one for one in learned if not one["trouble"]],
        "learn": True,
    }


def things_named_in(feedback: Feedback) -> list[str]:
    """Return the names of things that the feedback speaks of."""
    correction = _correction_in(feedback)
    named = [*(feedback.expected or "").split(","), correction.expected, correction.present]
    named += [feedback.region.label] if feedback.region else []
    return list(dict.fromkeys(singular(" ".join(one.split()).casefold()) for one in named if one.strip()))


def contradiction(feedback: Feedback) -> str:
    """Say in a sentence where what is known of the right answer contradicts itself; nothing where it does not."""
    correction = _correction_in(feedback)
    expected = feedback.expected or ""
    if expected and correction.expected and not agrees(correction.expected, expected):
        return f"The right answer cannot be both {expected!r} and {correction.expected!r}."
    if expected and correction.absent and agrees(singular(expected), correction.absent):
        return f"The answer cannot be {expected!r} if it is no {correction.absent}."
    if correction.absent and correction.absent in {singular(correction.expected), correction.present}:
        return f"It cannot be {correction.absent!r} and not {correction.absent!r} at once."
    label = singular(feedback.region.label) if feedback.region else ""
    if label and label == correction.absent:
        return f"The region cannot be called {label!r} if it is no {correction.absent}."
    return ""


def bears_on(correction: Correction, answer: object) -> bool:
    """Tell whether what a correction says of things says anything of an answer.

    That a thing is none, or that there is another, changes pictures, counts, lists and "no"; a colour is none the
    righter for being another one.
    """
    if not isinstance(answer, str) or not (correction.absent or correction.present):
        return True
    words = {singular(_bare(part)) for part in answer.split(",")}
    return bool(words & {"yes", "no", correction.absent})


def _correction_in(feedback: Feedback) -> Correction:
    """Return what the words of feedback correct; nothing where they correct nothing, or there are none."""
    return read_correction(feedback.correction or "") or Correction()


def agrees(answer: object, expected: str) -> bool:
    """Tell whether an answer says the same as the expected one.

    Args:
        answer: A program's value.
        expected: The user's words: ``yes``, ``3``, ``three``, ``a dog``, ``cat, dog``.

    Returns:
        True for equal text without case, articles and closing punctuation, equal numbers (also in words), equal
        truth values, and lists with the same items in any order; regions compare by their labels.
    """
    if isinstance(answer, list | tuple):
        return _names_in(answer) == _names_expected(expected)
    return same(_bare(answer) if isinstance(answer, str) else answer, _bare(expected))


def _names_expected(expected: str) -> Counter[str]:
    """Return the names of an expected list, each as often as it is in it."""
    return Counter(_bare(part) for part in expected.split(",") if part.strip())


def _names_in(items: Sequence[Any]) -> Counter[str]:
    return Counter(_bare(item.label if isinstance(item, Region) else str(item)) for item in items)


def closeness(feedback: Feedback) -> Closeness:
    """Return the measure of how much of an expected list of names an answer says, in [0, 1].

    It is the F1 of the names; 0 for answers that are no list, and where no list is expected.
    """
    expected = _names_expected(feedback.expected or _correction_in(feedback).expected)

    def measure(value: Any, steps: Sequence[StepRecord]) -> float:  # noqa: ANN401 - any value
        if isinstance(value, Picture):
            value = named_regions(value, [step.to_json() for step in steps])
        names = _names_in(value) if isinstance(value, list | tuple) else Counter()
        return 2 * (names & expected).total() / max((names + expected).total(), 1)

    return measure


def agreement(feedback: Feedback, answer: Any, steps: Sequence[StepRecord]) -> Agreement:  # noqa: ANN401 - any value
    """Return the judge of new answers.

    Args:
        feedback: What is known of the right answer; where it says nothing, no answer agrees.
        answer: The wrong answer, from which a right one differs.
        steps: The steps that led to it.
    """
    if feedback.expected:
        return _as_expected(feedback.expected)
    correction = _correction_in(feedback)
    # "There are two dogs" is an answer where one was counted, and speaks of what is missing everywhere else.
    if correction.expected and not (correction.present and as_number(answer) is None):
        return _as_expected(correction.expected)
    before = _Said(answer, steps)
    if feedback.region is not None:
        return _shows(feedback.region, before)
    if correction.absent or correction.present:
        return _corrected(correction, before)
    if feedback.correction:
        return lambda value, records: _Said(value, records).differs_from(before)
    return lambda _, __: False


class _Said:
    """What an answer says: its words, or the regions that it names."""

    def __init__(self, value: Any, steps: Sequence[StepRecord]) -> None:  # noqa: ANN401 - any value
        self.value = value
        records = [step.to_json() for step in steps]
        self.named = named_regions(value, records, tools=MARKING)
        self.regions = self.named or named_regions(value, records, tools=EDITING)
        self.text = value.casefold() if isinstance(value, str) else ""

    @property
    def labels(self) -> Counter[str]:
        return Counter(singular(region.label) for region in self.regions)

    def shows(self, name: str) -> bool:
        return self.labels[name] > 0 or singular(self.text) == name

    def differs_from(self, other: _Said) -> bool:
        if isinstance(self.value, Picture) and (self.regions or other.regions):
            return _places(self.regions) != _places(other.regions)
        return self.value is not None and not same(self.value, other.value)


def _places(regions: Sequence[Region]) -> set[tuple[str, tuple[int, int, int, int]]]:
    return {(region.label, region.box) for region in regions}


def _as_expected(expected: str) -> Agreement:
    def judge(value: Any, steps: Sequence[StepRecord]) -> bool:  # noqa: ANN401 - any value
        if isinstance(value, Picture):
            regions = named_regions(value, [step.to_json() for step in steps])
            return bool(regions) and agrees(regions, expected)
        return value is not None and agrees(value, expected)

    return judge


def _shows(region: Region, before: _Said) -> Agreement:
    def judge(value: Any, steps: Sequence[StepRecord]) -> bool:  # noqa: ANN401 - any value
        answer = _Said(value, steps)
        if not answer.regions:
            return answer.differs_from(before) and not isinstance(value, Picture)
        return any(
            iou(one.box, region.box) >= FOUND_IOU
            and (not region.label or one not in answer.named or singular(one.label) in {"", singular(region.label)})
            for one in answer.regions
        )

    return judge


def _corrected(correction: Correction, before: _Said) -> Agreement:
    def judge(value: Any, steps: Sequence[StepRecord]) -> bool:  # noqa: ANN401 - any value
        answer = _Said(value, steps)
        if not answer.differs_from(before):
            return False
        if correction.absent and answer.labels[correction.absent] >= max(before.labels[correction.absent], 1):
            return False
        if correction.absent and not answer.regions:
            return not answer.shows(correction.absent) and not _more(answer, before)
        return not correction.present or _has(answer, before, correction)

    return judge


def _has(answer: _Said, before: _Said, correction: Correction) -> bool:
    if not answer.regions:
        return _more(answer, before) if as_number(before.value) is not None else True
    known = _places(before.regions)
    new = [one for one in answer.regions if (one.label, one.box) not in known]
    return any(
        singular(one.label) in {"", correction.present} and _on_side(one, answer, correction.side) for one in new
    )


def _more(answer: _Said, before: _Said) -> bool:
    now, then = as_number(answer.value), as_number(before.value)
    return now is not None and then is not None and now > then


def _on_side(region: Region, answer: _Said, side: str) -> bool:
    """Tell whether a region lies on that side: of the picture, or of the other regions where its size is unknown."""
    if not side:
        return True
    x, y = region.box[0] + region.box[2], region.box[1] + region.box[3]
    middle_x, middle_y = _middle(answer)
    return {"left": x < middle_x, "right": x > middle_x, "top": y < middle_y, "bottom": y > middle_y}[side]


def _middle(answer: _Said) -> tuple[float, float]:
    """Twice the middle of the picture; of all regions where the answer is no picture."""
    if isinstance(answer.value, Picture):
        return answer.value.width, answer.value.height
    xs = [edge for region in answer.regions for edge in (region.box[0], region.box[2])]
    ys = [edge for region in answer.regions for edge in (region.box[1], region.box[3])]
    return min(xs) + max(xs), min(ys) + max(ys)


_ARTICLES: Final = ("a ", "an ", "the ")


def _bare(text: str) -> str:
    """Strip what does not matter in a short answer: case, blanks, an article, closing punctuation."""
    bare = " ".join(text.split()).casefold().rstrip(".!")
    return next((bare.removeprefix(article) for article in _ARTICLES if bare.startswith(article)), bare)
