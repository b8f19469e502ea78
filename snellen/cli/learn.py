"""``snellen learn``."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from typing import TYPE_CHECKING

from snellen.cli.display import print_json
from snellen.cli.options import CONFIRM, NO_RESIDENT, OUTPUTS, PICTURES, PROFILE, SEED, THREAD_NAME, command, option
from snellen.errors import BadInput, SnellenError
from snellen.runtime.running import BEGINNING, SignOfLife, run
from snellen.threads.events import LearningProgress

if TYPE_CHECKING:
    from snellen.graphs.states import Json


@command(
    "learn",
    option("concept", metavar="CONCEPT", help="what tools should learn to see, such as penguin"),
    option(
        "--tool",
        action="append",
        metavar="TOOL",
        help="teach this tool: LOC, SEG, SELECT, CLASSIFY or REPLACE; repeat for more (default: LOC and CLASSIFY; "
        "CLASSIFY alone where --pictures has no boxes)",
    ),
    PICTURES.but(
        help="learn from your pictures: DIR/penguin/*.jpg, a folder for each concept (others are counter-examples), "
        "or a COCO folder for LOC and SEG (default: the profile's)"
    ),
    SEED,
    option(
        "--method",
        choices=("prompts", "lora"),
        default="prompts",
        help="lora trains a LoRA adapter on the same pictures for comparison, and stores nothing",
    ),
    CONFIRM,
    THREAD_NAME,
    PROFILE,
    NO_RESIDENT,
    *OUTPUTS,
    examples="""
        snellen learn penguin                                       # LOC finds it, CLASSIFY names it
        snellen learn penguin --tool CLASSIFY --pictures mine       # mine/penguin/*.jpg
        snellen learn forklift --tool LOC --pictures coco --profile hub
        snellen learn penguin --confirm                             # asks before it learns
        snellen memory forget --concept penguin                     # undoes it
    """,
)
def learn(options: argparse.Namespace) -> int:
    """Teach tools a concept from pictures."""
    if options.method == "lora":
        return _compare(options)
    from snellen.cli.following import follow
    from snellen.cli.learning_display import LearningDisplay
    from snellen.threads import learn as learning

    return follow(
        LearningDisplay(),
        lambda decide: learning.stream_learn(
            options.concept,
            tools=options.tool or (),
            pictures=options.pictures,
            profile=options.profile,
            seed=options.seed,
            approve=options.confirm,
            thread=options.thread,
            decide=decide,
        ),
        options,
    )


def _compare(options: argparse.Namespace) -> int:
    """Learn by LoRA instead of prompts, to compare the two."""
    if options.confirm or options.thread or options.out or options.html:
        msg = "--method lora compares and stores nothing: leave out --confirm, --thread, --out and --html."
        raise BadInput(msg)
    from snellen.cli.learning_display import LearningDisplay
    from snellen.threads.learn import compare_lora

    display = LearningDisplay()

    def tell(progress: Json) -> None:
        sign.tell(display.doing(LearningProgress(progress)))
        if not options.json:
            display.show_progress(progress)

    work = compare_lora(
        options.concept,
        tools=options.tool or (),
        pictures=options.pictures,
        profile=options.profile,
        seed=options.seed,
        tell=tell,
    )
    watched = not options.json and display.screen.is_terminal
    with SignOfLife(BEGINNING).watching(quiet=watched) as sign, display.watching() if watched else nullcontext():
        adapted = run(work)
    if options.json:
        print_json({"method": "lora", "adapted": [one.to_json() for one in adapted]})
    else:
        for one in adapted:
            display.line("  ", str(one))
    if all(one.trouble for one in adapted):
        raise SnellenError("Nothing was learned. " + " ".join(dict.fromkeys(one.trouble for one in adapted)))
    return 0
