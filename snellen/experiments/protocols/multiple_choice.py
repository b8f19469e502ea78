"""Answers to choose from: the protocol of APEX (section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput, SnellenError
from snellen.experiments.protocols.protocol import RoundPlace
from snellen.experiments.schema import Design
from snellen.experiments.trials import ChoicesEvaluated, key_of
from snellen.tools.samples import select
from snellen.tools.transforms import OutOfReach, apply

if TYPE_CHECKING:
    from snellen.experiments.resources import Examination
    from snellen.experiments.schema import Arm
    from snellen.memory.samples import Sample
    from snellen.memory.trials import TrialKey
    from snellen.models.under_test import Card

_TRIED: Final = 8
"""Pictures of an arm that are tried where the first one refuses."""


class Choosing:
    """Models choose among the answers of the arms."""

    def make(self, examination: Examination, design: Design, place: RoundPlace) -> list[Sample]:
        """Make and store one picture of each arm; see `snellen.experiments.protocols.protocol.AskingProtocol`."""
        return examination.make_round(
            design, place.round, investigation=place.investigation, experiment=place.experiment, seed=place.seed
        )

    def check(self, examination: Examination, design: Design, seed: int) -> None:
        """Make one picture of each arm, to see that it can be made; where that one cannot be changed so, some more.

        Pictures of a folder have many sizes, and what a transform can do depends on the picture. An arm that most of
        them refuse goes back to whoever designed it; else those that refuse are replaced, and counted as rejected.
        """
        for number, arm in enumerate(design.arms):
            refusals = []
            for turn in range(_TRIED):
                try:
                    self._try(examination, arm, f"{seed}/try/{number}" + f"/{turn}" * bool(turn))
                except OutOfReach as error:
                    refusals.append(error)
                if not refusals:
                    break
            if 2 * len(refusals) > _TRIED:
                msg = f"{arm.transform.name}: {refusals[-1]}"
                raise BadInput(msg) from refusals[-1]

    @staticmethod
    def _try(examination: Examination, arm: Arm, seed: str) -> None:
        selected = select(arm.select, examination.selection(seed))
        apply(arm.transform, selected.picture, "try", selected.studio)

    def keys(self, design: Design, sample: Sample, fingerprint: str) -> list[TrialKey]:
        """Name the trials about a sample, as it is shown, and in a paired experiment as it was before."""
        return [key_of(design, sample, fingerprint, plain=plain) for plain in design.conditions]

    def refuse(self, card: Card, design: Design) -> None:
        """Refuse to ask a model that only compares pictures with names for answers that are none."""
        bare = [name for name in design.classes if name.casefold() in {"yes", "no"} or name.isdigit()]
        if card.basis == "similarity" and bare:
            msg = (
                f"it compares pictures with texts, and {bare[0]!r} describes none: such a model can only be asked what "
                "is in a picture"
            )
            raise SnellenError(msg)

    def evaluated(
        self, examination: Examination, design: Design, samples: Sequence[Sample], fingerprints: Mapping[str, str]
    ) -> ChoicesEvaluated:
        """Look up all trials of an experiment."""
        return ChoicesEvaluated.of(design, samples, fingerprints, examination.trials)
