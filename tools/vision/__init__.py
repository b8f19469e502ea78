"""The tools that see: LOC, FACEDET, VQA, SEG, SELECT and CLASSIFY, and the models behind them.

Models are read by :class:`Models`, once and when first needed; calls of several threads run together. Nothing
here imports a model library until a model is used.
"""

from __future__ import annotations

from snellen.models.vision.batching import Batcher
from snellen.models.vision.familiarity import Familiarity
from snellen.models.vision.models import Models
from snellen.models.vision.name_expansion import Expansion, singular

__all__ = ["Batcher", "Expansion", "Familiarity", "Models", "singular"]
