"""Pictures as they are shown within messages: small enough to burden no conversation."""

from __future__ import annotations

from io import BytesIO
from typing import Final

from memory.artifacts import read_picture

MAX_SHOWN_BYTES: Final = 200_000
"""A picture that takes more is shown smaller; the stored one stays as it is."""
_SIDE: Final = 1_024


def shown_picture(content: bytes) -> tuple[bytes, str]:
    """Return a stored picture as it is shown, and its media type: as it is, or as a smaller JPEG."""
    if len(content) <= MAX_SHOWN_BYTES:
        return content, "image/png"
    shown = read_picture(content, "the reply's").convert("RGB")
    shown.thumbnail((_SIDE, _SIDE))
    made = BytesIO()
    shown.save(made, "JPEG", quality=85)
    return made.getvalue(), "image/jpeg"
