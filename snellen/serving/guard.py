"""The guard before every route: users, origins of pages, rates, and requests under way."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from snellen.errors import SnellenError
from snellen.memory.home import using_home
from snellen.serving.credentials import COOKIE, Sessions, presented_token
from snellen.serving.limits import Refusal, RequestSlots, TokenBuckets, address_key, send_refusal
from snellen.serving.origins import SAFE_METHODS, host_allowed, page_allowed
from snellen.serving.users import OWNER, Token, Tokens, User, is_loopback

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Receive, Scope, Send

    from snellen.serving.settings import ServerSettings

HEALTH: Final = "/health"
READY: Final = "/ready"
LOGIN: Final = "/login"
METRICS: Final = "/metrics"
PROBES: Final = frozenset({HEALTH, READY, METRICS})
"""Paths for monitoring; they are answered even where nothing else is."""
_FOR_STRANGERS: Final = frozenset({HEALTH, READY, LOGIN})
_BY_PROXY: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


@dataclass
class Gate:
    """The gate for new work; it closes for good when the server stops."""

    closed: bool = False


@dataclass
class Guard:
    """Pure ASGI middleware that lets a request, or a websocket, pass or refuses it.

    What passes has its ``User`` in the scope's state (``request.state.user``; None for strangers, who reach
    ``/health``, ``/ready`` and ``/login`` only), and runs with the user's home as the home.
    """

    app: ASGIApp
    settings: ServerSettings
    tokens: Tokens
    sessions: Sessions
    gate: Gate
    _notes: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Make the limits of users and of addresses."""
        rate, burst = self.settings.requests_per_second, self.settings.burst
        self._addresses = TokenBuckets(rate=rate, burst=burst)
        self._users = TokenBuckets(rate=rate, burst=burst)
        self._places = RequestSlots(each=self.settings.requests_each, total=self.settings.requests_total)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, or refuse it."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        scope.setdefault("state", {})["user"] = None
        with ExitStack() as held:
            try:
                user = self._admitted(scope)
                if user is not None:
                    if scope["path"] != METRICS:
                        held.enter_context(self._places.taken(user.name))
                    held.enter_context(using_home(user.home))
            except Refusal as refusal:
                scope["state"]["refused"] = refusal.limit
                await send_refusal(refusal, scope, receive, send)
                return
            scope["state"]["user"] = user
            await self.app(scope, receive, send)

    def _admitted(self, scope: Scope) -> User | None:
        from starlette.datastructures import Headers

        # A probe of health is always answered.
        if scope["path"] == HEALTH:
            return None
        headers = Headers(scope=scope)
        if scope["path"] != READY:
            self._refuse_when_stopping()
        self._refuse_foreign(scope, headers)
        # Nor does it cost anything to say whether the server is ready: it looks every few seconds at most.
        if scope["path"] == READY:
            return None
        address = address_key(_client(scope))
        _refuse_often(self._addresses, address)
        user = self._user(scope, headers)
        if user is not None:
            # Many users may come from one address, such as an office's: only strangers use it up.
            self._addresses.give_back(address)
            _refuse_often(self._users, user.name)
        return user

    def _refuse_when_stopping(self) -> None:
        if self.gate.closed:
            msg = "The server is stopping; try again in a moment."
            raise Refusal(503, "stopping", msg, retry_after=10.0, headers={"connection": "close"})

    def _refuse_foreign(self, scope: Scope, headers: Headers) -> None:
        if len(headers.getlist("host")) != 1 or not host_allowed(headers["host"], self.settings):
            msg = "This server does not answer to that name; use http://127.0.0.1, or start it with --allow-host."
            raise Refusal(400, "host", msg)
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if not page_allowed(headers, self.settings, changes=changes):
            msg = "Pages of another origin may not use this server; start it with --allow-origin to let one."
            raise Refusal(403, "origin", msg)

    def _user(self, scope: Scope, headers: Headers) -> User | None:
        try:
            token = self._token(headers)
            if token is not None:
                self._note_use(token)
                return self.tokens.user(token.name)
            if self._is_open(scope, headers):
                return self.tokens.user(OWNER)
        except SnellenError as error:
            # Without the list of tokens nobody can be known: nobody gets in.
            msg = "The server cannot read its tokens; its owner can run `snellen tokens list` to see why."
            raise Refusal(503, "tokens", msg) from error
        if scope["path"] in _FOR_STRANGERS:
            return None
        raise _unknown(scope, headers)

    def _token(self, headers: Headers) -> Token | None:
        authorization = headers.get("authorization", "")
        if authorization:
            # A token outranks a cookie.
            return self.tokens.find(presented_token(authorization))
        return self.sessions.find(_cookie(headers), self.tokens)

    def _is_open(self, scope: Scope, headers: Headers) -> bool:
        """Tell whether no token is needed: none was ever made, and the request comes from this machine."""
        if self.tokens.required or not is_loopback(self.settings.host):
            return False
        # Somebody else's server may run the application, and listen elsewhere than the settings say. What comes from
        # this process itself, or by a file of this machine, has no address.
        client = _client(scope)
        if client and not is_loopback(client):
            return False
        return not any(name in headers for name in _BY_PROXY)

    def _note_use(self, token: Token) -> None:
        if not self.tokens.is_due(token) or self._notes:
            return
        note = asyncio.create_task(self._noted(token.name))
        self._notes.add(note)
        note.add_done_callback(self._notes.discard)

    async def _noted(self, name: str) -> None:
        try:
            await asyncio.to_thread(self.tokens.note_use, name)
        except SnellenError:
            import logging

            logging.getLogger(__name__).warning("the last use of a token cannot be saved")


def _refuse_often(buckets: TokenBuckets, key: str) -> None:
    wait = buckets.take(key)
    if wait:
        msg = f"Too many requests; try again in {wait:.1f} seconds."
        raise Refusal(429, "rate", msg, retry_after=wait)


def _unknown(scope: Scope, headers: Headers) -> Refusal:
    """Send a browser to the login page, and tell a program that it needs a token."""
    if scope["type"] == "http" and scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
        there = f"{scope.get('root_path', '')}{LOGIN}?next={quote(scope['path'], safe='/')}"
        return Refusal(303, "token", "Log in first.", headers={"location": there})
    msg = "A token is needed: send `Authorization: Bearer TOKEN`; the owner makes one with `snellen tokens add`."
    return Refusal(401, "token", msg, headers={"www-authenticate": 'Bearer realm="snellen"'})


def _client(scope: Scope) -> str:
    """Return the address of the client; empty where it has none."""
    host: str = (scope.get("client") or ("", 0))[0]
    return host


def _cookie(headers: Headers) -> str:
    from starlette.requests import cookie_parser

    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
