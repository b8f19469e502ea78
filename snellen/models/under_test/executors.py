"""Choice of the executor: as the profile says, or whoever runs a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from snellen.models.under_test.executor import Executor, InProcess
from snellen.models.under_test.ray_executor import OnRay

if TYPE_CHECKING:
    from snellen.models.under_test.registry import FindAdapter
    from snellen.profiles import Profile

_CHOSEN: Final = ContextVar("executor", default="")


@contextmanager
def using_executor(name: str) -> Iterator[None]:
    """Have trials inside the block measured by this executor, ``local`` or ``ray``, whatever profiles say.

    It holds for tasks and worker threads that are begun inside, too. What is measured does not depend on it, so threads
    do not keep it.
    """
    token = _CHOSEN.set(name)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def executor_of(profile: Profile, find_adapter: FindAdapter = lambda _: None) -> Executor:
    """Return the executor that a profile asks for, unless another one was chosen.

    Args:
        profile: Says what models there are.
        find_adapter: Looks up corrected ones.
    """
    if (_CHOSEN.get() or profile.executor) == "ray":
        return OnRay(profile, find_adapter)
    return InProcess(profile, find_adapter)
