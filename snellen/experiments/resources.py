"""What experiments are made and measured with: sources of pictures, models under test, and the tables of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import SnellenError
from snellen.experiments.interviews import MOST_SAID
from snellen.experiments.schema import IDENTITY
from snellen.memory.samples import Sample
from snellen.memory.trials import Trial
from snellen.models.under_test import SHARD, Question
from snellen.tools.samples import SampleSelection, select
from snellen.tools.transforms import OutOfReach, apply

if TYPE_CHECKING:
    import PIL.Image

    from snellen.experiments.examiners.examiner import Investigator
    from snellen.experiments.protocols.free_answers import Questioning
    from snellen.experiments.protocols.protocol import AskingProtocol
    from snellen.experiments.schema import Arm, Design
    from snellen.memory.adapters import AdapterStore
    from snellen.memory.artifacts import ArtifactStore
    from snellen.memory.ledger import Ledger
    from snellen.memory.samples import SampleTable
    from snellen.memory.trials import TrialKey, TrialTable
    from snellen.models.under_test import Executor, ModelUnderTest
    from snellen.profiles import CorrectionSettings
    from snellen.tools.samples import Alignment, SampleSource

MAX_REJECTED: Final = 40
"""Pictures in a row that do not show what they should before an experiment is given up: under some transforms most do
not, and one in a million experiments may end for that."""


def protocols() -> Mapping[str, AskingProtocol]:
    """Return the ways of asking, by name."""
    # Protocols know what they make pictures with, which is what is defined here.
    from snellen.experiments.protocols.free_answers import FreeAnswers
    from snellen.experiments.protocols.multiple_choice import Choosing
    from snellen.experiments.protocols.pair_scoring import ScoringPairs

    return {"choice": Choosing(), "freeform": FreeAnswers(), "pairs": ScoringPairs()}


@dataclass(frozen=True)
class Made:
    """A picture for an experiment.

    Attributes:
        picture: As it is shown.
        plain: Before it was transformed.
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
    """What it takes to correct a model under test.

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
        investigators: Who does so instead where a protocol has its own, by the protocol's name.
        trials: What was measured, of all investigations.
        samples: The pictures of all experiments.
        ledger: Which of them informed which question.
        pictures: Where picture ids lead to pictures.
        executor: Who measures.
        generation: Where pictures are made; None where nothing makes any.
        retrieval: Where they are looked up; None where there is nothing.
        alignment: Tells whether a picture shows what it should; None where nothing can tell.
        teaching: What it takes to correct models; None where none are.
        questioning: What free questions are made with; None where nothing is known of any picture.
        world: The profile's world, which pairs are made of; None where it has none.
        protocols: The ways of asking, by name.
        source: What pictures are drawn from: the same text, the same pictures for a seed.
        checkpoints: What says which checkpoint each model is, by the model's name.
    """

    investigator: Investigator
    trials: TrialTable
    samples: SampleTable
    ledger: Ledger
    pictures: ArtifactStore
    executor: Executor
    generation: SampleSource | None = None
    retrieval: SampleSource | None = None
    alignment: Alignment | None = None
    teaching: Teaching | None = None
    investigators: Mapping[str, Investigator] = field(default_factory=dict)
    questioning: Questioning | None = None
    world: Any = None
    protocols: Mapping[str, AskingProtocol] = field(default_factory=protocols)
    source: str = ""
    checkpoints: Mapping[str, str] = field(default_factory=dict)

    def selection(self, seed: str) -> SampleSelection:
        """Return what select tools work with."""
        return SampleSelection(seed, self.retrieval, self.generation)

    def picture(self, picture_id: str) -> PIL.Image.Image:
        """Return a stored picture."""
        return self.pictures.get(picture_id)

    def make_round(
        self, design: Design, number: int, *, investigation: str, experiment: int, seed: int
    ) -> list[Sample]:
        """Make and store the pictures of one round: one of each arm.

        Args:
            design: Of the experiment.
            number: Of the round, from 0.
            investigation: Whom the pictures belong to; which ones they are does not depend on it, so that whoever asks
                the same again with the same seed gets pictures that were measured.
            experiment: The number of the experiment, from 0.
            seed: Chooses the pictures.

        Raises:
            SnellenError: One cannot be made.
        """
        return [
            self._sample(
                self.made(arm, f"{seed}/{experiment}/{which}/{number}", named=design.about_things),
                arm,
                (investigation, experiment, number, which),
            )
            for which, arm in enumerate(design.arms)
        ]

    def _sample(self, made: Made, arm: Arm, place: tuple[str, int, int, int]) -> Sample:
        plain = self.pictures.put(made.plain).id
        picture = plain if arm.transform == IDENTITY else self.pictures.put(made.picture).id
        return Sample(*place, picture, plain, made.label, made.origin, made.rejected)

    def shards(self, design: Design, samples: Sequence[Sample], name: str) -> list[Sequence[TrialKey]]:
        """Return what a model has not been asked yet about samples of an experiment, in parts of one shard each.

        Raises:
            SnellenError: It cannot be read, or not be asked this.
        """
        card, protocol = self.executor.card(name), self.protocols[design.protocol]
        protocol.refuse(card, design)
        keys = [key for sample in samples for key in protocol.keys(design, sample, card.fingerprint)]
        known = self.trials.get(keys)
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        return [missing[begun : begun + SHARD] for begun in range(0, len(missing), SHARD)]

    def ask(self, name: str, shard: Sequence[TrialKey]) -> None:
        """Ask a model what it has not been asked yet, and keep what it says.

        Raises:
            SnellenError: It cannot answer.
        """
        questions = [Question(tuple(map(self.picture, key.pictures)), key.question, key.choices) for key in shard]
        if not shard[0].choices:
            said = self.executor.answer(name, questions)
            self.trials.add(
                Trial(key, (), basis="answer", said=text[:MOST_SAID]) for key, text in zip(shard, said, strict=True)
            )
            return
        ranked = self.executor.rank(name, questions)
        self.trials.add(
            Trial(key, one.scores, basis=one.basis, said=one.text) for key, one in zip(shard, ranked, strict=True)
        )

    def made(self, arm: Arm, seed: str, *, named: bool = True) -> Made:
        """Make a picture of an arm; the same seed makes the same one.

        Args:
            arm: Says how.
            seed: Chooses the picture.
            named: Whether the answer depends on what it shows: then it must still show it when it was changed.

        Raises:
            SnellenError: It cannot be made, or none that was made shows what it should.
        """
        label, refusal = "", ""
        for attempt in range(MAX_REJECTED):
            chosen = f"{seed}/{attempt}" if attempt else seed
            found = select(arm.select, self.selection(chosen))
            label = found.class_name
            try:
                picture = apply(arm.transform, found.picture, chosen, found.studio)
            except OutOfReach as error:
                refusal = str(error)
                continue
            if self.alignment is None or self.alignment.fits(found, picture, arm.transform if named else IDENTITY):
                return Made(picture, found.picture, label, found.origin, attempt)
        if refusal:
            msg = f"None of {MAX_REJECTED} pictures of {label!r} can be used. {arm.transform.name}: {refusal}"
            raise SnellenError(msg)
        msg = (
            f"Of {MAX_REJECTED} pictures that should show {label!r} none does, so far as this profile's "
            "matcher can tell: ask about something that its source of pictures can draw."
        )
        raise SnellenError(msg)

    def fingerprints(self, models: Sequence[str]) -> dict[str, str]:
        """Return the fingerprints of those models that can be read."""
        found = {}
        for name in models:
            try:
                found[name] = self.executor.card(name).fingerprint
            except SnellenError:
                continue
        return found
