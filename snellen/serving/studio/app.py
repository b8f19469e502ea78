"""Routes and middleware around LangGraph's own API (``http.app`` of langgraph.json).

The guard, the limits and the logs are those of every Snellen server.
"""

from __future__ import annotations

import os
from typing import Final

from starlette.middleware import Middleware

from snellen.serving.app import create_app
from snellen.serving.artifact_routes import artifact_routes
from snellen.serving.settings import ServerSettings
from snellen.serving.studio.input_validation import InputValidation
from snellen.serving.studio.launch import HOST_VARIABLE
from snellen.serving.studio.thread_registration import ThreadRegistration

ORIGINS_VARIABLE: Final = "SNELLEN_STUDIO_ORIGINS"
"""Names the web pages, separated by blanks, that may use the server from a browser."""
STUDIO: Final = "https://smith.langchain.com"
"""Where Studio's page comes from; it talks to this server from within the browser."""

app = create_app(
    ServerSettings(
        host=os.environ.get(HOST_VARIABLE, "127.0.0.1"),
        origins=tuple(os.environ.get(ORIGINS_VARIABLE, STUDIO).split()),
    ),
    routes=artifact_routes(),
)
"""Named by ``http.app`` of langgraph.json."""
app.user_middleware += [Middleware(ThreadRegistration), Middleware(InputValidation)]
