"""Values of programs in words."""

from __future__ import annotations

from typing import Any, Final

from snellen.values import Picture, Region, Untaught, as_text

_SHOWN_REGIONS: Final = 4


def in_words(value: Any) -> str:  # noqa: ANN401 - any value of a program
    """Say a value in a line, e.g. ``2 regions: cat 0.97, cat 0.91`` or ``a picture of 128x128``."""
    if isinstance(value, Picture):
        return f"a picture of {value.width}x{value.height}"
    if isinstance(value, Region):
        return _region_in_words(value)
    if isinstance(value, list) and value and all(isinstance(item, Region) for item in value):
        named = ", ".join(_region_in_words(region) for region in value[:_SHOWN_REGIONS])
        more = ", …" if len(value) > _SHOWN_REGIONS else ""
        return f"{len(value)} region{'s' if len(value) > 1 else ''}: {named}{more}"
    if isinstance(value, Untaught):
        return f"nothing found: no tool was taught {value.name!r}"
    if isinstance(value, list) and not value:
        return "nothing found"
    if isinstance(value, list) and all(isinstance(item, list) for item in value):
        return "; ".join(in_words(group) for group in value[:_SHOWN_REGIONS])
    return as_text(value)


def _region_in_words(region: Region) -> str:
    return f"{region.label or 'region'} {region.score:.2f}"
