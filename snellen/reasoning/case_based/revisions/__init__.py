"""Revisions of the case-based Reasoner: rewrites of a program's tree, one rule a file, and their order."""
