"""Resources of nodes: a home's memory, and the models and the Reasoner of a profile.

Interfaces gather it for the threads that they follow; where a graph is run by somebody else, LangGraph's server or a
program that imports it, ``context_of`` does, from what the run's settings say.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.learning.resources import Learning
from snellen.memory.adapters import AdapterStore
from snellen.memory.home import home
from snellen.reasoning import make_reasoner
from snellen.runtime.context import Context, given_of
from snellen.runtime.settings import Given, RunSettings
from snellen.user_paths import user_path

if TYPE_CHECKING:
    import numpy as np
    from langgraph.runtime import Runtime
    from PIL.Image import Image

    from snellen.collection import OwnPictures
    from snellen.experiments.examiners.examiner import Examiner
    from snellen.experiments.scene_questions import SceneQuestions
    from snellen.memory.artifacts import ArtifactStore
    from snellen.profiles import Profile

_MOST: Final = 64
"""Contexts that are kept for the next run: they share their models, and each remembers texts and prompts."""
_KEPT: OrderedDict[tuple[str, str, str, str], Context] = OrderedDict()
_QUESTION: Final = "How many dogs are there?"
_KEEPING: Final = threading.Lock()


def make_context(profile: str, folder: Path, *, own: OwnPictures | None = None) -> Context:
    """Gather what the nodes work with: the home's memory, and the models and the Reasoner of a profile.

    Models are read from disk when they are first used. What is learned from comes from a folder of the user's ``own``
    pictures, if it is given, rather than from where the profile says.

    Raises:
        BadInput: there is no such profile.
        SnellenError: the memory or the Reasoner cannot be used.
    """
    from snellen.collection import annotated_source, picture_source
    from snellen.learning.prompt_recall import PromptRecall
    from snellen.memory.artifacts import read_picture
    from snellen.memory.demonstrations import DemonstrationPool
    from snellen.memory.prompts import PromptPool
    from snellen.memory.prompts.drafts import Drafts
    from snellen.profiles import load_profile
    from snellen.reasoning.case_based.reasoner import SEEDS
    from snellen.reasoning.instruction_embedding import InstructionEmbedding
    from snellen.reasoning.subjects import subjects_of
    from snellen.tools.vision import Models

    chosen = load_profile(profile)
    embed = InstructionEmbedding(chosen)
    prompts = PromptPool(folder, tolerant=True)
    return Context(
        pictures=open_pictures(folder),
        models=Models(chosen, PromptRecall(prompts, chosen)),
        learning=Learning(
            prompts=prompts,
            drafts=Drafts(folder),
            annotated=annotated_source(chosen, open_picture=read_picture, own=own),
            found=picture_source(chosen, open_picture=read_picture, own=own),
            beside=() if own is None else own.beside(read_picture),
        ),
        reasoner=make_reasoner(chosen),
        pool=DemonstrationPool(folder, embed=embed, seeds=SEEDS, embedding=embed.name, constructs=subjects_of),
        profile=chosen,
    )


def open_pictures(folder: Path) -> ArtifactStore:
    """Open the stored pictures of a home."""
    from snellen.memory.artifacts import home_pictures

    return home_pictures(folder)


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
    from snellen.experiments.class_groups import Subjects
    from snellen.experiments.examiners.protocols import ProtocolExaminer
    from snellen.experiments.resources import Examination, Teaching
    from snellen.experiments.templates import battery
    from snellen.memory.artifacts import read_picture
    from snellen.memory.picture_ledger import Ledger
    from snellen.memory.samples import SampleTable
    from snellen.memory.trials import TrialTable
    from snellen.models.loading import fingerprint
    from snellen.models.under_test import executor_of, model_under_test
    from snellen.profiles import load_profile
    from snellen.profiles.model_settings import TESTED
    from snellen.tools.samples import Alignment, sources_of

    chosen, context = load_profile(profile), make_context(profile, folder)
    if pictures:
        chosen = chosen.drawing_from(Path(pictures))
    generation, retrieval = sources_of(chosen, context.vision(), open_picture=read_picture)

    def match(picture: Image, texts: Sequence[str]) -> Sequence[float]:
        scores: list[float] = context.vision().match([picture] * len(texts), texts)
        return scores

    adapters = AdapterStore(folder)
    return replace(
        context,
        examination=Examination(
            investigator=make_examiner(chosen),
            trials=TrialTable(folder),
            samples=SampleTable(folder),
            ledger=Ledger(folder),
            pictures=context.pictures,
            executor=executor_of(chosen, adapters.find),
            investigators={name: ProtocolExaminer(chosen, name) for name in ("freeform", "pairs")},
            scene_questions=_scene_questions(chosen),
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
            draws_ahead=chosen.device == "cpu" or chosen.samples.generation not in {"painter", "text-to-image"},
            checkpoints={name: one.identity for name, one in chosen.tested.items()},
        ),
    )


def drawn_from(profile: Profile) -> str:
    """Name what the pictures of experiments are drawn from: the same text, the same pictures for a seed."""
    folder = profile.samples.retrieval not in {"", "world"}
    said = {
        "samples": profile.samples.model_dump(mode="json", exclude={"retrieval"} if folder else None),
        "folder": str(profile.resolve(profile.samples.retrieval)) if folder else "",
        "world": profile.world_settings.module if profile.world_settings else "",
    }
    if profile.models.text_to_image is not None and profile.samples.generation != "world":
        said["text_to_image"] = profile.models.text_to_image.model_dump(mode="json", exclude={"batch"})
    return json.dumps(said)


def _scene_questions(profile: Profile) -> SceneQuestions | None:
    """Return the source of free questions; None where the profile has no world."""
    import numpy as np

    from snellen.datasets.prove import WorldScenes
    from snellen.experiments.scene_questions import SceneQuestions
    from snellen.memory.embedding import SentenceEmbedding
    from snellen.reasoning.language.scene_questions import CaseQuestionWriter
    from snellen.reasoning.reading.answers import AnswerReader

    if not profile.world_settings or profile.models.embedding is None:
        return None
    embedding = SentenceEmbedding(profile)

    def embed(texts: Sequence[str]) -> np.ndarray:
        vectors = embedding(list(texts)).astype(np.float64)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    return SceneQuestions(WorldScenes(profile.world()), CaseQuestionWriter(), AnswerReader(profile.facts_path()), embed)


def own_pictures(pictures: Path | str | None, concept: str) -> OwnPictures | None:
    """Look at the user's folder before anything is begun.

    Raises:
        BadInput: there is no such folder, or it has nothing of the concept.
    """
    if pictures is None:
        return None
    from snellen.collection import OwnPictures
    from snellen.memory.artifacts import read_picture

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


def make_examiner(profile: Profile) -> Examiner:
    """Make what designs and reads experiments, as the profile's ``[reasoner]`` says.

    Raises:
        BadInput: The profile asks for a chat model without a key or with an address that is not one.
    """
    if profile.reasoner.kind == "chat":
        from snellen.experiments.class_groups import Subjects
        from snellen.experiments.examiners.llm import ChatExaminer
        from snellen.experiments.relevance import AskedProperty
        from snellen.experiments.understanding import echo_of, meaning_of
        from snellen.reasoning.llm.reasoner import chat_reasoner
        from snellen.tools.samples import picture_size

        def asked(query: str, models: Sequence[str]) -> AskedProperty | None:
            meaning = meaning_of(query, models, profile)
            return None if meaning is None else AskedProperty(meaning, Subjects.of(profile))

        return ChatExaminer(
            chat_reasoner(profile).model, partial(echo_of, profile=profile), asked, pictures=picture_size(profile)
        )
    from snellen.experiments.examiners.case_based import CaseExaminer

    return CaseExaminer(profile)


async def context_of(runtime: Runtime[Given], state: object) -> Context:
    """Return what a node works with: what the run was handed, or what its settings name, gathered on a worker thread.

    Interfaces that follow threads hand a run its ``Context``. LangGraph's server, and programs that import the graphs,
    hand it ``RunSettings`` (a dict with their fields), a context of their own or nothing; then the profile is that of
    the settings, or else of the thread, and the memory is that of the user whom the server has let in.

    Args:
        runtime: Of the node.
        state: Of the graph; its ``profile`` and ``folder`` count, where it has them.

    Raises:
        BadInput: There is no such profile.
        SnellenError: The memory, the Reasoner or the world cannot be used.
    """
    current = given_of(runtime)
    if isinstance(current, Context):
        return current
    chosen = (
        (current.profile if isinstance(current, RunSettings) else "") or getattr(state, "profile", "") or "embedded"
    )
    folder = await asyncio.to_thread(home)
    pictures, needs = str(getattr(state, "folder", "")), getattr(state, "needs", [])
    # What was collected to be learned from lies in the memory: the folder may be gone.
    learning = bool(pictures and needs)
    if learning and getattr(state, "collected", []):
        pictures = ""
    concept = str(needs[0].get("concept", "")) if learning and pictures else ""
    return await asyncio.to_thread(resources, chosen, Path(folder), pictures, concept)


def warm_up(profile: str, folder: Path) -> Context:
    """Load what questions about pictures need: the demonstrations, and the models behind LOC, VQA and SELECT.

    Each is used once, since the first call takes longer than others too. Models that edit pictures, and those that
    investigations examine, are loaded when they are first used.

    Args:
        profile: Name or path of a profile.
        folder: The memory's home.

    Returns:
        What runs in this home work with. Models are shared as long as somebody holds it.

    Raises:
        BadInput: There is no such profile.
        SnellenError: Something cannot be loaded.
    """
    import PIL.Image

    from snellen.profiles.exclusive_loading import loading

    with loading():
        context = resources(profile, folder)
        context.pool.nearest(_QUESTION, "plan", correct=True, k=1)
        models = context.models
        if models is None:
            return context
        picture = PIL.Image.new("RGB", (64, 64), "white")
        if models.profile.models.loc is not None:
            models.detect([picture], [["dog"]])
        if models.profile.models.vqa is not None:
            models.answer([picture], [_QUESTION])
        if models.profile.models.clip is not None:
            models.similarity([picture], ["dog"])
            models.warning(picture)
        return context
