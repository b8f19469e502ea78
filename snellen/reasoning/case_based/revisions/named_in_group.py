"""Named in its group: all things of the group are located, and those kept that are named so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from snellen.reasoning.case_based.revisions.failed_run import FailedRun, Rewrite, calling, text_of, variable

if TYPE_CHECKING:
    from snellen.models.vision.name_expansion import Expansion

ANYTHING: Final = "object"
"""The group of all that tools know."""


def named_in_group(run: FailedRun, address: str) -> Rewrite | None:
    """Locate the group instead of the member that LOC did not find, and keep what NAME calls so.

    The detector may see a thing and take it for another of its kind; the classifier looks at it once more. Nothing is
    found that nobody names so::

                                                   BOX1=LOC(image=IMAGE,object='birds')
        BOX0=LOC(image=IMAGE,object='hen')    →    BOX2=NAME(image=IMAGE,object=BOX1)
                                                   BOX0=FILTER(object=BOX2,where="label in ['hen']")
    """
    search = run.call(address, "LOC")
    sought = text_of(search, "object") if search else ""
    group = group_of(sought, run.names) if sought else ""
    if search is None or not group or not variable(search, "image"):
        return None
    image = variable(search, "image")
    located = run.fresh("BOX")
    named = run.fresh("BOX", [located])
    members = [name for name in run.names.names(bare_name(sought, run.names)) if '"' not in name and "'" not in name]
    statements = [
        calling(located, "LOC", image=image, object=repr(group)),
        calling(named, "NAME", image=image, object=located),
        calling(search.target, "FILTER", object=named, where=f"label in {_listed(members)}"),
    ]
    return Rewrite(run.in_place_of(search, statements), f"Locate {group}, and keep what is named {sought}.")


def group_of(sought: str, names: Expansion) -> str:
    """Return the group of what is sought, with the words before its name ("red hen": "red birds"); else empty."""
    bare = bare_name(sought, names)
    if not bare:
        return ""
    members = set(names.names(bare))
    groups = {one.group for one in names.concepts if one.name in members}
    only = groups.pop() if len(groups) == 1 else ""
    larger = [only, *names.parents.get(only, ()), ANYTHING] if only else [ANYTHING]
    group = next((one for one in larger if members < set(names.names(one))), "")
    qualifier = " ".join(sought.split())[: -len(bare)].strip() if bare != " ".join(sought.split()) else ""
    return f"{qualifier} {group}".strip() if group else ""


def bare_name(sought: str, names: Expansion) -> str:
    """Return the part of what is sought that tools were taught, without the words before it; empty where none is."""
    words: Sequence[str] = sought.split()
    taught = set(names.all_names())
    parts = (" ".join(words[first:]) for first in range(len(words)))
    return next((part for part in parts if taught.issuperset(names.names(part))), "")


def _listed(members: Sequence[str]) -> str:
    return "[" + ", ".join(f"'{name}'" for name in members) + "]"
