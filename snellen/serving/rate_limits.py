"""How often and how many at once: token buckets and places, in bounded memory."""

from __future__ import annotations

import ipaddress
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from snellen.serving.refusals import Refusal

_NETWORK_BITS: Final = 64
"""What one customer gets of IPv6: whoever has one address of it has all."""


class Buckets:
    """A token bucket for each key: in any span of time a key gets at most ``burst`` plus ``rate`` a second.

    Only the ``most`` keys that asked last are remembered; a forgotten one begins with a full bucket.
    """

    def __init__(
        self, *, rate: float, burst: int, most: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Fill each bucket by ``rate`` a second, up to ``burst``."""
        self._rate, self._burst, self._most, self._clock = rate, burst, most, clock
        self._levels: dict[str, tuple[float, float]] = {}

    def __len__(self) -> int:
        """Return how many keys are remembered."""
        return len(self._levels)

    def give_back(self, key: str) -> None:
        """Put back into the bucket of ``key`` what was taken from it just now."""
        if key in self._levels:
            level, since = self._levels[key]
            self._levels[key] = (min(float(self._burst), level + 1), since)

    def take(self, key: str) -> float:
        """Take one from the bucket of ``key``: 0.0, or the seconds until there is one again."""
        now = self._clock()
        level, since = self._levels.pop(key, (float(self._burst), now))
        level = min(float(self._burst), level + max(0.0, now - since) * self._rate)
        wait = 0.0 if level >= 1 else (1 - level) / self._rate
        # Put back last: the first key of the dict is the one that asked longest ago.
        self._levels[key] = (level if wait else level - 1, now)
        if len(self._levels) > self._most:
            del self._levels[next(iter(self._levels))]
        return wait


class RequestSlots:
    """How many requests are under way, for each user and altogether."""

    def __init__(self, *, each: int, total: int) -> None:
        """Have ``total`` places, of which a user may take ``each``."""
        self._each, self._total = each, total
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, user: str) -> Iterator[None]:
        """Hold a place for a user inside the block.

        Raises:
            Refusal: all are taken (503), or the user has as many as they may (429).
        """
        if self._taken.total() >= self._total:
            msg = "The server is busy; try again in a moment."
            raise Refusal(503, "requests_total", msg, retry_after=1.0)
        if self._taken[user] >= self._each:
            msg = f"{self._each} of your requests are under way; wait until one of them ends."
            raise Refusal(429, "requests_each", msg, retry_after=1.0)
        self._taken[user] += 1
        try:
            yield
        finally:
            self._taken[user] -= 1
            if not self._taken[user]:
                del self._taken[user]


def address_key(host: str) -> str:
    """Return the key of a client's address: IPv4 as it is, of IPv6 the network of 64 bits."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host[:64]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _NETWORK_BITS), strict=False))
