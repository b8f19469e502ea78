"""All actions of the grammar, by the names that the grammar file calls them."""

from __future__ import annotations

from typing import Any, Final

from snellen.reasoning.reading import follow_ups, noun_phrases, properties, questions, requests, truths

ACTIONS: Final[dict[str, Any]] = {
    name: action
    for module in (noun_phrases, properties, truths, questions, requests, follow_ups)
    for name, action in module.ACTIONS.items()
}
