from __future__ import annotations

from snellen.learning.records import Collected


def on_both_sides(collected: Collected) -> set[str]:
    """Ids of the pictures that are trained on and prove what was learned."""
    trained = {one.picture for one in collected.training + collected.negatives}
    return trained & {one.picture for one in collected.held_out + collected.others}
