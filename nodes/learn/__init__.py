"""The nodes of the learn graph."""
