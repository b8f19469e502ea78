"""Routes: a request becomes a job on the conversation's thread, and its reply the answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic_core import from_json
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from snellen.errors import BadInput, SnellenError
from snellen.memory.thread_locks import BeingRun
from snellen.runtime.resources import open_pictures
from snellen.serving import retention
from snellen.serving.jobs import Busy, Job, Jobs
from snellen.serving.openai_api.completions import Completion, CompletionUsage, Showing, event_of, in_markdown, pieces
from snellen.serving.openai_api.histories import ConversationPlace, for_the_graph, place_of, remember
from snellen.serving.openai_api.requests import ApiError, ChatRequest, read_request
from snellen.serving.settings import ServerSettings
from snellen.serving.uploads import Uploads
from snellen.serving.users import OWNER
from snellen.threads.chat import stream_messages
from snellen.threads.events import Finished, NodeFinished, Started
from snellen.threads.progress import ProgressLine

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from starlette.requests import Request

    from snellen.serving.users import User

THREAD: Final = "X-Snellen-Thread"
"""Names the conversation's thread, in requests and answers."""
PICTURES: Final = "X-Snellen-Pictures"
"""How pictures of a reply are shown: ``data`` (in it, as a rule), ``link`` or ``none``."""
PROGRESS: Final = "X-Snellen-Progress"
"""``off`` keeps a stream to the reply alone."""

QUIET_SECONDS: Final = 10.0
"""After so long without news a stream gives a sign of life."""
_PATIENCE_SECONDS: Final = 2.0
"""How long a stream waits for its turn before it begins: until then an error has a status of its own."""
_AGAIN_SECONDS: Final = 5
_OFF: Final = {"off", "no", "0", "false"}

_LOG: Final = logging.getLogger(__name__)

Handler = Callable[["Request"], Awaitable[Response]]


def openai_routes(jobs: Jobs, profiles: Mapping[str, str], settings: ServerSettings | None = None) -> list[Route]:
    """Return the routes.

    - ``GET /v1/models``, ``GET /v1/models/{name}``: the profiles that are offered.
    - ``POST /v1/chat/completions``: say something in a conversation.

    They stand behind the guard (``snellen.serving``), which makes the user's home the home.

    Args:
        jobs: Work on the threads.
        profiles: Names or paths of profiles, by the names of the models that they are offered as.
        settings: How large and how many pictures may be.
    """
    api = _Api(jobs, profiles, settings or ServerSettings())
    return [
        Route("/v1/models", _with_errors(api.models)),
        Route("/v1/models/{model}", _with_errors(api.model)),
        Route("/v1/chat/completions", _with_errors(api.completions), methods=["POST"]),
        Route("/v1/{rest:path}", _with_errors(_not_found), methods=["GET", "POST", "DELETE"]),
    ]


def _with_errors(handler: Handler) -> Handler:
    """Return a handler whose errors have OpenAI's form."""

    @wraps(handler)
    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except (ApiError, SnellenError) as error:
            return _refused(_as_api_error(error, request.state.user))

    return handle


def _refused(error: ApiError) -> Response:
    headers = {"retry-after": str(error.retry_after)} if error.retry_after else {}
    return JSONResponse(error.to_json(), error.status, headers)


def _as_api_error(error: ApiError | SnellenError, user: User | None) -> ApiError:
    if isinstance(error, ApiError):
        return error
    if isinstance(error, Busy):
        return ApiError(429 if error.own else 503, str(error), code="jobs", retry_after=_AGAIN_SECONDS)
    if isinstance(error, BeingRun):
        return ApiError(409, str(error), code="busy")
    if isinstance(error, BadInput):
        return ApiError(400, str(error))
    _LOG.error("a conversation failed", exc_info=error)
    is_owner = user is not None and user.name == OWNER
    return ApiError(500, str(error) if is_owner else "This failed; the server's log has the reason.")


async def _not_found(request: Request) -> Response:
    msg = f"{request.method} {request.url.path[:80]} is not supported: use /v1/models and /v1/chat/completions."
    raise ApiError(404, msg, code="unknown_url")


@dataclass(frozen=True)
class _Api:
    jobs: Jobs
    profiles: Mapping[str, str]
    settings: ServerSettings

    async def models(self, _: Request) -> Response:
        return JSONResponse({"object": "list", "data": [_model(name) for name in self.profiles]})

    async def model(self, request: Request) -> Response:
        name = request.path_params["model"]
        self._profile(name)
        return JSONResponse(_model(name))

    async def completions(self, request: Request) -> Response:
        chat_request = read_request(await _body(request))
        profile = self._profile(chat_request.model)
        home = cast("User", request.state.user).home
        showing = _showing(request)
        uploads = Uploads(open_pictures(home), self.settings)
        messages = await for_the_graph(chat_request.messages, uploads)
        place = await place_of(request.headers.get(THREAD), chat_request.messages)
        running = self.jobs.find(home, place.thread)
        if running is not None and not running.is_over:
            msg = "This conversation is still being answered: wait, or stop it."
            raise ApiError(409, msg, code="busy")
        keeping = None if await self._keeps(place, chat_request) else self._seconds(chat_request)
        make = partial(_answering, chat_request, messages, place.thread, profile, keeping)
        exchange = _Exchange(request, chat_request, place, self.jobs, showing)
        exchange.begun = asyncio.create_task(self.jobs.begin(home, make))
        # Whether it fails is told to whoever still waits for it.
        exchange.begun.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await (exchange.streamed() if chat_request.stream else exchange.whole())

    async def _keeps(self, place: ConversationPlace, chat_request: ChatRequest) -> bool:
        """Tell whether the thread is kept for good: the client named it or asks for that, or it was kept before."""
        if place.kept or chat_request.store:
            await retention.keep(place.thread)
            return True
        return await retention.is_kept(place.thread)

    def _seconds(self, chat_request: ChatRequest) -> float:
        return 0.0 if chat_request.store is False else self.settings.transient_seconds

    def _profile(self, name: str) -> str:
        if name not in self.profiles:
            msg = f"There is no model {name[:80]!r} here: choose one of {', '.join(self.profiles)}."
            raise ApiError(404, msg, code="model_not_found", param="model")
        return self.profiles[name]


async def _answering(
    chat_request: ChatRequest, messages: list[BaseMessage], thread: str, profile: str, seconds: float | None
) -> AsyncGenerator[Any]:
    """Answer a conversation and remember it, even if the client has left.

    Args:
        chat_request: The request.
        messages: Its messages.
        thread: The conversation's.
        profile: Name or path of a profile.
        seconds: How long the thread is kept after that; None for good.
    """
    if seconds is not None:
        await retention.begin_transient(thread, seconds)
    try:
        async with aclosing(stream_messages(messages, thread=thread, profile=profile)) as events:
            async for event in events:
                yield event
        await remember(thread, chat_request.messages)
    finally:
        if seconds is not None:
            await retention.end_transient(thread, seconds)


@dataclass
class _Exchange:
    """One request, the job that it became, and its answer."""

    request: Request
    asked: ChatRequest
    place: ConversationPlace
    jobs: Jobs
    showing: Showing
    begun: asyncio.Task[Job] = field(init=False)
    usage: CompletionUsage = field(default_factory=CompletionUsage)

    def __post_init__(self) -> None:
        self.completion = Completion(self.asked.model)
        self.headers = {THREAD: self.place.thread, "cache-control": "no-store"}

    async def whole(self) -> Response:
        """Answer in one piece."""
        gone = asyncio.create_task(_gone(self.request))
        answering = asyncio.create_task(self._text())
        try:
            await asyncio.wait({gone, answering}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                # Nobody reads this.
                return Response(status_code=499)
            text = answering.result()
        finally:
            gone.cancel()
            answering.cancel()
            self._leave()
        return JSONResponse(self.completion.whole(text, self.usage), headers=self.headers)

    async def streamed(self) -> Response:
        """Answer piece by piece."""
        try:
            await asyncio.wait({self.begun}, timeout=_PATIENCE_SECONDS)
        except asyncio.CancelledError:
            self._leave()
            raise
        if self.begun.done():
            self.begun.result()
        headers = self.headers | {"x-accel-buffering": "no"}
        return StreamingResponse(self._chunks(), media_type="text/event-stream", headers=headers)

    async def _chunks(self) -> AsyncIterator[bytes]:
        counting = self.asked.stream_options is not None and self.asked.stream_options.include_usage
        chunk = partial(self.completion.chunk, usage=counting)
        try:
            yield chunk({"role": "assistant", "content": ""})
            async with aclosing(self._news()) as news:
                async for line in news:
                    yield chunk({"reasoning_content": f"{line}\n"}) if line else b": still at work\n\n"
            text = await self._text()
            for piece in pieces(text):
                yield chunk({"content": piece})
            yield chunk({}, finish="stop")
            if counting:
                yield self.completion.used(self.usage)
            yield b"data: [DONE]\n\n"
        except (ApiError, SnellenError) as error:
            yield event_of(_as_api_error(error, self.request.state.user).to_json())
        finally:
            self._leave()

    async def _news(self) -> AsyncGenerator[str]:
        """Yield what is being done until the job is over; an empty line as a sign of life."""
        quiet = self.request.headers.get(PROGRESS, "").strip().lower() in _OFF
        async with aclosing(_lively(self._lines())) as lines:
            async for line in lines:
                if not (line and quiet):
                    yield line

    async def _lines(self) -> AsyncGenerator[str]:
        job, progress = await asyncio.shield(self.begun), ProgressLine()
        async with aclosing(job.events()) as events:
            async for _, event in events:
                if progress.take(event):
                    yield progress.line

    async def _text(self) -> str:
        """Return the reply, once there is one.

        Raises:
            ApiError: There will be none.
            SnellenError: The run failed.
        """
        job = await asyncio.shield(self.begun)
        reply = None
        async with aclosing(job.events()) as events:
            async for _, event in events:
                self.usage.take(event)
                if isinstance(event, Started):
                    reply = None
                elif isinstance(event, Finished):
                    reply = event.state.messages[-1]
                elif isinstance(event, NodeFinished) and event.node == "reply":
                    # A question that words can answer: the conversation waits, and goes on with the next message.
                    reply = event.update["messages"][-1]
        if reply is None and job.status == "waiting":
            text = f"This waits for a decision: `snellen resume {job.thread}`. {job.asks}".rstrip()
        elif reply is None or job.status not in {"finished", "waiting"}:
            raise job.refused or ApiError(503, job.error or "Stopped.", code="stopped")
        else:
            store = open_pictures(job.home)
            text = await asyncio.to_thread(in_markdown, reply, store, self.showing, str(self.request.base_url))
        self.usage.end(self.asked.messages, text)
        return text

    def _leave(self) -> None:
        """Stop a job whose client has left; a thread that the client named goes on."""
        if not self.begun.done():
            if not self.place.kept:
                self.begun.cancel()
            return
        if self.begun.cancelled() or self.begun.exception() is not None:
            return
        job = self.begun.result()
        if not self.place.kept and not job.is_over and job.task is not None:
            job.task.cancel("The client left.")


async def _lively(lines: AsyncGenerator[str]) -> AsyncGenerator[str]:
    """Yield lines as they come, and an empty one whenever none has come for a while."""
    coming: asyncio.Task[str] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(lines))
            done, _ = await asyncio.wait({coming}, timeout=QUIET_SECONDS)
            if not done:
                yield ""
                continue
            line, coming = coming.result(), None
            yield line
    except StopAsyncIteration:
        return
    finally:
        if coming is not None and not coming.done():
            coming.cancel()


async def _gone(request: Request) -> None:
    """Return when the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _body(request: Request) -> Any:  # noqa: ANN401 - whatever JSON came
    content = await request.body()
    try:
        return await asyncio.to_thread(from_json, content)
    except ValueError as error:
        msg = "The body is not valid JSON."
        raise ApiError(400, msg) from error


def _showing(request: Request) -> Showing:
    mode = request.headers.get(PICTURES, "data").strip().lower()
    if mode not in {"data", "link", "none"}:
        msg = f"{PICTURES} must be data, link or none, not {mode[:40]!r}."
        raise ApiError(400, msg)
    return cast("Showing", mode)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "snellen"}
