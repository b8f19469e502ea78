"""What makes a server safe to leave running: users, limits, logs, metrics, health, an end that loses nothing.

What it serves is plugged into ``interfaces.serving.app.create_app`` and run by ``interfaces.serving.listening.serve``;
these two need the extra ``serve``, what is exported here does not.
"""

from __future__ import annotations

from interfaces.serving.logs import configure_logging
from interfaces.serving.refusals import Refusal
from interfaces.serving.settings import Settings
from interfaces.serving.uploads import Uploads
from interfaces.serving.users import Tokens, User, check_listening

__all__ = ["Refusal", "Settings", "Tokens", "Uploads", "User", "check_listening", "configure_logging"]
