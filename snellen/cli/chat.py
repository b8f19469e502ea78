"""What ``snellen chat`` does: the page alone, for the owner of this memory, on this machine."""

from __future__ import annotations

import argparse
import logging
import sys
from functools import partial
from typing import TYPE_CHECKING

from snellen.errors import SnellenError

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from snellen.serving import ServerSettings
    from snellen.serving.jobs import Jobs

_RATE, _BURST = 100.0, 1_000
"""Requests: a browser asks for a hundred files when it opens the page for the first time."""


def chat(options: argparse.Namespace) -> int:
    """Serve the page until it is stopped; the work under way is saved then."""
    from snellen.profiles import load_profile
    from snellen.serving import ServerSettings, configure_logging

    load_profile(options.profile)
    settings = ServerSettings(host=options.host, port=options.port, requests_per_second=_RATE, burst=_BURST)
    try:
        from snellen.serving.jobs import Jobs
        from snellen.serving.listener import serve

        app = page_app(Jobs(), settings, profile=options.profile, warm_up=options.warm_up)
    except ImportError as error:
        msg = f"The page needs the package {error.name}: `pip install 'snellen[serve]'`."
        raise SnellenError(msg) from error
    configure_logging(level=logging.WARNING)
    serve(app, say=lambda said: _say(said, browser=options.browser))
    return 0


def page_app(jobs: Jobs, settings: ServerSettings, *, profile: str, warm_up: bool = False) -> Starlette:
    """Return an application that serves the page alone, behind the guard.

    Args:
        jobs: What it works on; all is stopped and saved at its end.
        settings: Where it will listen, and its limits.
        profile: Name or path of the profile that new threads are begun with.
        warm_up: Whether its models are loaded from the start on.
    """
    from snellen.cli.serve import warming_of
    from snellen.page import make_page, mount_page, page_routes
    from snellen.serving.app import create_app
    from snellen.serving.artifact_routes import artifact_routes
    from snellen.serving.retention import watch

    async def stop(seconds: float) -> None:
        await jobs.close(seconds)

    page = make_page(jobs, profile=profile, settings=settings)
    routes = [*artifact_routes(settings), *page_routes()]
    app = create_app(
        settings,
        routes=routes,
        mounts=[mount_page(page)],
        on_stop=stop,
        warming=warming_of(profile) if warm_up else None,
        background=[partial(watch, settings)],
    )
    app.state.serving.metrics.watch_jobs(
        running=lambda: jobs.counts().get("running", 0), waiting=lambda: jobs.counts().get("queued", 0)
    )
    return app


def _say(said: str, *, browser: bool) -> None:
    sys.stdout.write(f"{said}\nOpen it in a browser; Ctrl-C ends it, and whatever is under way can be resumed.\n")
    sys.stdout.flush()
    if browser and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(said.rpartition(" ")[2])
