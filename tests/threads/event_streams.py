"""Streams of events, read to their end."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any


async def gathered(events: AsyncGenerator[Any]) -> list[Any]:
    """Return all events of a stream, which is closed whatever happens."""
    async with aclosing(events):
        return [event async for event in events]
