"""All actions of the grammar of questions about models, by the names that the grammar file calls them."""

from __future__ import annotations

from typing import Any, Final

from snellen.reasoning.queries import ability_actions, nominal_actions, number_actions, question_actions

ACTIONS: Final[dict[str, Any]] = {
    name: action
    for module in (nominal_actions, number_actions, ability_actions, question_actions)
    for name, action in module.ACTIONS.items()
}
