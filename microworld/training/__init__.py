"""Training of the shipped checkpoints: `python -m snellen.microworld.training --help`."""
