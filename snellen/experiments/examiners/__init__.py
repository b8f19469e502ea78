"""Examiners, which design experiments and read them: case-based, over a chat model, and for other protocols."""
