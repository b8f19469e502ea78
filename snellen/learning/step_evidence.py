"""Evidence about the results of steps: what the other tools, or the same tool asked in another way, say about them.

Reflection cannot see; it reads (CLOVA, section 3.3, "result conversion"). What it reads about a step beyond its result
is gathered here. Every statement says how far it speaks for the result, and what the result would be if it is right.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from snellen.profiles import ClipModel, LocModel, SnellenError
from snellen.reasoning.critique import StepEvidence
from snellen.reasoning.language.inflection import plural, singular, with_article
from snellen.reasoning.language.lexicon import COLOURS
from snellen.reasoning.language.rewording import (
    COLOUR_NAMED,
    COLOUR_OF,
    IS_COLOUR,
    RELATION,
    as_asked,
    colours_in,
    holds,
    reworded,
    statements,
)
from snellen.reasoning.output_constraints import REST
from snellen.scoring import iou
from snellen.scoring.answers import same
from snellen.tools.vision.ask import normalised
from snellen.tools.vision.context import softmax, widened
from snellen.values import Picture, Region, as_number, from_json, to_json

if TYPE_CHECKING:
    import PIL.Image

    from snellen.models.vision.models import Models
    from snellen.tools.program import StepRecord
    from snellen.tools.registry import ToolContext

PERCEIVING: Final = frozenset({"LOC", "FACEDET", "SEG", "VQA", "SELECT", "CLASSIFY"})
"""Tools whose results can be doubted; the others compute."""
FINDING: Final = frozenset({"LOC", "FACEDET", "SEG"})

SECONDS: Final = 30.0
"""After so long no further step is looked into."""
SECONDS_OF_PARTS: Final = 4.0
"""Looking at a picture part by part is left out where it would take longer, by what the looks before it took."""
MAX_REGIONS: Final = 12
"""Regions of one step that are looked at again."""
MAX_THINGS: Final = 16
"""Other things of a picture that are looked at."""
FAINT: Final = 0.35
"""Share of the detector's threshold from which on a box is looked at."""
DIM: Final = 0.6
"""The same for things that are something else: less is asked of a box that a name's own query gives."""
APART: Final = 0.4
"""Up to this overlap two boxes are two things."""
SURE: Final = 0.5
"""From this probability on, the classifier takes a box for what was asked."""
HEARSAY: Final = 0.35
"""How far one answer to a question counts: a question may be misunderstood."""
UNTAUGHT: Final = 0.4
"""How far it counts that nobody ever taught the detector what it did not find."""
IGNORANT: Final = 0.2
"""Share of what a witness says that counts where it was never taught the word itself."""
REWORDED: Final = 0.45
"""How far the same question in other words counts."""
_FINE: Final = (0.3, 0.45)
_COARSE: Final = (0.4,)
"""Sides of the parts of a picture, as shares of its shorter side."""


@dataclass(frozen=True)
class Thing:
    """A thing in a picture: where it is, and how probable it is that it is what was asked for."""

    box: tuple[int, int, int, int]
    score: float
    name: str
    probability: float = 0.0


def gather(
    records: Sequence[StepRecord],
    context: ToolContext,
    *,
    only: str | None = None,
    sought: Sequence[str] = (),
    seconds: float = SECONDS,
) -> dict[str, tuple[StepEvidence, ...]]:
    """Gather evidence about the steps that perceive.

    Args:
        records: The steps of a run, whole.
        context: The pictures and models; without models there is no evidence.
        only: The address of the one step to look into deeply; without it, all are looked into as far as is cheap.
        sought: Names of things that the feedback speaks of: where a step looked for anything, these are looked for.
        seconds: After so long the remaining steps are left without evidence.

    Returns:
        Evidence by address. Steps that make the same call share it; a tool that fails while it is asked says nothing.
    """
    if context.models is None:
        return {}
    until = time.monotonic() + seconds
    witnesses = _Witnesses(context, context.models, deep=only is not None, sought=frozenset(sought))
    gathered: dict[str, tuple[StepEvidence, ...]] = {}
    asked: dict[str, tuple[StepEvidence, ...]] = {}
    for record in records:
        if record.tool not in PERCEIVING or record.error or only not in {None, record.address}:
            continue
        call = repr((record.tool, record.arguments))
        if call not in asked and time.monotonic() < until:
            asked[call] = witnesses.about(record)
        gathered[record.address] = tuple(replace(one, about=record.address) for one in asked.get(call, ()))
    return gathered


@dataclass
class _Witnesses:
    """Those who can be asked, and what they said already."""

    context: ToolContext
    models: Models
    deep: bool = False
    sought: frozenset[str] = frozenset()
    _things: dict[str, list[Thing]] = field(default_factory=dict)
    _seconds_a_look: float = 0.0

    def about(self, record: StepRecord) -> tuple[StepEvidence, ...]:
        """Return what is said about one step; nothing where nobody can be asked."""
        try:
            arguments = {name: from_json(value) for name, value in record.arguments.items()}
            return tuple(self._of_tool(record, arguments))
        except (SnellenError, OSError, RuntimeError, MemoryError):
            return ()  # a witness that fails says nothing; the step itself is judged without it

    def _of_tool(self, record: StepRecord, arguments: dict[str, Any]) -> Iterator[StepEvidence]:
        image = arguments.get("image")
        if not isinstance(image, Picture):
            return
        picture = self.context.pictures.get(image.id)
        match record.tool:
            case "LOC":
                yield from self._looked_for(picture, image, str(arguments["object"]), _regions(record.value))
            case "FACEDET":
                yield from self._located(picture, image, "face", _regions(record.value))
            case "SEG":
                yield from self._segmented(picture, _regions(record.value))
            case "VQA":
                yield from self._answered(picture, image, str(arguments["question"]), str(record.value))
            case "CLASSIFY":
                yield from self._classified(picture, arguments, _regions(record.value))
            case "SELECT":
                chosen = self._selected(picture, arguments, _regions(record.value))
                yield from self._as_far_as_taught(str(arguments["query"]), chosen)

    # --- the witnesses ---------------------------------------------------------------------------------------

    @cached_property
    def _universe(self) -> list[str]:
        """Every name that a thing may have."""
        return self.models.expansion_of("CLIP").all_names()

    @cached_property
    def _detected(self) -> frozenset[str]:
        """Every name that the detector knows, what it has learned included."""
        return frozenset(self.models.expansion_of("LOC").all_names())

    def _named(self, pictures: Sequence[PIL.Image.Image], names: Sequence[str]) -> list[dict[str, float]]:
        """The classifier's probabilities of names, these against all others, for each picture."""
        if not pictures:
            return []
        clip = self.models.profile.entry(ClipModel)
        universe = list(dict.fromkeys([*names, *self._universe, *clip.null]))
        started = time.monotonic()
        logits = self.models.similarity(pictures, [clip.template.format(name) for name in universe], names=universe)
        self._seconds_a_look = (time.monotonic() - started) / len(pictures)
        return [dict(zip(universe, softmax(row.tolist()), strict=True)) for row in logits]

    def _cut(self, picture: PIL.Image.Image, boxes: Sequence[Sequence[int]], margin: float) -> list[PIL.Image.Image]:
        return [picture.crop(widened((b[0], b[1], b[2], b[3]), picture.size, margin=margin)) for b in boxes]

    def _seen_as(
        self,
        picture: PIL.Image.Image,
        boxes: Sequence[Sequence[int]],
        names: Sequence[str],
        *,
        margins: Sequence[float] = (0.0, 0.15),
    ) -> list[float]:
        """How probable it is that each box shows one of the names: the mean of a close and a wider look."""
        looks = [self._named(self._cut(picture, boxes, margin), names) for margin in margins]
        return [sum(look[name] for look in pair for name in names) / len(margins) for pair in zip(*looks, strict=True)]

    def _things_in(self, picture: PIL.Image.Image, image: Picture) -> list[Thing]:
        """Everything that the detector sees in a picture, whatever it takes it for, once for each picture."""
        if image.id not in self._things:
            names = self.models.expansion_of("LOC").all_names()
            threshold = _threshold(self.models) * DIM
            found = self.models.glimpse([picture], [names], threshold=threshold)[0] if names else []
            self._things[image.id] = [Thing(one.box, one.score, one.name) for one in found[:MAX_THINGS]]
        return self._things[image.id]

    def _ask(self, picture: PIL.Image.Image, questions: Sequence[str]) -> list[str]:
        return [normalised(one) for one in self.models.answer([picture] * len(questions), list(questions))]

    # --- what nobody was taught ------------------------------------------------------------------------------

    def _untaught(self, pool: str, words: str) -> list[str]:
        """Return the concepts among the words that the facts know and that the tools of a pool never learned."""
        learned = self.models.expansion_of(pool)
        known = {one.name: one.taught for one in learned.concepts}
        return [name for name in learned.names(words) if not known.get(name, True)]

    def _as_far_as_taught(self, words: str, said: Iterable[StepEvidence]) -> Iterator[StepEvidence]:
        """Weaken what the classifier and VQA say about words that they were never taught themselves."""
        trust = IGNORANT if self._untaught("CLIP", words) else 1.0
        yield from (replace(one, support=trust * one.support) for one in said)

    # --- LOC, FACEDET, SEG -----------------------------------------------------------------------------------

    def _looked_for(
        self, picture: PIL.Image.Image, image: Picture, wanted: str, regions: list[Region]
    ) -> Iterator[StepEvidence]:
        yield from self._as_far_as_taught(wanted, self._located(picture, image, wanted, regions))
        untaught = self._untaught("LOC", wanted)
        if untaught and not regions:
            yield _never_taught("detector", untaught[0], suggests=True)
        missing = self._never_detected(wanted)
        if missing:
            yield _never_taught("detector", missing[0], suggests=len(regions) + len(missing))

    def _never_detected(self, wanted: str) -> list[str]:
        """Return what the feedback speaks of, belongs to the words of a group, and the detector never learned."""
        expansion = self.models.expansion_of("LOC")
        unknown = {one.name for one in expansion.concepts if not one.taught} & self.sought
        if not unknown or wanted in unknown:
            return []
        return sorted(unknown.intersection(expansion.taught(unknown).names(wanted)))

    def _located(
        self, picture: PIL.Image.Image, image: Picture, wanted: str, regions: list[Region]
    ) -> Iterator[StepEvidence]:
        names = self.models.expansion_of("LOC").names(wanted)
        regions, rest = regions[:MAX_REGIONS], regions[MAX_REGIONS:]
        others = self._others(picture, image, names, regions)
        boxes = [*(one.box for one in regions), *(one.box for one in others)]
        probable = self._seen_as(picture, boxes, names)
        found, missed = probable[: len(regions)], probable[len(regions) :]
        doubted = [one for one, p in zip(regions, found, strict=True) if p < SURE]
        missing = [
            Region(one.box, max(one.score, 0.01), wanted if len(names) > 1 else names[0], picture=image.id)
            for one, p in zip(others, missed, strict=True)
            if p >= SURE
        ]
        yield from self._of_each_box(wanted, regions, found, rest)
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
        faint = self.models.glimpse([picture], [list(names)], threshold=_threshold(self.models) * FAINT)[0]
        things = [*(Thing(one.box, one.score, one.name) for one in faint), *self._things_in(picture, image)]
        apart: list[Thing] = []
        for thing in things:
            taken = [*(one.box for one in regions), *(one.box for one in apart)]
            if all(iou(thing.box, box) <= APART for box in taken):
                apart.append(thing)
        return apart[:MAX_THINGS]

    def _of_each_box(
        self, wanted: str, regions: list[Region], found: Sequence[float], rest: Sequence[Region]
    ) -> Iterator[StepEvidence]:
        for number, (region, p) in enumerate(zip(regions, found, strict=True)):
            without = [to_json(one) for i, one in enumerate([*regions, *rest]) if i != number]
            said = f"{p:.2f} that it is {with_article(wanted)}"
            suggested = without if p < SURE else None
            says = f"the classifier, of the box {list(region.box)}"
            heard = StepEvidence("", says, said, _support(p), suggested, _scope(region.box))
            yield from self._as_far_as_taught(region.label, [heard]) if region.label != wanted else [heard]

    def _of_each_other(
        self, wanted: str, regions: Sequence[Region], others: Sequence[tuple[Thing, float]], image: Picture
    ) -> Iterator[StepEvidence]:
        listed = [to_json(one) for one in regions]
        most = max((p for _, p in others), default=0.0)
        for thing, p in others:
            if p < SURE:
                continue
            more = Region(thing.box, max(thing.score, 0.01), wanted, picture=image.id)
            said = f"{p:.2f} that it is {with_article(wanted)} too (detector: {thing.score:.2f})"
            says = f"the classifier, of the box {list(thing.box)} that was not found"
            yield StepEvidence("", says, said, -_support(p), [*listed, to_json(more)], _scope(thing.box))
        if most < SURE:
            said = f"at most {most:.2f} that one of {len(others)} other things is {with_article(wanted)}"
            support = 0.5 * _support(1 - most)
            yield StepEvidence("", "the classifier, of the rest of the picture", said, support, scope=REST)

    def _hearsay(self, picture: PIL.Image.Image, wanted: str, kinds: int, number: int) -> Iterator[StepEvidence]:
        if kinds == 0:
            return
        one, many = singular(wanted), plural(singular(wanted))
        questions = [f"how many {many} are there?", f"is there {with_article(one)}?"]
        counted, exists = self._ask(picture, questions)
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
        wanted: str,
        names: Sequence[str],
        regions: Sequence[Region],
        *,
        kept: Sequence[Region],
    ) -> Iterator[StepEvidence]:
        """Look at the picture part by part with the classifier, which needs no detector to find its boxes."""
        parts = [
            box
            for box in _tiles(picture.size, _FINE if self.deep else _COARSE)
            if all(iou(box, one.box) <= APART / 2 for one in regions)
        ]
        if not parts or (self._seconds_a_look * len(parts) > SECONDS_OF_PARTS and not self.deep):
            return
        named = {singular(one.label) for one in kept}
        sought = [name for name in names if name in self.sought and name not in named]
        margins = (0.0, 0.15) if self.deep else (0.0,)
        probable = self._seen_as(picture, parts, sought if len(names) > 1 and sought else names, margins=margins)
        best = max(range(len(parts)), key=probable.__getitem__)
        p, box = probable[best], parts[best]
        said = f"{p:.2f} that a part shows {with_article(wanted)}"
        if p < SURE:
            says = f"the classifier, of {len(parts)} parts of the picture"
            yield StepEvidence("", says, said, 0.4 * _support(1 - p), scope=REST)
            return
        found = to_json(Region(box, 0.01, wanted, picture=image.id))
        says, support = f"the classifier, of the part {list(box)}", -0.8 * _support(p)
        yield StepEvidence("", says, said, support, [*(to_json(one) for one in regions), found], _scope(box))
        if len(kept) < len(regions):
            yield StepEvidence("", f"{says} and of the boxes", said, -0.1, [*(to_json(one) for one in kept), found])

    def _segmented(self, picture: PIL.Image.Image, regions: list[Region]) -> Iterator[StepEvidence]:
        shown = [one for one in regions[:MAX_REGIONS] if one.label]
        for region in shown:
            p = self._seen_as(picture, [region.box], [singular(region.label)])[0]
            said = f"{p:.2f} that it is {with_article(region.label)}"
            without = [to_json(one) for one in regions if one is not region]
            suggested = without if p < SURE else None
            says = f"the classifier, of the mask at {list(region.box)}"
            yield StepEvidence("", says, said, _support(p), suggested, _scope(region.box))

    # --- VQA -------------------------------------------------------------------------------------------------

    def _answered(self, picture: PIL.Image.Image, image: Picture, question: str, answer: str) -> Iterator[StepEvidence]:
        low = question.casefold().strip(" ?.")
        for way in (self._by_name, self._by_colour, self._by_existence, self._by_count, self._by_relation):
            yield from way(picture, image, low, answer)
        yield from self._by_rewording(picture, low, answer)
        if self.deep:
            yield from self._by_statement(picture, low, answer)

    def _by_name(self, picture: PIL.Image.Image, _: Picture, low: str, answer: str) -> Iterator[StepEvidence]:
        asked = re.fullmatch(r"what (?:(?P<group>[\w ]+?) )?is (?:this|that|it|shown|in the picture)", low)
        if not asked:
            return
        group = self.models.expansion_of("CLIP").names(asked["group"]) if asked["group"] else []
        names = [*(group if len(group) > 1 else self._universe), answer]
        whole = [(0, 0, *picture.size)]
        probable = self._named(self._cut(picture, whole, 0.0), names)[0]
        ranked = sorted(set(names), key=lambda name: -probable[name])
        total = sum(probable[name] for name in set(names)) or 1.0
        best = ranked[0]
        said = f"{best} ({probable[best] / total:.2f}), {answer} ({probable[answer] / total:.2f})"
        if same(best, answer):
            yield StepEvidence("", "the classifier, of the picture", said, _support(max(probable[best] / total, 0.5)))
            return
        lead = probable[best] / max(probable[best] + probable[answer], 1e-9)
        yield StepEvidence("", "the classifier, of the picture", said, -_support(lead), best)

    def _by_colour(self, picture: PIL.Image.Image, _: Picture, low: str, answer: str) -> Iterator[StepEvidence]:
        asked = COLOUR_OF.fullmatch(low) or COLOUR_NAMED.fullmatch(low) or IS_COLOUR.fullmatch(low)
        if not asked or asked["thing"] == "background":
            return
        parts = asked.groupdict()
        colours = colours_in(low) if parts.get("second") else sorted(COLOURS)
        if parts.get("first") and parts["first"] not in COLOURS:
            return
        thing = singular(asked["thing"])
        tinted = [f"{colour} {thing}" for colour in colours]
        clip = self.models.profile.entry(ClipModel)
        logits = self.models.similarity([picture], [clip.template.format(name) for name in tinted])[0].tolist()
        seen = dict(zip(colours, softmax(logits), strict=True))
        yield from self._colour_said("the classifier, of the picture", seen, parts, answer)
        found = self.models.glimpse([picture], [tinted], threshold=_threshold(self.models) * FAINT)[0]
        if found:
            scores = {colour: max((o.score for o in found if o.name == name), default=0.0)
                      for colour, name in zip(colours, tinted, strict=True)}  # fmt: skip
            total = sum(scores.values()) or 1.0
            shares = {colour: score / total for colour, score in scores.items()}
            yield from self._colour_said("the detector, of the picture", shares, parts, answer)

    def _colour_said(
        self, says: str, shares: dict[str, float], parts: dict[str, str | None], answer: str
    ) -> Iterator[StepEvidence]:
        best = max(shares, key=shares.__getitem__)
        truth = parts.get("first") and not parts.get("second")
        right = ("yes" if best == parts["first"] else "no") if truth else best
        against = max(shares.get(answer, 0.0), 1e-9)
        lead = shares[best] if truth else shares[best] / (shares[best] + against)
        said = f"{best} ({shares[best]:.2f})"
        if same(right, answer):
            yield StepEvidence("", says, said, 0.8 * _support(max(shares[best], 0.6)))
        else:
            yield StepEvidence("", says, said, -0.8 * _support(max(lead, 0.6)), right)

    def _by_existence(self, picture: PIL.Image.Image, image: Picture, low: str, answer: str) -> Iterator[StepEvidence]:
        asked = re.fullmatch(r"(?:(?:is|are) there|can you see|does the picture show) (?:an? |any )?([\w ]+)", low)
        if not asked or answer not in {"yes", "no"}:
            return
        number = len(self._count(picture, image, asked[1]))
        right = "yes" if number else "no"
        support = 0.7 if right == answer else -0.7
        yield StepEvidence("", f"the detector and the classifier, of “{asked[1]}”", f"{number} found", support, right)

    def _by_count(self, picture: PIL.Image.Image, image: Picture, low: str, answer: str) -> Iterator[StepEvidence]:
        asked = re.fullmatch(r"(?:how many|count the) ([\w ]+?)(?: (?:are|is) (?:there|in the picture))?", low)
        if not asked or as_number(answer) is None:
            return
        number = len(self._count(picture, image, asked[1]))
        support = 0.6 if number == as_number(answer) else -0.6
        yield StepEvidence(
            "", f"the detector and the classifier, of “{asked[1]}”", f"{number} found", support, str(number)
        )

    def _count(self, picture: PIL.Image.Image, image: Picture, wanted: str) -> list[Thing]:
        """Return the things that both detector and classifier take for what is wanted."""
        names = self.models.expansion_of("LOC").names(wanted)
        found = self.models.detect([picture], [names])[0]
        boxes = [Thing(one.box, one.score, one.name) for one in found]
        boxes += [one for one in self._things_in(picture, image) if all(iou(one.box, b.box) <= APART for b in boxes)]
        probable = self._seen_as(picture, [one.box for one in boxes], names)
        return [one for one, p in zip(boxes, probable, strict=True) if p >= SURE]

    def _by_relation(self, picture: PIL.Image.Image, image: Picture, low: str, answer: str) -> Iterator[StepEvidence]:
        asked = RELATION.fullmatch(low)
        if not asked or answer not in {"yes", "no"}:
            return
        first, second = (self._count(picture, image, asked[part]) for part in ("first", "second"))
        if not first or not second:
            return
        right = "yes" if holds(first[0].box, asked["relation"], second[0].box) else "no"
        said = f"{list(first[0].box)} and {list(second[0].box)}: {right}"
        yield StepEvidence("", "the detector, of both boxes", said, 0.7 if right == answer else -0.7, right)

    def _by_rewording(self, picture: PIL.Image.Image, low: str, answer: str) -> Iterator[StepEvidence]:
        questions = [one for one in reworded(low) if one != f"{low}?"]
        if not questions:
            return
        answers = [
            as_asked(low, question, said)
            for question, said in zip(questions, self._ask(picture, questions), strict=True)
        ]
        heard = [one for one in answers if one]
        if not heard:
            return
        best, votes = Counter(heard).most_common(1)[0]
        share = votes / len(heard)
        support = REWORDED * share if same(best, answer) else -REWORDED * share
        says = f"VQA, asked “{questions[0]}”" + (
            f" and in {len(questions) - 1} other ways" if len(questions) > 1 else ""
        )
        yield StepEvidence("", says, f"{best} ({votes} of {len(heard)})", support, best)

    def _by_statement(self, picture: PIL.Image.Image, low: str, answer: str) -> Iterator[StepEvidence]:
        """Let the matcher choose between statements made of the question and each possible answer."""
        wordings = statements(low, answer)
        if not wordings:
            return
        scores = dict(zip(wordings, self.models.match([picture] * len(wordings), list(wordings.values())), strict=True))
        best = max(scores, key=scores.__getitem__)
        margin = scores[best] - scores[answer] if not same(best, answer) else scores[best] - sorted(scores.values())[-2]
        support = HEARSAY * min(1.0, 2 * margin)
        said = f"“{wordings[best]}” ({scores[best]:.2f})"
        agreed = same(best, answer)
        yield StepEvidence("", "the matcher", said, support if agreed else -support, None if agreed else best)

    # --- CLASSIFY, SELECT ------------------------------------------------------------------------------------

    def _classified(
        self, picture: PIL.Image.Image, arguments: dict[str, Any], labelled: list[Region]
    ) -> Iterator[StepEvidence]:
        given = _regions(arguments["object"])[:MAX_REGIONS]
        categories = _texts(arguments["categories"])
        expansion = self.models.expansion_of("CLIP")
        members = {category: expansion.names(category) for category in categories}
        names = [name for each in members.values() for name in each]
        probable = self._named(self._cut(picture, [one.box for one in given], 0.15), names)
        by_box = {one.box: one for one in labelled}
        words = ", ".join(categories)
        for region, seen in zip(given, probable, strict=True):
            shares = {category: sum(seen[name] for name in set(each)) for category, each in members.items()}
            now = by_box.get(region.box)
            said = self._category_said(region, now, shares, [to_json(one) for one in labelled])
            yield from self._as_far_as_taught(words, [said])
            yield from self._found_as(region, now, members, labelled)
        unsaid = self.sought.intersection(categories, self._untaught("CLIP", words)).difference(
            one.label for one in labelled
        )
        for name in sorted(unsaid) if given else ():
            yield _never_taught("classifier", name, suggests=name)

    def _category_said(
        self, region: Region, now: Region | None, shares: dict[str, float], labelled: list[Any]
    ) -> StepEvidence:
        best = max(shares, key=shares.__getitem__, default="")
        none = 1 - sum(shares.values())
        right = best if shares.get(best, 0.0) >= none else ""
        p = shares[right] if right else none
        said = f"{right or 'none of the categories'} ({p:.2f})"
        says = f"the classifier with a wider look, of the box {list(region.box)}"
        if right == (now.label if now else ""):
            return StepEvidence("", says, said, 0.8 * _support(p), scope=_scope(region.box))
        return StepEvidence(
            "", says, said, -0.8 * _support(p), _relabelled(labelled, region, right), _scope(region.box)
        )

    def _found_as(
        self, region: Region, now: Region | None, members: dict[str, list[str]], labelled: Sequence[Region]
    ) -> Iterator[StepEvidence]:
        """Compare the label with the name under which the detector found the region."""
        name = singular(region.label)
        right = next((category for category, each in members.items() if name in {category, *each}), "")
        if not region.label or name not in self._detected:
            return
        says = f"the detector, of the box {list(region.box)}"
        agreed = right == (now.label if now else "")
        suggested = None if agreed else _relabelled([to_json(one) for one in labelled], region, right)
        said = f"found as {name} ({region.score:.2f})"
        yield StepEvidence("", says, said, 0.4 if agreed else -0.4, suggested, _scope(region.box))

    def _selected(
        self, picture: PIL.Image.Image, arguments: dict[str, Any], chosen: list[Region]
    ) -> Iterator[StepEvidence]:
        given = _regions(arguments["object"])[:MAX_REGIONS]
        query = str(arguments["query"])
        if len(given) <= 1 or not chosen:
            return
        names = self.models.expansion_of("CLIP").names(query)
        probable = self._seen_as(picture, [one.box for one in given], names)
        best = max(range(len(given)), key=probable.__getitem__)
        total = sum(probable) or 1.0
        said = f"{list(given[best].box)} ({probable[best] / total:.2f})"
        agreed = any(one.box == given[best].box for one in chosen)
        support = _support(max(probable[best] / total, 0.55))
        suggested = None if agreed else [to_json(given[best])]
        yield StepEvidence(
            "", f"the classifier with a wider look, for “{query}”", said, support if agreed else -support, suggested
        )


def _never_taught(who: str, name: str, *, suggests: Any) -> StepEvidence:  # noqa: ANN401 - as in Evidence
    return StepEvidence("", "the table of facts", f"the {who} was never taught {name}", -UNTAUGHT, suggests)


# --- values --------------------------------------------------------------------------------------------------


def _regions(value: Any) -> list[Region]:  # noqa: ANN401 - any value of a program
    listed = [value] if isinstance(value, Region) else value
    return [one for one in listed if isinstance(one, Region)] if isinstance(listed, list | tuple) else []


def _texts(value: Any) -> list[str]:  # noqa: ANN401 - any value of a program
    return [str(one) for one in value] if isinstance(value, list | tuple) else str(value).split(",")


def _relabelled(labelled: list[Any], region: Region, label: str) -> list[Any]:
    rest = [one for one in labelled if tuple(one["box"]) != region.box]
    return [*rest, to_json(replace(region, label=label))] if label else rest


def _scope(box: Sequence[int]) -> str:
    return json.dumps(list(box))


def _support(probability: float) -> float:
    """From a probability in [0, 1] to support in [-1, 1], never quite certain."""
    return max(-0.97, min(0.97, 2 * probability - 1))


def _int(number: float) -> int | float:
    return int(number) if number == int(number) else number


def _threshold(models: Models) -> float:
    return models.profile.entry(LocModel).threshold


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
