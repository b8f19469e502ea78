"""The resources and settings of a run, and how its work is interrupted."""
