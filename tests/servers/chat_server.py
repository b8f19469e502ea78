"""A server with the chat graph's endpoint on loopback, its clients, and pictures to ask about."""

from __future__ import annotations

import base64
from pathlib import Path

from starlette.applications import Starlette

from snellen.serving import ServerSettings, Tokens
from snellen.serving.app import create_app
from snellen.serving.artifact_routes import artifact_routes
from snellen.serving.jobs import JobLimits, Jobs
from snellen.serving.openai_api import openai_routes

EXAMPLES = Path(__file__).parents[2] / "examples"
SCENE = EXAMPLES / "scene.png"


def chat_app(home: Path, *, limits: JobLimits | None = None, settings: ServerSettings | None = None) -> Starlette:
    """Return an application with the endpoint and the artifacts of a home."""
    jobs, settings = Jobs(limits or JobLimits()), settings or ServerSettings(port=0)

    async def stop(seconds: float) -> None:
        await jobs.close(seconds)

    app = create_app(
        settings,
        routes=[*openai_routes(jobs, {"embedded": "embedded"}, settings), *artifact_routes(settings)],
        tokens=Tokens(home),
        on_stop=stop,
    )
    app.state.jobs = jobs
    return app


def data_url(path: Path = SCENE) -> str:
    """Return a picture file as a data address."""
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
