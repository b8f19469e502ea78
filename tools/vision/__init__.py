"""The tools that see: LOC, FACEDET, VQA, SEG, SELECT and CLASSIFY, and the models behind them.

Models are read by :class:`Models`, once and when first needed; calls of several threads run together. Nothing
here imports a model library until a model is used.
"""

from __future__ import annotations

from tools.vision.batching import Batcher
from tools.vision.expansion import Expansion, singular
from tools.vision.familiarity import Familiarity
from tools.vision.models import Models

__all__ = ["Batcher", "Expansion", "Familiarity", "Models", "singular"]
