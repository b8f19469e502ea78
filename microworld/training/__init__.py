"""How the shipped checkpoints are made: `python -m snellen.microworld.training --help`."""
