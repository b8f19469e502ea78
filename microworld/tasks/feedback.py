"""Feedback of a user who knows the truth about a wrong outcome."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.microworld.drawing import truths
from snellen.microworld.tasks.edits import faults
from snellen.microworld.tasks.task import EditAnswer, TagAnswer, TaggedRegion, TaskOutcome, TextAnswer, WorldTask


@dataclass(frozen=True)
class TruthFeedback:
    """Feedback in words.

    Attributes:
        expected: The right answer; for tags the names, each as often as it should be there.
        region: For edits: where the thing is that the edit should have been about, and what it is.
    """

    expected: str = ""
    region: TaggedRegion | None = None


def feedback(task: WorldTask, outcome: TaskOutcome) -> TruthFeedback:
    """Say what is wrong with an outcome of a task, as a user would: the answer, or the thing that was meant.

    Args:
        task: What was asked.
        outcome: What came of it.
    """
    if isinstance(task.expected, TextAnswer):
        return TruthFeedback(expected=task.expected.text)
    if isinstance(task.expected, TagAnswer):
        return TruthFeedback(expected=", ".join(region.name for region in task.expected.regions))
    index = _meant(task, task.expected, outcome)
    scene = task.scenes[0]
    return TruthFeedback(region=TaggedRegion(scene.objects[index].concept, truths(scene)[index].box))


def _meant(task: WorldTask, edit: EditAnswer, outcome: TaskOutcome) -> int:
    """Return the first object that an edit was about and that is not as it should be, or else the first at all."""
    scene = task.scenes[0]
    meant = [index for step in edit.steps for index in step.objects]
    picture = outcome.picture
    wrong: set[int] = set()
    if picture is not None and [picture.size] == [one.size for one in task.pictures()]:
        wrong = {index for index, _ in faults(scene, edit, picture)}
    return next((index for index in meant if index in wrong), meant[0])
