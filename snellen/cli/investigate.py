"""``snellen investigate``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from snellen.cli.display import agrees, print_hint
from snellen.cli.options import (
    CONFIRM,
    EXECUTOR,
    HTML,
    JSON,
    MODELS,
    OUT,
    PICTURES,
    PROFILE,
    SEED,
    THREAD_NAME,
    command,
    option,
)
from snellen.errors import BadInput


@command(
    "investigate",
    option("query", nargs="*", metavar="QUERY", help="what you want to know about the models, in words"),
    MODELS.but(help="examine this model; repeat for more (default: those that the query names, or all there are)"),
    PICTURES.but(help="draw samples from your pictures: DIR/dog/*.jpg, a folder for each class"),
    option(
        "--alpha",
        type=float,
        default=0.05,
        metavar="A",
        help="the share of verdicts that may be wrong, whenever you stop (default: 0.05)",
    ),
    option(
        "--budget",
        action="append",
        metavar="NAME=N",
        help="set a limit, such as images=500; repeat for more. Limits and defaults: experiments (5), images (2000), "
        "each (images of one experiment), decision (images that a decided claim is worth, 2000), trials (40000), "
        "seconds (3600), tokens (200000)",
    ),
    SEED.but(default=None, help="choose other pictures (default: the query's own, which no other query saw)"),
    CONFIRM.but(help="ask before each experiment; without a terminal, stop and wait"),
    option(
        "--correct",
        action="store_true",
        help="then teach models what they turned out to be weak in (LoRA), and measure again on fresh pictures",
    ),
    option(
        "--protocol",
        choices=("auto", "choice", "freeform", "pairs"),
        default="auto",
        help="let models choose answers, answer freely, or score pairs (default: as the query implies)",
    ),
    THREAD_NAME,
    PROFILE,
    EXECUTOR,
    OUT.but(help="write report.html, report.md, report.json and all trials into this folder"),
    HTML,
    JSON,
    examples="""
        snellen investigate "Are these models robust to rotation?"
        snellen investigate "Can llava-upright tell left from right?" --html report.html
        snellen investigate "Which of clip and blip is better at birds?" --alpha 0.01 --out found
        snellen investigate "Can models recognize fruit?" --budget images=500 --confirm
        snellen investigate "Which model tells the truth most often?"                    # free answers
        snellen investigate "Can I trust llava-judge to judge similarity under blur?"    # pairs
    """,
)
def investigate(options: argparse.Namespace) -> int:
    """Answer a question about models by experiments, run until the evidence suffices."""
    budget = _budget(options.budget or [])
    from snellen.cli.following import follow
    from snellen.cli.investigation_display import InvestigationDisplay
    from snellen.threads import investigate as investigations

    request = investigations.InvestigationRequest(
        query=" ".join(options.query),
        models=options.models or (),
        profile=options.profile,
        pictures=options.pictures,
        alpha=options.alpha,
        budget=budget,
        seed=options.seed,
        approve=options.confirm,
        correct=options.correct,
        protocol=options.protocol,
    )

    def begun(request: investigations.InvestigationRequest) -> int:
        return follow(
            InvestigationDisplay(),
            lambda decide: investigations.stream_investigate(request, thread=options.thread, decide=decide),
            options,
        )

    try:
        return begun(request)
    except BadInput as error:
        if options.json or not sys.stdin.isatty():
            raise
        meant = _meant(error)
    return begun(replace(request, query=meant))


def _meant(error: BadInput) -> str:
    """Ask on the terminal which meaning of a query is meant.

    Raises:
        BadInput: The query has no several meanings, or none of them is meant.
    """
    from snellen.experiments.understanding import AmbiguousQueryError

    if not isinstance(error, AmbiguousQueryError):
        raise error
    for each in error.left_out:
        print_hint(f"snellen: {each}")
    for each in error.readings:
        if agrees(f"Do you mean “{each}”?"):
            return each
    msg = "Nothing was examined, as none of that is meant: ask in other words."
    raise BadInput(msg) from error


def _budget(parts: Sequence[str]) -> dict[str, float]:
    """Read ``images=500``, several of them.

    Raises:
        BadInput: A part is no name with a number.
    """
    budget: dict[str, float] = {}
    for part in (one for text in parts for one in text.split(",")):
        name, _, number = part.partition("=")
        try:
            budget[name.strip()] = float(number) if "." in number else int(number)
        except ValueError as error:
            msg = f"--budget {part[:40]} is not name=number: for example images=500 or seconds=120."
            raise BadInput(msg) from error
    return budget
