"""Boxes instead of cuts: what is left of a thing is found in the whole picture, then kept by its box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from snellen.reasoning.case_based.revisions.failed_run import FailedRun, Rewrite, calling, variable
from snellen.tools.program import Call, Statement

RELATIONS: Final = {
    "CROP_LEFTOF": "LEFT_OF", "CROP_LEFT": "LEFT_OF", "CROP_RIGHTOF": "RIGHT_OF", "CROP_RIGHT": "RIGHT_OF",
    "CROP_ABOVE": "ABOVE", "CROP_OVER": "ABOVE", "CROP_TOP": "ABOVE",
    "CROP_BELOW": "BELOW", "CROP_BOTTOM": "BELOW", "CROP_UNDER": "BELOW",
}  # fmt: skip
"""Cuts, and the relation by boxes that each stands for."""
_BESIDE: Final = frozenset({"box", "object"})
"""Arguments by which a tool takes regions beside their picture."""


def boxes_for_cuts(run: FailedRun, address: str) -> Rewrite | None:
    """Look in the whole picture, and keep what stands in the relation, where LOC found nothing in a cut.

    A cut through the middle of the reference leaves half of what crosses it, and strips too narrow to see in::

        IMAGE0=CROP_LEFTOF(image=IMAGE,box=BOX0)      BOX2=LOC(image=IMAGE,object='house')
        BOX1=LOC(image=IMAGE0,object='house')    →    BOX1=LEFT_OF(object=BOX2,of=BOX0)
        IMAGE1=CROP(image=IMAGE0,box=BOX1)            IMAGE1=CROP(image=IMAGE,box=BOX1)

    The cut picture must serve nothing but that: LOC in it, and calls with the regions that were found in it. A cut by
    nothing is the whole picture already.
    """
    search = run.call(address, "LOC")
    cut = run.setter(variable(search, "image")) if search else None
    if cut is None or cut.tool not in RELATIONS or not variable(cut, "box") or not variable(cut, "image"):
        return None
    if not run.was_given(cut, "box"):
        return None
    searches = [one for one in run.users(cut.target) if _is_search(one, cut.target)]
    regions = {one.target for one in searches if isinstance(one, Call)}
    if not all(_is_search(one, cut.target) or _is_with(regions, one, cut.target) for one in run.users(cut.target)):
        return None
    relation, whole = RELATIONS[cut.tool], cut.arguments["image"]
    names: list[str] = []

    def change(statement: Statement) -> Sequence[Statement]:
        if statement is cut:
            return []
        if not isinstance(statement, Call) or variable(statement, "image") != cut.target:
            return [statement]
        moved = replace(statement, arguments=statement.arguments | {"image": whole})
        if not _is_search(statement, cut.target):
            return [moved]
        names.append(run.fresh("BOX", names))
        kept = calling(statement.target, relation, object=names[-1], of=cut.arguments["box"].text)
        return [replace(moved, target=names[-1]), kept]

    side = relation.replace("_", " ").lower()
    sentence = f"Look in the whole picture and keep what is {side} the other by its box, without a cut."
    return Rewrite(run.rewritten(change), sentence)


def _is_search(statement: Statement, picture: str) -> bool:
    return isinstance(statement, Call) and statement.tool == "LOC" and variable(statement, "image") == picture


def _is_with(regions: set[str], statement: Statement, picture: str) -> bool:
    """Tell whether a statement takes a picture as ``image``, and regions that were found in it."""
    if not isinstance(statement, Call) or variable(statement, "image") != picture:
        return False
    return any(variable(statement, name) in regions for name in _BESIDE)
