"""Evidence about the answers of VQA."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.learning.step_evidence.witnesses import APART, FAINT, HEARSAY, SURE, Thing, Witnesses, support_of
from snellen.profiles import ClipModel
from snellen.reasoning.critique import StepEvidence
from snellen.reasoning.language.inflection import singular
from snellen.reasoning.language.rewording import (
    COLOUR_NAMED,
    COLOUR_OF,
    COLOURS,
    IS_COLOUR,
    RELATION,
    as_asked,
    colours_in,
    holds,
    reworded,
    statements,
)
from snellen.scoring import iou
from snellen.scoring.answers import same
from snellen.tools.vision.context import softmax
from snellen.values import Picture, as_number

if TYPE_CHECKING:
    import PIL.Image

REWORDED: Final = 0.45
"""How far the same question in other words counts."""


@dataclass(frozen=True)
class AnswerEvidence:
    """Gathers evidence about answers to questions."""

    witnesses: Witnesses

    def about_answer(
        self, picture: PIL.Image.Image, image: Picture, question: str, answer: str
    ) -> Iterator[StepEvidence]:
        """Yield evidence about an answer to a question."""
        low = question.casefold().strip(" ?.")
        for way in (self._by_name, self._by_colour, self._by_existence, self._by_count, self._by_relation):
            yield from way(picture, image, low, answer)
        yield from self._by_rewording(picture, low, answer)
        if self.witnesses.deep:
            yield from self._by_statement(picture, low, answer)

    def _by_name(self, picture: PIL.Image.Image, _: Picture, low: str, answer: str) -> Iterator[StepEvidence]:
        match = re.fullmatch(r"what (?:(?P<group>[\w ]+?) )?is (?:this|that|it|shown|in the picture)", low)
        if not match:
            return
        group = self.witnesses.models.expansion_of("CLIP").names(match["group"]) if match["group"] else []
        names = [*(group if len(group) > 1 else self.witnesses.all_names), answer]
        whole = [(0, 0, *picture.size)]
        probable = self.witnesses.name_probabilities(self.witnesses.cut_out(picture, whole, 0.0), names)[0]
        ranked = sorted(set(names), key=lambda name: -probable[name])
        total = sum(probable[name] for name in set(names)) or 1.0
        best = ranked[0]
        value = f"{best} ({probable[best] / total:.2f}), {answer} ({probable[answer] / total:.2f})"
        if same(best, answer):
            yield StepEvidence(
                "", "the classifier, of the picture", value, support_of(max(probable[best] / total, 0.5))
            )
            return
        lead = probable[best] / max(probable[best] + probable[answer], 1e-9)
        yield StepEvidence("", "the classifier, of the picture", value, -support_of(lead), best)

    def _by_colour(self, picture: PIL.Image.Image, _: Picture, low: str, answer: str) -> Iterator[StepEvidence]:
        match = COLOUR_OF.fullmatch(low) or COLOUR_NAMED.fullmatch(low) or IS_COLOUR.fullmatch(low)
        if not match or match["thing"] == "background":
            return
        parts = match.groupdict()
        colours = colours_in(low) if parts.get("second") else sorted(COLOURS)
        if parts.get("first") and parts["first"] not in COLOURS:
            return
        thing = singular(match["thing"])
        tinted = [f"{colour} {thing}" for colour in colours]
        clip = self.witnesses.models.profile.entry(ClipModel)
        logits = self.witnesses.models.similarity([picture], [clip.template.format(name) for name in tinted])[
            0
        ].tolist()
        seen = dict(zip(colours, softmax(logits), strict=True))
        yield from self._colour_said("the classifier, of the picture", seen, parts, answer)
        detections = self.witnesses.models.glimpse([picture], [tinted], threshold=self.witnesses.threshold * FAINT)[0]
        if detections:
            scores = {colour: max((o.score for o in detections if o.name == name), default=0.0)
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
        value = f"{best} ({shares[best]:.2f})"
        if same(right, answer):
            yield StepEvidence("", says, value, 0.8 * support_of(max(shares[best], 0.6)))
        else:
            yield StepEvidence("", says, value, -0.8 * support_of(max(lead, 0.6)), right)

    def _by_existence(self, picture: PIL.Image.Image, image: Picture, low: str, answer: str) -> Iterator[StepEvidence]:
        match = re.fullmatch(r"(?:(?:is|are) there|can you see|does the picture show) (?:an? |any )?([\w ]+)", low)
        if not match or answer not in {"yes", "no"}:
            return
        number = len(self._count(picture, image, match[1]))
        right = "yes" if number else "no"
        support = 0.7 if right == answer else -0.7
        yield StepEvidence("", f"the detector and the classifier, of “{match[1]}”", f"{number} found", support, right)

    def _by_count(self, picture: PIL.Image.Image, image: Picture, low: str, answer: str) -> Iterator[StepEvidence]:
        match = re.fullmatch(r"(?:how many|count the) ([\w ]+?)(?: (?:are|is) (?:there|in the picture))?", low)
        if not match or as_number(answer) is None:
            return
        number = len(self._count(picture, image, match[1]))
        support = 0.6 if number == as_number(answer) else -0.6
        yield StepEvidence(
            "", f"the detector and the classifier, of “{match[1]}”", f"{number} found", support, str(number)
        )

    def _count(self, picture: PIL.Image.Image, image: Picture, concept: str) -> list[Thing]:
        """Return the things that both detector and classifier take for what is wanted."""
        names = self.witnesses.models.expansion_of("LOC").names(concept)
        detections = self.witnesses.models.detect([picture], [names])[0]
        boxes = [Thing(one.box, one.score, one.name) for one in detections]
        boxes += [
            one for one in self.witnesses.things_in(picture, image) if all(iou(one.box, b.box) <= APART for b in boxes)
        ]
        probable = self.witnesses.probabilities(picture, [one.box for one in boxes], names)
        return [one for one, p in zip(boxes, probable, strict=True) if p >= SURE]

    def _by_relation(self, picture: PIL.Image.Image, image: Picture, low: str, answer: str) -> Iterator[StepEvidence]:
        match = RELATION.fullmatch(low)
        if not match or answer not in {"yes", "no"}:
            return
        first, second = (self._count(picture, image, match[part]) for part in ("first", "second"))
        if not first or not second:
            return
        right = "yes" if holds(first[0].box, match["relation"], second[0].box) else "no"
        value = f"{list(first[0].box)} and {list(second[0].box)}: {right}"
        yield StepEvidence("", "the detector, of both boxes", value, 0.7 if right == answer else -0.7, right)

    def _by_rewording(self, picture: PIL.Image.Image, low: str, answer: str) -> Iterator[StepEvidence]:
        questions = [one for one in reworded(low) if one != f"{low}?"]
        if not questions:
            return
        answers = [
            as_asked(low, question, reply)
            for question, reply in zip(questions, self.witnesses.ask(picture, questions), strict=True)
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
        scores = dict(
            zip(wordings, self.witnesses.models.match([picture] * len(wordings), list(wordings.values())), strict=True)
        )
        best = max(scores, key=scores.__getitem__)
        margin = scores[best] - scores[answer] if not same(best, answer) else scores[best] - sorted(scores.values())[-2]
        support = HEARSAY * min(1.0, 2 * margin)
        value = f"“{wordings[best]}” ({scores[best]:.2f})"
        agreed = same(best, answer)
        yield StepEvidence("", "the matcher", value, support if agreed else -support, None if agreed else best)
