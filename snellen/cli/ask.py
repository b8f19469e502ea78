"""``snellen ask``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Final

from snellen.cli.options import (
    ANSWER,
    CONFIRM,
    INSIST,
    MEANING,
    NO_RESIDENT,
    OUTPUTS,
    PROFILE,
    THREAD_NAME,
    command,
    option,
    refuse_undecoded,
)
from snellen.errors import BadInput

MAX_INSTRUCTION_BYTES: Final = 4096


@command(
    "ask",
    option("words", nargs="*", metavar="PICTURE… INSTRUCTION", help="picture files, then what to do with them"),
    ANSWER,
    CONFIRM,
    INSIST,
    MEANING,
    option("--no-learn", action="store_true", help="only judge the answer against --answer; learn nothing"),
    THREAD_NAME,
    PROFILE,
    NO_RESIDENT,
    *OUTPUTS,
    examples="""
        snellen ask photo.jpg "What is left of the tree?" --profile hub
        snellen ask scene.png "Is there a cat and a dog?" --answer yes
        snellen ask scene.png "Blur everything but the horse" --out edited --html run.html
        snellen ask scene.png "How many birds are there?" --json | jq .answer
    """,
)
def ask(options: argparse.Namespace) -> int:
    """Answer a question about pictures, or edit them."""
    pictures, instruction = pictures_and_instruction(options.words)
    if options.confirm and options.no_learn:
        msg = "--confirm asks before anything is learned, and --no-learn learns nothing: leave out one of them."
        raise BadInput(msg)
    refuse_confirming_and_insisting(options)
    from snellen.cli.ask_display import AskDisplay
    from snellen.cli.following import follow
    from snellen.threads import ask as asking

    return follow(
        AskDisplay(),
        lambda decide: asking.stream_ask(
            pictures,
            instruction,
            expected=options.answer,
            profile=options.profile,
            thread=options.thread,
            learn="never" if options.no_learn else "approved" if options.confirm else "always",
            insist=options.insist,
            decide=decide,
        ),
        options,
    )


def pictures_and_instruction(words: Sequence[str]) -> tuple[list[str], str]:
    """Split the words of ``snellen ask`` into pictures and instruction.

    Raises:
        BadInput: A picture or the instruction is missing, the instruction is empty, too long or no text.
    """
    if not words:
        msg = 'Nothing was asked: name a picture and an instruction, as in `snellen ask scene.png "What is this?"`.'
        raise BadInput(msg)
    *pictures, instruction = words
    if os.path.isfile(instruction):  # noqa: PTH113 - pathlib refuses names too long for a file, as questions may be
        msg = f"The instruction is missing: after the last picture ({instruction}), say what to do with it."
        raise BadInput(msg)
    refuse_undecoded("instruction", instruction)
    size = len(instruction.encode())
    if not instruction.strip():
        msg = "The instruction is empty: say in words what to do with the pictures."
        raise BadInput(msg)
    if size > MAX_INSTRUCTION_BYTES:
        msg = f"The instruction has {size} bytes, more than the {MAX_INSTRUCTION_BYTES} allowed: shorten or split it."
        raise BadInput(msg)
    if not pictures:
        msg = f"No picture was named: put at least one file before the instruction ({instruction[:40]!r})."
        raise BadInput(msg)
    return pictures, instruction


def refuse_confirming_and_insisting(options: argparse.Namespace) -> None:
    """Refuse options that contradict each other.

    Raises:
        BadInput: Both are given.
    """
    if options.confirm and options.insist:
        msg = "--confirm asks before anything is learned, and --insist does not: leave out one of them."
        raise BadInput(msg)
