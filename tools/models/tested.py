"""Models under test as profiles name them."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

from profiles import CheckpointUnderTest, EndpointUnderTest, Profile, SnellenError
from profiles.errors import BadInput
from profiles.profile import TESTED, table
from tools.loading import fingerprint, load_checkpoint, load_whole
from tools.models.adapting import adapted
from tools.models.answerer import AnswererModel
from tools.models.contrastive import ContrastiveModel
from tools.models.endpoint import EndpointModel, EndpointSettings
from tools.models.interleaved import InterleavedModel
from tools.models.local import LocalModel
from tools.models.model import Card, ModelUnderTest

_CONTRASTIVE: Final = "CLIPModel"
_ANSWERER: Final = "BlipForQuestionAnswering"
_INTERLEAVED: Final = "IdeficsForVisionText2Text"


class AdapterFiles(Protocol):
    """What corrects a model: see `memory.adapters.Adapter`."""

    @property
    def id(self) -> str:
        """What it is known by."""
        ...

    @property
    def model(self) -> str:
        """The key of ``[tested]`` that it was made for."""
        ...

    @property
    def fingerprint(self) -> str:
        """Of that model's checkpoint."""
        ...

    @property
    def folder(self) -> Path:
        """Where peft wrote it."""
        ...


FindAdapter = Callable[[str], AdapterFiles | None]
"""Looks up what the name of a corrected model stands for."""


def model_under_test(profile: Profile, name: str, find_adapter: FindAdapter = lambda _: None) -> ModelUnderTest:
    """Read a model under test, or prepare to ask it where it is.

    Args:
        profile: Says what models there are.
        name: A key of ``[tested]``, or the name of one with an adapter.
        find_adapter: Looks such names up.

    Raises:
        BadInput: The profile has no such model.
        SnellenError: It cannot be read; the sentence names the key and the remedy.
    """
    adapter = None if name in profile.tested else find_adapter(name)
    settings = profile.tested.get(name if adapter is None else adapter.model)
    if settings is None:
        known = ", ".join(profile.tested) or "none: name some under [tested] (see docs/profiles.md)"
        msg = f"The profile {profile.name!r} has no model {name[:80]!r} to examine; it has {known}."
        raise BadInput(msg)
    if isinstance(settings, EndpointUnderTest):
        return _endpoint(name, settings)
    if adapter is not None:
        return _corrected(profile, name, settings, adapter)
    return _checkpoint(profile, name, settings)


def _corrected(profile: Profile, name: str, settings: CheckpointUnderTest, adapter: AdapterFiles) -> ModelUnderTest:
    """Read a checkpoint with its adapter.

    Raises:
        SnellenError: The checkpoint is not the one that the adapter was made for.
    """
    base = _checkpoint(profile, adapter.model, settings)
    if not isinstance(base, LocalModel) or fingerprint(profile, TESTED + adapter.model) != adapter.fingerprint:
        msg = f"{name} was made for another checkpoint than the one that {table(TESTED + adapter.model)} names now."
        raise SnellenError(msg)
    module = adapted(base.module, adapter.folder)
    card = replace(base.card, name=name, fingerprint=f"{base.card.fingerprint}+{adapter.id}")
    return type(base)(module.eval(), base.processor, card, batch=settings.batch)


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
    kind = InterleavedModel if card.architecture == _INTERLEAVED else LocalModel
    return kind(model, processor, card, batch=settings.batch)


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
