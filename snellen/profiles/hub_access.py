"""Access to the hub, found out at once: the hub's own client tries for most of a minute."""

from __future__ import annotations

import os
import socket
import threading
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from snellen.errors import SnellenError

if TYPE_CHECKING:
    from snellen.profiles.model_settings import CheckpointSource
    from snellen.profiles.profile import Profile

HUB: Final = "https://huggingface.co"
_PATIENCE_SECONDS: Final = 3.0
"""For a connection to be made, the look-up of the name included."""
_KNOWN_SECONDS: Final = 30.0
"""How long what was found out is believed."""
_PORTS: Final = {"http": 80, "https": 443}

_NOT_SEEING: Final = frozenset({"embedding"})
"""Models that look at no picture."""

_known: dict[str, tuple[bool, float]] = {}
_LOOKING: Final = threading.Lock()


def is_offline() -> bool:
    """Tell whether the user said that nothing may be downloaded (``HF_HUB_OFFLINE``)."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}


def hub_address() -> str:
    """Return where the hub is: ``HF_ENDPOINT``, or the usual one."""
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or HUB


def why_offline() -> str:
    """Say why nothing can be downloaded."""
    return "HF_HUB_OFFLINE is set" if is_offline() else f"{hub_address()} cannot be reached"


def can_download() -> bool:
    """Tell whether the hub may be asked and takes a connection; within three seconds."""
    if is_offline():
        return False
    address = hub_address()
    with _LOOKING:
        reachable, until = _known.get(address, (False, 0.0))
        if time.monotonic() >= until:
            reachable = _answers(address)
            _known[address] = reachable, time.monotonic() + _KNOWN_SECONDS
    return reachable


def only_cached(source: CheckpointSource) -> bool:
    """Tell whether a checkpoint must be read from files that are here: ``local_files_only`` of its loader."""
    return source.local or not can_download()


def is_downloaded(source: CheckpointSource) -> bool:
    """Tell whether a checkpoint of the hub is in its cache, or at least begun to be."""
    from huggingface_hub import try_to_load_from_cache

    return any(
        isinstance(try_to_load_from_cache(source.location, name, revision=source.revision), str)
        for name in ("config.json", "model_index.json")
    )


def check_reachable(profile: Profile) -> None:
    """Refuse a profile of which no model is here, before anything else is loaded for it.

    Raises:
        SnellenError: All of its vision models are on the hub, none is downloaded, and none can be.
    """
    keys = [key for key in type(profile.models).model_fields if key not in _NOT_SEEING]
    sources = [profile.source(key) for key in keys if getattr(profile.models, key) is not None]
    if not sources or any(one.local for one in sources) or can_download() or any(map(is_downloaded, sources)):
        return
    msg = (
        f"No model of the profile {profile.name!r} is downloaded, and {why_offline()}: connect this machine to the "
        "network once, or use the profile embedded (docs/profiles.md tells how to prepare a machine without a network)."
    )
    raise SnellenError(msg)


def _answers(address: str) -> bool:
    """Connect to the hub, or to the proxy on the way to it. Names are looked up without a time limit, so a thread."""
    answers: list[bool] = []

    def connect() -> None:
        place = urlsplit(_on_the_way(address))
        try:
            port = place.port or _PORTS.get(place.scheme, 443)
            with socket.create_connection((place.hostname or "", port), timeout=_PATIENCE_SECONDS):
                answers.append(True)
        except (OSError, ValueError):
            return

    looking = threading.Thread(target=connect, name="snellen-hub", daemon=True)
    looking.start()
    looking.join(_PATIENCE_SECONDS)
    return bool(answers)


def _on_the_way(address: str) -> str:
    place = urlsplit(address)
    proxies = getproxies()
    proxy = proxies.get(place.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(place.hostname or ""):
        return address
    return proxy if "//" in proxy else f"http://{proxy}"
