"""What makes a server safe to leave running: users, limits, logs, metrics, health, an end that loses nothing.

What it serves is plugged into ``snellen.serving.app.create_app`` and run by ``snellen.serving.listener.serve``;
these two need the extra ``serve``, what is exported here does not.
"""

from __future__ import annotations

from snellen.serving.logs import configure_logging
from snellen.serving.refusals import Refusal
from snellen.serving.settings import ServerSettings
from snellen.serving.uploads import Uploads
from snellen.serving.users import Tokens, User, check_listening

__all__ = ["Refusal", "ServerSettings", "Tokens", "Uploads", "User", "check_listening", "configure_logging"]
