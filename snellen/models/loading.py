"""One way to read a checkpoint, whether embedded, a user's folder, or an id on the hub."""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from weakref import WeakValueDictionary

from snellen.errors import out_of_memory
from snellen.models.computed_once import ComputedOnce
from snellen.models.picture_encoding import digest_of
from snellen.profiles import SnellenError
from snellen.profiles.exclusive_loading import loading_alone
from snellen.profiles.hub_access import is_downloaded, is_offline, only_cached, why_offline
from snellen.profiles.profile import table

if TYPE_CHECKING:
    import PIL.Image
    import torch

    from snellen.profiles import CheckpointSource, Profile

SEEN_BYTES: Final = 64 * 2**20
"""What is kept of the pictures that a checkpoint has seen."""

_WEIGHTS_OR_SHAPE = re.compile(
    r"(config|model_index)\.json|(diffusion_pytorch_)?model(-.*)?\.safetensors|pytorch_model(-.*)?\.bin"
)
"""What decides what a model computes; statistics and tokenizers beside it do not."""


class Seen(Protocol):
    """Features of a picture, or whatever else a model makes of it."""

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        ...


_Seen = TypeVar("_Seen", bound=Seen)
_Item = TypeVar("_Item")


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model with what prepares its inputs, on its device, and what it made of what it saw and read last."""

    model: Any
    tokenizer: Any
    processor: Any
    device: torch.device
    dtype: torch.dtype
    _seen: ComputedOnce[Any] = field(default_factory=lambda: ComputedOnce(SEEN_BYTES, lambda seen: seen.nbytes))

    def seen(
        self,
        pictures: Sequence[PIL.Image.Image],
        look: Callable[[list[PIL.Image.Image]], Sequence[_Seen]],
        *,
        how: str = "",
    ) -> list[_Seen]:
        """Return what the model makes of pictures; it looks at those alone that it has not seen lately.

        Args:
            pictures: Any sizes; those with the same pixels are one.
            look: Returns what the model makes of pictures, in their order. It depends on nothing that is learned.
            how: Names what else it depends on.
        """
        return self._once([f"{how} {digest_of(picture)}" for picture in pictures], pictures, look)

    def read(self, texts: Sequence[str], encode: Callable[[list[str]], Sequence[_Seen]]) -> list[_Seen]:
        """Return what the model makes of texts, for whoever holds it; it reads those alone that it has not read lately.

        Args:
            texts: Any number.
            encode: Returns what the model makes of texts, in their order. It depends on nothing that is learned.
        """
        return self._once([f"text {text}" for text in texts], texts, encode)

    def _once(
        self, names: Sequence[str], items: Sequence[_Item], compute: Callable[[list[_Item]], Sequence[_Seen]]
    ) -> list[_Seen]:
        found = self._seen.values(dict(zip(names, items, strict=True)), compute)
        return [found[name] for name in names]

    def pixels(self, pictures: list[PIL.Image.Image]) -> torch.Tensor:
        """Prepare PIL pictures (RGB, any sizes): a tensor ``(n, 3, height, width)`` on the device."""
        prepared = self.processor(images=[picture.convert("RGB") for picture in pictures], return_tensors="pt")
        pixels: torch.Tensor = prepared["pixel_values"].to(device=self.device, dtype=self.dtype)
        return pixels

    @contextmanager
    def inference(self) -> Iterator[None]:
        """Compute without gradients; tensors made on the way are made on the model's device."""
        import torch

        # On the CPU the second context would change nothing and slow every operation down.
        with torch.inference_mode(), nullcontext() if self.device.type == "cpu" else self.device:
            yield

    def tokens(self, texts: list[str]) -> dict[str, torch.Tensor]:
        """Tokenize texts: ``input_ids`` and ``attention_mask``, each ``(n, length)``, on the device."""
        longest = int(self.model.config.text_config.max_position_embeddings)
        encoded = self.tokenizer(texts, padding=True, truncation=True, max_length=longest, return_tensors="pt")
        return {key: encoded[key].to(self.device) for key in ("input_ids", "attention_mask")}


_IN_USE: WeakValueDictionary[tuple[object, ...], Checkpoint] = WeakValueDictionary()
"""Checkpoints that somebody holds, by all that decides what they are; reached while one is read (`reading`)."""


def device_and_dtype(profile: Profile) -> tuple[torch.device, torch.dtype]:
    """Return the device and the precision with which the profile's models compute.

    Raises:
        SnellenError: The profile asks for CUDA on a machine without it.
    """
    import torch

    if profile.device == "cuda" and not torch.cuda.is_available():
        msg = f"device = 'cuda' in {profile.path}, but this machine has no CUDA device: use 'auto' or 'cpu'."
        raise SnellenError(msg)
    cuda = profile.device == "cuda" or (profile.device == "auto" and torch.cuda.is_available())
    device = torch.device("cuda" if cuda else "cpu")
    if profile.dtype == "auto":
        return device, torch.float16 if cuda else torch.float32
    dtype: torch.dtype = getattr(torch, profile.dtype)
    return device, dtype


def fingerprint(profile: Profile, key: str) -> str:
    """Return the fingerprint of a key's model in 16 hexadecimal digits: its class, its configuration, its weights.

    Prompts belong to the checkpoint that they were tuned on, and are of no use to another. A folder that was copied
    or moved keeps its fingerprint.

    Raises:
        SnellenError: There is no such entry, or its files are not here (an id that was not downloaded yet).
    """
    source = profile.source(key)
    folder = Path(source.location) if source.local else _downloaded(profile, key, source)
    files = [file for file in sorted(folder.rglob("*")) if _WEIGHTS_OR_SHAPE.fullmatch(file.name) and file.is_file()]
    stamps = tuple((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    return _digest(profile.settings(key).class_name, str(folder), stamps)


def _downloaded(profile: Profile, key: str, source: CheckpointSource) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(source.location, revision=source.revision, local_files_only=True))
    except (OSError, ValueError) as error:
        msg = (
            f"{table(key)} in {profile.path} is not downloaded yet, so its prompts cannot be told from others': "
            f"use the tool once with a network, or set {table(key)}.folder (see docs/profiles.md)."
        )
        raise SnellenError(msg) from error


@lru_cache(maxsize=32)
def _digest(class_name: str, folder: str, stamps: tuple[tuple[str, int, int], ...]) -> str:
    """The stamps make sure that a file that was replaced is read again."""
    digest = hashlib.sha256(class_name.encode())
    for name, _, _ in stamps:
        digest.update(b"\0" + str(Path(name).relative_to(folder)).encode() + b"\0")
        with Path(name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def load_checkpoint(profile: Profile, key: str, *, text: bool = True) -> Checkpoint:
    """Read the checkpoint of a key with a ``transformers`` class, or take the one that somebody is using.

    ``HF_HUB_OFFLINE`` is respected, and where the hub cannot be reached only its cache is read; a local folder never
    touches the network. Pictures are prepared by the PIL image processors, so torchvision is not needed. Nobody changes
    these weights: soft prompts enter by hooks of one thread, and models that are trained are read by `load_whole`. So
    homes and graphs of one process share them.

    Args:
        profile: Names the class, the source, the device and the dtype.
        key: The entry under ``[models]``.
        text: Whether the model reads text, and so has a tokenizer.

    Raises:
        SnellenError: There is no such entry, or it cannot be read; the sentence names the key and the remedy.
    """
    source = profile.source(key)
    with reading(profile, key, source):
        same = (profile.settings(key).class_name, source, text, *device_and_dtype(profile), _stamps(source))
        checkpoint = _IN_USE.get(same)
        if checkpoint is None:
            checkpoint = _IN_USE[same] = _read(profile, key, text=text)
    return checkpoint


def _read(profile: Profile, key: str, *, text: bool) -> Checkpoint:
    transformers = importlib.import_module("transformers")
    model, device, dtype = load_model(profile, key)
    location, options = _options(profile.source(key))
    processor = transformers.AutoImageProcessor.from_pretrained(location, backend="pil", **options)
    tokenizer = transformers.AutoTokenizer.from_pretrained(location, **options) if text else None
    return Checkpoint(model, tokenizer, processor, device, dtype)


def _stamps(source: CheckpointSource) -> tuple[tuple[str, int, int], ...]:
    """Tell the files of a folder from those that replace them; what is on the hub is pinned to a commit."""
    if not source.local:
        return ()
    found = ((file, file.stat()) for file in sorted(Path(source.location).rglob("*")) if file.is_file())
    return tuple((str(file), stat.st_size, stat.st_mtime_ns) for file, stat in found)


def load_whole(profile: Profile, key: str, **options: Any) -> tuple[Any, Any]:  # noqa: ANN401 - from_pretrained's
    """Read a model with the processor that goes with it: what knows its prompts as well as its pictures.

    Args:
        profile: Names the class, the source, the device and the dtype.
        key: The entry under ``[tested]``.
        options: What else ``from_pretrained`` of the model is to be told.

    Raises:
        SnellenError: There is no such entry, or it cannot be read; the sentence names the key and the remedy.
    """
    with reading(profile, key, profile.source(key)):
        transformers = importlib.import_module("transformers")
        model, _, _ = load_model(profile, key, **options)
        location, where = _options(profile.source(key))
        return model, transformers.AutoProcessor.from_pretrained(location, backend="pil", **where)


def load_model(profile: Profile, key: str, **options: Any) -> tuple[Any, torch.device, torch.dtype]:  # noqa: ANN401
    """Read the weights of a key: the model in eval mode, where it is, and how precisely it computes.

    Raises:
        SnellenError: The profile asks for CUDA on a machine without it.
        Exception: Whatever ``from_pretrained`` raises; see `reading`.
    """
    import torch

    class_name = profile.settings(key).class_name
    device, dtype = device_and_dtype(profile)
    if profile.threads is not None and device.type == "cpu":
        torch.set_num_threads(profile.threads)
    location, where = _options(profile.source(key))
    model, report = getattr(importlib.import_module("transformers"), class_name).from_pretrained(
        location, dtype=dtype, output_loading_info=True, **where, **options
    )
    _refuse_random_weights(model, report, class_name)
    # Weights of eight bits are where they were read to, and cannot be moved.
    return (model if options else model.to(device)).eval(), device, dtype


def _options(source: CheckpointSource) -> tuple[str, dict[str, Any]]:
    return source.location, {"revision": source.revision, "local_files_only": only_cached(source)}


@contextmanager
def reading(profile: Profile, key: str, source: CheckpointSource) -> Iterator[None]:
    """Read one checkpoint at a time, and turn whatever goes wrong into one sentence for the user."""
    if not source.local and only_cached(source) and not is_downloaded(source):
        msg = (
            f"{table(key)} in {profile.path} is {source.location}, which is not downloaded, and {why_offline()}: "
            f"{_remedy(source, key)} (see docs/profiles.md)."
        )
        raise SnellenError(msg)
    try:
        with loading_alone():
            yield
    except SnellenError:
        raise
    except Exception as error:
        if (shortage := out_of_memory(error)) is not None:
            raise shortage from error
        # from_pretrained raises OSError, ValueError, KeyError, TypeError, SafetensorError, JSON and HTTP errors:
        # for the user all of them mean that this folder or id is not what the profile says.
        msg = (
            f"{table(key)} in {profile.path} cannot be loaded from {source.location} ({_reason(error)}): "
            f"{_remedy(source, key)} (see docs/profiles.md)."
        )
        raise SnellenError(msg) from error


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200].rstrip(' .:')}" if lines else type(error).__name__


def _remedy(source: CheckpointSource, key: str) -> str:
    if source.local:
        return "check that the folder holds what save_pretrained wrote for this class: config, weights, processor files"
    if is_offline():
        return f"unset HF_HUB_OFFLINE to download it, or set {table(key)}.folder to a folder that holds it"
    return f"check the network and the id, or set {table(key)}.folder to a folder that holds it"


def _refuse_random_weights(model: torch.nn.Module, report: dict[str, Any], class_name: str) -> None:
    """A weight that no file holds is random, and so would the answers be."""
    parameters = {name for name, _ in model.named_parameters()}
    absent = sorted(parameters & set(report["missing_keys"]))
    if absent:
        msg = f"{len(absent)} weights of {class_name} are missing, such as {absent[0]}"
        raise ValueError(msg)
