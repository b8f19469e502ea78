"""Resources of experiments: sources of pictures, models under test, and the tables of samples and trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from snellen.errors import SnellenError
from snellen.experiments.design import IDENTITY
from snellen.experiments.drawn_rounds import WaitingRounds
from snellen.experiments.trial_runner import TrialRunner
from snellen.tools.samples import NotShown, SampleSelection, prepare, select
from snellen.tools.transforms import ParameterOutOfRange, apply

if TYPE_CHECKING:
    import PIL.Image

    from snellen.experiments.design import Arm, Design
    from snellen.experiments.examiners.examiner import Examiner
    from snellen.experiments.scene_questions import SceneQuestions
    from snellen.memory.adapters import AdapterStore
    from snellen.memory.artifacts import ArtifactStore
    from snellen.memory.picture_ledger import Ledger
    from snellen.memory.samples import SampleTable
    from snellen.memory.trials import TrialTable
    from snellen.models.under_test import Executor, ModelUnderTest
    from snellen.profiles import CorrectionSettings
    from snellen.profiles.world import World
    from snellen.tools.samples import Alignment, SampleSource

MAX_REJECTED: Final = 40
"""Pictures in a row that do not show what they should before an experiment is given up: under some transforms most do
not, and one in a million experiments may end for that."""


@dataclass(frozen=True)
class DrawnPicture:
    """A picture for an experiment.

    Attributes:
        picture: As it is shown.
        plain: Before it was transformed; in the condition that it is compared with, where there is one.
        label: What it is said to show.
        origin: Where it is from, for people.
        rejected: Pictures before it that did not show what they should, or could not be changed as they should be.
    """

    picture: PIL.Image.Image
    plain: PIL.Image.Image
    label: str
    origin: str
    rejected: int


@dataclass(frozen=True, kw_only=True)
class Teaching:
    """Resources for correcting a model under test.

    Attributes:
        read: Reads a model that nobody else uses.
        fingerprint: Names its checkpoint.
        adapters: Where what it learned is kept.
        battery: Returns experiments about everything else that it can do.
        settings: Of the training.
    """

    read: Callable[[str], ModelUnderTest]
    fingerprint: Callable[[str], str]
    adapters: AdapterStore
    battery: Callable[[], Sequence[Design]]
    settings: CorrectionSettings


@dataclass(frozen=True, kw_only=True)
class Examination:
    """The resources of an investigation.

    Attributes:
        investigator: Designs experiments and reads them.
        investigators: Replace it where a protocol has its own, by the protocol's name.
        trials: What was measured, of all investigations.
        samples: The pictures of all experiments.
        ledger: Which of them informed which question.
        pictures: Where picture ids lead to pictures.
        executor: Where models under test answer.
        generation: Where pictures are made; None where nothing makes any.
        retrieval: Where they are looked up; None where there is nothing.
        alignment: Tells whether a picture shows what it should; None where nothing can tell.
        teaching: Resources for correcting models; None where none are corrected.
        scene_questions: Makes questions about scenes; None where nothing is known of any picture.
        world: The profile's world, which pairs are made of; None where it has none.
        source: What pictures are drawn from: the same text, the same pictures for a seed.
        checkpoints: Says which checkpoint each model is, by the model's name.
        ahead: Rounds that were drawn while models were asked.
        draws_ahead: Whether they are: not where what draws and who is asked share the memory of an accelerator.
    """

    investigator: Examiner
    trials: TrialTable
    samples: SampleTable
    ledger: Ledger
    pictures: ArtifactStore
    executor: Executor
    generation: SampleSource | None = None
    retrieval: SampleSource | None = None
    alignment: Alignment | None = None
    teaching: Teaching | None = None
    investigators: Mapping[str, Examiner] = field(default_factory=dict)
    scene_questions: SceneQuestions | None = None
    world: World | None = None
    source: str = ""
    checkpoints: Mapping[str, str] = field(default_factory=dict)
    ahead: WaitingRounds = field(default_factory=WaitingRounds, compare=False)
    draws_ahead: bool = True

    @property
    def runner(self) -> TrialRunner:
        """Asks the models under test."""
        return TrialRunner(self.executor, self.trials, self.pictures)

    def selection(self, seed: str) -> SampleSelection:
        """Return what select tools work with."""
        return SampleSelection(seed, self.retrieval, self.generation)

    def prepare(self, arms: Sequence[tuple[Arm, str]]) -> None:
        """Have the pictures of arms made together, each with its seed, where their source does so faster.

        Raises:
            SnellenError: One cannot be made.
        """
        prepare([(arm.select, seed) for arm, seed in arms], self.generation)

    def draw(self, arm: Arm, seed: str, *, named: bool = True) -> DrawnPicture:
        """Draw a picture of an arm; the same seed draws the same one.

        Args:
            arm: Says how.
            seed: Chooses the picture.
            named: Whether the answer depends on what it shows: then it must still show it when it was changed.

        Raises:
            NotShown: None that was made shows what it should.
            SnellenError: It cannot be made.
        """
        label, refusal = "", ""
        for attempt in range(MAX_REJECTED):
            chosen = f"{seed}/{attempt}" if attempt else seed
            selected = select(arm.select, self.selection(chosen))
            label = selected.class_name
            try:
                plain = apply(arm.against, selected.picture, chosen, selected.studio)
                picture = apply(arm.transform, selected.picture, chosen, selected.studio)
            except ParameterOutOfRange as error:
                refusal = str(error)
                continue
            if self.alignment is None or self.alignment.fits(selected, picture, arm.transform if named else IDENTITY):
                return DrawnPicture(picture, plain, label, selected.origin, attempt)
        if refusal:
            msg = f"None of {MAX_REJECTED} pictures of {label!r} can be used. {arm.transform.name}: {refusal}"
            raise NotShown(msg, MAX_REJECTED)
        msg = (
            f"Of {MAX_REJECTED} pictures that should show {label!r} none does, so far as this profile's "
            "matcher can tell: ask about something that its source of pictures can draw."
        )
        raise NotShown(msg, MAX_REJECTED)

    def fingerprints(self, models: Sequence[str]) -> dict[str, str]:
        """Return the fingerprints of those models that can be read."""
        fingerprints = {}
        for name in models:
            try:
                fingerprints[name] = self.executor.card(name).fingerprint
            except SnellenError:
                continue
        return fingerprints
