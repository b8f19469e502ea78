"""Requests for investigations, which are checked before anything runs and become the fields of a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.memory.adapters import AdapterStore
from snellen.memory.home import home_folder
from snellen.profile_files import lasting
from snellen.runtime.settings import Given, InvestigationSettings, RunSettings
from snellen.user_paths import user_path

if TYPE_CHECKING:
    from snellen.graphs.states import InvestigateState, Json
    from snellen.profiles import Profile

MAX_QUERY: Final = 4_000
"""Characters of a query; longer ones are texts pasted by mistake, and would not fit a checkpoint."""
MAX_MODELS: Final = 12
"""Models that one investigation examines."""
_OPEN: Final = ("alpha", "approve", "correct", "protocol")
"""Fields of a state that the settings of its run fill where they are None."""


@dataclass(frozen=True, kw_only=True)
class InvestigationRequest:
    """A question about models, with what may be used to answer it.

    Attributes:
        query: What is to be known about models, at most ``MAX_QUERY`` characters.
        models: Those that may be examined, by their names in the profile; none for all.
        profile: Name or path of a profile.
        pictures: A folder with a folder of pictures for each class, to draw samples from; None takes the profile's.
        alpha: The share of verdicts that may be wrong.
        budget: What it may use, by the names of ``snellen.experiments.report.Budget``.
        seed: Chooses the pictures; None takes those that the ledger allots to the question.
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
    seed: int | None = None
    approve: bool = False
    correct: bool = False
    protocol: str = "auto"


def initial_fields(name: str, request: InvestigationRequest) -> Json:
    """Return the fields of the state that an investigation begins with.

    Args:
        name: The investigation's id: its thread.
        request: What is to be investigated.

    Raises:
        BadInput: Something of it cannot be used.
    """
    from snellen.profiles import load_profile

    query = _checked_query(request.query)
    protocol = _checked_protocol(request)
    return {
        "investigation": name,
        "query": query,
        "protocol": protocol,
        "models": examined(load_profile(request.profile), request.models, query, judges=protocol == "pairs"),
        "profile": lasting(request.profile),
        "alpha": _stated_alpha(request),
        "budget": _checked_budget(request.budget),
        "seed": request.seed,
        "folder": "" if request.pictures is None else str(_checked_folder(request.pictures)),
        "approve": request.approve,
        "correct": request.correct,
    }


def fields_filled_by(state: InvestigateState, given: Given | None, thread: str) -> Json:
    """Return what the state of an investigation lacks that nobody has checked: settings fill what it leaves open.

    Args:
        state: As it was begun; None in a field leaves it open, and whatever else stands there counts.
        given: What the run was given; where that is the resources themselves, defaults fill what is open.
        thread: The thread's name, for an investigation that has none.

    Raises:
        BadInput: Something cannot be used.
    """
    chosen = given if isinstance(given, InvestigationSettings) else InvestigationSettings()
    values = {name: getattr(state, name) for name in _OPEN}
    filled = {name: getattr(chosen, name) if value is None else value for name, value in values.items()}
    if given is not None and not isinstance(given, RunSettings):
        from snellen.profiles import load_profile

        profile = load_profile(state.profile)
        read = {"protocol": protocol_read(filled["protocol"], state.query, state.models, profile)}
        return {"investigation": state.investigation or thread} | filled | read
    request = InvestigationRequest(
        query=state.query,
        models=state.models or chosen.models,
        profile=(given.profile if given is not None else "") or state.profile,
        pictures=state.folder or None,
        budget=chosen.budget | state.budget,
        seed=state.seed,
        **filled,
    )
    return initial_fields(state.investigation or thread, request)


def protocol_read(protocol: str, query: str, models: Sequence[str], profile: Profile) -> str:
    """Return how models are asked: as it is said, or for ``auto`` as the query is understood."""
    from snellen.experiments.understanding import protocol_of

    return protocol_of(query, models, profile) if protocol == "auto" else protocol


def _checked_protocol(request: InvestigationRequest) -> str:
    """Return how models are asked.

    Raises:
        BadInput: There is no such way, or it does not go with what else is wanted.
    """
    from snellen.profiles import load_profile

    known = ("auto", "choice", "freeform", "pairs")
    if request.protocol not in known:
        msg = f"There is no protocol {request.protocol[:40]!r}: there are {', '.join(known)}."
        raise BadInput(msg)
    protocol = protocol_read(request.protocol, request.query, request.models, load_profile(request.profile))
    if protocol != "choice" and request.pictures is not None:
        command = "prove" if protocol == "freeform" else "pairs"
        msg = (
            f"The protocol {protocol!r} draws from the profile's world: build a benchmark of your pictures with "
            f"`snellen {command} build`, or choose the protocol choice."
        )
        raise BadInput(msg)
    if protocol != "choice" and request.correct:
        msg = f"What the protocol {protocol!r} finds is not taught yet: leave the correction out."
        raise BadInput(msg)
    return protocol


def examined(profile: Profile, models: Sequence[str], query: str = "", *, judges: bool = False) -> list[str]:
    """Return the models that are examined where these are asked for: all of the profile where none are.

    Those that are for judging pairs only are among them where judges are wanted, or the query names them. Of more than
    can be examined at once, those that the query names are.

    Raises:
        BadInput: One of them does not exist, or there are too many.
    """
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
    chosen = list(dict.fromkeys(models)) or _usual(query, profile, judges=judges)
    if len(chosen) > MAX_MODELS:
        msg = f"At most {MAX_MODELS} models are examined at once, not {len(chosen)}: name the ones that matter."
        raise BadInput(msg)
    return chosen


def _usual(query: str, profile: Profile, *, judges: bool) -> list[str]:
    """Return the models that are examined where none are asked for."""
    from snellen.reasoning.queries.vocabulary import judges_among

    known = list(profile.tested)
    only_judges = () if judges else judges_among(known, profile)
    named = _named(query, profile) if only_judges or len(known) > MAX_MODELS else frozenset()
    usual = [name for name in known if name not in only_judges or name in named]
    return usual if len(usual) <= MAX_MODELS else [name for name in usual if name in named] or usual


def _named(query: str, profile: Profile) -> frozenset[str]:
    """Return the models that a query names, where it is understood."""
    from snellen.experiments.understanding import reading_of
    from snellen.reasoning.queries.query_readings import UnderstoodQuery

    reading = reading_of(query, (), profile) if query else None
    if not isinstance(reading, UnderstoodQuery):
        return frozenset(name for name in profile.tested if name.casefold() in query.casefold())
    return frozenset(name for each in reading.query.questions for name in each.models)


def _stated_alpha(request: InvestigationRequest) -> float:
    """Return the error rate: as the query states it, where it does.

    Raises:
        BadInput: The query states another one than was chosen.
    """
    from snellen.experiments.understanding import reading_of
    from snellen.profiles import load_profile
    from snellen.reasoning.queries.query_readings import UnderstoodQuery

    reading = reading_of(request.query, request.models, load_profile(request.profile))
    confidence = reading.query.confidence if isinstance(reading, UnderstoodQuery) else None
    if confidence is None:
        return _checked_alpha(request.alpha)
    stated = round(1 - confidence, 10)
    if request.alpha not in {InvestigationRequest.alpha, stated}:
        wanted = f"{100 * confidence:.10g} % confidence"
        msg = f"The question wants {wanted}, and alpha was set to {request.alpha:g}: choose one."
        raise BadInput(msg)
    return _checked_alpha(stated)


def _checked_query(query: str) -> str:
    text = " ".join(query.split())
    if not text:
        msg = 'The query is empty: ask about models, for example "Are these models robust to rotation?".'
        raise BadInput(msg)
    if len(text) > MAX_QUERY:
        msg = f"The query has {len(text):,} characters; say it in at most {MAX_QUERY:,}."
        raise BadInput(msg)
    return text


def _checked_alpha(alpha: float) -> float:
    if not 0 < alpha < 1:
        msg = f"An alpha of {alpha} is no error rate: give a number between 0 and 1, such as 0.05."
        raise BadInput(msg)
    return alpha


def _checked_budget(budget: Mapping[str, float]) -> Json:
    from pydantic import ValidationError

    from snellen.experiments.report import Budget

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
    from snellen.collection import concepts_in

    folder = user_path(pictures, "folder").absolute()
    if not folder.is_dir():
        shown = str(pictures)[:200]  # as it was given: as a path, an address would lose a slash
        msg = f"There is no folder {shown}: name one with a folder of pictures for each class."
        raise BadInput(msg)
    concepts_in(folder)
    return folder
