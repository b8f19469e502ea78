"""Metrics for Prometheus at ``/metrics``: the server's load and health, nothing about users or content."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Callable
from typing import Final

import prometheus_client as prometheus
from prometheus_client.exposition import CONTENT_TYPE_LATEST

_SECONDS: Final = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_LAGS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 5)
_LOOK_EVERY: Final = 0.25
"""Seconds between two looks at the event loop."""

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WEBSOCKET"})
_NAMESPACE: Final = "snellen"


class Metrics:
    """The metrics of one application, in a registry of its own.

    Every label has a bounded number of values: templates of routes, methods, statuses, names of limits.
    """

    def __init__(self, *, version: str) -> None:
        """Begin with nothing counted."""
        self.registry = registry = prometheus.CollectorRegistry()
        self._requests = prometheus.Counter(
            "requests", "Requests answered.", ("route", "method", "status"), namespace=_NAMESPACE, registry=registry
        )
        self._seconds = prometheus.Histogram(
            "request_seconds", "Seconds until an answer ended.", ("route", "method"),
            namespace=_NAMESPACE, registry=registry, buckets=_SECONDS,
        )  # fmt: skip
        self._bytes = prometheus.Counter(
            "response_bytes", "Bytes of answers' bodies.", ("route",), namespace=_NAMESPACE, registry=registry
        )
        self._refusals = prometheus.Counter(
            "refusals", "Requests refused, by what refused them.", ("limit",), namespace=_NAMESPACE, registry=registry
        )
        self.in_flight = prometheus.Gauge(
            "requests_in_flight", "Requests under way.", namespace=_NAMESPACE, registry=registry
        )
        self._lag = prometheus.Histogram(
            "event_loop_lag_seconds", "How late the event loop was.", namespace=_NAMESPACE, registry=registry,
            buckets=_LAGS,
        )  # fmt: skip
        self._jobs = prometheus.Gauge(
            "jobs", "Work that outlives a request.", ("state",), namespace=_NAMESPACE, registry=registry
        )
        build = prometheus.Info("build", "What is running.", namespace=_NAMESPACE, registry=registry)
        build.info({"version": version, "python": platform.python_version()})
        prometheus.ProcessCollector(registry=registry)

    def answered(self, *, route: str, method: str, status: int, seconds: float, size: int) -> None:
        """Count one answer, of ``size`` bytes, that took ``seconds``."""
        method = method if method in _METHODS else "OTHER"
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)
        self._bytes.labels(route).inc(size)

    def refused(self, limit: str) -> None:
        """Count one refusal; ``limit`` is the name of a rule, never a text from outside."""
        self._refusals.labels(limit).inc()

    def watch_jobs(self, *, running: Callable[[], int], waiting: Callable[[], int]) -> None:
        """Ask these, whenever the metrics are read, how much work runs and how much waits; they must not block."""
        self._jobs.labels("running").set_function(running)
        self._jobs.labels("waiting").set_function(waiting)

    async def watch_loop(self) -> None:
        """Measure how late the event loop is, until cancelled."""
        while True:
            began = time.monotonic()
            await asyncio.sleep(_LOOK_EVERY)
            self._lag.observe(max(0.0, time.monotonic() - began - _LOOK_EVERY))

    def page(self) -> tuple[bytes, str]:
        """Return the metrics in Prometheus' text format, and its media type."""
        return prometheus.generate_latest(self.registry), CONTENT_TYPE_LATEST
