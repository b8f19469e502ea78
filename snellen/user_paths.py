"""Paths as a user writes them: on a command line, in a file of settings, in a request of an agent."""

from __future__ import annotations

import os
from pathlib import Path

from snellen.errors import BadInput

_LONGEST_SHOWN = 200


def user_path(said: str | os.PathLike[str], what: str = "path") -> Path:
    """Return the path that a user wrote, with ``~`` replaced by the folder that it stands for.

    Args:
        said: What was written.
        what: What it should name, for the message: picture, folder, profile.

    Raises:
        BadInput: No file can have such a name, or there is no such user.
    """
    text = os.fspath(said)
    if "\0" in text or not is_encodable(text, paths=True):
        msg = f"The {what} {text[:_LONGEST_SHOWN]!a} cannot be the name of a file: correct its characters."
        raise BadInput(msg)
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        msg = (
            f"The {what} {text[:_LONGEST_SHOWN]!r} begins with the home of a user that this machine does not know: "
            "write its whole path, or ./~ for a name that begins with a tilde."
        )
        raise BadInput(msg) from error


def is_encodable(text: str, *, paths: bool = False) -> bool:
    """Tell whether a text can be written as UTF-8; of ``paths``, as the name of a file, which may be other bytes."""
    try:
        os.fsencode(text) if paths else text.encode()
    except UnicodeEncodeError:
        return False
    return True
