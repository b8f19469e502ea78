"""A prompt stays only if the tool does better with it on what it was not trained on (CLOVA section 3.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from snellen.profiles import SnellenError
from snellen.tuning.instances import Tally, TunedPrompt, TuningExample, Verdict
from snellen.tuning.loop import SeenT, Tuner


def validate(
    tuner: Tuner[Any, SeenT],
    prompts: Sequence[TunedPrompt],
    held_out: Sequence[TuningExample],
    *,
    others: Sequence[TuningExample] = (),
    names: Sequence[str] = (),
) -> list[Verdict]:
    """Run the tool with each prompt on held-out examples, and on examples of other things that it must not spoil.

    Args:
        tuner: The tool.
        prompts: Prompts of one concept.
        held_out: Examples of the concept that none of the prompts was trained on; for VQA, the question that failed.
        others: Examples of other concepts (CLIP), scenes without it (LOC), other questions (VQA).
        names: CLIP: the names that compete, beside those of the examples.

    Raises:
        SnellenError: There are no held-out examples, so nothing can be proved.
    """
    if not prompts:
        return []
    concept = prompts[0].concept
    if not held_out:
        subject = f"of {concept!r} " if concept else ""
        msg = f"Nothing {subject}was held out, so no prompt can be proved: give at least two examples."
        raise SnellenError(msg)
    every = [concept, *names] if concept else list(names)
    new, old = tuner.look(held_out, every), (tuner.look(others, every) if others else None)

    def measured(tuned: TunedPrompt | None) -> tuple[Tally, list[bool]]:
        right = tuner.right(new, tuned, concept)
        return Tally(sum(right), len(right)), [] if old is None else tuner.right(old, tuned, concept)

    before, right_before = measured(None)
    verdicts = []
    for tuned in prompts:
        after, right_after = measured(tuned)
        spoilt = sum(was and not now for was, now in zip(right_before, right_after, strict=True))
        bearable = spoilt <= tuner.settings.spoilt * sum(right_before)
        kept, reason = _judged(tuned, after, before, spoilt, least=tuner.settings.held_out, bearable=bearable)
        tallies = (Tally(sum(each), len(each)) for each in (right_after, right_before))
        verdicts.append(Verdict(tuned, kept, reason, after, before, *tallies))
    return verdicts


def _judged(
    tuned: TunedPrompt, after: Tally, before: Tally, spoilt: int, *, least: float, bearable: bool
) -> tuple[bool, str]:
    """Whether the prompt is kept, and why, in a sentence."""
    measured = f"right on {after} held-out examples, {before.right} without it"
    if not math.isfinite(tuned.loss):
        return False, "Discarded: its training ended in numbers that are none."
    if before.right == before.of:
        return False, f"Discarded: there is nothing to learn ({measured})."
    if after.right <= before.right:
        return False, f"Discarded: it is of no use ({measured})."
    if after.share < least:
        return False, f"Discarded: what it learned does not hold elsewhere ({measured})."
    if not bearable:
        return False, f"Discarded: {spoilt} right answers about other things became wrong ({measured})."
    others = f"{spoilt} other answers became wrong" if spoilt else "no other answer became wrong"
    return True, f"Kept: {measured}; {others}."
