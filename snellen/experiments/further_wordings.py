"""Further wordings of experiments: the same asked in other words, before a model is said to fail at it.

Each has the same kinds of pictures. Whoever fails at a question is asked the next wording; whoever gives one answer to
all pictures in one of them has not failed at that for what it sees, and is asked a third one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from snellen.experiments.design import BLANK
from snellen.experiments.drawn_names import slots_in
from snellen.reasoning.language.inflection import listing
from snellen.sentences import capitalized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from snellen.experiments.design import Arm, Design

OPEN: Final = "What is in the image?"
"""The question that names nothing."""
_MARKS: Final = ("The same in other words. ", "The same in yet other words. ")
_ENOUGH: Final = 5
"""Names from which a thing is asked for by its own, beside those that a question has already."""

_LEAST: Final = 96
"""Pictures that are made before anybody looks where only those count whose things a model recognizes."""


def further_wordings(design: Design) -> list[Design]:
    """Return an experiment with the same kinds of pictures in two other wordings.

    What names things among its answers asks openly what is in the image. Arms that say how they are asked otherwise
    (`Arm.otherwise`) are asked so; where these still name things that were drawn, those pictures count whose things the
    model recognizes: whoever fails at those, too, does not fail for their names. Else answers come in another order,
    and before the question.
    """
    if design.of_places:  # the right name stands at any place anyway
        questions = OPEN, f"Which of these is in the image: {BLANK}?"
        worded = [design.model_copy(update={"question": question}) for question in questions]
    elif all(arm.otherwise for arm in design.arms):
        number = min(len(arm.otherwise) for arm in design.arms)
        worded = [_reworded(design, which) for which in range(number)]
    else:
        worded = list(_in_another_order(design))
    return [
        one.model_copy(update={"purpose": purpose}) for purpose, one in zip(_purposes_of(design), worded, strict=False)
    ]


def is_further_wording(design: Design) -> bool:
    """Tell whether an experiment repeats another one in other words."""
    return design.purpose.startswith(_MARKS)


def is_further_wording_of(design: Design, planned: Design) -> bool:
    """Tell whether an experiment repeats a certain other one in other words, also in those of earlier versions."""
    return design.purpose in _purposes_of(planned)


def _purposes_of(design: Design) -> list[str]:
    return [f"{mark}{design.purpose}"[:300] for mark in _MARKS]


def _in_another_order(design: Design) -> Iterator[Design]:
    classes = design.classes
    said, turned = listing(classes, "or"), listing(classes[::-1], "or")

    def turned_round(question: str) -> str:
        return question.replace(said, turned) if said in question else f"{question} Choose {turned}."[:300]

    def second(question: str) -> str:
        return OPEN if said in question and design.about_things else turned_round(question)

    def third(question: str) -> str:
        if said not in question:
            return f"{capitalized(said)}: {question}"[:300]
        return turned_round(question) if design.about_things else f"{question} Choose {said}."[:300]

    yield _worded(design, second, classes[::-1])
    yield _worded(design, third, classes)


def _worded(design: Design, words: Callable[[str], str], answers: list[str]) -> Design:
    arms = [
        arm.model_copy(update={"question": words(arm.question) if arm.question else ""})
        for answer in answers
        for arm in design.arms
        if arm.answer == answer
    ]
    return design.model_copy(update={"question": words(design.question), "arms": arms})


def _reworded(design: Design, which: int) -> Design:
    arms: list[Arm] = []
    for arm in sorted(design.arms, key=lambda each: design.classes.index(each.answer), reverse=which == 0):
        again = arm.model_copy(update={**arm.otherwise[which].model_dump(), "otherwise": []})
        arms += [again] if again not in arms else []  # what was asked in two ways may be one in other words
    # What an answer names, the question need not name: a color is known by itself. Only where two things are to one
    # another cannot be told from whatever the answers have in common by somebody who does not know them.
    named, _ = slots_in((text for arm in arms for text in (arm.question, arm.answer)), design.pools)
    in_answers = [frozenset(slots_in([arm.answer], design.pools)[0]) for arm in arms]
    common = in_answers[0].intersection(*in_answers)
    known = sorted(set(named) - frozenset().union(*in_answers) | (common if len(common) > 1 else frozenset()))
    names = {name for slot in known for name in design.pools[named[slot].pool]}
    repeated = design.model_copy(update={"question": arms[0].question, "arms": arms})
    if not known or len(names) < len(known) + _ENOUGH:
        return repeated
    who = "both of them recognize" if any(claim.other for claim in design.claims) else "it recognizes"
    skill = f"{design.skill} that {who}"[:300]
    return repeated.model_copy(update={"known": known, "skill": skill, "least": max(design.least, _LEAST)})
