"""The nodes of the investigate graph."""
