"""Servers that are safe to leave running: users, limits, logs, metrics, health, a graceful end.

Routes are plugged into ``snellen.serving.app.create_app`` and run by ``snellen.serving.listener.serve``;
these two need the extra ``serve``, the exports here do not.
"""

from __future__ import annotations

from snellen.serving.limits import Refusal
from snellen.serving.logs import configure_logging
from snellen.serving.settings import ServerSettings
from snellen.serving.uploads import Uploads
from snellen.serving.users import Tokens, User, check_listening

__all__ = ["Refusal", "ServerSettings", "Tokens", "Uploads", "User", "check_listening", "configure_logging"]
