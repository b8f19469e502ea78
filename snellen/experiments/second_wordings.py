"""Second wordings of experiments: the same question in other words, before a model is said to fail at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from snellen.experiments.drawn_names import slots_in
from snellen.reasoning.language.inflection import listing

if TYPE_CHECKING:
    from snellen.experiments.design import Arm, Design

_OPEN: Final = "What is in the image?"
_MARK: Final = "The same in other words. "
_ENOUGH: Final = 5
"""Names from which a thing is asked for by its own, beside those that a question has already."""

_LEAST: Final = 96
"""Pictures that are made before anybody looks where only those count whose things a model recognizes."""


def asked_otherwise(design: Design) -> Design:
    """Return an experiment with the same kinds of pictures and the same answers, but another question.

    What names things among its answers asks openly what is in the image. Arms that say how they are asked otherwise
    (`Arm.otherwise`) are asked so; where these still name things that were drawn, those pictures count whose things the
    model recognizes: whoever fails at those, too, does not fail for their names. Else answers come in another order.
    """
    if design.of_places:  # the right name stands at any place anyway
        return _again(design, _OPEN, design.arms)
    if all(arm.otherwise for arm in design.arms):
        return _reworded(design)
    classes = design.classes
    said, turned = listing(classes, "or"), listing(classes[::-1], "or")

    def reworded(question: str) -> str:
        if said in question:
            return _OPEN if design.about_things else question.replace(said, turned)
        return f"{question} Choose {turned}."[:300]

    arms = [
        arm.model_copy(update={"question": reworded(arm.question) if arm.question else ""})
        for answer in classes[::-1]
        for arm in design.arms
        if arm.answer == answer
    ]
    return _again(design, reworded(design.question), arms)


def _reworded(design: Design) -> Design:
    arms: list[Arm] = []
    for arm in sorted(design.arms, key=lambda each: design.classes.index(each.answer), reverse=True):
        said = {} if arm.otherwise is None else arm.otherwise.model_dump()
        again = arm.model_copy(update={**said, "otherwise": None})
        arms += [again] if again not in arms else []  # what was asked in two ways may be one in other words
    # What tells the answers apart is asked for; what is named whatever the answer is, is there to be known.
    in_answers = [frozenset(slots_in([arm.answer], design.pools)[0]) for arm in arms]
    named, _ = slots_in((text for arm in arms for text in (arm.question, arm.answer)), design.pools)
    known = sorted(set(named) - (frozenset().union(*in_answers) - in_answers[0].intersection(*in_answers)))
    names = {name for slot in known for name in design.pools[named[slot].pool]}
    repeated = _again(design, arms[0].question, arms)
    if not known or len(names) < len(known) + _ENOUGH:
        return repeated
    who = "both of them recognize" if any(claim.other for claim in design.claims) else "it recognizes"
    skill = f"{design.skill} that {who}"[:300]
    return repeated.model_copy(update={"known": known, "skill": skill, "least": max(design.least, _LEAST)})


def _again(design: Design, question: str, arms: list[Arm]) -> Design:
    return design.model_copy(update={"question": question, "arms": arms, "purpose": f"{_MARK}{design.purpose}"[:300]})


def is_second_wording(design: Design) -> bool:
    """Tell whether an experiment repeats another one in other words."""
    return design.purpose.startswith(_MARK)
