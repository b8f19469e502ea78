"""Answers that are drawn for each picture, so that a verdict is about all classes of a pool, not about a few of them.

In most experiments the answers are the same for every picture ("a banana or a caterpillar?"), and what they show is
about these. An experiment with pools draws a class for each picture, and others to name beside it: "Is the object in
the image a ship or a violin?". Its answers are the places at which the right name stands. A picture with its names is
one draw from all that could be asked, independent of the others. The confidence sequences suppose no more than that, so
they hold over classes and pictures alike.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.experiments.design import BLANK
from snellen.reasoning.language.inflection import listing, with_article

if TYPE_CHECKING:
    from snellen.experiments.design import Arm, Design
    from snellen.memory.samples import Sample


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


def arm_drawn(design: Design, arm: Arm, seed: str) -> Arm:
    """Return an arm whose pictures are of one class of its pool; as it is where there are no pools."""
    pool = _pool(design, arm)
    if not pool:
        return arm
    chosen = random.Random(f"{seed}/class").choice(pool)
    call = arm.select.model_copy(update={"arguments": {**arm.select.arguments, "class_name": chosen}})
    return arm.model_copy(update={"select": call})


def asked(design: Design, sample: Sample) -> DrawnQuestion:
    """Return what is asked about a sample: before and after it was transformed the same."""
    return asked_about(design, design.arms[sample.arm], sample.label, _seed_of(sample))


def asked_about(design: Design, arm: Arm, label: str, seed: str) -> DrawnQuestion:
    """Return what is asked about a picture of an arm.

    Args:
        design: The experiment.
        arm: The arm.
        label: The class that the picture shows.
        seed: Chooses the other names.
    """
    if not design.pools:
        return DrawnQuestion(design.asked(arm), tuple(design.choices), arm.answer)
    names = _names(design, arm, label, seed)
    place = design.classes.index(arm.answer)
    words = [with_article(name) for name in names]
    question = design.asked(arm).replace(BLANK, listing(words, "or"))
    return DrawnQuestion(question[:300], (*words, *design.choices[len(words) :]), words[place])


def pool_said(design: Design, sample: Sample, answer: str | None) -> str:
    """Name the pool of the class that was answered about a sample; empty where none was."""
    if answer not in design.classes:
        return ""
    names = _names(design, design.arms[sample.arm], sample.label, _seed_of(sample))
    name = names[design.classes.index(answer)]
    return next((pool for pool, members in design.pools.items() if name in members), "")


def _names(design: Design, arm: Arm, label: str, seed: str) -> list[str]:
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


def _seed_of(sample: Sample) -> str:
    return f"{sample.plain}/{sample.round}/{sample.arm}"


def said_in_words(design: Design, choices: Sequence[str], answer: str | None) -> str | None:
    """Return an answer as the model read it: the name at its place, where answers are places."""
    return choices[design.choices.index(answer)] if answer is not None and design.pools else answer


def _pool(design: Design, arm: Arm) -> list[str]:
    return design.pools.get(str(arm.select.arguments.get("class_name", "")), [])
