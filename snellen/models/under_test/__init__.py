"""Models under test: they rank answers, answer freely, score pairs, and say what they are."""

from snellen.models.under_test.blip import AnswererModel
from snellen.models.under_test.choice_ranking import rank, rank_plainly
from snellen.models.under_test.encoders import ContrastiveModel, EncoderModel
from snellen.models.under_test.endpoint import EndpointModel
from snellen.models.under_test.executor import SHARD, Executor, InProcess
from snellen.models.under_test.executors import executor_of, using_executor
from snellen.models.under_test.local import InterleavedModel, LocalModel
from snellen.models.under_test.lora_adapters import (
    AdapterExample,
    AdapterExamples,
    AdapterOutcome,
    adapt,
    check_library,
)
from snellen.models.under_test.model import (
    RATINGS,
    Basis,
    Card,
    EncoderUnderTest,
    ModelUnderTest,
    Question,
    Ranking,
    rate,
)
from snellen.models.under_test.ray_executor import OnRay
from snellen.models.under_test.registry import model_under_test
from snellen.models.under_test.server_client import EndpointSettings

__all__ = [
    "RATINGS",
    "SHARD",
    "AdapterExample",
    "AdapterExamples",
    "AdapterOutcome",
    "AnswererModel",
    "Basis",
    "Card",
    "ContrastiveModel",
    "EncoderModel",
    "EncoderUnderTest",
    "EndpointModel",
    "EndpointSettings",
    "Executor",
    "InProcess",
    "InterleavedModel",
    "LocalModel",
    "ModelUnderTest",
    "OnRay",
    "Question",
    "Ranking",
    "adapt",
    "check_library",
    "executor_of",
    "model_under_test",
    "rank",
    "rank_plainly",
    "rate",
    "using_executor",
]
