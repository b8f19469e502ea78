"""The whole picture: a question about a region that was not found is asked of the picture, where VQA sees the thing."""

from __future__ import annotations

from dataclasses import replace

from snellen.reasoning.case_based.revisions.failed_run import FailedRun, Rewrite, calling, text_of, variable
from snellen.reasoning.case_based.revisions.named_in_group import bare_name
from snellen.tools.program import Assign, Call, If
from snellen.tools.program.expressions import parse_expression


def whole_picture(run: FailedRun, address: str) -> Rewrite | None:
    """Ask VQA about the whole picture where PICTURE failed for want of a region, if VQA says that the thing is there.

    Where VQA denies it too, the step fails as before, and nothing is answered about what nobody sees::

                                            SEEN0=VQA(image=IMAGE,question='is there a dog?')
                                            if SEEN0:
        PICTURE0=PICTURE(object=BOX0)  →        PICTURE0=IMAGE
                                            else:
                                                PICTURE0=PICTURE(object=BOX0)
    """
    search = run.call(address, "LOC")
    sought = bare_name(text_of(search, "object"), run.names) if search else ""
    cuts = [one for one in run.users(search.target) if isinstance(one, Call)] if search else []
    cut = next((one for one in cuts if one.tool == "PICTURE" and variable(one, "object")), None)
    if search is None or cut is None or not sought or not variable(search, "image"):
        return None
    image, seen = variable(search, "image"), run.fresh("SEEN")
    asking = calling(seen, "VQA", image=image, question=repr(f"is there {_with_article(sought)}?"))
    whole = Assign(cut.target, parse_expression(image), 0, "")
    choosing = If(parse_expression(seen), (whole,), (replace(cut),), 0, "")
    change = f"Ask about the whole picture, if there is {_with_article(sought)} in it."
    return Rewrite(run.in_place_of(cut, [asking, choosing]), change)


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
