"""Requests of clients: parsed, validated, and refused in OpenAI's form where they are not supported."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from snellen.serving.limits import error_body

Json = dict[str, Any]

MAX_MESSAGES: Final = 2_000
"""Messages of a request; a conversation keeps far fewer."""

_TEXTS: Final = frozenset({"text", "input_text"})


class ApiError(Exception):
    """An error in the form that OpenAI's clients expect.

    Attributes:
        status: The HTTP status.
        message: One sentence for the user.
        code: A short name, for programs.
        param: The field of the request that it is about.
        retry_after: In how many seconds another try makes sense; 0: not by waiting.
    """

    def __init__(
        self, status: int, message: str, *, code: str | None = None, param: str | None = None, retry_after: int = 0
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.param, self.retry_after = status, message, code, param, retry_after

    def to_json(self) -> dict[str, dict[str, str | None]]:
        """Return the body of the answer."""
        kinds = {401: "authentication_error", 429: "rate_limit_error"}
        kind = kinds.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")  # noqa: PLR2004
        return error_body(self.message, kind, param=self.param, code=self.code)


class Message(BaseModel):
    """One message of a conversation, as the client has it."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Json] | None = None

    def blocks(self) -> list[Json]:
        """Return its content as blocks."""
        if isinstance(self.content, str):
            return [{"type": "text", "text": self.content}]
        return self.content or []

    def text(self) -> str:
        """Return its words."""
        return " ".join(str(one.get("text") or "") for one in self.blocks() if one.get("type") in _TEXTS).strip()

    def others(self) -> list[Json]:
        """Return what it carries beside words."""
        return [one for one in self.blocks() if one.get("type") not in _TEXTS]


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool = False


class ChatRequest(BaseModel):
    """A request for ``/v1/chat/completions``, as far as it is read.

    Other parameters (temperature, seed, stop, max_tokens, …) are tolerated and change nothing.
    """

    model_config = ConfigDict(extra="allow")

    model: str = Field(max_length=200)
    messages: list[Message] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: bool = False
    stream_options: StreamOptions | None = None
    store: bool | None = None
    """Whether the conversation's thread is kept: for good, or not at all. None keeps it for messages that follow."""


def read_request(body: Any) -> ChatRequest:  # noqa: ANN401 - whatever JSON came
    """Read a request.

    Raises:
        ApiError: Something is missing, of another type, or asks for what is not done here.
    """
    try:
        request = ChatRequest.model_validate(body)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        param = ".".join(map(str, wrong["loc"])) or None
        msg = f"{param or 'The body'} cannot be read: {wrong['msg'].lower()}."
        raise ApiError(400, msg, param=param) from error
    _refuse_unsupported(request.model_extra or {})
    if request.messages[-1].role != "user":
        msg = "The last message must be the user's."
        raise ApiError(400, msg, param="messages")
    return request


def _refuse_unsupported(parameters: Json) -> None:
    """Refuse parameters that change what a client gets; those that merely tune an answer are ignored."""
    form = parameters.get("response_format")
    requested = {
        "n": parameters.get("n") not in {None, 1},
        "tools": bool(parameters.get("tools")) and parameters.get("tool_choice") != "none",
        "functions": bool(parameters.get("functions")) and parameters.get("function_call") != "none",
        "response_format": isinstance(form, dict) and form.get("type") != "text",
        "logprobs": bool(parameters.get("logprobs")),
        "audio": bool(parameters.get("audio")),
    }
    reasons = {
        "n": "a request gets one answer; omit n, or set it to 1",
        "tools": "the agent calls its own tools only; omit tools",
        "functions": "the agent calls its own tools only; omit functions",
        "response_format": "answers are Markdown; omit response_format",
        "logprobs": "answers come from programs, which have no token probabilities; omit logprobs",
        "audio": "answers are text and pictures; omit audio",
    }
    for name, is_requested in requested.items():
        if is_requested:
            msg = f"{name} is not supported here: {reasons[name]}."
            raise ApiError(400, msg, code="unsupported_parameter", param=name)
