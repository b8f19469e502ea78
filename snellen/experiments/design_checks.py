"""Checks of designs before they are run: their answers are balanced, their tools read, their slots filled."""

from __future__ import annotations

from snellen.errors import BadInput
from snellen.experiments.design import BY_CLASS, MAX_CHOICES, PLACES, UNKNOWN, Design
from snellen.experiments.drawn_names import slots_in
from snellen.tools.samples import SELECTS
from snellen.tools.transforms import TRANSFORMS


def checked(design: Design, models: list[str]) -> Design:
    """Return a design with the arguments of all its tools, defaults filled in.

    Args:
        design: As it was written.
        models: The models that are examined.

    Raises:
        BadInput: It names a tool, an argument or a model that there is not, its classes are not balanced, or it cannot
            prove what it claims. The message is for whoever wrote it.
    """
    needed = max(design.least, len(design.arms))
    if design.most and design.most < needed:
        msg = f"`most` allows {design.most} pictures, and it takes {needed}"
        raise BadInput(msg)
    if design.protocol != "choice":
        return _named(design, models)
    for part in design.parts:
        _check_answers(part)
    _check_tasks(design)
    _check_pairs(design)
    _named(design, models)
    arms = [
        arm.model_copy(
            update={
                "select": SELECTS.read(arm.select),
                "transform": TRANSFORMS.read(arm.transform),
                "against": TRANSFORMS.read(arm.against),
            }
        )
        for arm in design.arms
    ]
    return design.model_copy(update={"arms": arms})


def _check_tasks(design: Design) -> None:
    """Check that of two tasks neither is asked more often, nor guessed more easily.

    Raises:
        BadInput: One is.
    """
    if any((claim.kind == "contrast") != bool(design.tasks) for claim in design.claims):
        msg = "claims of the kind 'contrast' compare `tasks`, and no other claims do"
        raise BadInput(msg)
    if any((claim.kind in BY_CLASS) != bool(design.compared) for claim in design.claims):
        msg = "claims of the kinds 'worst', 'best' and 'classes' are about those in `compared`, and no other claims are"
        raise BadInput(msg)
    if any(claim.count > len(design.compared) for claim in design.claims):
        msg = "a claim of the kind 'classes' has a `count` of at most as many as there are in `compared`"
        raise BadInput(msg)
    if design.compared and (len(design.compared) < 2 or not design.of_places):  # noqa: PLR2004 - two to compare
        msg = "`compared` has two classes or more, with pictures drawn from `pools` and places as answers"
        raise BadInput(msg)
    if not design.tasks:
        return
    one, other = design.parts
    if len(one.classes) != len(other.classes) or design.paired or design.pools or design.known:
        msg = "two `tasks` have the same number of answers, and pools of their own; they are not paired"
        raise BadInput(msg)


def _check_answers(design: Design) -> None:
    """Check that answers are balanced, and can be drawn.

    Raises:
        BadInput: They are not, or cannot.
    """
    classes = design.classes
    if not 2 <= len(classes) <= MAX_CHOICES - design.unknown:  # noqa: PLR2004 - with one answer nothing is asked
        msg = f"an experiment needs 2 to {MAX_CHOICES} different answers, not {len(classes)}"
        raise BadInput(msg)
    if any(name.casefold() == UNKNOWN for name in classes) or len({name.casefold() for name in classes}) < len(classes):
        msg = f"the answers must differ, and none may be {UNKNOWN!r}: that choice is added by itself"
        raise BadInput(msg)
    numbers = {name: sum(arm.answer == name for arm in design.arms) for name in classes}
    if len(set(numbers.values())) > 1:
        counts = ", ".join(f"{number} of {name!r}" for name, number in numbers.items())
        msg = f"every answer needs the same number of arms, so that classes are balanced; there are {counts}"
        raise BadInput(msg)
    sizes = {kind: sum(design.kind_of(name) == kind for name in classes) for kind in design.told_apart}
    if design.kinds and (len(sizes) < 2 or len(set(sizes.values())) > 1 or set(sizes) != set(design.kinds)):  # noqa: PLR2004 - with one kind all is right
        msg = "every answer is of one of the `kinds`, of which there are two or more with as many answers each"
        raise BadInput(msg)
    if design.pools:
        _check_pools(design)


def _check_pairs(design: Design) -> None:
    """Check that what is compared is asked about the same pictures twice, and that mistakes can be told.

    Raises:
        BadInput: It is not, or they cannot.
    """
    if not design.paired and any(claim.kind in {"plain", "drop", "steadier"} for claim in design.claims):
        msg = "claims about pictures before they were transformed need `paired`"
        raise BadInput(msg)
    if design.paired and all(arm.transform.name == "Identity" for arm in design.arms):
        msg = "a paired experiment transforms its pictures"
        raise BadInput(msg)
    if (design.paired and bool(design.against)) != any(arm.against.name != "Identity" for arm in design.arms):
        msg = "where pictures are compared `against` others, the experiment is paired, and says in words with which"
        raise BadInput(msg)
    if any(claim.answer not in design.classes for claim in design.claims if claim.kind == "favor"):
        msg = f"what is favored is one of the answers: {', '.join(design.classes)}"
        raise BadInput(msg)
    if any(claim.answer not in design.pools for claim in design.claims if claim.kind == "mistake"):
        msg = f"what things are mistaken for is one of the `pools`: {', '.join(design.pools) or 'there are none'}"
        raise BadInput(msg)


def _check_pools(design: Design) -> None:
    """Check that answers can be drawn for each picture.

    Raises:
        BadInput: They cannot.
    """
    if not design.of_places:
        _check_slots(design)
        return
    places = PLACES[: len(design.classes)]
    if any(str(arm.select.arguments.get("class_name")) not in design.pools for arm in design.arms):
        msg = f"with `pools` each arm's select tool names one of them: {', '.join(design.pools)}"
        raise BadInput(msg)
    least = len(places) if len(design.pools) == 1 else len(places) - 1 if len(design.pools) == 2 else 1  # noqa: PLR2004
    if any(len(set(pool)) < least for pool in design.pools.values()):
        msg = f"a question with {len(places)} answers needs pools of {least} classes or more"
        raise BadInput(msg)
    if len(design.pools) > 2 and len(places) != len(design.pools):  # noqa: PLR2004 - one name of each
        msg = f"with {len(design.pools)} pools a question has as many answers, a name of each"
        raise BadInput(msg)


def _check_slots(design: Design) -> None:
    """Check that every slot can be filled, and that each picture shows something that was drawn.

    Raises:
        BadInput: They cannot.
    """
    slots, unknown = design.slots, design.unfilled
    if unknown:
        msg = f"no pool fills [{unknown[0][:80]}]: there are {', '.join(design.pools)}"
        raise BadInput(msg)
    if not all(slots_in([str(arm.select.arguments.get("class_name", ""))], design.pools)[0] for arm in design.arms):
        msg = (
            "with `pools` the answers are the places of the right name "
            f"({', '.join(PLACES[:2])}, …), or each arm's select tool has a slot: [{next(iter(design.pools))}]"
        )
        raise BadInput(msg)
    for pool, names in design.pools.items():
        wanted = sum(slot.pool == pool for slot in slots.values())
        if len(set(names)) < max(wanted, 1):
            msg = f"{wanted} different names are drawn from {pool!r}, which has {len(set(names))}"
            raise BadInput(msg)
    if not set(design.known) <= set(slots):
        msg = f"`known` names slots: {', '.join(slots)}"
        raise BadInput(msg)


def _named(design: Design, models: list[str]) -> Design:
    """Return a design whose models are all examined.

    Raises:
        BadInput: One of them is not.
    """
    strangers = set(design.models) - set(models)
    if strangers:
        msg = f"no model {min(strangers)!r} is examined; there are {', '.join(models)}"
        raise BadInput(msg)
    return design
