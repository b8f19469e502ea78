"""The ways in: the command line and the page of a run."""
