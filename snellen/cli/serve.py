"""``snellen serve``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from snellen.cli.options import HOST, NO_WARM_UP, OFFERED_PROFILES, PORT, command, option
from snellen.errors import SnellenError
from snellen.memory.home import home

_TRUST: Final = "trust"


@contextmanager
def needs_serving(what: str = "server") -> Iterator[None]:
    """Turn a missing package of the extra ``serve`` into a sentence.

    Raises:
        SnellenError: A package is missing.
    """
    try:
        yield
    except ImportError as error:
        msg = f"The {what} needs the package {error.name}: `pip install 'snellen[serve]'`."
        raise SnellenError(msg) from error


@command(
    "serve",
    HOST,
    PORT,
    NO_WARM_UP,
    OFFERED_PROFILES,
    option("--no-page", dest="page", action="store_false", help="serve programs only, without the page"),
    option(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        group=_TRUST,
        help="answer to this name beside localhost, such as a proxy's",
    ),
    option(
        "--allow-origin",
        action="append",
        default=[],
        metavar="URL",
        group=_TRUST,
        help="let this web page use it from a browser, such as https://example.org",
    ),
    option(
        "--proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        group=_TRUST,
        help="believe the X-Forwarded-… headers of this reverse proxy",
    ),
    option(
        "--picture-host",
        action="append",
        default=[],
        metavar="HOST",
        group=_TRUST,
        help="fetch pictures that requests name from this public host",
    ),
    option(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=N",
        help="set a limit of docs/serving.md, such as requests_each=8 or jobs_running=2; repeat for more",
    ),
    examples="""
        snellen serve    # open to this machine alone; prints the addresses
        snellen tokens add owner && snellen serve --host 0.0.0.0 --allow-host snellen.example.org
        snellen serve --profile embedded --profile hub --no-page
        snellen serve --limit jobs_running=2 --limit requests_each=8
    """,
)
def serve(options: argparse.Namespace) -> int:
    """Serve the page, an OpenAI-compatible endpoint, MCP, pictures and reports."""
    from snellen.cli.server_app import limited, offered, server_app
    from snellen.serving.users import Tokens

    profiles = offered(options.profile or ["embedded"])
    settings, limits = limited(options)
    with needs_serving():
        from snellen.serving import configure_logging
        from snellen.serving.garbage_collection import keep_collections_short
        from snellen.serving.jobs import Jobs
        from snellen.serving.listener import serve as listen

        app = server_app(Jobs(limits), settings, profiles, page=options.page, warm_up=options.warm_up)
    configure_logging()
    keep_collections_short()
    has_page = any(getattr(one, "path", None) == "" for one in app.routes)
    announce = partial(_announce, guarded=Tokens(home()).required, model=next(iter(profiles)), page=has_page)
    listen(app, say=announce)
    return 0


def _announce(text: str, *, guarded: bool, model: str, page: bool) -> None:
    url = text.rpartition(" ")[2]
    users = (
        "users with a token (`snellen tokens list`)" if guarded else "this machine alone (`snellen tokens add owner`)"
    )
    lines = [f"{text}, open to {users}"]
    lines += [f"  the page            {url}/"] if page else []
    lines += [
        f"  OpenAI's clients    base_url={url}/v1  model={model}",
        f"  MCP                 {url}/mcp",
        f"  pictures, reports   {url}/artifacts  {url}/reports/ID  {url}/threads",
        f"  probes              {url}/health  {url}/ready  {url}/metrics",
        "Ctrl-C ends it; unfinished work can be resumed. More: docs/serving.md",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
