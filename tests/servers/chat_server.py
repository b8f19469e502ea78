"""A server with the chat graph's endpoint on loopback, its clients, and pictures to ask about."""

from __future__ import annotations

import base64
from pathlib import Path

from starlette.applications import Starlette

from interfaces.artifact_routes import artifact_routes
from interfaces.jobs import Jobs, Limits
from interfaces.openai_api import openai_routes
from interfaces.serving import Settings, Tokens
from interfaces.serving.app import create_app

EXAMPLES = Path(__file__).parents[2] / "examples"
SCENE = EXAMPLES / "scene.png"


def chat_app(home: Path, *, limits: Limits | None = None, settings: Settings | None = None) -> Starlette:
    """Return an application with the endpoint and the artifacts of a home."""
    jobs, settings = Jobs(limits or Limits()), settings or Settings(port=0)

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
