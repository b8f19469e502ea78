"""The blind baseline: the best that can be answered without looking at a picture.

It is fitted on the train split: for each masked template (else for the type) the most frequent answer. Where an answer
is one of the options that the instruction names, it counts by its position ("always the first"). For tags it guesses
one region of the most frequent name and the mean box; an edit it leaves undone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from snellen.microworld.concepts import Share
from snellen.microworld.tasks.draw import sample_tasks
from snellen.microworld.tasks.scoring import score
from snellen.microworld.tasks.task import Box, Family, TagAnswer, TaggedRegion, TaskOutcome, TextAnswer, WorldTask

# An edit is left undone, whatever was asked: there is nothing to fit.
FITTED_ON: dict[Family, int] = {"vqa": 1200, "statement": 1200, "tag": 300, "edit": 0}
FITTED_SEED = 0


@dataclass
class BlindBaseline:
    """Most frequent answers in the tasks it was fitted on.

    Attributes:
        answers: How often each masked answer was right, by masked template and by type.
        names: How often each name was tagged.
        boxes: All boxes that were tagged.
    """

    answers: dict[str, Counter[str]] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)
    boxes: list[Box] = field(default_factory=list)

    def fit(self, tasks: Sequence[WorldTask]) -> BlindBaseline:
        """Count the right answers of tasks, and return itself."""
        for task in tasks:
            if isinstance(task.expected, TextAnswer):
                for key in (task.blind, task.type):
                    self.answers.setdefault(key, Counter())[_masked(task, task.expected.text)] += 1
            if isinstance(task.expected, TagAnswer):
                self.names.update(region.name for region in task.expected.regions)
                self.boxes += [region.box for region in task.expected.regions]
        return self

    def outcome(self, task: WorldTask) -> TaskOutcome:
        """Answer a task without its pictures."""
        if isinstance(task.expected, TextAnswer):
            counts = self.answers.get(task.blind) or self.answers.get(task.type) or Counter({"yes": 1})
            return TaskOutcome(answer=_unmasked(task, counts.most_common(1)[0][0]))
        if isinstance(task.expected, TagAnswer) and self.boxes:
            return TaskOutcome(regions=(TaggedRegion(self.names.most_common(1)[0][0], _mean_box(self.boxes)),))
        return TaskOutcome(picture=task.pictures()[0])


def blind_score(tasks: Sequence[WorldTask]) -> float:
    """Return the mean score of the blind baseline on tasks of one family and one share; 0 of no tasks."""
    if not tasks:
        return 0.0
    baseline = _fitted(tasks[0].family, tasks[0].share)
    return sum(score(task, baseline.outcome(task)).value for task in tasks) / len(tasks)


@cache
def _fitted(family: Family, share: Share) -> BlindBaseline:
    return BlindBaseline().fit(sample_tasks(family, "train", share, FITTED_ON[family], FITTED_SEED))


def _masked(task: WorldTask, answer: str) -> str:
    return f"option {task.options.index(answer)}" if answer in task.options else answer


def _unmasked(task: WorldTask, answer: str) -> str:
    return next((o for i, o in enumerate(task.options) if answer == f"option {i}"), answer)


def _mean_box(boxes: Sequence[Box]) -> Box:
    x0, y0, x1, y1 = (sum(edge) // len(boxes) for edge in zip(*boxes, strict=True))
    return x0, y0, x1, y1
