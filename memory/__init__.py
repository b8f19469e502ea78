"""Memory that outlives a run, one file each: artifacts, demonstrations, checkpoints, and the home they live in.

``snellen.memory.list()`` and its like, for programs, are the functions of ``snellen.api.memory``.
"""

import importlib
import os
from typing import Any, Final

# langgraph reads this once, when its serializer is first imported: a checkpoint may then bring back known classes only.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

_CALLS: Final = frozenset({"export", "forget", "import_", "list", "stats", "verify"})


def __getattr__(name: str) -> Any:  # noqa: ANN401 - one of the calls
    if name not in _CALLS:
        msg = f"module 'snellen.memory' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module("snellen.api.memory"), name)
