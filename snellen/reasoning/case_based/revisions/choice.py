"""Choice of a revision: the rules for each kind of trouble in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from snellen.reasoning.case_based.revisions.boxes_for_cuts import boxes_for_cuts
from snellen.reasoning.case_based.revisions.failed_run import FailedRun, Rewrite
from snellen.reasoning.case_based.revisions.kinds_of_thing import kinds_of_thing
from snellen.reasoning.case_based.revisions.likest_in_group import likest_in_group
from snellen.reasoning.case_based.revisions.named_in_group import named_in_group
from snellen.reasoning.case_based.revisions.whole_picture import whole_picture
from snellen.reasoning.case_based.revisions.wider_crop import wider_crop
from snellen.reasoning.revision import same_program

if TYPE_CHECKING:
    from snellen.reasoning.trouble import Trouble, TroubleKind

Rule = Callable[[FailedRun, str], Rewrite | None]
"""Rewrites a program for the sake of the step at an address; None where the rule does not apply."""

RULES: Final[dict[TroubleKind, tuple[Rule, ...]]] = {
    "empty": (boxes_for_cuts, wider_crop, kinds_of_thing, named_in_group, likest_in_group),
    "error": (boxes_for_cuts, wider_crop, kinds_of_thing, named_in_group, whole_picture),
    "contradiction": (wider_crop, kinds_of_thing, named_in_group),
}
"""First how a picture was cut, which changes nothing about what is looked for; then the name; last what is a guess."""


def first_revision(
    run: FailedRun, trouble: Trouble, tried: Sequence[str], *, is_valid: Callable[[str], bool]
) -> Rewrite | None:
    """Return the first rewrite that was not tried yet; None where there is none.

    Args:
        run: The run in trouble.
        trouble: Its trouble; each rule looks at the causes in order.
        tried: Programs that were run in vain.
        is_valid: Tells whether a program checks.
    """
    known = [run.program.text, *tried]
    new = (one for one in _rewrites(run, trouble) if not any(same_program(one.program, each) for each in known))
    return next((one for one in new if is_valid(one.program)), None)


def _rewrites(run: FailedRun, trouble: Trouble) -> Iterator[Rewrite]:
    for rule in RULES[trouble.kind]:
        for address in trouble.causes:
            rewrite = rule(run, address)
            if rewrite is not None:
                yield rewrite
