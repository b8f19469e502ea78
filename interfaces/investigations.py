"""Investigations: begin, follow, approve and resume threads of the investigate graph (``snellen investigate``)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from interfaces import sessions, threads
from interfaces.following import Decide, Event, Finished, Started, followed, request_of
from interfaces.threads import ThreadSummary
from profiles.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from langgraph.graph.state import CompiledStateGraph
    from PIL.Image import Image

    from graphs.states import InvestigateState, Json
    from nodes.context import Context
    from nodes.free_answers import Questioning
    from nodes.reasoning.follow_up import Correction
    from nodes.reasoning.inquiry import Report
    from profiles import Profile

    Graph = CompiledStateGraph[Any, Any, Any, Any]

MAX_QUERY: Final = 4_000
"""Characters of a query; longer ones are texts pasted by mistake, and would not fit a checkpoint."""
MAX_MODELS: Final = 12
"""Models that one investigation examines."""

InvestigationEvent = Started["InvestigateState"] | Event | Finished["InvestigateState"]


@dataclass(frozen=True, kw_only=True)
class Order:
    """What is to be investigated.

    Attributes:
        query: What is to be known about models, at most ``MAX_QUERY`` characters.
        models: Those that may be examined, by their names in the profile; none for all.
        profile: Name or path of a profile.
        pictures: A folder with a folder of pictures for each class, to draw samples from; None takes the profile's.
        alpha: The share of verdicts that may be wrong.
        budget: What it may use, by the names of ``nodes.reasoning.inquiry.Budget``.
        seed: Chooses the pictures.
        approve: Whether a person is asked before an experiment is run.
        correct: Whether models are taught what is found that they cannot do, and measured again.
        protocol: How models are asked: ``choice``, ``freeform`` or ``pairs``; ``auto`` reads it off the query.
    """

    query: str
    models: Sequence[str] = ()
    profile: str = "embedded"
    pictures: Path | str | None = None
    alpha: float = 0.05
    budget: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    approve: bool = False
    correct: bool = False
    protocol: str = "auto"


@dataclass(frozen=True)
class Found:
    """What an investigation found.

    Attributes:
        investigation: Its thread.
        report: What it found.
        corrections: What was done about weaknesses, where that was wanted.
        after: What was measured of corrected models.
        profile: Name or path of the profile.
        pictures: The folder of the user's own that samples were drawn from; empty where they were not.
        correct: Whether corrections were wanted, and the report is done.
    """

    investigation: str
    report: Report
    corrections: Sequence[Correction] = ()
    after: Report | None = None
    profile: str = "embedded"
    pictures: str = ""
    correct: bool = False

    @property
    def parts(self) -> list[tuple[str, Report]]:
        """The reports, each with the name under which its pictures are kept."""
        from nodes.reasoning.follow_up import album

        later = [] if self.after is None else [(album(self.investigation), self.after)]
        return [(self.investigation, self.report), *later]


async def stream_investigate(
    order: Order, *, thread: str | None = None, decide: Decide | None = None
) -> AsyncGenerator[InvestigationEvent]:
    """Begin an investigation, and follow it to its end.

    Args:
        order: What is to be investigated.
        thread: The new thread's id; made up when None.
        decide: Decides about a design; without it, or when it leaves one open, the thread stops there.

    Yields:
        ``Started``, nodes and progress in the order of events, ``Waits`` where a decision is asked for,
        and ``Finished``, unless the thread is left waiting.

    Raises:
        BadInput: something of the order or the thread cannot be used; nothing was begun.
        SnellenError: the run failed; ``resume_investigation`` takes it up.
    """
    from memory.home import home
    from nodes.experiments import investigator_of

    if order.correct:
        await asyncio.to_thread(_check_library)
    name = threads.checked_name(thread) if thread is not None else threads.new_name()
    state = await asyncio.to_thread(_beginning, name, order)
    folder = await asyncio.to_thread(home)
    context = await asyncio.to_thread(examining, order.profile, folder, state.folder)
    # What cannot be examined is said before there is a thread that nobody can bring to an end.
    await investigator_of(state, context).open_report(state.query, state.models)
    async with threads.opened(name, "investigate", folder) as graph:
        await threads.begin(graph, asdict(state), _config(name))
        yield Started(thread=name, state=state)
        async for event in _followed(graph, name, context, decide):
            yield event


async def resume_investigation(
    thread: str, *, profile: str | None = None, decide: Decide | None = None
) -> AsyncGenerator[InvestigationEvent]:
    """Take up an investigation where it stopped; no trial is measured twice. A finished one only yields its end.

    Args:
        thread: The id of an existing thread.
        profile: A profile to go on with; None takes the one the thread was begun with.
        decide: Decides about a design that the thread waits with, or comes to.

    Yields:
        ``Started`` with ``resumed``, then what is left of the run.

    Raises:
        BadInput: no such thread, or another process is running it.
        SnellenError: the run failed again; the thread can still be resumed.
    """
    from memory.home import home

    folder = await asyncio.to_thread(home)
    name = await threads.known_thread(thread, folder)
    async with threads.opened(name, "investigate", folder) as graph:
        state = await _state(graph, name)
        yield Started(thread=name, state=state, resumed=True)
        if threads.has_ended(await graph.aget_state(_config(name))):
            yield Finished(thread=name, state=state)
            return
        context = await asyncio.to_thread(examining, profile or state.profile, folder, state.folder)
        async for event in _followed(graph, name, context, decide):
            yield event


async def correct_investigation(
    thread: str, *, approve: bool = False, profile: str | None = None, decide: Decide | None = None
) -> AsyncGenerator[InvestigationEvent]:
    """Teach models what a finished investigation found that they cannot do, and measure them again.

    Args:
        thread: The id of an existing thread.
        approve: Whether a person is asked which models are taught.
        profile: A profile to go on with; None takes the one the thread was begun with.
        decide: Decides about that.

    Yields:
        ``Started`` with ``resumed``, then what happens.

    Raises:
        BadInput: no such thread, it has not ended, it found no weakness, or its models were corrected.
        SnellenError: the run failed; ``resume_investigation`` takes it up.
    """
    from memory.home import home

    folder = await asyncio.to_thread(home)
    name = await threads.known_thread(thread, folder)
    async with threads.opened(name, "investigate", folder) as graph:
        state = await _state(graph, name)
        if not threads.has_ended(await graph.aget_state(_config(name))):
            msg = f"The investigation {name!r} has not ended: `snellen resume {name}` takes it up."
            raise BadInput(msg)
        _check_correctable(state)
        await asyncio.to_thread(_check_library)
        context = await asyncio.to_thread(examining, profile or state.profile, folder, state.folder)
        told = {"correct": True, "approve": approve, "corrections": []}
        await graph.aupdate_state(_config(name), told, as_node="conclude")
        yield Started(thread=name, state=state, resumed=True)
        async for event in _followed(graph, name, context, decide):
            yield event


def _check_correctable(state: InvestigateState) -> None:
    from nodes.reasoning.follow_up import weaknesses

    found = found_in(state)
    if state.after:
        msg = f"The models of {state.investigation!r} were corrected: `snellen report {state.investigation}` shows it."
        raise BadInput(msg)
    if found is None or not weaknesses(found.report):
        msg = (
            f"The investigation {state.investigation!r} found nothing that a model cannot do, so there is nothing to "
            "correct: `snellen report` shows what it found."
        )
        raise BadInput(msg)


async def read_thread(thread: str) -> InvestigateState:
    """Return the latest saved state of an investigation.

    Raises:
        BadInput: no such thread.
    """
    from memory.home import home

    folder = await asyncio.to_thread(home)
    name = await threads.known_thread(thread, folder)
    async with threads.reading("investigate", folder) as graph:
        return await _state(graph, name)


def found_in(state: InvestigateState) -> Found | None:
    """Return what an investigation has found so far; None before its report is opened."""
    from nodes.reasoning.follow_up import Correction
    from nodes.reasoning.inquiry import Report

    if not state.report:
        return None
    corrections = [Correction.model_validate(one) for one in state.corrections]
    after = Report.model_validate(state.after) if state.after else None
    report = Report.model_validate(state.report)
    return Found(
        state.investigation,
        report,
        corrections,
        after,
        state.profile,
        state.folder,
        state.correct and bool(report.answers),
    )


async def summary(graph: Graph, thread: str) -> ThreadSummary:
    """Return the line of an investigation, in the list of threads."""
    from graphs.states import InvestigateState

    snapshot = await graph.aget_state(_config(thread))
    state = threads.state_from(cast("Json", snapshot.values), InvestigateState)
    return ThreadSummary(
        thread=thread,
        instruction=state.query,
        status=await threads.status(snapshot, thread),
        updated=snapshot.created_at or "",
        verdict="",
        answer=None,
        graph="investigate",
        outcome=str(state.report.get("conclusion", "")),
    )


async def _followed(
    graph: Graph, thread: str, context: Context, decide: Decide | None
) -> AsyncIterator[InvestigationEvent]:
    async for event in followed(graph, _config(thread), context, decide):
        yield event
    if await request_of(graph, _config(thread)) is None:
        yield Finished(thread=thread, state=await _state(graph, thread))


async def _state(graph: Graph, thread: str) -> InvestigateState:
    from graphs.states import InvestigateState

    return await threads.state_of(graph, _config(thread), InvestigateState)


def _config(thread: str) -> Any:  # noqa: ANN401 - a RunnableConfig; naming it would import langchain for the help
    from graphs.investigate import RECURSION_LIMIT

    return threads.config(thread, "investigate", limit=RECURSION_LIMIT)


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

    chosen, context = load_profile(profile), sessions.make_context(profile, folder)
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
        ),
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


def _beginning(name: str, order: Order) -> InvestigateState:
    from graphs.states import InvestigateState
    from profiles import load_profile

    query = _checked_query(order.query)
    protocol = _checked_protocol(order)
    return InvestigateState(
        investigation=name,
        query=query,
        protocol=protocol,
        models=examined(load_profile(order.profile), order.models, query, judges=protocol == "pairs"),
        profile=threads.lasting(order.profile),
        alpha=_checked_alpha(order.alpha),
        budget=_checked_budget(order.budget),
        seed=order.seed,
        folder="" if order.pictures is None else str(_checked_folder(order.pictures)),
        approve=order.approve,
        correct=order.correct,
    )


def _checked_protocol(order: Order) -> str:
    """Return how models are asked.

    Raises:
        BadInput: There is no such way, or it does not go with what else is wanted.
    """
    from nodes.reasoning.protocol_queries import protocol_of
    from profiles import load_profile

    known = ("auto", "choice", "freeform", "pairs")
    if order.protocol not in known:
        msg = f"There is no protocol {order.protocol[:40]!r}: there are {', '.join(known)}."
        raise BadInput(msg)
    models = list(load_profile(order.profile).tested)
    found = protocol_of(order.query, models) if order.protocol == "auto" else order.protocol
    if found != "choice" and order.pictures is not None:
        command = "prove" if found == "freeform" else "pairs"
        msg = (
            f"The protocol {found!r} draws from the profile's world: build a benchmark of your pictures with "
            f"`snellen {command} build --data DIR`, or choose --protocol choice."
        )
        raise BadInput(msg)
    if found != "choice" and order.correct:
        msg = f"What the protocol {found!r} finds is not taught yet: leave out --correct."
        raise BadInput(msg)
    return found


def examined(profile: Profile, models: Sequence[str], query: str = "", *, judges: bool = False) -> list[str]:
    """Return the models that are examined where these are asked for: all of the profile where none are.

    Those that are for judging pairs only are among them where judges are wanted, or the query names them.

    Raises:
        BadInput: One of them does not exist, or there are too many.
    """
    from memory.adapters import AdapterStore
    from memory.home import home_folder

    known = list(profile.tested)
    if not known:
        msg = (
            f"The profile {profile.name!r} names no models to examine: add some under [tested] (see docs/profiles.md)."
        )
        raise BadInput(msg)
    strangers = [name for name in models if name not in known]
    corrected = [one.name for one in AdapterStore(home_folder()) if one.model in known] if strangers else []
    strangers = [name for name in strangers if name not in corrected]
    if strangers:
        msg = (
            f"There is no model {strangers[0][:80]!r} to examine; the profile {profile.name!r} has "
            f"{', '.join([*known, *corrected])}."
        )
        raise BadInput(msg)
    usual = [
        name
        for name in known
        if judges or getattr(profile.tested[name], "only", "") != "pairs" or name.casefold() in query.casefold()
    ]
    chosen = list(dict.fromkeys(models)) or usual
    if len(chosen) > MAX_MODELS:
        msg = f"At most {MAX_MODELS} models are examined at once, not {len(chosen)}: choose some with --models."
        raise BadInput(msg)
    return chosen


def _check_library() -> None:
    from tools.models import check_library

    check_library()


def _checked_query(query: str) -> str:
    said = " ".join(query.split())
    if not said:
        msg = 'The query is empty: ask about models, for example "Are these models robust to rotation?".'
        raise BadInput(msg)
    if len(said) > MAX_QUERY:
        msg = f"The query has {len(said):,} characters; say it in at most {MAX_QUERY:,}."
        raise BadInput(msg)
    return said


def _checked_alpha(alpha: float) -> float:
    if not 0 < alpha < 1:
        msg = f"--alpha {alpha} is no error rate: give a number between 0 and 1, such as 0.05."
        raise BadInput(msg)
    return alpha


def _checked_budget(budget: Mapping[str, float]) -> Json:
    from pydantic import ValidationError

    from nodes.reasoning.inquiry import Budget

    try:
        return Budget.model_validate(dict(budget)).model_dump(mode="json")
    except ValidationError as error:
        wrong = error.errors()[0]
        known = ", ".join(Budget.model_fields)
        msg = (
            f"The budget's {'.'.join(map(str, wrong['loc']))} cannot be used ({wrong['msg'].lower()}); it has {known}."
        )
        raise BadInput(msg) from error


def _checked_folder(pictures: Path | str) -> Path:
    from tools.knowledge.collection import concepts_in

    folder = Path(pictures).expanduser().absolute()
    if not folder.is_dir():
        msg = f"There is no folder {folder}: --pictures wants one with a folder of pictures for each class."
        raise BadInput(msg)
    concepts_in(folder)
    return folder
