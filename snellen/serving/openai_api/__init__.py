"""An OpenAI-compatible endpoint in front of the chat graph: ``/v1/models`` and ``/v1/chat/completions``.

``docs/serving.md`` has its headers, its limits and examples.
"""

from __future__ import annotations

from snellen.serving.openai_api.routes import openai_routes

__all__ = ["openai_routes"]
