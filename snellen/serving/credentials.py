"""Credentials of requests: a bearer token, a token as Basic's password, or the cookie of a browser's session.

A session is a signed text: a name and an end. The key is made when the server starts, and the signature covers the
hash of the user's token: revoking the token, or starting the server anew, ends the session.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from snellen.serving.users import Token, Tokens

COOKIE: Final = "snellen_session"
_PARTS: Final = 3
_LONGEST: Final = 1024
"""Characters of a header that are looked at."""


def presented_token(authorization: str) -> str:
    """Return the token in a request's ``Authorization``; empty where there is none.

    ``Bearer TOKEN`` is understood, and ``Basic`` with the token as the password, whatever the name.
    """
    scheme, _, rest = authorization[:_LONGEST].strip().partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(rest.strip(), validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError):
        return ""


class Sessions:
    """Gives browsers that showed a token a cookie to show from then on."""

    def __init__(self, seconds: int, *, clock: Callable[[], float] = time.time) -> None:
        """Let sessions last ``seconds`` by ``clock``, the seconds since 1970."""
        self.seconds = seconds
        self._clock = clock
        self._key = secrets.token_bytes(32)

    def begin(self, token: Token) -> str:
        """Return the value of the cookie for the owner of a token."""
        end = int(self._clock()) + self.seconds
        return f"{token.name}.{end}.{self._signature(token, end)}"

    def find(self, value: str, tokens: Tokens) -> Token | None:
        """Return the token behind a session cookie; None for an invalid or expired session, or a revoked token.

        Raises:
            SnellenError: the file of tokens is damaged or out of reach.
        """
        parts = value[:_LONGEST].split(".")
        if len(parts) != _PARTS or not (parts[1].isascii() and parts[1].isdigit()) or not parts[2].isascii():
            return None
        token, end = tokens.named(parts[0]), int(parts[1])
        if token is None or not hmac.compare_digest(self._signature(token, end), parts[2]):
            return None
        return token if self._clock() < end else None

    def _signature(self, token: Token, end: int) -> str:
        content = f"{token.name}\n{end}\n{token.sha256}".encode()
        return hmac.new(self._key, content, hashlib.sha256).hexdigest()
