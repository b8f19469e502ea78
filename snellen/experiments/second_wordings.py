"""Second wordings of experiments: the same question in other words, before a model is said to fail at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from snellen.reasoning.language.inflection import listing

if TYPE_CHECKING:
    from snellen.experiments.design import Arm, Design

_OPEN: Final = "What is in the image?"
_MARK: Final = "The same in other words. "


def asked_otherwise(design: Design) -> Design:
    """Return an experiment with the same kinds of pictures and the same answers, but another question.

    What names things among its answers asks openly what is in the image. Otherwise the answers come in another order.
    """
    classes = design.classes
    said, turned = listing(classes, "or"), listing(classes[::-1], "or")

    def reworded(question: str) -> str:
        if said in question:
            return _OPEN if design.about_things else question.replace(said, turned)
        return f"{question} Choose {turned}."[:300]

    if design.pools:  # the right name stands at any place anyway
        return _again(design, _OPEN, design.arms)
    arms = [
        arm.model_copy(update={"question": reworded(arm.question) if arm.question else ""})
        for answer in classes[::-1]
        for arm in design.arms
        if arm.answer == answer
    ]
    return _again(design, reworded(design.question), arms)


def _again(design: Design, question: str, arms: list[Arm]) -> Design:
    return design.model_copy(update={"question": question, "arms": arms, "purpose": f"{_MARK}{design.purpose}"[:300]})


def is_second_wording(design: Design) -> bool:
    """Tell whether an experiment repeats another one in other words."""
    return design.purpose.startswith(_MARK)
