"""Evaluation: tasks, learning, benchmarks of free answers and of pairs, campaigns."""
