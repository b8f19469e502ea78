"""Models under test: they rank answers, answer freely, and say what they are."""

from tools.models.ranking import rank, rank_plainly

__all__ = ["rank", "rank_plainly"]
