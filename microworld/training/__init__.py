"""How the shipped checkpoints are made: `python -m microworld.training --help`."""
