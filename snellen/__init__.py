"""Snellen examines the sight of vision-language models and corrects it.

``snellen.ask("scene.png", "How many dogs?")`` answers; docs/api.md shows every call. Names are imported when they are
first used, so that ``import snellen`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from snellen import memory as memory
    from snellen.api.asking import AskResult as AskResult
    from snellen.api.asking import AskStep as AskStep
    from snellen.api.asking import ask as ask
    from snellen.api.asking import ask_async as ask_async
    from snellen.api.benchmarks import BenchmarkResult as BenchmarkResult
    from snellen.api.benchmarks import pairs as pairs
    from snellen.api.benchmarks import pairs_async as pairs_async
    from snellen.api.benchmarks import prove as prove
    from snellen.api.benchmarks import prove_async as prove_async
    from snellen.api.continuing import correct as correct
    from snellen.api.continuing import correct_async as correct_async
    from snellen.api.continuing import list_threads as list_threads
    from snellen.api.continuing import list_threads_async as list_threads_async
    from snellen.api.continuing import resume as resume
    from snellen.api.continuing import resume_async as resume_async
    from snellen.api.following import Progress as Progress
    from snellen.api.investigating import ClaimEvidence as ClaimEvidence
    from snellen.api.investigating import InvestigateResult as InvestigateResult
    from snellen.api.investigating import investigate as investigate
    from snellen.api.investigating import investigate_async as investigate_async
    from snellen.api.learning import LearnResult as LearnResult
    from snellen.api.learning import learn as learn
    from snellen.api.learning import learn_async as learn_async
    from snellen.errors import BadInput as BadInput
    from snellen.errors import OutOfMemory as OutOfMemory
    from snellen.errors import SnellenError as SnellenError
    from snellen.threads.thread import ThreadSummary as ThreadSummary

    __version__: str

_HOMES: Final = {
    "snellen.api.asking": ("AskResult", "AskStep", "ask", "ask_async"),
    "snellen.api.benchmarks": ("BenchmarkResult", "pairs", "pairs_async", "prove", "prove_async"),
    "snellen.api.continuing": (
        "correct", "correct_async", "list_threads", "list_threads_async", "resume", "resume_async",
    ),
    "snellen.api.following": ("Progress",),
    "snellen.api.investigating": ("ClaimEvidence", "InvestigateResult", "investigate", "investigate_async"),
    "snellen.api.learning": ("LearnResult", "learn", "learn_async"),
    "snellen.errors": ("BadInput", "OutOfMemory", "SnellenError"),
    "snellen.threads.thread": ("ThreadSummary",),
}  # fmt: skip
"""The modules that public names come from."""
_MODULES: Final = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted([*_MODULES, "memory"])  # noqa: PLE0605 - made of the table, which is a test's to compare


if not TYPE_CHECKING:  # a type checker knows the names above, and no others

    def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has the name
        if name == "memory":
            return importlib.import_module("snellen.memory")
        if name == "__version__":
            return importlib.import_module("snellen.version").installed_version()
        if name not in _MODULES:
            msg = f"module 'snellen' has no attribute {name!r}"
            raise AttributeError(msg)
        return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
