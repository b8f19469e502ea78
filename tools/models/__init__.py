"""Models under test: they rank answers, answer freely, score pairs, and say what they are."""

from tools.models.adapting import Adapted, Lesson, Lessons, adapt, check_library
from tools.models.answerer import AnswererModel
from tools.models.contrastive import ContrastiveModel
from tools.models.encoder import EncoderModel
from tools.models.endpoint import EndpointModel, EndpointSettings
from tools.models.executor import SHARD, Executor, InProcess
from tools.models.interleaved import InterleavedModel
from tools.models.local import LocalModel
from tools.models.model import RATINGS, Basis, Card, Encoder, ModelUnderTest, Question, Ranking, rate
from tools.models.ranking import rank, rank_plainly
from tools.models.tested import model_under_test

__all__ = [
    "RATINGS",
    "SHARD",
    "Adapted",
    "AnswererModel",
    "Basis",
    "Card",
    "ContrastiveModel",
    "Encoder",
    "EncoderModel",
    "EndpointModel",
    "EndpointSettings",
    "Executor",
    "InProcess",
    "InterleavedModel",
    "Lesson",
    "Lessons",
    "LocalModel",
    "ModelUnderTest",
    "Question",
    "Ranking",
    "adapt",
    "check_library",
    "model_under_test",
    "rank",
    "rank_plainly",
    "rate",
]
