"""LIST: what the Reasoner knows, as a list of names."""

from __future__ import annotations

from snellen.errors import BadInput
from snellen.tools.registry import ToolContext, tool

_MOST_NAMES = 100


@tool("LIST")
def list_names(context: ToolContext, query: str, max: int = 20) -> list[str]:
    """List up to max names that query describes, such as 'wild animals that live on land'.

    The names suit CLASSIFY(categories=…) and LOC(object=…); the Reasoner answers (CLOVA, table 2).
    """
    if not query.strip():
        msg = "LIST(query=…) is empty; say what to list, such as 'fruit that is yellow'"
        raise BadInput(msg)
    if not 1 <= max <= _MOST_NAMES:
        msg = f"LIST(max={max}) is out of range; ask for 1 to {_MOST_NAMES} names"
        raise BadInput(msg)
    return list(context.list_knowledge(query.strip(), int(max), ()))[: int(max)]
