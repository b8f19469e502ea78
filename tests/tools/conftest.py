from __future__ import annotations

import pytest

from tests.tools.doubles import Shelf, context_of
from tools.registry import ToolContext


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def context(shelf: Shelf) -> ToolContext:
    return context_of(shelf)
