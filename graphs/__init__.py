"""The wiring: one graph a file, and ``states`` for what they carry."""

# Before langgraph: importing memory makes checkpoints strict about the classes they bring back.
from snellen import memory  # noqa: F401
