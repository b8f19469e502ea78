"""What can be taught: a concept's name becomes a need for each tool that shall learn it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput

if TYPE_CHECKING:
    from snellen.collection import OwnPictures
    from snellen.profiles import Profile

Json = dict[str, Any]

DEFAULT_TOOLS: Final = ("LOC", "CLASSIFY")
"""Finding a thing and telling what it is: what people mean by "learn what a penguin is"."""

MAX_CONCEPT: Final = 80
"""Characters of a concept's name."""


def teachable_tools() -> tuple[str, ...]:
    """Return the tools that learn a concept; VQA learns questions, from wrong answers (``snellen ask --answer``)."""
    from snellen.tuning import POOL_OF_TOOL

    return tuple(tool for tool in POOL_OF_TOOL if tool != "VQA")


def checked_concept(concept: str) -> str:
    """Return a concept's name in lower case.

    Raises:
        BadInput: It is none.
    """
    said = " ".join(concept.split())
    if not said:
        msg = "The concept is empty: name what should be learned, for example `snellen learn penguin`."
        raise BadInput(msg)
    if len(said) > MAX_CONCEPT or not said.isprintable():
        msg = f"{said[:40]!r} … is no name of a concept: give a word or a few, at most {MAX_CONCEPT} characters."
        raise BadInput(msg)
    return said.casefold()


def needs_for(concept: str, tools: Sequence[str], own: OwnPictures | None, profile: Profile) -> list[Json]:
    """Make a need for each tool; of tools that share what they learn, for the first.

    Raises:
        BadInput: there is no such tool, the profile has no model for it, or the folder is of no use to it.
    """
    from snellen.learning.records import Need
    from snellen.tuning import POOL_OF_TOOL, POOLS

    plain = own is not None and not own.annotated
    wanted = [_checked_tool(tool) for tool in tools] or [
        tool for tool in DEFAULT_TOOLS if not (plain and tool in _annotated_tools())
    ]
    if plain and (short := [tool for tool in wanted if tool in _annotated_tools()]):
        raise BadInput(_says_annotations(own, short[0]))
    chosen = {POOL_OF_TOOL[tool]: tool for tool in reversed(wanted)}
    for pool, tool in chosen.items():
        if getattr(profile.models, POOLS[pool]) is None:
            msg = f"The profile {profile.name!r} has no checkpoint for {tool}: set [models.{POOLS[pool]}] in it."
            raise BadInput(msg)
    asked = f"`snellen learn {concept}` was asked for."
    return [Need(tool, concept, reason=asked).to_json() for tool in wanted if chosen[POOL_OF_TOOL[tool]] == tool]


def _checked_tool(tool: str) -> str:
    named, known = tool.strip().upper(), teachable_tools()
    if named == "VQA":
        msg = "VQA learns questions, not concepts: ask one with its right answer (`snellen ask PICTURE … --answer X`)."
        raise BadInput(msg)
    if named not in known:
        msg = f"{tool[:40]!r} is no tool that learns: choose among {', '.join(known)}."
        raise BadInput(msg)
    return named


def _annotated_tools() -> tuple[str, ...]:
    """Tools that must be told where the thing is, not only that it is there."""
    return ("LOC", "SEG")


def _says_annotations(own: OwnPictures | None, tool: str) -> str:
    place = "the folder" if own is None else str(own.folder)
    what = "boxes" if tool == "LOC" else "masks"
    return (
        f"{place} has pictures without {what}, and {tool} learns from pictures with {what}: give a folder in COCO's "
        "format (an instances JSON file beside the pictures), or teach CLASSIFY with this one (--tool CLASSIFY)."
    )
