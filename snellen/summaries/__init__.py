"""Summaries of runs, learning and investigations in words."""
