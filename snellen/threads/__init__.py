"""Threads of every type: begun, followed, resumed, listed, branched, deleted."""
