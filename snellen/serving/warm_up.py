"""Warm-up of a server: models load in the background, so that the first question need not wait."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final, Literal

from snellen.errors import SnellenError

State = Literal["loading", "loaded", "failed"]

_AGAIN_SECONDS: Final = 30.0
"""Until what could not be loaded is tried again: a network or a disk may come back."""
_LOG: Final = logging.getLogger(__name__)


class Warming:
    """Models that load in a thread of their own.

    Args:
        load: Loads them, and returns what holds them.
        name: A name that strangers may see, such as the profile's.
    """

    def __init__(self, load: Callable[[], object], name: str) -> None:
        self._load, self._name = load, name
        self._held: object = None
        self._ended = threading.Event()
        self.state: State = "loading"

    @property
    def reason(self) -> str:
        """The reason why they are missing, in a sentence that strangers may read."""
        if self.state != "failed":
            return ""
        return f"The models of the profile {self._name!r} could not be loaded; the server's log says why."

    def begin(self) -> None:
        """Begin to load them; what cannot be loaded is tried again from time to time."""
        # The name is that of the server's workers: none of them holds the process when it ends.
        threading.Thread(target=self._loaded, name="snellen-serving-warming", daemon=True).start()

    def end(self) -> None:
        """Try nothing again; what is under way is not waited for."""
        self._ended.set()

    def _loaded(self) -> None:
        while not self._ended.is_set():
            began = time.monotonic()
            _LOG.info("loading the models of %s", self._name)
            try:
                self._held = self._load()
            except SnellenError as error:
                _LOG.error("the models of %s cannot be loaded: %s", self._name, error)
            except Exception:  # noqa: BLE001 - whatever it is, the server goes on and says so
                _LOG.exception("the models of %s cannot be loaded", self._name)
            else:
                self.state = "loaded"
                _LOG.info("the models of %s are loaded, in %.1f seconds", self._name, time.monotonic() - began)
                return
            self.state = "failed"
            self._ended.wait(_AGAIN_SECONDS)
