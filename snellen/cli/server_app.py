"""The applications that ``snellen serve`` and ``snellen chat`` listen with: routes, page, limits and models."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput
from snellen.memory.home import home
from snellen.profiles import load_profile
from snellen.serving.jobs import JobLimits
from snellen.serving.settings import ServerSettings

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.routing import BaseRoute, Mount

    from snellen.serving.jobs import Jobs
    from snellen.serving.users import Tokens
    from snellen.serving.warm_up import Warming

_JOBS: Final = "jobs_"
"""The prefix of limits of jobs on the command line: ``jobs_running=2``."""


def server_app(
    jobs: Jobs,
    settings: ServerSettings,
    profiles: Mapping[str, str],
    *,
    page: bool = True,
    tokens: Tokens | None = None,
    warm_up: bool = False,
) -> Starlette:
    """Return everything that a server serves, behind the guard.

    Args:
        jobs: The work; all of it is stopped and saved at the server's end.
        settings: Where it will listen, and its limits.
        profiles: Names or paths of profiles, by the names that they are offered by; the first is the page's.
        page: Whether the page is served too.
        tokens: Who may use it; None reads those of the home.
        warm_up: Whether the models of the first profile are loaded from the start on; it is not ready before they are.
    """
    from snellen.serving.health import usual_checks
    from snellen.serving.mcp_server import mcp_mount
    from snellen.serving.openai_api import openai_routes
    from snellen.serving.thread_routes import thread_routes

    first = next(iter(profiles.values()))
    mcp_route, mcp = mcp_mount(jobs, profiles, settings)
    routes = [*openai_routes(jobs, profiles, settings), *thread_routes(), mcp_route]
    return _app(
        jobs,
        settings,
        first,
        routes=routes,
        mounts=[mcp],
        page=page,
        warm_up=warm_up,
        tokens=tokens,
        checks=usual_checks(load_profile(first)),
    )


def page_app(jobs: Jobs, settings: ServerSettings, *, profile: str, warm_up: bool = False) -> Starlette:
    """Return an application that serves the page alone, behind the guard.

    Args:
        jobs: The work; all of it is stopped and saved at the end.
        settings: Where it will listen, and its limits.
        profile: Name or path of the profile that new threads are begun with.
        warm_up: Whether its models are loaded from the start on.
    """
    return _app(jobs, settings, profile, routes=(), mounts=(), page=True, warm_up=warm_up)


def _app(
    jobs: Jobs,
    settings: ServerSettings,
    profile: str,
    *,
    routes: Sequence[BaseRoute],
    mounts: Sequence[Mount],
    page: bool,
    warm_up: bool,
    **guards: Any,  # noqa: ANN401 - of create_app
) -> Starlette:
    """Add pictures, the page, deletion of old threads, and figures about jobs to routes."""
    from snellen.serving.app import create_app
    from snellen.serving.artifact_routes import artifact_routes
    from snellen.serving.retention import watch

    async def stop(seconds: float) -> None:
        await jobs.close(seconds)

    page_routes: Sequence[BaseRoute] = ()
    page_mounts: Sequence[Mount] = ()
    if page:
        from snellen.page import make_page, mount_page
        from snellen.page import page_routes as routes_of_page

        page_routes = routes_of_page()
        page_mounts = [mount_page(make_page(jobs, profile=profile, settings=settings))]
    app = create_app(
        settings,
        routes=[*routes, *artifact_routes(settings), *page_routes],
        mounts=[*mounts, *page_mounts],
        on_stop=stop,
        background=[partial(watch, settings)],
        warming=warming_of(profile) if warm_up else None,
        **guards,
    )
    app.state.serving.metrics.watch_jobs(
        running=lambda: jobs.counts().get("running", 0), waiting=lambda: jobs.counts().get("queued", 0)
    )
    return app


def warming_of(profile: str) -> Warming:
    """Return a loader of the models of a profile, for the owner's home: those of other homes are shared with it."""
    from snellen.serving.warm_up import Warming

    def load() -> object:
        from snellen.runtime.resources import warm_up

        return warm_up(profile, home())

    return Warming(load, load_profile(profile).name)


def offered(profiles: Sequence[str]) -> dict[str, str]:
    """Return the profiles that are offered, by names that clients may know: that of a file is its name without ending.

    Raises:
        BadInput: There is no such profile, or two would have one name.
    """
    by_name: dict[str, str] = {}
    for one in profiles:
        load_profile(one)
        name = Path(one).stem
        if by_name.setdefault(name, one) != one:
            msg = f"Two profiles would be offered as {name!r}: rename one of them."
            raise BadInput(msg)
    return by_name


def limited(options: argparse.Namespace) -> tuple[ServerSettings, JobLimits]:
    """Return the limits that the command line asks for.

    Raises:
        BadInput: There is no such limit, or it cannot be that number.
    """
    limits = dict(_limit(one) for one in options.limit)
    of_jobs = {name.removeprefix(_JOBS): value for name, value in limits.items() if name.startswith(_JOBS)}
    of_requests = {name: value for name, value in limits.items() if not name.startswith(_JOBS)}
    settings = ServerSettings(
        host=options.host,
        port=options.port,
        names=tuple(options.allow_host),
        origins=tuple(options.allow_origin),
        proxies=tuple(options.proxy),
        picture_hosts=tuple(options.picture_host),
        **_typed(of_requests, ServerSettings()),
    )
    return settings, JobLimits(**_typed(of_jobs, JobLimits(), lead=_JOBS))


def _limit(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError as error:
        msg = f"--limit {text[:40]} is not name=number: for example requests_each=8 or jobs_running=2."
        raise BadInput(msg) from error


def _typed(limits: Mapping[str, float], usual: ServerSettings | JobLimits, *, lead: str = "") -> dict[str, Any]:
    """Return limits as numbers of the kind that the usual ones are."""
    numbers = _numbers(usual)
    for name, value in limits.items():
        if name not in numbers:
            names = ", ".join((*_numbers(ServerSettings()), *(_JOBS + one for one in _numbers(JobLimits()))))
            msg = f"There is no limit {lead}{name[:40]}: choose one of {names}."
            raise BadInput(msg)
        # A limit of which zero is the default is off at zero.
        if not (value > 0 or value == numbers[name] == 0):
            msg = f"--limit {lead}{name}={value:g} is too small: give a number above zero."
            raise BadInput(msg)
    return {name: type(numbers[name])(value) for name, value in limits.items()}


def _numbers(limits: ServerSettings | JobLimits) -> dict[str, float]:
    known = {one.name: getattr(limits, one.name) for one in fields(limits)}
    return {name: value for name, value in known.items() if isinstance(value, int | float) and name != "port"}
