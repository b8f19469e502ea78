"""Evidence about the regions that LOC, FACEDET and SEG gave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.learning.step_evidence.witnesses import (
    APART,
    FAINT,
    HEARSAY,
    MAX_REGIONS,
    MAX_THINGS,
    SURE,
    Thing,
    Witnesses,
    never_taught,
    scope_of,
    support_of,
)
from snellen.reasoning.critique import StepEvidence
from snellen.reasoning.language.inflection import plural, singular, with_article
from snellen.reasoning.output_constraints import REST
from snellen.scoring import iou
from snellen.values import Picture, Region, as_number, to_json

if TYPE_CHECKING:
    import PIL.Image

SECONDS_OF_PARTS: Final = 4.0
"""Looking at a picture part by part is left out where it would take longer, by what the looks before it took."""
_FINE: Final = (0.3, 0.45)
_COARSE: Final = (0.4,)
"""Sides of the parts of a picture, as shares of its shorter side."""


@dataclass(frozen=True)
class RegionEvidence:
    """Gathers evidence about regions."""

    witnesses: Witnesses

    def about_search(
        self, picture: PIL.Image.Image, image: Picture, wanted: str, regions: list[Region]
    ) -> Iterator[StepEvidence]:
        """Yield evidence about what LOC found, or did not."""
        yield from self.witnesses.as_far_as_taught(wanted, self.about_boxes(picture, image, wanted, regions))
        untaught = self.witnesses.untaught("LOC", wanted)
        if untaught and not regions:
            yield never_taught("detector", untaught[0], suggests=True)
        missing = self._never_detected(wanted)
        if missing:
            yield never_taught("detector", missing[0], suggests=len(regions) + len(missing))

    def _never_detected(self, concept: str) -> list[str]:
        """Return what the feedback speaks of, belongs to the words of a group, and the detector never learned."""
        expansion = self.witnesses.models.expansion_of("LOC")
        unknown = {one.name for one in expansion.concepts if not one.taught} & self.witnesses.sought
        if not unknown or concept in unknown:
            return []
        return sorted(unknown.intersection(expansion.taught(unknown).names(concept)))

    def about_boxes(
        self, picture: PIL.Image.Image, image: Picture, wanted: str, regions: list[Region]
    ) -> Iterator[StepEvidence]:
        """Yield evidence about boxes of things that were looked for."""
        names = self.witnesses.models.expansion_of("LOC").names(wanted)
        regions, rest = regions[:MAX_REGIONS], regions[MAX_REGIONS:]
        others = self._others(picture, image, names, regions)
        boxes = [*(one.box for one in regions), *(one.box for one in others)]
        probable = self.witnesses.probabilities(picture, boxes, names)
        likely, missed = probable[: len(regions)], probable[len(regions) :]
        doubted = [one for one, p in zip(regions, likely, strict=True) if p < SURE]
        missing = [
            Region(one.box, max(one.score, 0.01), wanted if len(names) > 1 else names[0], picture=image.id)
            for one, p in zip(others, missed, strict=True)
            if p >= SURE
        ]
        yield from self._of_each_box(wanted, regions, likely, rest)
        yield from self._of_each_other(wanted, regions, [(o, p) for o, p in zip(others, missed, strict=True)], image)
        if doubted and missing:
            kept = [one for one in regions if one not in doubted]
            whole = [to_json(one) for one in [*kept, *missing, *rest]]
            yield StepEvidence("", "the classifier, of all boxes", f"{wanted}: {len(whole)}", -0.1, whole)
        yield from self._hearsay(picture, wanted, len(names), len(regions) + len(rest))
        yield from self._closer(picture, image, wanted, names, regions, kept=[r for r in regions if r not in doubted])

    def _others(
        self, picture: PIL.Image.Image, image: Picture, names: Sequence[str], regions: Sequence[Region]
    ) -> list[Thing]:
        """Return the things beside the regions: other things, and boxes just under the threshold."""
        faint = self.witnesses.models.glimpse([picture], [list(names)], threshold=self.witnesses.threshold * FAINT)[0]
        things = [*(Thing(one.box, one.score, one.name) for one in faint), *self.witnesses.things_in(picture, image)]
        apart: list[Thing] = []
        for thing in things:
            taken = [*(one.box for one in regions), *(one.box for one in apart)]
            if all(iou(thing.box, box) <= APART for box in taken):
                apart.append(thing)
        return apart[:MAX_THINGS]

    def _of_each_box(
        self, concept: str, regions: list[Region], probabilities: Sequence[float], rest: Sequence[Region]
    ) -> Iterator[StepEvidence]:
        for number, (region, p) in enumerate(zip(regions, probabilities, strict=True)):
            without = [to_json(one) for i, one in enumerate([*regions, *rest]) if i != number]
            value = f"{p:.2f} that it is {with_article(concept)}"
            suggested = without if p < SURE else None
            says = f"the classifier, of the box {list(region.box)}"
            heard = StepEvidence("", says, value, support_of(p), suggested, scope_of(region.box))
            yield from self.witnesses.as_far_as_taught(region.label, [heard]) if region.label != concept else [heard]

    def _of_each_other(
        self, concept: str, regions: Sequence[Region], others: Sequence[tuple[Thing, float]], image: Picture
    ) -> Iterator[StepEvidence]:
        listed = [to_json(one) for one in regions]
        most = max((p for _, p in others), default=0.0)
        for thing, p in others:
            if p < SURE:
                continue
            more = Region(thing.box, max(thing.score, 0.01), concept, picture=image.id)
            value = f"{p:.2f} that it is {with_article(concept)} too (detector: {thing.score:.2f})"
            says = f"the classifier, of the box {list(thing.box)} that was not found"
            yield StepEvidence("", says, value, -support_of(p), [*listed, to_json(more)], scope_of(thing.box))
        if most < SURE:
            value = f"at most {most:.2f} that one of {len(others)} other things is {with_article(concept)}"
            support = 0.5 * support_of(1 - most)
            yield StepEvidence("", "the classifier, of the rest of the picture", value, support, scope=REST)

    def _hearsay(self, picture: PIL.Image.Image, concept: str, kinds: int, number: int) -> Iterator[StepEvidence]:
        if kinds == 0:
            return
        one, many = singular(concept), plural(singular(concept))
        questions = [f"how many {many} are there?", f"is there {with_article(one)}?"]
        counted, exists = self.witnesses.ask(picture, questions)
        count = as_number(counted)
        if count is not None:
            agreed = count == number
            yield StepEvidence(
                "", f"VQA, asked “{questions[0]}”", counted, HEARSAY if agreed else -HEARSAY, _int(count)
            )
        if exists in {"yes", "no"}:
            agreed = (exists == "yes") == (number > 0)
            support = HEARSAY if agreed else -HEARSAY
            yield StepEvidence("", f"VQA, asked “{questions[1]}”", exists, support, exists == "yes")

    def _closer(
        self,
        picture: PIL.Image.Image,
        image: Picture,
        concept: str,
        names: Sequence[str],
        regions: Sequence[Region],
        *,
        kept: Sequence[Region],
    ) -> Iterator[StepEvidence]:
        """Look at the picture part by part with the classifier, which needs no detector to find its boxes."""
        parts = [
            box
            for box in _tiles(picture.size, _FINE if self.witnesses.deep else _COARSE)
            if all(iou(box, one.box) <= APART / 2 for one in regions)
        ]
        if not parts or (self.witnesses.seconds_a_look * len(parts) > SECONDS_OF_PARTS and not self.witnesses.deep):
            return
        named = {singular(one.label) for one in kept}
        sought = [name for name in names if name in self.witnesses.sought and name not in named]
        margins = (0.0, 0.15) if self.witnesses.deep else (0.0,)
        probable = self.witnesses.probabilities(
            picture, parts, sought if len(names) > 1 and sought else names, margins=margins
        )
        best = max(range(len(parts)), key=probable.__getitem__)
        p, box = probable[best], parts[best]
        value = f"{p:.2f} that a part shows {with_article(concept)}"
        if p < SURE:
            says = f"the classifier, of {len(parts)} parts of the picture"
            yield StepEvidence("", says, value, 0.4 * support_of(1 - p), scope=REST)
            return
        closer = to_json(Region(box, 0.01, concept, picture=image.id))
        says, support = f"the classifier, of the part {list(box)}", -0.8 * support_of(p)
        yield StepEvidence("", says, value, support, [*(to_json(one) for one in regions), closer], scope_of(box))
        if len(kept) < len(regions):
            yield StepEvidence("", f"{says} and of the boxes", value, -0.1, [*(to_json(one) for one in kept), closer])

    def about_masks(self, picture: PIL.Image.Image, regions: list[Region]) -> Iterator[StepEvidence]:
        """Yield evidence about the names of masks."""
        shown = [one for one in regions[:MAX_REGIONS] if one.label]
        for region in shown:
            p = self.witnesses.probabilities(picture, [region.box], [singular(region.label)])[0]
            value = f"{p:.2f} that it is {with_article(region.label)}"
            without = [to_json(one) for one in regions if one is not region]
            suggested = without if p < SURE else None
            says = f"the classifier, of the mask at {list(region.box)}"
            yield StepEvidence("", says, value, support_of(p), suggested, scope_of(region.box))


def _int(number: float) -> int | float:
    return int(number) if number == int(number) else number


def _tiles(size: tuple[int, int], shares: Sequence[float]) -> list[tuple[int, int, int, int]]:
    """Squares that cover a picture and overlap by half, in sizes given as shares of its shorter side."""
    width, height = size
    tiles = []
    for share in shares:
        side = max(round(min(width, height) * share), 8)
        step = max(side // 2, 4)
        columns = range(0, max(width - side, 0) + 1, step)
        rows = range(0, max(height - side, 0) + 1, step)
        tiles += [(x, y, min(x + side, width), min(y + side, height)) for y in rows for x in columns]
    return tiles
