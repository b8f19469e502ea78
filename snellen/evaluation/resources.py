"""Resources of a profile for building and running benchmarks of free answers and of pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.datasets.pairs import FolderOriginals, PlacedOriginals, WorldOriginals
from snellen.datasets.prove import FolderScenes, WorldScenes
from snellen.errors import BadInput
from snellen.experiments.entailment import entailment
from snellen.memory.artifacts import read_picture
from snellen.memory.embedding import SentenceEmbedding
from snellen.memory.home import home
from snellen.profiles import load_profile
from snellen.reasoning import make_question_writer
from snellen.runtime.resources import examining
from snellen.user_paths import user_path

if TYPE_CHECKING:
    from snellen.datasets.pairs import Originals
    from snellen.datasets.prove import Pictured, Scenes
    from snellen.datasets.prove.building import Reader, Writer
    from snellen.experiments.trial_runner import TrialRunner
    from snellen.profiles import Profile
    from snellen.scoring.freeform import Entails

WORLD: Final = "microworld"
"""The value of ``--data`` for pictures of the profile's own world."""


@dataclass(frozen=True)
class BenchmarkResources:
    """The resources of a profile.

    Attributes:
        profile: The profile.
        runner: Asks its models.
        reader: Reads what texts say.
        writer: Writes questions.
    """

    profile: Profile
    runner: TrialRunner
    reader: Reader
    writer: Writer
    embedding: SentenceEmbedding

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return a vector of length 1 for each text."""
        if not texts:
            return np.zeros((0, 1))
        vectors = self.embedding(list(texts)).astype(np.float64)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    def entails(
        self, progress: Callable[[int, int], None] = lambda _, __: None
    ) -> Callable[[Mapping[str, str]], Entails] | None:
        """Return what makes a judge of entailment; None where the profile names none."""
        judge = self.profile.freeform.entails
        if judge is None:
            return None
        return lambda ids: entailment(self.runner, judge, ids, progress=progress)

    def judging(self) -> Callable[[Pictured], Entails] | None:
        """Return what makes a judge of one picture; None where the profile names none."""
        judges = self.entails()
        if judges is None:
            return None
        return lambda scene: judges({scene.name: self.runner.pictures.put(scene.picture.convert("RGB")).id})


def opened(profile: str) -> BenchmarkResources:
    """Gather the resources of a profile.

    Raises:
        BadInput: There is no such profile.
        SnellenError: The memory cannot be used, or the profile's chat model has no key.
    """
    chosen = load_profile(profile)
    examination = examining(profile, home()).examiner()
    writer, reader = make_question_writer(chosen)
    return BenchmarkResources(chosen, examination.runner, reader, writer, SentenceEmbedding(chosen))


def scenes_of(profile: Profile, data: str) -> Scenes:
    """Return the pictures that ``--data`` names, with what is known of them.

    Raises:
        BadInput: There is no such folder, or nothing in it says what its pictures show.
        SnellenError: The profile has no world.
    """
    if data == WORLD:
        return WorldScenes(profile.world())
    return FolderScenes(_folder(data), open_picture=read_picture)


def originals_of(profile: Profile, data: str, kind: str) -> Originals:
    """Return the pictures that ``--data`` names, to make pairs of.

    Raises:
        BadInput: There is no such folder.
        SnellenError: The profile has no world.
    """
    if data == WORLD:
        return WorldOriginals(profile.world(), places=kind != "pictures")
    folder = _folder(data)
    if kind != "pictures" and PlacedOriginals.fits(folder):
        return PlacedOriginals(folder, open_picture=read_picture)
    return FolderOriginals(folder, open_picture=read_picture)


def _folder(data: str) -> Path:
    folder = user_path(data, "folder")
    if not folder.is_dir():
        msg = f"There is no data {data[:200]!r}: give {WORLD}, or a folder of pictures."
        raise BadInput(msg)
    return folder
