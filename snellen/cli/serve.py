"""What ``snellen serve`` does: the page, the open interfaces, and what keeps a server safe, in one process."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput, SnellenError
from snellen.memory.home import home
from snellen.profiles import load_profile
from snellen.serving.jobs import JobLimits
from snellen.serving.settings import ServerSettings
from snellen.serving.users import Tokens

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.routing import BaseRoute, Mount

    from snellen.serving.jobs import Jobs
    from snellen.serving.warm_up import Warming

_JOBS: Final = "jobs_"
"""What limits of jobs are called by on the command line: ``jobs_running=2``."""


def serve(options: argparse.Namespace) -> int:
    """Serve until it is stopped; the work under way is saved then."""
    profiles = offered(options.profile or ["embedded"])
    settings, limits = limited(options)
    try:
        from snellen.serving.jobs import Jobs
        from snellen.serving.listener import serve as listen

        app = server_app(Jobs(limits), settings, profiles, page=options.page, warm_up=options.warm_up)
    except ImportError as error:
        msg = f"The server needs the package {error.name}: `pip install 'snellen[serve]'`."
        raise SnellenError(msg) from error
    from snellen.serving import configure_logging
    from snellen.serving.garbage_collection import keep_collections_short

    configure_logging()
    keep_collections_short()
    has_page = any(getattr(one, "path", None) == "" for one in app.routes)
    listen(app, say=lambda said: _say(said, Tokens(home()).required, next(iter(profiles)), page=has_page))
    return 0


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
        jobs: What is worked on; all is stopped and saved at the server's end.
        settings: Where it will listen, and its limits.
        profiles: Names or paths of profiles, by the names that they are offered by; the first is the page's.
        page: Whether the page is served too.
        tokens: Who may use it; None reads those of the home.
        warm_up: Whether the models of the first profile are loaded from the start on; it is not ready before they are.
    """
    from snellen.serving.app import create_app
    from snellen.serving.artifact_routes import artifact_routes
    from snellen.serving.health import usual_checks
    from snellen.serving.mcp_server import mcp_mount
    from snellen.serving.openai_api import openai_routes
    from snellen.serving.retention import watch
    from snellen.serving.thread_routes import thread_routes

    async def stop(seconds: float) -> None:
        await jobs.close(seconds)

    first = next(iter(profiles.values()))
    mcp_route, mcp = mcp_mount(jobs, profiles, settings)
    routes = [*openai_routes(jobs, profiles, settings), *artifact_routes(settings), *thread_routes(), mcp_route]
    page_routes, page_mounts = _page(jobs, first, settings) if page else ([], [])
    app = create_app(
        settings,
        routes=[*routes, *page_routes],
        mounts=[mcp, *page_mounts],
        on_stop=stop,
        tokens=tokens,
        checks=usual_checks(load_profile(first)),
        background=[partial(watch, settings)],
        warming=warming_of(first) if warm_up else None,
    )
    app.state.serving.metrics.watch_jobs(
        running=lambda: jobs.counts().get("running", 0), waiting=lambda: jobs.counts().get("queued", 0)
    )
    return app


def warming_of(profile: str) -> Warming:
    """Return what loads the models of a profile, for the owner's home: those of other homes are shared with it."""
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
    found: dict[str, str] = {}
    for one in profiles:
        load_profile(one)
        name = Path(one).stem
        if found.setdefault(name, one) != one:
            msg = f"Two profiles would be offered as {name!r}: rename one of them."
            raise BadInput(msg)
    return found


def limited(options: argparse.Namespace) -> tuple[ServerSettings, JobLimits]:
    """Return the limits that the command line asks for.

    Raises:
        BadInput: There is no such limit, or it cannot be that number.
    """
    given = dict(_limit(one) for one in options.limit)
    of_jobs = {name.removeprefix(_JOBS): value for name, value in given.items() if name.startswith(_JOBS)}
    of_requests = {name: value for name, value in given.items() if not name.startswith(_JOBS)}
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


def _limit(said: str) -> tuple[str, float]:
    name, _, value = said.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError as error:
        msg = f"--limit {said[:40]} is not name=number: for example requests_each=8 or jobs_running=2."
        raise BadInput(msg) from error


def _typed(given: Mapping[str, float], usual: ServerSettings | JobLimits, *, lead: str = "") -> dict[str, Any]:
    """Return limits as numbers of the kind that the usual ones are."""
    known = {one.name: getattr(usual, one.name) for one in fields(usual)}
    numbers = {name: value for name, value in known.items() if isinstance(value, int | float) and name != "port"}
    for name, value in given.items():
        if name not in numbers or not value > 0:
            all_of_them = ", ".join(lead + one for one in numbers)
            msg = f"--limit {lead}{name[:40]}={value:g} is none: give a number above zero for one of {all_of_them}."
            raise BadInput(msg)
    return {name: type(numbers[name])(value) for name, value in given.items()}


def _page(jobs: Jobs, profile: str, settings: ServerSettings) -> tuple[list[BaseRoute], list[Mount]]:
    made = importlib.import_module("snellen.page")
    page = made.make_page(jobs, profile=profile, settings=settings)
    return made.page_routes(), [made.mount_page(page)]


def _say(said: str, guarded: bool, model: str, *, page: bool) -> None:  # noqa: FBT001 - told as it is found
    url = said.rpartition(" ")[2]
    who = "with a token (`snellen tokens list`)" if guarded else "by this machine alone (`snellen tokens add owner`)"
    lines = [f"{said}, open {who}"]
    lines += [f"  the page            {url}/"] if page else []
    lines += [
        f"  OpenAI's clients    base_url={url}/v1  model={model}",
        f"  MCP                 {url}/mcp",
        f"  pictures, reports   {url}/artifacts  {url}/reports/ID  {url}/threads",
        f"  probes              {url}/health  {url}/ready  {url}/metrics",
        "Ctrl-C ends it; whatever is under way can be resumed. docs/serving.md has the rest.",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
