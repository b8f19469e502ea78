"""Readers of instructions, corrections, replies and statements, without a language model."""
