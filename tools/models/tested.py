"""Models under test as profiles name them."""

from __future__ import annotations

import importlib.util
import os
from typing import Any, Final

from profiles import CheckpointUnderTest, EndpointUnderTest, Profile, SnellenError
from profiles.errors import BadInput
from profiles.profile import TESTED
from tools.loading import fingerprint, load_checkpoint, load_whole
from tools.models.answerer import AnswererModel
from tools.models.contrastive import ContrastiveModel
from tools.models.endpoint import EndpointModel, EndpointSettings
from tools.models.local import LocalModel
from tools.models.model import Card, ModelUnderTest

_CONTRASTIVE: Final = "CLIPModel"
_ANSWERER: Final = "BlipForQuestionAnswering"


def model_under_test(profile: Profile, name: str) -> ModelUnderTest:
    """Read a model under test, or prepare to ask it where it is.

    Args:
        profile: Says what models there are.
        name: A key of ``[tested]``.

    Raises:
        BadInput: The profile has no such model.
        SnellenError: It cannot be read; the sentence names the key and the remedy.
    """
    settings = profile.tested.get(name)
    if settings is None:
        known = ", ".join(profile.tested) or "none: name some under [tested] (see docs/profiles.md)"
        msg = f"The profile {profile.name!r} has no model {name[:80]!r} to examine; it has {known}."
        raise BadInput(msg)
    if isinstance(settings, EndpointUnderTest):
        return _endpoint(name, settings)
    return _checkpoint(profile, name, settings)


def _endpoint(name: str, settings: EndpointUnderTest) -> ModelUnderTest:
    asked = settings.model_dump(include={"model", "offer", "timeout", "at_once", "pictures"})
    return EndpointModel(name, EndpointSettings(settings.url, key=os.environ.get(settings.key, ""), **asked))


def _checkpoint(profile: Profile, name: str, settings: CheckpointUnderTest) -> ModelUnderTest:
    key = TESTED + name
    if settings.class_name == _CONTRASTIVE:
        read = load_checkpoint(profile, key)
        card = _card(profile, name, settings, read.model, answers=False)
        return ContrastiveModel(read, card, sentence=settings.sentence)
    if settings.class_name == _ANSWERER:
        read = load_checkpoint(profile, key)
        return AnswererModel(read, _card(profile, name, settings, read.model, answers=True))
    model, processor = load_whole(profile, key, **_bits(profile, name, settings))
    card = _card(profile, name, settings, model, answers=True)
    return LocalModel(model, processor, card, batch=settings.batch)


def _card(profile: Profile, name: str, settings: CheckpointUnderTest, model: Any, *, answers: bool) -> Card:  # noqa: ANN401
    # Other precisions, and other sentences, make other answers.
    precision = "int8" if settings.bits else str(model.dtype).removeprefix("torch.")
    asked = f"{fingerprint(profile, TESTED + name)}-{precision}"
    notes = [] if answers else ["It compares pictures with texts: it names what it sees, and answers no questions."]
    return Card(
        name=name,
        fingerprint=asked if answers else f"{asked}-{settings.sentence}",
        architecture=type(model).__name__,
        parameters=sum(weight.numel() for weight in model.parameters()),
        basis="tokens" if answers else "similarity",
        pictures=settings.pictures,
        answers=answers,
        notes=tuple(notes),
    )


def _bits(profile: Profile, name: str, settings: CheckpointUnderTest) -> dict[str, Any]:
    """Say how weights of fewer bits are read.

    Raises:
        SnellenError: They cannot be here.
    """
    if settings.bits is None:
        return {}
    import torch

    if not torch.cuda.is_available() or importlib.util.find_spec("bitsandbytes") is None:
        msg = (
            f"tested.{name} in {profile.path} wants {settings.bits} bits, which takes CUDA and the package "
            "bitsandbytes: install it, or leave out `bits`."
        )
        raise SnellenError(msg)
    from transformers import BitsAndBytesConfig

    return {"quantization_config": BitsAndBytesConfig(load_in_8bit=True)}
