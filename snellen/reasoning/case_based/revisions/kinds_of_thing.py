"""Other names: a thing is looked for by the names of its kinds, too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from snellen.reasoning.case_based.revisions.failed_run import FailedRun, Rewrite, text_of
from snellen.tools.program.expressions import parse_expression

if TYPE_CHECKING:
    from snellen.models.vision.name_expansion import KnownConcept


def kinds_of_thing(run: FailedRun, address: str) -> Rewrite | None:
    """Look for the kinds of a thing as well where LOC did not find it: a police car is a car, a running shoe a shoe.

    The kinds are the names that end with the name, are of its group, and of which all is true that is true of it (a
    cable car drives on no road, so it is no car)::

        BOX0=LOC(image=IMAGE,object='car')    →    BOX0=LOC(image=IMAGE,object='car, police car')
    """
    search = run.call(address, "LOC")
    names = run.names.names(text_of(search, "object")) if search and text_of(search, "object") else []
    thing = next((one for one in run.names.concepts if names == [one.name]), None)
    if search is None or thing is None:
        return None
    kinds = [one.name for one in run.names.concepts if one.taught and _is_kind(one, thing)]
    if not kinds:
        return None
    wider = parse_expression(repr(", ".join([thing.name, *kinds])))
    statement = replace(search, arguments=search.arguments | {"object": wider})
    return Rewrite(run.in_place_of(search, [statement]), f"Look for {', '.join(kinds)}, too: kinds of {thing.name}.")


def _is_kind(one: KnownConcept, thing: KnownConcept) -> bool:
    # A name with "and" in it would be read as two.
    is_named_so = one.name.endswith(f" {thing.name}") and " and " not in one.name
    return is_named_so and one.group == thing.group and one.facts >= thing.facts
