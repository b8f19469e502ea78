"""Workers of a Ray cluster: each reads one model under test, and measures the shards that it is sent.

What goes to and fro is plain data, so that a worker with another version of Snellen can still say that it has one.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

import PIL.Image

from snellen.errors import BadInput, SnellenError, out_of_memory
from snellen.models.under_test.executor import InProcess
from snellen.models.under_test.model import Card, Question, Ranking
from snellen.profiles import Profile

if TYPE_CHECKING:
    from snellen.models.under_test.registry import AdapterFiles

Asking = Literal["rank", "answer", "alike"]
"""What a model does with a shard."""
Trouble = Literal["version", "checkpoint", "memory", "input", "other"]
"""Why a worker refuses: other versions, a model that it cannot read, too little memory, bad input, anything else."""
SentPicture = tuple[str, tuple[int, int], bytes]
"""A picture in the object store: its mode, its size in pixels, its raw bytes."""
SentQuestion = tuple[tuple[int, ...], str, tuple[str, ...]]
"""A question: the places of its pictures among those that were sent with the shard, its text, its choices."""

_DECISIVE: Final = ("pillow", "tokenizers", "torch", "transformers")
"""Libraries of which another version may give other answers."""
_CODE: Final = ("models", "profiles", "errors.py")
"""The part of the package that decides what a model answers."""


class WorkerReply(TypedDict):
    """The reply of a worker."""

    node: str
    """The id of its node."""
    address: str
    """The node's address, for people."""
    value: Any
    """What it was asked for; None where it refuses."""
    trouble: Trouble | None
    """Why it refuses; None where it does not."""
    sentence: str
    """The same for people."""


@cache
def versions() -> dict[str, str]:
    """Return the versions that must be the same on all nodes, by package; of Snellen with a digest of its code."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for name in _CODE:
        place = root / name
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return {"snellen": f"{_version('snellen')} (code {digest.hexdigest()[:8]})"} | {
        # Builds of torch for CPUs and for CUDA are one version.
        name: _version(name).partition("+")[0]
        for name in _DECISIVE
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True)
class SentAdapter:
    """An adapter that was sent along: see `snellen.models.under_test.registry.AdapterFiles`."""

    id: str
    model: str
    fingerprint: str
    folder: Path

    @staticmethod
    def packed(adapter: AdapterFiles) -> dict[str, Any]:
        """Return an adapter with its files as plain data: a few megabytes, and no node needs the home."""
        files = {file.name: file.read_bytes() for file in adapter.folder.iterdir() if file.is_file()}
        return {"id": adapter.id, "model": adapter.model, "fingerprint": adapter.fingerprint, "files": files}

    @classmethod
    def unpacked(cls, sent: Mapping[str, Any], folder: Path) -> SentAdapter:
        """Write the files of such an adapter into a folder."""
        for name, content in sent["files"].items():
            (folder / Path(name).name).write_bytes(content)
        return cls(sent["id"], sent["model"], sent["fingerprint"], folder)


@dataclass
class TrialWorker:
    """Worker that has read one model; Ray makes it an actor.

    It replies with errors that a user can do something about: what is raised in a worker would arrive as an error of
    Ray's, with a traceback in its words.
    """

    _name: str = ""
    _models: InProcess | None = None
    _folder: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)

    def read(self, sent: Mapping[str, Any]) -> WorkerReply:
        """Read the model, and reply with its card as a dict.

        Args:
            sent: ``versions`` that the worker must have, ``profile`` (JSON), ``model`` (its name there), and of a
                corrected one the ``adapter``.
        """
        here = versions()
        other = [name for name, wanted in sent["versions"].items() if here.get(name) != wanted]
        if other:
            told = ", ".join(f"{name} {here.get(name, 'unknown')}, not {sent['versions'][name]}" for name in other)
            return _reply(trouble="version", sentence=f"it has {told}: install there what this machine has")
        try:
            self._name = sent["model"]
            self._models = InProcess(Profile.model_validate_json(sent["profile"]), self._finder(sent.get("adapter")))
            return _reply(asdict(self._models.card(self._name)))
        except Exception as error:  # noqa: BLE001 - see `_refused`
            return _refused(error, "checkpoint")

    def measure(self, asking: Asking, sent: Sequence[SentQuestion], *pictures: SentPicture) -> WorkerReply:
        """Measure a shard, and reply with what the model says of each question, in plain data."""
        shown = [PIL.Image.frombytes(*one) for one in pictures]
        questions = [Question(tuple(shown[one] for one in places), text, choices) for places, text, choices in sent]
        try:
            if self._models is None:
                return _reply(trouble="other", sentence="it has read no model")
            said: Sequence[Any] = getattr(self._models, asking)(self._name, questions)
            return _reply([asdict(one) if isinstance(one, Ranking) else one for one in said])
        except Exception as error:  # noqa: BLE001 - see `_refused`
            return _refused(error, "other")

    def _finder(self, adapter: Mapping[str, Any] | None) -> Any:  # noqa: ANN401 - FindAdapter, or nothing to find
        if adapter is None:
            return lambda _: None
        self._folder = tempfile.TemporaryDirectory(prefix="snellen-adapter-")
        found = SentAdapter.unpacked(adapter, Path(self._folder.name))
        return lambda name: found if name == self._name else None


def _refused(error: Exception, otherwise: Trouble) -> WorkerReply:
    """WorkerReply what went wrong; anything that no user can mend goes on to Ray.

    Raises:
        Exception: The error itself.
    """
    if (shortage := out_of_memory(error)) is not None:
        return _reply(trouble="memory", sentence=str(shortage))
    if not isinstance(error, SnellenError):
        raise error
    return _reply(trouble="input" if isinstance(error, BadInput) else otherwise, sentence=str(error))


def card_of(value: Mapping[str, Any]) -> Card:
    """Return the card in a worker's reply."""
    return Card(**{**value, "notes": tuple(value["notes"])})


def ranking_of(value: Mapping[str, Any]) -> Ranking:
    """Return a ranking in a worker's reply."""
    return Ranking(tuple(map(tuple, value["scores"])), value["basis"], value["text"])


def _reply(value: Any = None, *, trouble: Trouble | None = None, sentence: str = "") -> WorkerReply:  # noqa: ANN401 - plain data
    import ray

    node, address = ray.get_runtime_context().get_node_id(), ray.util.get_node_ip_address()
    return WorkerReply(node=node, address=address, value=value, trouble=trouble, sentence=sentence)
