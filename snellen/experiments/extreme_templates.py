"""The experiment that says which classes a model recognizes worst, or best: all of them alike, by their own names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.experiments.class_groups import members_of
from snellen.experiments.template_parts import FINE, largest_first, retrieved
from snellen.experiments.templates import drawn_classes
from snellen.reasoning.language.inflection import listing, plural

if TYPE_CHECKING:
    from snellen.experiments.class_groups import ClassGroup, Subjects
    from snellen.experiments.design import Design
    from snellen.reasoning.queries.abilities import Kind

_EACH: Final = 6
"""Pictures of each class, on average, before anybody looks."""
_MOST: Final = 240
"""Pictures before anybody looks, however many classes there are."""


def experiment_comparing(things: Kind, subjects: Subjects) -> Design:
    """Return the experiment that compares the classes of a kind; of things of any kind, groups that share no class.

    Args:
        things: The kind.
        subjects: What pictures can be of.

    Raises:
        BadInput: There is one class of them, so that none is the worst.
    """
    group = subjects.kind(things)
    if group is not None:
        name, compared = group.name, {member[:64]: [member] for member in group.members}
    elif subjects.classes:
        name, compared = "classes", {each[:64]: [each] for each in subjects.classes}
    else:
        apart = _apart(subjects)
        name, compared = "things", {each.name[:64]: list(each.members) for each in apart}
    classes = [member for members in compared.values() for member in members]
    if len(compared) < 2:  # noqa: PLR2004 - two to compare
        msg = f"Pictures show only one kind of {plural(classes[0])}, so none of them is recognized worst or best."
        raise BadInput(msg)
    alone = len(classes) == len(compared)
    skill = f"recognizing each of {len(classes)} {name}" if alone else f"recognizing {name} of {len(compared)} kinds"
    design = drawn_classes(2, skill, {name: classes}, min(FINE, len(classes)))
    least = min(_EACH * len(compared), _MOST)
    purpose = design.purpose if alone else f"{design.purpose} It compares {listing(list(compared))}."[:300]
    made = design.model_copy(update={"compared": compared, "least": least, "purpose": purpose})
    return retrieved(made) if subjects.classes else made


def _apart(subjects: Subjects) -> list[ClassGroup]:
    """Return groups that share no class, the largest first."""
    chosen: list[ClassGroup] = []
    for group in largest_first(subjects.groups.values()):
        if not set(group.members) & set(members_of(chosen)):
            chosen.append(group)
    return chosen
