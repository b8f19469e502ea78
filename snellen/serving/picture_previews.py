"""Pictures as they are shown within messages: small enough to burden no conversation."""

from __future__ import annotations

import hashlib
from typing import Final

from snellen.memory.artifacts import read_picture
from snellen.models.picture_encoding import ENCODED, PictureForm

MAX_SHOWN_BYTES: Final = 200_000
"""A picture that takes more is shown smaller; the stored one stays as it is."""
_FORM: Final = PictureForm(side=1_024, most=MAX_SHOWN_BYTES, quality=85)


def shown_picture(content: bytes) -> tuple[bytes, str]:
    """Return a stored picture as it is shown, and its media type: as it is, or smaller; each is made smaller once."""
    if len(content) <= MAX_SHOWN_BYTES:
        return content, "image/png"
    name = hashlib.sha256(content).hexdigest()
    shown = ENCODED.get(name, _FORM, lambda: read_picture(content, "the reply's"))
    return shown.content, shown.kind
