"""Benchmarks as folders: questions with verified answers (PROVE), pairs (PairBench)."""
