"""A run in words and pictures: its answer, each step in a line, what was found wrong, and what is to be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from snellen.sentences import capitalized
from snellen.summaries.values import in_words
from snellen.tools.program import StepRecord
from snellen.values import Picture, Region, from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    import PIL.Image

    from snellen.graphs.states import AskState, Json
    from snellen.memory.artifacts import ArtifactStore
    from snellen.reasoning.critique import Critique, Fault
    from snellen.reasoning.reading.reading_record import ReadingRecord

SURE_AT_ALL: Final = 0.005
"""A critique of less certainty is a guess: its percentage would read 0."""
MOST_CONFIDENT: Final = 0.99
"""The highest confidence that is shown: 1.00 would be read as certainty."""
_OUTLINE: Final = (255, 64, 129)


def understood_in_words(record: ReadingRecord | None) -> str:
    """Say how an instruction was understood, and what of it was left aside; empty where there is nothing to say."""
    if record is None:
        return ""
    if record.status == "as it stands":
        return "asked as it stands"
    beside = [f"“{one}” read as “{other}”" for one, other in record.corrected]
    beside += [f"left aside: “{one}”" for one in record.asides]
    if record.probability < 1:
        beside.append(f"{record.probability:.0%} sure that this is meant")
    return f"{record.understood} ({'; '.join(beside)})" if record.understood and beside else record.understood


def caveat_in_words(caveat: str | None) -> str:
    """Say what no tool was taught and an answer depends on, as a sentence to read before it; empty where all was."""
    return "" if caveat is None else f"{capitalized(caveat)}."


def answer_with_confidence(answer: str, state: AskState) -> str:
    """Say an answer, how sure it is, its rival where it is unsure, and after which revisions it came."""
    if state.confidence is not None:
        answer = f"{answer} ({min(state.confidence, MOST_CONFIDENT):.2f})"
    if state.rival is not None:
        answer = f"unsure: {answer}{f', or {state.rival}' if state.rival else ''}"
    revised = after_revisions(state.revisions)
    return f"{answer} ({revised})" if revised else answer


def after_revisions(revisions: Sequence[Json]) -> str:
    """Say after which revisions an answer came: ``after one revision: …``; empty where none was kept."""
    changes = [one["change"].strip(" .") for one in revisions if one["helped"]]
    if not changes:
        return ""
    number = ("one revision", "two revisions")[len(changes) - 1]
    return f"after {number}: {'; '.join(map(_within_a_sentence, changes))}"


def _within_a_sentence(change: str) -> str:
    """Begin a sentence in lower case, unless it begins with the name of a tool."""
    return change[:1].lower() + change[1:] if change[1:2].islower() else change


def revision_in_words(revision: Json) -> str:
    """Say why a program was revised, what was changed, and what came of it."""
    result = {True: " It helped.", False: " It did not help: the run before is kept.", None: ""}[revision["helped"]]
    return f"{revision['trouble'].rstrip(' .')}. {revision['change'].rstrip(' .')}.{result}"


def outcome(step: StepRecord) -> str:
    """Say what a step gave, or why it failed."""
    return f"failed: {step.error}" if step.error else in_words(step.value)


def steps_of(state: AskState) -> list[StepRecord]:
    """Return the executed steps of a run, in order."""
    return [StepRecord.from_json(record) for record in state.steps]


def notices_of(state: AskState) -> list[str]:
    """Return what the user should know beside the answer, each sentence once."""
    return [sentence for sentence in dict.fromkeys([*state.warnings, *state.notes]) if sentence != state.error]


def feedback_in_words(state: AskState) -> str:
    """Say what is known of the right answer: ``expected: yes``, ``told: that is not a cat``, where the thing is."""
    parts = [f"expected: {state.expected}"] if state.expected is not None else []
    parts += [f"told: {state.correction}"] if state.correction else []
    region = from_json(state.region) if state.region else None
    if isinstance(region, Region):
        parts.append(f"shown: {region.label or 'a region'} at {', '.join(map(str, region.box))}")
    return "; ".join(parts) or "nothing was said"


def verdict_in_words(state: AskState) -> str:
    """Say how the answer was judged, and by what: ``right, at attempt 2 (expected: yes)``."""
    after = f", at attempt {len(state.attempts) + 1}" if state.attempts and state.verdict == "right" else ""
    return f"{state.verdict}{after} ({feedback_in_words(state)})"


def attempt_in_words(attempt: Json) -> str:
    """Say a wrong answer of ``AskState.attempts``, or why there was none."""
    return str(attempt["error"] or in_words(from_json(attempt["answer"])))


def way_in_words(critique: Critique) -> str:
    """Say how something was found: at one go, or looking at one step after the other."""
    return "all at once" if critique.method == "global" else "step by step"


def fault_in_words(fault: Fault, critique: Critique) -> str:
    """Say where something went wrong: ``LOC in step 1, 97% sure``, ``the plan, unsure``."""
    where = f"{fault.tool} in step {fault.address}" if fault.place == "tool" else f"the {fault.place}"
    sure = f"{critique.certainty:.0%} sure" if critique.certainty >= SURE_AT_ALL else "unsure"
    return f"{where}, {sure}"


def remedy_in_words(fault: Fault) -> str:
    """Say what a step should have given; empty where that is not known, or the reason has said so."""
    expected = fault.right_output
    return f"it should have given: {expected}" if expected and expected not in fault.reason else ""


def drawn(value: Any, store: ArtifactStore) -> PIL.Image.Image | None:  # noqa: ANN401 - any value of a program
    """Return a picture value as it is, regions outlined on their picture, and None for everything else."""
    if isinstance(value, Picture):
        return store.get(value.id)
    regions = regions_of(value)
    if not regions or not regions[0].picture:
        return None
    from PIL import ImageDraw

    picture = store.get(regions[0].picture).convert("RGB")
    pen = ImageDraw.Draw(picture)
    width = max(1, max(picture.size) // 200)
    for region in regions:
        x0, y0, x1, y1 = region.box
        pen.rectangle((x0, y0, max(x0, x1 - 1), max(y0, y1 - 1)), outline=_OUTLINE, width=width)
    return picture


def regions_of(value: Any) -> list[Region]:  # noqa: ANN401 - any value of a program
    """Return the regions in a value that lie in the first one's picture; none for a value of another kind."""
    regions = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, Region)]
    return [region for region in regions if region.picture == regions[0].picture]
