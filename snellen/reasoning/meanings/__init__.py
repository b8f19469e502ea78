"""Meanings of instructions: a small typed language with a denotation, a compilation to programs, and an echo."""
