"""Answers to choose from: the protocol of APEX (section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nodes.protocols import Place
from nodes.reasoning.inquiry import Design
from nodes.trials import Evaluated, key_of
from profiles.errors import SnellenError
from tools.samples import select
from tools.transforms import apply

if TYPE_CHECKING:
    from memory.samples import Sample
    from memory.trials import TrialKey
    from nodes.examination import Examination
    from tools.models import Card


class Choosing:
    """Models choose among the answers of the arms."""

    def make(self, examination: Examination, design: Design, place: Place) -> list[Sample]:
        """Make and store one picture of each arm; see `nodes.protocols.AskingProtocol`."""
        return examination.make_round(
            design, place.round, investigation=place.investigation, experiment=place.experiment, seed=place.seed
        )

    def check(self, examination: Examination, design: Design, seed: int) -> None:
        """Make one picture of each arm, to see that it can be made."""
        for number, arm in enumerate(design.arms):
            selected = select(arm.select, examination.selection(f"{seed}/try/{number}"))
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
    ) -> Evaluated:
        """Look up all trials of an experiment."""
        return Evaluated.of(design, samples, fingerprints, examination.trials)
