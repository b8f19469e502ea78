"""The errors that a user can cause, and the exit status each one ends with.

Every message is one sentence: what was wrong, where, and what to do. The command line prints it and
exits with ``exit_status``; no traceback reaches a user.
"""

from __future__ import annotations


class SnellenError(RuntimeError):
    """Something failed that the user can do something about, such as a full disk or a missing checkpoint.

    It is a ``RuntimeError`` because servers, such as LangGraph's, tell their clients the words of that, and hide those
    of errors that they do not know.
    """

    exit_status = 1


class BadInput(SnellenError):  # noqa: N818 - read aloud as what happened: "bad input", not "bad input error"
    """What the user gave cannot be used: a broken picture, an unknown name, a program that does not check."""

    exit_status = 2
