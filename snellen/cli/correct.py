"""``snellen correct``."""

from __future__ import annotations

import argparse
import asyncio
from typing import Final

from snellen.cli.ask import refuse_confirming_and_insisting
from snellen.cli.options import ANSWER, CONFIRM, EXECUTOR, INSIST, NO_RESIDENT, OTHER_PROFILE, OUTPUTS, command, option
from snellen.errors import BadInput
from snellen.threads.thread import graph_of
from snellen.values import Region

_CORNERS: Final = 4


@command(
    "correct",
    option("thread", metavar="THREAD", help="a finished run or investigation of `snellen threads`"),
    option("says", nargs="?", metavar="WORDS", help='what is wrong: "that is not a flamingo"'),
    ANSWER.but(help="the right answer"),
    option("--region", metavar="L,T,R,B", help="left, top, right, bottom of the missed thing in the first picture"),
    option("--label", metavar="NAME", help="what the thing in the region is called"),
    CONFIRM,
    INSIST,
    OTHER_PROFILE,
    EXECUTOR,
    NO_RESIDENT,
    *OUTPUTS,
    examples="""
        snellen threads
        snellen correct THREAD "that is not a flamingo"
        snellen correct THREAD --answer 3
        snellen correct THREAD --region 10,20,60,80 --label penguin --html again.html
        snellen correct REPORT_ID --html corrected.html    # teaches models what they were found weak in
    """,
)
def correct(options: argparse.Namespace) -> int:
    """Correct the answer of a run, or the models of an investigation; it learns and tries again."""
    if asyncio.run(graph_of(options.thread)) == "investigate":
        return _correct_models(options)
    if options.label and options.region is None:
        msg = "--label names the thing in a region: show where it is with --region, or say it in words."
        raise BadInput(msg)
    refuse_confirming_and_insisting(options)
    region = None if options.region is None else _region(options.region, options.label or "")
    from snellen.cli.ask_display import AskDisplay
    from snellen.cli.following import follow
    from snellen.threads import ask as asking

    return follow(
        AskDisplay(),
        lambda decide: asking.correct(
            options.thread,
            expected=options.answer,
            says=options.says or "",
            region=region,
            profile=options.profile,
            approve=options.confirm,
            insist=options.insist,
            decide=decide,
        ),
        options,
    )


def _correct_models(options: argparse.Namespace) -> int:
    if options.says or options.answer or options.region or options.label:
        msg = f"{options.thread!r} is an investigation, which knows what is wrong: name nothing but its id."
        raise BadInput(msg)
    from snellen.cli.following import follow
    from snellen.cli.investigation_display import InvestigationDisplay
    from snellen.threads import investigate as investigations

    return follow(
        InvestigationDisplay(),
        lambda decide: investigations.correct_investigation(
            options.thread, approve=options.confirm, profile=options.profile, decide=decide
        ),
        options,
    )


def _region(text: str, label: str) -> Region:
    """Read ``left,top,right,bottom``.

    Raises:
        BadInput: it is not four whole numbers.
    """
    try:
        corners = [int(part) for part in text.split(",")]
    except ValueError:
        corners = []
    if len(corners) != _CORNERS:
        msg = f"--region {text[:40]} is not left,top,right,bottom: give four whole numbers, as in 10,20,60,80."
        raise BadInput(msg)
    x0, y0, x1, y1 = corners
    if x0 >= x1 or y0 >= y1:
        msg = f"--region {text[:40]} is empty: its right and bottom must be greater than its left and top."
        raise BadInput(msg)
    return Region((x0, y0, x1, y1), 1.0, " ".join(label.split()))
