"""Needs of tools: those for a concept by name, and the concepts behind words that a tool failed on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput
from snellen.reasoning.language.inflection import singular

if TYPE_CHECKING:
    from snellen.collection import OwnPictures
    from snellen.learning.records import Need
    from snellen.models.vision.models import Models
    from snellen.models.vision.name_expansion import Expansion
    from snellen.profiles import Profile

Json = dict[str, Any]

DEFAULT_TOOLS: Final = ("LOC", "CLASSIFY")
"""Finding a thing and telling what it is: what people mean by "learn what a penguin is"."""

MAX_NEEDS: Final = 4
"""Things that one run learns at most."""
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
    name = " ".join(concept.split())
    if not name:
        msg = "The concept is empty: name what should be learned, for example `snellen learn penguin`."
        raise BadInput(msg)
    if len(name) > MAX_CONCEPT or not name.isprintable():
        msg = f"{name[:40]!r} … is no name of a concept: give a word or a few, at most {MAX_CONCEPT} characters."
        raise BadInput(msg)
    return name.casefold()


def needs_for(concept: str, tools: Sequence[str], own: OwnPictures | None, profile: Profile) -> list[Json]:
    """Make a need for each tool; of tools that share what they learn, for the first.

    Raises:
        BadInput: there is no such tool, the profile has no model for it, or the folder is of no use to it.
    """
    from snellen.learning.records import Need
    from snellen.tuning import POOL_OF_TOOL, POOLS

    plain = own is not None and not own.annotated
    needed = [_checked_tool(tool) for tool in tools] or [
        tool for tool in DEFAULT_TOOLS if not (plain and tool in _annotated_tools())
    ]
    if plain and (short := [tool for tool in needed if tool in _annotated_tools()]):
        raise BadInput(_says_annotations(own, short[0]))
    chosen = {POOL_OF_TOOL[tool]: tool for tool in reversed(needed)}
    for pool, tool in chosen.items():
        if getattr(profile.models, POOLS[pool]) is None:
            msg = f"The profile {profile.name!r} has no checkpoint for {tool}: set [models.{POOLS[pool]}] in it."
            raise BadInput(msg)
    reason = f"`snellen learn {concept}` was asked for."
    return [Need(tool, concept, reason=reason).to_json() for tool in needed if chosen[POOL_OF_TOOL[tool]] == tool]


def _checked_tool(tool: str) -> str:
    named, known = tool.strip().upper(), teachable_tools()
    if named == "VQA":
        msg = "VQA learns questions, not concepts: ask one, and say what the right answer is."
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
        "format (an instances JSON file beside the pictures), or teach CLASSIFY with this one."
    )


def is_new(need: Need, models: Models | None) -> bool:
    """Tell whether a need is about what its tool was never taught: then its having been wrong is no surprise.

    Args:
        need: Of VQA, the words of its question and answer count.
        models: The models of the profile; their facts tell what they were taught, and concepts they do not know are
            new. None where there are none: nothing is known to be new.
    """
    if models is None:
        return False
    from snellen.tuning import POOL_OF_TOOL

    facts = models.expansion_of(POOL_OF_TOOL[need.tool])
    if need.concept:
        return all(one.name != need.concept or not one.taught for one in facts.concepts)
    words = f" {_singular_words(f'{need.question} {need.answer}')} "
    return any(f" {one.name} " in words for one in facts.concepts if not one.taught)


def _singular_words(text: str) -> str:
    """Return the words of a text in lower case and in the singular, with one blank between."""
    return " ".join(singular(word) for word in re.findall(r"[^\W_]+", text.casefold()))


def concepts_of(words: str, named: Sequence[str], pool: str, models: Models | None) -> list[str]:
    """Return the concepts that a tool should learn to see when it failed on some words.

    Args:
        words: What the tool looked for: ``penguins``, ``birds``, ``red car``, ``cat, dog``.
        named: What the feedback names, in the singular; of a group that was looked for, these are what it missed.
        pool: Where the tool's prompts are, which say what it has learned.
        models: The models of the profile, whose facts tell groups from concepts; None where there are none.

    Returns:
        Names in the singular. Of a group those that the feedback names, or else those that the tool was never taught;
        none where it was taught them all, because nothing says which it missed.
    """
    if models is None or not words.strip():
        return [words.strip()] if words.strip() else []
    facts = models.expansion_of(pool)
    missed = [name for name in named if name in facts.taught([name]).names(words)]
    if missed:
        return missed[:MAX_NEEDS]
    looked_for: list[str] = facts.names(words)
    if len(looked_for) == 1:
        return [_bare_concept(looked_for[0], facts)]
    members = facts.taught(one.name for one in facts.concepts).names(words)
    untaught = [one.name for one in facts.concepts if not one.taught and one.name in members]
    return untaught[:MAX_NEEDS]


def _bare_concept(name: str, facts: Expansion) -> str:
    """Leave out what stands before a concept that the facts know: a red car is looked for by learning cars."""
    known = {one.name for one in facts.concepts}
    words = name.split()
    return next((bare for start in range(len(words)) if (bare := " ".join(words[start:])) in known), name)
