"""Errors of a chat endpoint, each as one sentence that says what to do."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.profiles.addresses import shown_address
from snellen.reasoning.llm.prompt_files import plain

MAX_DETAIL = 200
"""Characters of an endpoint's own words that a message repeats."""
_MAX_CAUSES = 8


@dataclass(frozen=True)
class Endpoint:
    """Endpoint that is asked, as its failures name it."""

    model: str
    base_url: str | None = None
    timeout: float = 60.0
    """Seconds."""
    tries: int = 1

    def __str__(self) -> str:
        """Name the model and its host, never a user name or password that the address may carry."""
        address = f" at {shown_address(self.base_url)}" if self.base_url else ""
        return f"the chat model {self.model!r}{address}"


def describe(error: Exception, endpoint: Endpoint) -> str:
    """Say in one sentence what failed and what to do."""
    kinds = _kinds(error)
    status = status_of(error)
    if _is_too_long(error):
        return f"The prompt is longer than {endpoint} can read: choose a model with a longer context under [reasoner]."
    if status is not None:
        return _describe_status(status, error, endpoint)
    if any("Timeout" in kind for kind in kinds):
        return (
            f"No answer came from {endpoint} within {endpoint.timeout:g} s ({_tries(endpoint)}): "
            "raise timeout under [reasoner] in the profile, or choose a faster model."
        )
    if kinds & {"APIConnectionError", "ConnectError", "ConnectionError", "NetworkError", "TransportError"}:
        return (
            f"Cannot reach {endpoint}: start that server, or correct base_url under [reasoner] in the profile "
            "or OPENAI_BASE_URL."
        )
    if kinds & {"LookupError", "TypeError", "ValueError", "AttributeError", "APIError"}:
        return (
            f"What came from {endpoint} is not a chat completion: point base_url under [reasoner] at an "
            "OpenAI-compatible endpoint, usually an address that ends in /v1."
        )
    return f"Asking {endpoint} failed ({detail(error)}): look into that endpoint's own messages."


def _describe_status(status: int, error: Exception, endpoint: Endpoint) -> str:
    if status in {401, 403}:
        return f"The key was refused by {endpoint} (HTTP {status}): set OPENAI_API_KEY to one that it accepts."
    if status == 404:  # noqa: PLR2004 - HTTP's own number
        return (
            f"Not found: {endpoint} (HTTP 404: {detail(error)}); correct model and base_url under [reasoner] in the "
            "profile, where the address usually ends in /v1."
        )
    if status == 429:  # noqa: PLR2004 - HTTP's own number
        return (
            f"Too many requests or no quota left at {endpoint} (HTTP 429, {_tries(endpoint)}): "
            "wait and try again, or look at that account's limits."
        )
    if status >= 500:  # noqa: PLR2004 - HTTP's own number
        return (
            f"The server failed behind {endpoint} (HTTP {status}, {_tries(endpoint)}: {detail(error)}): "
            "try again later, or choose another endpoint."
        )
    return f"The request was refused by {endpoint} (HTTP {status}: {detail(error)}): correct [reasoner] in the profile."


def status_of(error: Exception) -> int | None:
    """Return the HTTP status of failure that an error stands for, if any."""
    for source in (error, getattr(error, "response", None)):
        status = getattr(source, "status_code", None)
        if isinstance(status, int) and status >= 400:  # noqa: PLR2004 - a bad body comes with HTTP 200
            return status
    return None


def refuses_structure(error: Exception) -> bool:
    """Tell whether an endpoint refused the way of asking for structured output rather than the request itself."""
    if isinstance(error, NotImplementedError):
        return True
    if _is_too_long(error):
        return False
    status = status_of(error)
    if status in {400, 422, 501}:
        return True
    # llama.cpp without --jinja answers 500, routers answer 404, when a model has no tools.
    named = any(word in str(error).casefold() for word in ("tool", "response_format", "json_schema", "grammar"))
    return status in {404, 500} and named


def _is_too_long(error: Exception) -> bool:
    told = f"{getattr(error, 'code', '')} {error}".casefold()
    # OpenAI's, vLLM's and llama.cpp's words.
    named = ("context_length_exceeded", "context length", "context size", "context window")
    return any("ContextOverflow" in kind for kind in _kinds(error)) or any(words in told for words in named)


def detail(error: Exception) -> str:
    """Return an endpoint's own words, shortened, in one line and without control characters."""
    body = getattr(error, "body", None)
    told = body.get("message") if isinstance(body, dict) else None
    return quoted(told if isinstance(told, str) else str(error) or type(error).__name__)


def quoted(text: str, *, most: int = MAX_DETAIL) -> str:
    """Shorten a foreign text to what fits into a sentence: at most so many characters, without control characters."""
    words = " ".join(plain(text[: 4 * most]).split())
    return words if len(words) <= most else f"{words[:most]}…"


def _tries(endpoint: Endpoint) -> str:
    return "1 try" if endpoint.tries == 1 else f"{endpoint.tries} tries"


def _kinds(error: Exception) -> set[str]:
    # By name, so that every provider's client is understood without importing it.
    chain: list[BaseException] = [error]
    while chain[-1].__cause__ is not None and len(chain) < _MAX_CAUSES:
        chain.append(chain[-1].__cause__)
    return {kind.__name__ for each in chain for kind in type(each).__mro__}
