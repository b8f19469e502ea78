"""The likest of its group: where a question takes a thing for granted, the one of its group that looks most like it."""

from __future__ import annotations

from snellen.reasoning.case_based.revisions.failed_run import (
    FailedRun,
    Rewrite,
    calling,
    is_open,
    text_of,
    variable,
)
from snellen.reasoning.case_based.revisions.named_in_group import ANYTHING, group_of
from snellen.tools.program import Call, Statement


def likest_in_group(run: FailedRun, address: str) -> Rewrite | None:
    """Take the thing of the group that looks most like what LOC did not find, where its being there is out of question.

    "What color is the hen?" takes the hen for granted, so the likest bird is the best guess. What is counted, tested,
    edited or asked with yes or no is never guessed: the regions may serve nothing but crops that such questions are
    asked of::

        BOX0=LOC(image=IMAGE,object='hen')    →    BOX1=LOC(image=IMAGE,object='birds')
                                                   BOX0=SELECT(image=IMAGE,object=BOX1,query='hen')
    """
    search = run.call(address, "LOC")
    sought = text_of(search, "object") if search else ""
    group = group_of(sought, run.names) if sought else ""
    if search is None or group.split()[-1:] in ([], [ANYTHING]) or not variable(search, "image"):
        return None
    crops = run.users(search.target)
    if not crops or not all(_is_granted(run, one, search.target) for one in crops):
        return None
    image, located = variable(search, "image"), run.fresh("BOX")
    statements = [
        calling(located, "LOC", image=image, object=repr(group)),
        calling(search.target, "SELECT", image=image, object=located, query=repr(sought)),
    ]
    return Rewrite(run.in_place_of(search, statements), f"Take the one of the {group} that looks most like {sought}.")


def _is_granted(run: FailedRun, crop: Statement, regions: str) -> bool:
    """Tell whether a statement cuts out regions for questions alone that take them for granted."""
    if not isinstance(crop, Call) or crop.tool != "CROP" or variable(crop, "box") != regions:
        return False
    questions = run.users(crop.target)
    return bool(questions) and all(
        isinstance(one, Call) and one.tool == "VQA" and is_open(text_of(one, "question")) for one in questions
    )
