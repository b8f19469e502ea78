from __future__ import annotations

import pytest

from snellen.tools.registry import ToolContext
from tests.tools.doubles import Shelf, context_of


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def context(shelf: Shelf) -> ToolContext:
    return context_of(shelf)
