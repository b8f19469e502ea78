"""The nodes of the ask graph."""
