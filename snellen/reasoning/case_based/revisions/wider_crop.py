"""A wider crop: what was cut out too tightly is cut out with what is around it."""

from __future__ import annotations

from dataclasses import replace

from snellen.reasoning.case_based.revisions.failed_run import FailedRun, Rewrite, calling, variable
from snellen.tools.program.expressions import parse_expression


def wider_crop(run: FailedRun, address: str) -> Rewrite | None:
    """Widen the box before the crop in which LOC found nothing, or of which VQA said what it was not asked.

    The box of half a thing shows half of it, and what a thing wears or carries stands out of its box. A crop of nothing
    is the whole picture already::

        IMAGE0=CROP(image=IMAGE,box=BOX0)    →    WIDE0=WIDEN(image=IMAGE,object=BOX0)
                                                  IMAGE0=CROP(image=IMAGE,box=WIDE0)
    """
    looking = run.call(address, "LOC", "VQA")
    cut = run.setter(variable(looking, "image")) if looking else None
    if cut is None or cut.tool != "CROP" or not variable(cut, "box") or not variable(cut, "image"):
        return None
    of = run.setter(variable(cut, "box"))
    if (of is not None and of.tool == "WIDEN") or not run.was_given(cut, "box"):
        return None
    wide = run.fresh("WIDE")
    widening = calling(wide, "WIDEN", image=cut.arguments["image"].text, object=cut.arguments["box"].text)
    wider = replace(cut, arguments=cut.arguments | {"box": parse_expression(wide)})
    return Rewrite(run.in_place_of(cut, [widening, wider]), "Cut the picture out with what is around the thing.")
