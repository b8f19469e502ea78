"""Models under test as profiles name them."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

from snellen.errors import BadInput
from snellen.models.loading import fingerprint, load_checkpoint, load_whole
from snellen.models.picture_encoding import PictureForm
from snellen.models.under_test.blip import AnswererModel
from snellen.models.under_test.encoders import ContrastiveModel, EncoderModel
from snellen.models.under_test.endpoint import EndpointModel
from snellen.models.under_test.local import InterleavedModel, LocalModel
from snellen.models.under_test.lora_adapters import adapted
from snellen.models.under_test.model import Card, ModelUnderTest
from snellen.models.under_test.server_client import EndpointSettings
from snellen.profiles import CheckpointUnderTest, EndpointUnderTest, Profile, SnellenError
from snellen.profiles.model_settings import TESTED
from snellen.profiles.profile import table

_CONTRASTIVE: Final = "CLIPModel"
_ANSWERER: Final = "BlipForQuestionAnswering"
_INTERLEAVED: Final = "IdeficsForVisionText2Text"
_ENCODER: Final = re.compile(r"Dinov2(WithRegisters)?Model|DINOv3ViTModel|ViTModel")
_WEIGHTS: Final = "adapter_model.safetensors"


class AdapterFiles(Protocol):
    """Adapter that corrects a model: see `snellen.memory.adapters.Adapter`."""

    @property
    def id(self) -> str:
        """The adapter's id."""
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
        """The folder that peft wrote."""
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
    asked = settings.model_dump(include={"model", "offer", "weights", "timeout", "at_once", "pictures"})
    form = PictureForm(settings.picture_side, settings.picture_bytes, settings.picture_quality)
    key = os.environ.get(settings.key, "")
    return EndpointModel(name, EndpointSettings(settings.url, key=key, form=form, **asked))


def _checkpoint(profile: Profile, name: str, settings: CheckpointUnderTest) -> ModelUnderTest:
    key = TESTED + name
    if settings.class_name == _CONTRASTIVE:
        read = load_checkpoint(profile, key)
        card = _card(profile, name, settings, read.model, answers=False)
        return ContrastiveModel(read, card, sentence=settings.sentence)
    if settings.class_name == _ANSWERER:
        read = load_checkpoint(profile, key)
        return AnswererModel(read, _card(profile, name, settings, read.model, answers=True))
    if _ENCODER.fullmatch(settings.class_name):
        read = load_checkpoint(profile, key, text=False)
        return EncoderModel(read, _card(profile, name, settings, read.model, answers=False))
    model, processor = load_whole(profile, key, **_bits(profile, name, settings))
    if settings.adapter is not None:
        model, processor = _adapted(profile, name, settings.adapter, model, processor)
    card = _card(profile, name, settings, model, answers=True)
    kind = InterleavedModel if card.architecture == _INTERLEAVED else LocalModel
    return kind(model, processor, card, batch=settings.batch)


def _adapted(profile: Profile, name: str, adapter: str, model: Any, processor: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Put the adapter of a profile on a checkpoint; one that knows more words brings its own processor.

    Raises:
        SnellenError: There is no such folder, or it does not fit.
    """
    folder = profile.resolve(adapter)
    if not (folder / _WEIGHTS).is_file():
        msg = f"tested.{name}.adapter in {profile.path} is no folder that peft wrote: there is no {folder / _WEIGHTS}."
        raise SnellenError(msg)
    if (folder / "tokenizer_config.json").is_file():
        from transformers import AutoProcessor

        processor = AutoProcessor.from_pretrained(folder, backend="pil", local_files_only=True)
        if len(processor.tokenizer) > model.get_input_embeddings().weight.shape[0]:
            # Rows that the adapter then brings.
            model.resize_token_embeddings(len(processor.tokenizer), mean_resizing=False)
    return adapted(model, folder).eval(), processor


def _card(profile: Profile, name: str, settings: CheckpointUnderTest, model: Any, *, answers: bool) -> Card:  # noqa: ANN401
    # Other precisions, and other sentences, make other answers.
    precision = "int8" if settings.bits else str(model.dtype).removeprefix("torch.")
    asked = f"{fingerprint(profile, TESTED + name)}-{precision}"
    if settings.adapter is not None:
        weights = (profile.resolve(settings.adapter) / _WEIGHTS).read_bytes()
        asked = f"{asked}+{hashlib.sha256(weights).hexdigest()[:12]}"
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
