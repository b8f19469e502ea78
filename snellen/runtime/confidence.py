"""Confidence: the probability that an answer is right, estimated from what the models said about their own steps.

A logistic regression for each kind of answer, fitted by ``python -m benchmarks.confidence fit`` on drawn tasks of which
the truth is known. Its coefficients lie beside the profile, with the fingerprints of the checkpoints that they hold
for; of other checkpoints, pictures or Reasoners nothing is said.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from snellen.errors import BadInput, SnellenError
from snellen.models.loading import fingerprint
from snellen.reasoning.contradictions import contradictions
from snellen.tools.program import UNDECIDED
from snellen.values import Picture, Region, as_number, as_text, from_json

if TYPE_CHECKING:
    from snellen.profiles import Profile

Json = dict[str, Any]

AnswerKind = Literal["yes", "no", "number", "words", "regions", "picture"]
SEEING: Final = ("loc", "vqa", "clip", "seg")
"""The checkpoints on which the evidence rests."""
_LOCATING: Final = frozenset(("LOC", "THINGS", "NAME", "SEG", "FACEDET", "CLASSIFY", "SELECT"))
_ASKING: Final = frozenset(("VQA", "SAME", "BACKGROUND", "CAPTION", "DESCRIBE"))
_SUREST: Final = 0.995
"""Probabilities nearer to 0 or 1 count as this far from it, or one score would decide alone."""


@dataclass(frozen=True)
class Confidence:
    """The confidence in an answer.

    Attributes:
        value: The probability that it is right, in [0, 1]; None where nothing is known of it.
        rival: The answer that is next likeliest, where the value is below what the profile calls sure: empty where no
            other is known. None where the answer is sure enough, or nothing is known.
    """

    value: float | None = None
    rival: str | None = None


@dataclass(frozen=True)
class Calibration:
    """The logistic regressions of a profile.

    Attributes:
        weights: The fingerprints of the checkpoints that it was fitted with, by their keys.
        intercepts: For each kind of answer.
        coefficients: For each kind of answer, by the names of features.
    """

    weights: Mapping[str, str]
    intercepts: Mapping[str, float]
    coefficients: Mapping[str, Mapping[str, float]]

    @classmethod
    def from_json(cls, data: Json) -> Calibration:
        """Read coefficients as ``benchmarks.confidence`` writes them."""
        kinds: Mapping[str, Json] = data["kinds"]
        return cls(
            weights=data["weights"],
            intercepts={kind: float(each["intercept"]) for kind, each in kinds.items()},
            coefficients={kind: dict(each["coefficients"]) for kind, each in kinds.items()},
        )

    def probability(self, kind: AnswerKind, features: Mapping[str, float]) -> float | None:
        """Return the probability in [0, 1] that an answer is right; None of a kind that was not fitted."""
        if kind not in self.intercepts:
            return None
        by_name = self.coefficients[kind]
        return sigmoid(self.intercepts[kind] + sum(by_name.get(name, 0.0) * value for name, value in features.items()))


def calibration_of(profile: Profile) -> Calibration | None:
    """Return the calibration of a profile; None where it has none, or none for its checkpoints and its Reasoner.

    Raises:
        SnellenError: The file that the profile names cannot be read.
    """
    if not profile.confidence.file or profile.reasoner.kind != "cases":
        return None
    file = profile.resolve(profile.confidence.file)
    try:
        calibration = _read(file, file.stat().st_mtime_ns)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"The calibration {file} cannot be read ({error!r}): correct confidence.file in {profile.path}."
        raise SnellenError(msg) from error
    return calibration if calibration.weights == weights_of(profile) else None


@lru_cache(maxsize=8)
def _read(file: Path, _changed: int) -> Calibration:
    return Calibration.from_json(json.loads(file.read_text(encoding="utf-8")))


def weights_of(profile: Profile) -> dict[str, str]:
    """Return the fingerprints of the checkpoints that see; of one that is not here, an empty one."""
    found = {}
    for key in SEEING:
        try:
            found[key] = fingerprint(profile, key)
        except SnellenError:
            found[key] = ""
    return found


def confidence_in(
    answer: Any,  # noqa: ANN401 - any value in JSON form
    steps: Sequence[Json],
    revisions: Sequence[Json],
    profile: Profile,
) -> Confidence:
    """Estimate the confidence in an answer; nothing is known of one for which no model left evidence.

    Args:
        answer: The answer in JSON form.
        steps: The executed steps in JSON form.
        revisions: Revisions of the program.
        profile: Names the calibration, and from when on an answer is sure.
    """
    if not any(step.get("evidence") for step in steps):
        return Confidence()
    calibration = calibration_of(profile)
    value = None if calibration is None else from_json(answer)
    if calibration is None or value is None or value == UNDECIDED:
        return Confidence()
    kind = kind_of_answer(value)
    probability = calibration.probability(kind, features_of(value, steps, revisions))
    if probability is None or probability >= profile.confidence.sure:
        return Confidence(None if probability is None else round(probability, 3))
    return Confidence(round(probability, 3), rival_of(value, steps))


def kind_of_answer(value: object) -> AnswerKind:
    """Return the kind of an answer, by which confidence is estimated."""
    if isinstance(value, Picture):
        return "picture"
    if isinstance(value, Region) or (isinstance(value, list) and any(isinstance(each, Region) for each in value)):
        return "regions"
    text = as_text(value).strip().casefold()
    if text in {"yes", "no"}:
        return "yes" if text == "yes" else "no"
    return "words" if as_number(text) is None else "number"


def features_of(value: object, steps: Sequence[Json], revisions: Sequence[Json]) -> dict[str, float]:
    """Return the features of a run by name.

    ``weakest``      log-odds of the lowest score of a region that a step kept
    ``strongest``    log-odds of the highest score of a region that a step kept
    ``own``          log-odds of the probability behind the answer's own words
    ``probability``  log-odds of the least sure answer or name that a model gave
    ``rejected``     log-odds of the highest detector score that was left out
    ``resemblance``  log-odds that a segment called otherwise is what was looked for
    ``alone``        how many regions only one of two models saw (logarithm)
    ``nothing``      how many searches found nothing (logarithm)
    ``steps``        how many steps looked at a picture (logarithm)
    ``regions``      how many regions were found (logarithm)
    ``trouble``      1 where the program was revised, or steps contradict each other
    """
    evidence = [step.get("evidence") or {} for step in steps]
    regions = [_regions(step) for step in steps if step["tool"] in _LOCATING]
    scores = [region.score for each in regions for region in each]
    probabilities = [each["probability"] for each in evidence if "probability" in each]
    trouble = bool(revisions) or next(contradictions(steps), None) is not None
    return {
        "weakest": _log_odds(min(scores, default=_SUREST)),
        "strongest": _log_odds(max(scores, default=_SUREST)),
        "own": _log_odds(_own(value, steps, default=min([*scores, *probabilities], default=_SUREST))),
        "probability": _log_odds(min(probabilities, default=_SUREST)),
        "rejected": _log_odds(max((each.get("rejected", 0.0) for each in evidence), default=0.0)),
        "resemblance": _log_odds(max((each.get("resemblance", 0.0) for each in evidence), default=0.0)),
        "alone": math.log1p(sum(each.get("alone", 0) for each in evidence)),
        "nothing": math.log1p(sum(not each for each in regions)),
        "steps": math.log1p(sum(step["tool"] in _LOCATING | _ASKING for step in steps)),
        "regions": math.log1p(len(scores)),
        "trouble": float(trouble),
    }


def rival_of(value: object, steps: Sequence[Json]) -> str:
    """Return the answer that is next likeliest after one; empty where none is known."""
    text = as_text(value).strip().casefold()
    if text in {"yes", "no"}:
        return "no" if text == "yes" else "yes"
    for step in reversed(steps):
        rival = (step.get("evidence") or {}).get("rivals", {}).get(text)
        if rival:
            return str(rival)
    count = as_number(text)
    if not isinstance(count, int) or count < 0:
        return ""
    scores = [region.score for step in steps if step["tool"] in _LOCATING for region in _regions(step)]
    rejected = max(((step.get("evidence") or {}).get("rejected", 0.0) for step in steps), default=0.0)
    missed_one = count == 0 or rejected >= 1 - min(scores, default=1.0)
    return str(count + 1 if missed_one else count - 1)


def _own(value: object, steps: Sequence[Json], *, default: float) -> float:
    """Return the probability behind the words of an answer: of what a model said, or of the regions called so."""
    text = as_text(value).strip().casefold()
    for step in reversed(steps):
        said = step.get("output")
        if step["tool"] in _ASKING and isinstance(said, str) and said.strip().casefold() == text:
            probability = (step.get("evidence") or {}).get("probability")
            return default if probability is None else float(probability)
    names = {part.strip() for part in text.split(",")}
    regions = [region for step in steps if step["tool"] in _LOCATING for region in _regions(step)]
    return min((region.score for region in regions if region.label.casefold() in names), default=default)


def _regions(step: Json) -> list[Region]:
    try:
        output = from_json(step.get("output"))
    except BadInput:
        return []
    return [each for each in (output if isinstance(output, list) else [output]) if isinstance(each, Region)]


def _log_odds(probability: float) -> float:
    if not math.isfinite(probability):
        return 0.0
    bounded = min(max(probability, 1 - _SUREST), _SUREST)
    return math.log(bounded / (1 - bounded))


def sigmoid(value: float) -> float:
    """Return the logistic function, without overflow."""
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))
