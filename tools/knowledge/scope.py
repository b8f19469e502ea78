"""The scope of a profile's tools: the names that they know and the questions that they answer, for the catalogue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from snellen.models.vision.name_expansion import Expansion
from snellen.tools.registry import Catalogue, catalogue

if TYPE_CHECKING:
    from snellen.profiles import Profile

_NAMING: Final = ("LOC", "THINGS", "NAME", "KNOWS", "CLASSIFY")


def catalogue_for(profile: Profile) -> Catalogue:
    """Return all tools, each with what it knows and cannot do under a profile."""
    scope = scope_of(profile)
    described = (
        replace(tool, description=f"{tool.description}\n\n{scope[tool.name]}") if tool.name in scope else tool
        for tool in catalogue()
    )
    return Catalogue(tuple(described))


def scope_of(profile: Profile) -> Mapping[str, str]:
    """Return sentences about the tools of a profile, by their names; none about tools that know no bounds."""
    expansion = Expansion.read(profile.facts_path(), split=profile.split_path())
    scope = dict.fromkeys(_NAMING[1:], "It knows the names that LOC knows.") | {"LOC": _names(expansion)}
    if not expansion.all_names():
        scope = {}
    questions = profile.models.vqa.questions if profile.models.vqa else ()
    if questions:
        scope["VQA"] = (
            f"It was taught to say: {', '.join(questions)}. It cannot tell actions, text or reasons; "
            "names come from LOC and NAME, descriptions from CAPTION."
        )
    if expansion.all_names():
        scope["SEG"] = "The labels are groups such as animal or vehicle; NAME tells what each segment is."
        scope["CAPTION"] = "It names things that LOC knows and the background; it cannot tell actions."
    return scope


def _names(expansion: Expansion) -> str:
    members: dict[str, list[str]] = defaultdict(list)
    for concept in expansion.concepts:
        if concept.taught:
            members[concept.group].append(concept.name)
    groups = "; ".join(f"{group} ({', '.join(names)})" for group, names in members.items())
    nested = ", ".join(
        f"{group} are {parent}" for group in members for parent in expansion.parents.get(group, ()) if parent != group
    )
    return f"It knows these names, alone, with a colour before them, or by their group, and no others: {groups}." + (
        f" Groups hold groups: {nested}." if nested else ""
    )
