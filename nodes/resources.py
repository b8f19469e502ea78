"""What nodes work with, gathered: a home's memory, and the models and the Reasoner of a profile.

Interfaces gather it for the threads that they follow; where a graph is run by somebody else, LangGraph's server or a
program that imports it, ``nodes.context.context_of`` does, from what the run's settings say.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nodes.context import Context, Learning

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

    from memory.artifacts import ArtifactStore
    from nodes.free_answers import Questioning
    from profiles import Profile
    from tools.knowledge.collection import OwnPictures

_MOST: Final = 64
"""Contexts that are kept for the next run: they share their models, and each remembers texts and prompts."""
_KEPT: OrderedDict[tuple[str, str, str, str], Context] = OrderedDict()
_KEEPING: Final = threading.Lock()


def make_context(profile: str, folder: Path, *, own: OwnPictures | None = None) -> Context:
    """Gather what the nodes work with: the home's memory, and the models and the Reasoner of a profile.

    Models are read from disk when they are first used. What is learned from comes from a folder of the user's ``own``
    pictures, if it is given, rather than from where the profile says.

    Raises:
        BadInput: there is no such profile.
        SnellenError: the memory or the Reasoner cannot be used.
    """
    from memory.artifacts import read_picture
    from memory.demonstrations import DemonstrationPool
    from memory.drafts import Drafts
    from memory.embedding import SentenceEmbedding
    from memory.prompts import PromptPool
    from nodes.reasoning import make_reasoner
    from nodes.reasoning.cases import SEEDS
    from nodes.recollection import Recollection
    from profiles import load_profile
    from tools.knowledge.collection import annotated_source, picture_source
    from tools.vision import Models

    chosen = load_profile(profile)
    embed = SentenceEmbedding(chosen)
    prompts = PromptPool(folder, tolerant=True)
    return Context(
        pictures=open_pictures(folder),
        models=Models(chosen, Recollection(prompts, chosen)),
        learning=Learning(
            prompts=prompts,
            drafts=Drafts(folder),
            annotated=annotated_source(chosen, open_picture=read_picture, own=own),
            found=picture_source(chosen, open_picture=read_picture, own=own),
            beside=() if own is None else own.beside(read_picture),
        ),
        reasoner=make_reasoner(chosen),
        pool=DemonstrationPool(folder, embed=embed, seeds=SEEDS, embedding=embed.name),
        profile=chosen,
    )


def open_pictures(folder: Path) -> ArtifactStore:
    """Open the stored pictures of a home."""
    from memory.artifacts import FOLDER, ArtifactStore

    return ArtifactStore(folder / FOLDER)


def examining(profile: str, folder: Path, pictures: str = "") -> Context:
    """Gather what investigations work with, beside what all graphs do.

    Args:
        profile: Name or path of a profile.
        folder: The memory's home.
        pictures: A folder of the user's own to draw samples from; empty takes what the profile says.

    Raises:
        BadInput: There is no such profile.
        SnellenError: The memory or the world cannot be used.
    """
    from memory.adapters import AdapterStore
    from memory.artifacts import read_picture
    from memory.ledger import Ledger
    from memory.samples import SampleTable
    from memory.trials import TrialTable
    from nodes.examination import Examination, Teaching
    from nodes.reasoning import make_investigator
    from nodes.reasoning.ladder import battery
    from nodes.reasoning.protocol_examiner import ProtocolExaminer
    from nodes.reasoning.subjects import Subjects
    from profiles import load_profile
    from profiles.profile import TESTED
    from tools.loading import fingerprint
    from tools.models import InProcess, model_under_test
    from tools.samples import Alignment, sources_of

    chosen, context = load_profile(profile), make_context(profile, folder)
    if pictures:
        chosen = chosen.drawing_from(Path(pictures))
    generation, retrieval = sources_of(chosen, context.models, open_picture=read_picture)

    def match(picture: Image, texts: Sequence[str]) -> Sequence[float]:
        found: list[float] = context.models.match([picture] * len(texts), texts)
        return found

    adapters = AdapterStore(folder)
    return replace(
        context,
        examination=Examination(
            investigator=make_investigator(chosen),
            trials=TrialTable(folder),
            samples=SampleTable(folder),
            ledger=Ledger(folder),
            pictures=context.pictures,
            executor=InProcess(chosen, adapters.find),
            investigators={name: ProtocolExaminer(chosen, name) for name in ("freeform", "pairs")},
            questioning=_questioning(chosen),
            world=chosen.world() if chosen.world_settings and not pictures else None,
            generation=generation,
            retrieval=retrieval,
            alignment=None if chosen.models.match is None else Alignment(match, least=chosen.samples.fits),
            teaching=Teaching(
                read=partial(model_under_test, chosen),
                fingerprint=lambda name: fingerprint(chosen, TESTED + name),
                adapters=adapters,
                battery=lambda: battery(Subjects.of(chosen)),
                settings=chosen.correction,
            ),
            source=drawn_from(chosen),
            checkpoints={name: one.model_dump_json(exclude_defaults=True) for name, one in chosen.tested.items()},
        ),
    )


def drawn_from(profile: Profile) -> str:
    """Name what the pictures of experiments are drawn from: the same text, the same pictures for a seed."""
    folder = profile.samples.retrieval not in {"", "world"}
    return json.dumps(
        {
            "samples": profile.samples.model_dump(mode="json", exclude={"retrieval"} if folder else None),
            "folder": str(profile.resolve(profile.samples.retrieval)) if folder else "",
            "world": profile.world_settings.module if profile.world_settings else "",
        }
    )


def _questioning(profile: Profile) -> Questioning | None:
    """Return what free questions are made with; None where the profile has no world."""
    import numpy as np

    from memory.embedding import SentenceEmbedding
    from nodes.free_answers import Questioning
    from nodes.reasoning.lexicon import lexicon_of
    from nodes.reasoning.quiz import Quiz
    from nodes.reasoning.statements import Statements
    from tools.prove import WorldScenes

    if not profile.world_settings or profile.models.embedding is None:
        return None
    embedding = SentenceEmbedding(profile)

    def embed(texts: Sequence[str]) -> np.ndarray:
        vectors = embedding(list(texts)).astype(np.float64)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    return Questioning(WorldScenes(profile.world()), Quiz(), Statements(lexicon_of(profile)), embed)


def own_pictures(pictures: Path | str | None, concept: str) -> OwnPictures | None:
    """Look at the user's folder before anything is begun.

    Raises:
        BadInput: there is no such folder, or it has nothing of the concept.
    """
    if pictures is None:
        return None
    from memory.artifacts import read_picture
    from profiles.user_paths import user_path
    from tools.knowledge.collection import OwnPictures

    own = OwnPictures(user_path(pictures, "folder").absolute(), concept)
    own.check(read_picture)
    return own


def resources(profile: str, folder: Path, pictures: str = "", concept: str = "") -> Context:
    """Return what every graph works with, kept from one run to the next: of the last few profiles and homes.

    Args:
        profile: Name or path of a profile.
        folder: The memory's home.
        pictures: A folder of the user's own to draw samples from, or to learn from; empty takes what the profile says.
        concept: What is learned from it, where something is.

    Raises:
        BadInput: There is no such profile or folder.
        SnellenError: The memory, the Reasoner or the world cannot be used.
    """
    key = (profile, str(folder), pictures, concept)
    with _KEEPING:
        if key not in _KEPT:
            own = own_pictures(pictures or None, concept) if concept else None
            _KEPT[key] = make_context(profile, folder, own=own) if own else examining(profile, folder, pictures)
        _KEPT.move_to_end(key)
        while len(_KEPT) > _MOST:
            _KEPT.popitem(last=False)
        return _KEPT[key]
