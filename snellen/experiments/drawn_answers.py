"""Names and answers that are drawn for each picture, so that a verdict is about all of a pool, not about a few of it.

In some experiments the answers are the same for every picture ("a bird or a food?"), and what they show is about these.
An experiment with pools draws anew for each picture, in one of two forms.

- A class is drawn, and others to name beside it: "Is the object in the image a ship or a violin?". Its answers are the
  places at which the right name stands.
- Texts have slots (`drawn_names`): "a [thing] to the left of [another thing]" is shown, "Is the [thing] to the left of
  the [other thing]?" asked. What was drawn is kept with the sample.

A picture with its names is one draw from all that could be asked, independent of the others. The confidence sequences
suppose no more than that, so they hold over classes and pictures alike.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from snellen.experiments.design import BLANK
from snellen.experiments.drawn_names import drawn_names, filled
from snellen.experiments.further_wordings import OPEN
from snellen.reasoning.language.inflection import listing, with_article

if TYPE_CHECKING:
    from snellen.experiments.design import Arm, Design
    from snellen.memory.samples import Sample

_BESIDE: Final = 7
"""Names beside that of a thing where it is asked whether a model recognizes it: one in eight guesses is right."""


@dataclass(frozen=True)
class DrawnQuestion:
    """A question as it is put to models, with its choices.

    Attributes:
        question: The question.
        choices: The choices, in the order of those of the design.
        answer: The right one.
    """

    question: str
    choices: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class DrawnArm:
    """An arm as it is for one picture.

    Attributes:
        arm: With the select call that makes the picture.
        names: What was drawn for its slots.
    """

    arm: Arm
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def details(self) -> str:
        """The names as a sample keeps them."""
        return json.dumps(self.names) if self.names else ""


def arm_drawn(design: Design, arm: Arm, seed: str) -> DrawnArm:
    """Draw for a picture of an arm; an arm of a design without pools stays as it is."""
    if not design.pools:
        return DrawnArm(arm)
    if not design.of_places:
        names = drawn_names(design.slots, design.pools, seed)
        return DrawnArm(_showing(arm, filled(_class_name(arm), names)), names)
    pool = _pool(design, arm)
    return DrawnArm(_showing(arm, random.Random(f"{seed}/class").choice(pool)) if pool else arm)


def asked(design: Design, sample: Sample) -> DrawnQuestion:
    """Return what is asked about a sample: before and after it was transformed the same."""
    arm, design = design.arms[sample.arm], design.of_arm(sample.arm)
    return asked_about(design, arm, sample.label, _seed_of(sample), names=_names_of(design, sample))


def asked_about(
    design: Design, arm: Arm, label: str, seed: str, *, names: Mapping[str, str] | None = None
) -> DrawnQuestion:
    """Return what is asked about a picture of an arm.

    Args:
        design: The experiment.
        arm: The arm.
        label: The class that the picture shows.
        seed: Chooses the other names, where answers are places.
        names: What was drawn for its slots.
    """
    if not design.of_places:
        drawn = names or {}
        choices = tuple(filled(choice, drawn) for choice in design.choices)
        return DrawnQuestion(filled(design.asked(arm), drawn)[:300], choices, filled(arm.answer, drawn))
    words = [with_article(name) for name in _named(design, arm, label, seed)]
    place = design.classes.index(arm.answer)
    question = design.asked(arm).replace(BLANK, listing(words, "or"))
    return DrawnQuestion(question[:300], (*words, *design.choices[len(words) :]), words[place])


def recognition(design: Design, sample: Sample) -> list[DrawnQuestion]:
    """Return the questions whether a model recognizes what a picture shows, for each slot that it has to know.

    Each asks for the right name among others of its pool that are not in the picture.
    """
    names, pools = _names_of(design, sample), [design.slots[name].pool for name in design.known]
    among = sorted({name for pool in pools for name in design.pools[pool]} - set(names.values()))
    questions = []
    for slot in design.known:
        dice = random.Random(f"{_seed_of(sample)}/{slot}")
        choices = dice.sample(among, min(_BESIDE, len(among)))
        choices.insert(dice.randint(0, len(choices)), names[slot])
        words = tuple(map(with_article, choices))
        questions.append(DrawnQuestion(OPEN, words, with_article(names[slot])))
    return questions


def pool_said(design: Design, sample: Sample, answer: str | None) -> str:
    """Name the pool of the class that was answered about a sample; empty where none was."""
    if answer not in design.classes:
        return ""
    names = _named(design, design.arms[sample.arm], sample.label, _seed_of(sample))
    name = names[design.classes.index(answer)]
    return next((pool for pool, members in design.pools.items() if name in members), "")


def _named(design: Design, arm: Arm, label: str, seed: str) -> list[str]:
    """Draw the names that a picture is asked about with, in their order: of three pools, one of each."""
    own, place = _pool(design, arm), design.classes.index(arm.answer)
    dice = random.Random(f"{seed}/names")
    pools = [pool for pool in design.pools.values() if pool != own] or [own]
    if len(pools) > 1:
        names = dice.sample([dice.choice(pool) for pool in pools], len(pools))
    else:
        names = dice.sample([name for name in pools[0] if name != label], len(design.classes) - 1)
    names.insert(place, label)
    return names


def said_in_words(design: Design, choices: Sequence[str], answer: str | None) -> str | None:
    """Return an answer as the model read it, where it has names that were drawn."""
    return choices[design.choices.index(answer)] if answer is not None and design.pools else answer


def pool_of(design: Design, arm: Arm) -> str:
    """Return the name of the pool from which the classes of an arm are drawn; empty where there is none."""
    name = _class_name(arm)
    return name if name in design.pools else ""


def _seed_of(sample: Sample) -> str:
    return f"{sample.plain}/{sample.round}/{sample.arm}"


def _names_of(design: Design, sample: Sample) -> dict[str, str]:
    """Return what was drawn for a sample's slots."""
    return {} if design.of_places or not sample.details else dict(json.loads(sample.details))


def _class_name(arm: Arm) -> str:
    return str(arm.select.arguments.get("class_name", ""))


def _showing(arm: Arm, class_name: str) -> Arm:
    """Return an arm whose pictures show something else."""
    call = arm.select.model_copy(update={"arguments": {**arm.select.arguments, "class_name": class_name}})
    return arm.model_copy(update={"select": call})


def _pool(design: Design, arm: Arm) -> list[str]:
    return design.pools.get(_class_name(arm), [])
