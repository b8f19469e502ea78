"""Evidence about the labels that CLASSIFY gave, and the region that SELECT chose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from snellen.learning.step_evidence.witnesses import (
    MAX_REGIONS,
    Witnesses,
    never_taught,
    regions_in,
    scope_of,
    support_of,
)
from snellen.reasoning.critique import StepEvidence
from snellen.reasoning.language.inflection import singular
from snellen.values import Region, to_json

if TYPE_CHECKING:
    import PIL.Image


@dataclass(frozen=True)
class LabelEvidence:
    """Gathers evidence about labels."""

    witnesses: Witnesses

    def about_labels(
        self, picture: PIL.Image.Image, arguments: dict[str, Any], labelled: list[Region]
    ) -> Iterator[StepEvidence]:
        """Yield evidence about the labels of regions."""
        regions = regions_in(arguments["object"])[:MAX_REGIONS]
        categories = _texts(arguments["categories"])
        expansion = self.witnesses.models.expansion_of("CLIP")
        members = {category: expansion.names(category) for category in categories}
        names = [name for each in members.values() for name in each]
        probable = self.witnesses.name_probabilities(
            self.witnesses.cut_out(picture, [one.box for one in regions], 0.15), names
        )
        by_box = {one.box: one for one in labelled}
        words = ", ".join(categories)
        for region, seen in zip(regions, probable, strict=True):
            shares = {category: sum(seen[name] for name in set(each)) for category, each in members.items()}
            now = by_box.get(region.box)
            evidence = self._category_said(region, now, shares, [to_json(one) for one in labelled])
            yield from self.witnesses.as_far_as_taught(words, [evidence])
            yield from self._found_as(region, now, members, labelled)
        unsaid = self.witnesses.sought.intersection(categories, self.witnesses.untaught("CLIP", words)).difference(
            one.label for one in labelled
        )
        for name in sorted(unsaid) if regions else ():
            yield never_taught("classifier", name, suggests=name)

    def _category_said(
        self, region: Region, now: Region | None, shares: dict[str, float], labelled: list[Any]
    ) -> StepEvidence:
        best = max(shares, key=shares.__getitem__, default="")
        none = 1 - sum(shares.values())
        right = best if shares.get(best, 0.0) >= none else ""
        p = shares[right] if right else none
        value = f"{right or 'none of the categories'} ({p:.2f})"
        says = f"the classifier with a wider look, of the box {list(region.box)}"
        if right == (now.label if now else ""):
            return StepEvidence("", says, value, 0.8 * support_of(p), scope=scope_of(region.box))
        return StepEvidence(
            "", says, value, -0.8 * support_of(p), _relabelled(labelled, region, right), scope_of(region.box)
        )

    def _found_as(
        self, region: Region, now: Region | None, members: dict[str, list[str]], labelled: Sequence[Region]
    ) -> Iterator[StepEvidence]:
        """Compare the label with the name under which the detector found the region."""
        name = singular(region.label)
        right = next((category for category, each in members.items() if name in {category, *each}), "")
        if not region.label or name not in self.witnesses.detected_names:
            return
        says = f"the detector, of the box {list(region.box)}"
        agreed = right == (now.label if now else "")
        suggested = None if agreed else _relabelled([to_json(one) for one in labelled], region, right)
        value = f"found as {name} ({region.score:.2f})"
        yield StepEvidence("", says, value, 0.4 if agreed else -0.4, suggested, scope_of(region.box))

    def about_choice(
        self, picture: PIL.Image.Image, arguments: dict[str, Any], chosen: list[Region]
    ) -> Iterator[StepEvidence]:
        """Yield evidence about the region that was chosen for a query."""
        regions = regions_in(arguments["object"])[:MAX_REGIONS]
        query = str(arguments["query"])
        if len(regions) <= 1 or not chosen:
            return
        names = self.witnesses.models.expansion_of("CLIP").names(query)
        probable = self.witnesses.probabilities(picture, [one.box for one in regions], names)
        best = max(range(len(regions)), key=probable.__getitem__)
        total = sum(probable) or 1.0
        value = f"{list(regions[best].box)} ({probable[best] / total:.2f})"
        agreed = any(one.box == regions[best].box for one in chosen)
        support = support_of(max(probable[best] / total, 0.55))
        suggested = None if agreed else [to_json(regions[best])]
        yield StepEvidence(
            "", f"the classifier with a wider look, for “{query}”", value, support if agreed else -support, suggested
        )


def _texts(value: Any) -> list[str]:  # noqa: ANN401 - any value of a program
    return [str(one) for one in value] if isinstance(value, list | tuple) else str(value).split(",")


def _relabelled(labelled: list[Any], region: Region, label: str) -> list[Any]:
    rest = [one for one in labelled if tuple(one["box"]) != region.box]
    return [*rest, to_json(replace(region, label=label))] if label else rest
