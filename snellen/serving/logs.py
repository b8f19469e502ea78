"""Logs for machines: one JSON object a line, without secrets and without what users say or show.

Texts of exceptions may quote a user, so only the kind and the places in the code are logged; with ``SNELLEN_DEBUG``
the text as well. Everything that looks like a secret is struck out, whoever logged it.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import PurePath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping

STRUCK: Final = "[removed]"
FIELDS: Final = "snellen_fields"
"""The attribute of a record that holds fields of its own: ``logger.info("…", extra={FIELDS: {…}})``."""

_LONGEST: Final = 2000
_FRAMES: Final = 8
_QUIET: Final = ("uvicorn", "httpx", "httpcore", "asyncio")
"""Libraries whose news are none for us; their warnings are."""

_REQUEST: ContextVar[dict[str, str] | None] = ContextVar("request", default=None)
"""What every record says that is logged while a request is served: its id and user."""

_NAMED = r"(?:api[_-]?key|access[_-]?key|authorization|cookie|password|passwd|secret|token|credential)s?"
_SECRET_FIELD = re.compile(rf"[\w-]{{0,40}}{_NAMED}", re.IGNORECASE)
_SECRETS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"(Bearer|Basic)\s+[^\s\"',;]+", re.IGNORECASE), rf"\1 {STRUCK}"),
    (re.compile(r"(?<=://)[^\s/@\"']{1,512}@"), f"{STRUCK}@"),
    (re.compile(r"data:[\w.+/;=-]{0,120},[^\s\"')]+", re.IGNORECASE), STRUCK),
    (re.compile(r"(?:snellen|sk|pk|rk|hf|gh[a-z]|github_pat|lsv2|xox[a-z]|glpat)[_-][A-Za-z0-9_-]{8,}"), STRUCK),
    (re.compile(r"\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*"), STRUCK),
    (
        re.compile(rf"([\w-]{{0,40}}{_NAMED}[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s\"',;&]+)", re.IGNORECASE),
        rf"\1{STRUCK}",
    ),
    (re.compile(r"[A-Za-z0-9+/_-]{120,}={0,2}"), STRUCK),  # a picture, or a key of an unknown kind
)


def redact(text: str) -> str:
    """Strike out whatever looks like a token, key, password or picture."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def during_request(request: str, user: str = "") -> Callable[[], None]:
    """Have every record logged from now on name a request and its user; returns what ends that."""
    fields = {"request": request} | ({"user": user} if user else {})
    token = _REQUEST.set(fields)
    return lambda: _REQUEST.reset(token)


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON: time (UTC), level, logger, message, and what else it says."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; it holds no line break and no secret."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            **(_REQUEST.get() or {}),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            entry |= _trouble(record.exc_info)
        return json.dumps(_clean(entry), ensure_ascii=True, default=str)


def configure_logging(*, level: int = logging.INFO, stream: TextIO | None = None) -> None:
    """Send all logs of this process to ``stream`` (standard error) as lines of JSON, in place of other handlers."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    for other in list(root.handlers):
        root.removeHandler(other)
    root.addHandler(handler)
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        # Its own arguments do not fit; that is no reason to lose the record.
        return str(record.msg)


def _trouble(
    info: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
) -> dict[str, Any]:
    kind, error, trace = info
    if kind is None:
        return {}
    frames = traceback.extract_tb(trace)[-_FRAMES:]
    # Paths of this machine are nobody's business: the last two parts say which file it is.
    where = [f"{'/'.join(PurePath(one.filename).parts[-2:])}:{one.lineno} {one.name}" for one in frames]
    details: dict[str, Any] = {"error": kind.__name__, "where": where}
    if os.environ.get("SNELLEN_DEBUG", "").strip().lower() not in {"", "0", "no", "false"}:
        details["detail"] = str(error)
    return details


def _clean(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: STRUCK if _SECRET_FIELD.fullmatch(name) else _cleaned(value) for name, value in entry.items()}


def _cleaned(value: Any) -> Any:  # noqa: ANN401 - whatever a record says
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_cleaned(one) for one in value[:_FRAMES]]
    # Cut first: how long it takes to look for secrets must not depend on who wrote the text.
    text = str(value)[:_LONGEST]
    return redact(text)
