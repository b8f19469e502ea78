"""Users of a server: a token for each, kept as a hash in the home of the server's owner.

The owner works in that home itself, as the command line does; every other user has a home of their own in it.
A token has 256 random bits, so that a plain SHA-256 of it cannot be turned round and needs no salt.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from snellen.errors import BadInput, SnellenError
from snellen.memory.home import owners_home, storing, write_atomically

OWNER: Final = "owner"
"""The name of the user who works in the home itself."""

PREFIX: Final = "snellen_"
"""What every token begins with, so that people and scanners know one when they see it."""

FILE: Final = "tokens.json"
USERS: Final = "users"
"""The folder of a home in which the other users have theirs."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_TOKEN = re.compile(PREFIX + r"[A-Za-z0-9_-]{43}")
_HASH = re.compile(r"[0-9a-f]{64}")
_RANDOM_BYTES: Final = 32
_NOTED_EVERY: Final = timedelta(hours=1)
"""How precisely it is known when a token was last used: each note is a file written."""
_LOCK_SECONDS: Final = 10.0


@dataclass(frozen=True)
class User:
    """A user of the server.

    Attributes:
        name: ``owner``, or the name that the token was made for.
        home: The home of this user's memory.
    """

    name: str
    home: Path


@dataclass(frozen=True)
class Token:
    """The record of a token: its user, its SHA-256 in hexadecimal, and when (UTC, ISO 8601; empty: never)."""

    name: str
    sha256: str
    created: str
    last_used: str = ""


def _now() -> datetime:
    return datetime.now(UTC)


class Tokens:
    """The tokens of one home; safe for threads and processes.

    Where none was ever made, ``required`` is False and a server on loopback is open to its owner. Once one was, the
    server stays closed even if the last is revoked: a proxy before it may lead to the whole world.

    Raises:
        SnellenError: From every method: the file is damaged or out of reach.
    """

    def __init__(self, home: Path, *, now: Callable[[], datetime] = _now) -> None:
        """Read the tokens of ``home`` from now on; another process's changes are noticed at the next question."""
        self.path = home / FILE
        self._home = home
        self._now = now
        self._seen: tuple[int, ...] | None = None
        self._held: dict[str, Token] = {}
        self._ever = False

    @property
    def required(self) -> bool:
        """True where a token was ever made here."""
        self._refresh()
        return self._ever

    def all(self) -> list[Token]:
        """Return what is kept of all tokens, by name."""
        self._refresh()
        return [self._held[name] for name in sorted(self._held)]

    def add(self, name: str) -> str:
        """Make a token for a user and return it; only its hash is kept.

        Raises:
            BadInput: the name is none, or has a token already.
        """
        token = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
        with self._changing() as held:
            if checked_name(name) in held:
                msg = f"{name} has a token already; revoke it first (`snellen tokens revoke {name}`)."
                raise BadInput(msg)
            held[name] = Token(name, _digest(token), self._moment())
        return token

    def revoke(self, name: str) -> None:
        """Let a token open nothing any more; the user's home stays.

        Raises:
            BadInput: the user has none.
        """
        with self._changing() as held:
            if held.pop(name, None) is None:
                msg = f"{name[:80]!r} has no token; `snellen tokens list` shows who has one."
                raise BadInput(msg)

    def find(self, token: str) -> Token | None:
        """Return the record of a token; None where there is none. A wrong token takes as long as a right one."""
        self._refresh()
        digest = _digest(token) if _TOKEN.fullmatch(token) else ""
        record = None
        for one in self._held.values():
            if hmac.compare_digest(one.sha256, digest):
                record = one
        return record

    def named(self, name: str) -> Token | None:
        """Return what is kept of a user's token."""
        self._refresh()
        return self._held.get(name)

    def is_due(self, token: Token) -> bool:
        """Tell whether it should be noted that a token is used: at most once an hour."""
        try:
            return self._now() - datetime.fromisoformat(token.last_used) >= _NOTED_EVERY
        except (ValueError, TypeError):
            return True

    def note_use(self, name: str) -> None:
        """Keep that a user's token is used now."""
        with self._changing() as held:
            if name in held:
                held[name] = replace(held[name], last_used=self._moment())

    def user(self, name: str) -> User:
        """Return a user with the home they work in.

        Raises:
            BadInput: the name is none.
        """
        return User(name, self._home if name == OWNER else self._home / USERS / checked_name(name))

    def _moment(self) -> str:
        return self._now().isoformat(timespec="seconds")

    def _refresh(self) -> None:
        """Read the file if it is another than at the last look.

        This runs on the event loop: the file is small, and worker threads may all be busy computing.
        """
        with storing(self.path):
            try:
                status = self.path.stat()
            except FileNotFoundError:
                self._seen, self._held = None, {}
                return
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if seen != self._seen:
                self._held = _read(self.path)
                self._seen = seen
            self._ever = True

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Token]]:
        """Yield the tokens as they are on the disk, and write them as the block leaves them."""
        from filelock import FileLock

        with storing(self.path):
            self._home.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock", timeout=_LOCK_SECONDS):
                held = _read(self.path) if self.path.exists() else {}
                yield held
                content = json.dumps({"tokens": [asdict(one) for one in held.values()]}, indent=1)
                # The draft is made with mode 0600, and keeps it when it takes the file's place.
                write_atomically(self.path, content.encode())
        self._refresh()


def checked_name(name: str) -> str:
    """Return a user's name as it is: it becomes the name of a folder.

    Raises:
        BadInput: it is none.
    """
    if not _NAME.fullmatch(name):
        msg = f"{name[:80]!r} is not a valid user name; use a letter, then up to 31 of a-z, 0-9, - and _."
        raise BadInput(msg)
    return name


def user_homes() -> dict[str, Path]:
    """Return the homes of all users that there are, by name, the owner's first."""
    owner = owners_home()
    users = owner / USERS
    folders = {OWNER: owner} | {one.name: one for one in (sorted(users.iterdir()) if users.is_dir() else ())}
    return {name: folder for name, folder in folders.items() if folder.is_dir()}


def is_loopback(host: str) -> bool:
    """Tell whether only programs of this machine reach an address; names other than ``localhost`` are none."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_listening(host: str, tokens: Tokens) -> None:
    """Refuse to listen where others could reach a server that asks for no token.

    Raises:
        BadInput: the address is not this machine's alone and nobody has a token.
        SnellenError: the file of tokens is damaged or out of reach.
    """
    if is_loopback(host) or tokens.all():
        return
    msg = (
        f"Anyone who reaches {host[:80]} could use this server: make a token first (`snellen tokens add {OWNER}`), "
        "or listen on 127.0.0.1."
    )
    raise BadInput(msg)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _read(path: Path) -> dict[str, Token]:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        msg = f"Others can read or change the tokens in {path}; run `chmod 600` on it, or delete it and make new ones."
        raise SnellenError(msg)
    try:
        tokens = [_parsed(one) for one in json.loads(path.read_bytes())["tokens"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        msg = f"The tokens in {path} are damaged; delete the file and make new ones with `snellen tokens add`."
        raise SnellenError(msg) from error
    return {one.name: one for one in tokens}


def _parsed(row: dict[str, Any]) -> Token:
    token = Token(**row)
    if not (_NAME.fullmatch(token.name) and _HASH.fullmatch(token.sha256)):
        msg = "a name or a hash is none"
        raise ValueError(msg)
    return token
