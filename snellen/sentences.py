"""Sentences: how they begin. On the standard library alone."""

from __future__ import annotations


def capitalized(text: str) -> str:
    """Return a text with a capital letter at its beginning; the rest stays as it is written."""
    return text[:1].upper() + text[1:]
