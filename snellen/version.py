"""The installed version."""

from __future__ import annotations


def installed_version() -> str:
    """Return the version of this package; ``unknown`` where it is run from its folder alone."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("snellen")
    except PackageNotFoundError:
        return "unknown"
