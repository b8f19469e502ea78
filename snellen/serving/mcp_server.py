"""An MCP server: Snellen as tools and resources for other agents, over HTTP or standard input and output.

Over HTTP it stands behind the guard, and each call works in its user's home. Pictures come as data, as base64 or as the
id of a stored one; their paths are read on standard input alone, in folders that the user named.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent, ToolAnnotations
from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from snellen.errors import BadInput, SnellenError
from snellen.graphs.messages import known_picture
from snellen.memory.artifacts import ArtifactStore, is_picture_id
from snellen.memory.home import home, using_home
from snellen.reports import investigation_text
from snellen.runtime.resources import open_pictures, resources
from snellen.serving import retention
from snellen.serving.agent_tools import (
    Concept,
    Expected,
    Instruction,
    Investigation,
    LearningResult,
    MemoryQuery,
    ModelNames,
    ModelQuery,
    PictureBudget,
    Remembered,
    TaskAnswer,
    ToolNames,
    answer_of,
    argument_error,
    inside,
    investigation_of,
    learning_result,
    request_of,
    searched,
)
from snellen.serving.artifact_routes import found_of
from snellen.serving.jobs import Events, Job, Jobs
from snellen.serving.picture_previews import shown_picture
from snellen.serving.settings import ServerSettings
from snellen.serving.uploads import Uploads
from snellen.serving.users import OWNER, User
from snellen.threads import ask as sessions
from snellen.threads import directory
from snellen.threads import investigate as investigations
from snellen.threads import learn as learning
from snellen.threads.meaning_choices import how_to_choose, is_choice
from snellen.threads.progress import ProgressLine
from snellen.values import Picture
from snellen.version import installed_version

PATH: Final = "/mcp"

_LOG: Final = logging.getLogger(__name__)
_INSTRUCTIONS: Final = (
    "Snellen answers questions about pictures with programs of vision models, finds out by experiments what "
    "vision-language models can see, and learns concepts that its tools do not know."
)

Pictures = Annotated[
    list[str],
    Field(description="Each a data: address, base64, or the 64-digit id of a stored picture.", min_length=1),
]
Profile = Annotated[str, Field(description="The profile, which names the checkpoints. Empty: the first.")]
Keep = Annotated[bool, Field(description="Keep the thread; otherwise it and its pictures are deleted after a while.")]
Call = Context[Any, Any]


Method = Callable[..., Coroutine[Any, Any, CallToolResult]]


def _for_user(tool: Method) -> Method:
    """Have a tool work in its user's home, and return its errors as one sentence."""

    @wraps(tool)
    async def call(self: _Tools, context: Call, **arguments: Any) -> CallToolResult:  # noqa: ANN401 - the tool's
        user = self.user(context)
        with using_home(user.home):
            try:
                return await tool(self, context=context, **arguments)
            except SnellenError as error:
                if not isinstance(error, BadInput):
                    _LOG.error("a tool failed", exc_info=error)
                is_shown = isinstance(error, BadInput) or user.name == OWNER
                text = str(error) if is_shown else "This failed; the server's log has the reason."
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)

    return call


@dataclass(frozen=True)
class _Tools:
    """The tools and resources.

    Attributes:
        jobs: Work on the threads.
        profiles: Names or paths of profiles, by the names that clients may give.
        settings: How large and how many pictures may be.
        roots: Folders whose pictures may be named by their paths.
    """

    jobs: Jobs
    profiles: Mapping[str, str]
    settings: ServerSettings = field(default_factory=ServerSettings)
    roots: Sequence[Path] = ()

    @_for_user
    async def ask(
        self,
        instruction: Instruction,
        pictures: Pictures,
        context: Call,
        expected: Expected = "",
        profile: Profile = "",
        keep: Keep = False,  # noqa: FBT002 - called by name
    ) -> Annotated[CallToolResult, TaskAnswer]:
        """Answer a question about pictures, or edit them, by a program of vision models; its steps are returned."""
        shown, notices = await self._stored(pictures)
        job = await self._followed(
            context,
            lambda: sessions.stream_ask(
                shown,
                instruction,
                notices=notices,
                expected=expected or None,
                profile=self._profile(profile),
                gather=resources,
            ),
            keep=keep,
        )
        store = open_pictures(home())
        answer = await asyncio.to_thread(answer_of, job.thread, job.state, store)
        images = [await asyncio.to_thread(_image, store, one) for one in answer.pictures]
        return _result(answer, "\n".join([answer.answer, *answer.revisions, *answer.notices]), images)

    @_for_user
    async def investigate(
        self,
        query: ModelQuery,
        context: Call,
        models: ModelNames = [],  # noqa: B006 - never changed; pydantic shows it as the default
        images: PictureBudget = 0,
        background: Annotated[bool, Field(description="Return at once; ask `report` for the status.")] = False,  # noqa: FBT002 - called by name
        profile: Profile = "",
    ) -> Annotated[CallToolResult, Investigation]:
        """Find out by experiments what vision-language models can see, until the evidence suffices. Takes minutes."""
        request = request_of(query, models, images, self._profile(profile))
        make = lambda: investigations.stream_investigate(request)  # noqa: E731 - what the job begins
        if background:
            job = await self.jobs.begin(home(), make)
            text = f"The investigation {job.thread} has begun; ask `report` for its status."
            return _result(await self._investigation(job.thread), text)
        job = await self._followed(context, make, keep=True)
        investigation = await self._investigation(job.thread)
        return _result(investigation, investigation.conclusion)

    @_for_user
    async def report(
        self,
        thread: Annotated[str, Field(description="The investigation's thread.", max_length=64)],
        context: Call,  # noqa: ARG002 - whose it is
    ) -> Annotated[CallToolResult, Investigation]:
        """Return the status and the results of an investigation, as Markdown."""
        investigation = await self._investigation(thread)
        is_whole = investigation.report and investigation.status == "finished"
        text = investigation_text.markdown(await found_of(thread)) if is_whole else investigation.conclusion
        return _result(investigation, text)

    @_for_user
    async def learn(
        self,
        concept: Concept,
        context: Call,
        tools: ToolNames = [],  # noqa: B006 - never changed; pydantic shows it as the default
        profile: Profile = "",
        keep: Keep = False,  # noqa: FBT002 - called by name
    ) -> Annotated[CallToolResult, LearningResult]:
        """Teach tools a concept from pictures; prompts that do not prove themselves are discarded. Takes a minute."""
        job = await self._followed(
            context, lambda: learning.stream_learn(concept, tools=tools, profile=self._profile(profile)), keep=keep
        )
        result = learning_result(job.thread, job.state)
        return _result(result, "\n".join(result.learned))

    @_for_user
    async def memory_search(
        self,
        query: MemoryQuery,
        context: Call,  # noqa: ARG002 - whose memory it is
        profile: Profile = "",
    ) -> Annotated[CallToolResult, Remembered]:
        """Search the memory for a concept, and for the examples nearest to an instruction."""
        remembered = await asyncio.to_thread(searched, query, self._profile(profile), home())
        return _result(remembered, remembered.in_words())

    async def picture(self, id: str, context: Call) -> bytes:  # noqa: A002 - the template's name
        """A stored picture."""
        try:
            return await asyncio.to_thread(open_pictures(self.user(context).home).read, id)
        except SnellenError as error:
            msg = "There is no such picture."
            raise ResourceNotFoundError(msg) from error

    async def report_page(self, id: str, context: Call) -> str:  # noqa: A002 - the template's name
        """The report of an investigation, in Markdown."""
        with using_home(self.user(context).home):
            try:
                return investigation_text.markdown(await found_of(id))
            except SnellenError as error:
                msg = "There is no such report."
                raise ResourceNotFoundError(msg) from error

    def user(self, context: Call) -> User:
        """Return the user of a call: the one that the guard let in, or, without a guard, the owner."""
        request: Any = context.request_context.request
        user = getattr(getattr(request, "state", None), "user", None)
        if isinstance(user, User):
            return user
        if request is not None:
            msg = "a request came past the guard"
            raise RuntimeError(msg)
        return User(OWNER, home())

    def _profile(self, name: str) -> str:
        if not name:
            return next(iter(self.profiles.values()))
        if name not in self.profiles:
            msg = f"There is no profile {name[:80]!r} here: choose one of {', '.join(self.profiles)}."
            raise BadInput(msg)
        return self.profiles[name]

    async def _stored(self, pictures: Sequence[str]) -> tuple[list[Picture | Path | str], list[str]]:
        """Return the pictures of a call, stored where they were sent, and notices about them."""
        store = open_pictures(home())
        uploads = Uploads(store, self.settings)
        stored: list[Picture | Path | str] = [await self._one(text, store, uploads) for text in pictures]
        return stored, [sentence for each in uploads.notices.values() for sentence in each]

    async def _one(self, text: str, store: ArtifactStore, uploads: Uploads) -> Picture | Path:
        if is_picture_id(text):
            return await asyncio.to_thread(known_picture, text, store)
        file = inside(text, self.roots) if self.roots else None
        return file or await uploads.add_reference(text)

    async def _followed(self, context: Call, make: Callable[[], Events], *, keep: bool) -> Job:
        """Run a job, report its progress, and return it once it is over; a call that is cancelled ends it.

        Args:
            context: The call.
            make: Begins the thread.
            keep: Whether the thread is kept; else it is deleted after a while.

        Raises:
            SnellenError: It failed, or was stopped.
        """
        seconds = self.settings.transient_seconds
        job = await self.jobs.begin(home(), make)
        if not keep:
            await retention.begin_transient(job.thread, seconds)
        try:
            count, progress = 0, ProgressLine()
            async with aclosing(job.events()) as events:
                async for _, event in events:
                    if progress.take(event):
                        count += 1
                        await context.report_progress(count, message=progress.line)
        finally:
            if not job.is_over and job.task is not None:
                job.task.cancel("The client left.")
            if not keep and job.is_over:
                await retention.end_transient(job.thread, seconds)
        if job.status == "finished":
            return job
        if job.request is not None and is_choice(job.request):
            raise BadInput(how_to_choose(job.thread, job.request))
        decide = f"This waits for a decision: `snellen resume {job.thread} --approve` or --reject. {job.asks}".rstrip()
        raise job.refused or SnellenError(job.error or decide)

    async def _investigation(self, thread: str) -> Investigation:
        # The status is read before the results: those of an investigation that is said to be finished are all there.
        job = self.jobs.find(home(), thread)
        summary = await directory.read_summary(thread)
        # The first word: finished, failed, running, waiting, stopped or damaged.
        status = job.status if job is not None else summary.status.split()[0]
        graph, state = await directory.read_thread(thread)
        result = await found_of(thread) if graph != "investigate" or state.report else None
        if result is None:
            text = " ".join(filter(None, ("There are no results yet.", job.error if job else summary.reason)))
            return Investigation(
                thread=thread, status=status, query=str(getattr(state, "query", "")), answers=[],
                models={}, conclusion=text, findings=[], pictures=0, trials=0, report="",
            )  # fmt: skip
        return investigation_of(thread, status, result)


class _Server(MCPServer[Any]):
    """The library's server, with errors of arguments in one sentence."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:  # noqa: ANN401 - inherited
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            raise ToolError(argument_error(error.__cause__, name)) from error


def mcp_server(
    jobs: Jobs, profiles: Mapping[str, str], settings: ServerSettings | None = None, *, roots: Sequence[Path] = ()
) -> MCPServer[Any]:
    """Return the server.

    Args:
        jobs: Work on the threads.
        profiles: Names or paths of profiles, by the names that clients may give; the first is the usual one.
        settings: How large and how many pictures may be.
        roots: Folders whose pictures clients may name by their paths: for clients of this machine alone.
    """
    tools = _Tools(jobs, profiles, settings or ServerSettings(), roots)
    server = _Server(
        "snellen", title="Snellen", version=installed_version(), instructions=_INSTRUCTIONS, log_level="WARNING"
    )
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    adds = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
    for tool, title, hints in (
        (tools.ask, "Ask about pictures", adds),
        (tools.investigate, "Investigate models", adds),
        (tools.report, "Report of an investigation", reads),
        (tools.learn, "Learn a concept", adds),
        (tools.memory_search, "Search the memory", reads),
    ):
        server.add_tool(tool, title=title, annotations=hints)
    server.resource("snellen://pictures/{id}", title="A stored picture", mime_type="image/png")(tools.picture)
    server.resource("snellen://reports/{id}", title="A report", mime_type="text/markdown")(tools.report_page)
    return server


def mcp_mount(jobs: Jobs, profiles: Mapping[str, str], settings: ServerSettings) -> tuple[Route, Mount]:
    """Return a route and a mount that serve MCP over streamable HTTP at ``/mcp``, behind the guard.

    Requests stand for themselves: there are no sessions that one user could take over from another.
    """
    app = mcp_server(jobs, profiles, settings).streamable_http_app(
        streamable_http_path="/",
        stateless_http=True,
        max_request_body_size=settings.body_bytes,
        # The guard looks at Host and Origin.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Route(PATH, _Exactly(app)), Mount(PATH, app)


@dataclass(frozen=True)
class _Exactly:
    """Serves ``/mcp`` as ``/mcp/``: clients would be sent there first."""

    app: Starlette

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root = scope.get("root_path", "")
        there = {**scope, "root_path": f"{root}{PATH}", "path": f"{root}{PATH}/"}
        await self.app(there, receive, send)


def _image(store: ArtifactStore, picture: str) -> ImageContent:
    content, kind = shown_picture(store.read(picture))
    return ImageContent(type="image", data=base64.b64encode(content).decode(), mime_type=kind)


def _result(record: BaseModel, text: str, images: Sequence[ImageContent] = ()) -> CallToolResult:
    content: list[ContentBlock] = [TextContent(type="text", text=text), *images]
    return CallToolResult(content=content, structured_content=record.model_dump(mode="json"))
