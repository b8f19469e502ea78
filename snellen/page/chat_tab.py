"""The tab of conversations: what is said, and beside it what Snellen does to answer it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from snellen.errors import BadInput
from snellen.graphs.messages import MAX_PICTURES, MAX_TEXT, pictures_in, text_of
from snellen.page.approval_panel import Asking
from snellen.page.html import address, draw_story, written
from snellen.page.page_context import Desk, Json, ThreadStanding, Updates, telling
from snellen.page.story import Story
from snellen.runtime.resources import open_pictures
from snellen.serving.uploads import Uploads
from snellen.threads.chat import stream_chat

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from snellen.values import Picture

_HERE: Final = Path(__file__).resolve().parent
_WELCOME: Final = (
    "### What shall I look at?\n\nDrop a picture below and ask about it, have it changed, or ask what models can see. "
    "Then: “why?”, “no, it’s the left one”, “learn what a penguin is”, “forget it”."
)

_FORGET_ADDRESS: Final = '() => { window.history.replaceState({}, "", window.location.pathname); return []; }'


@dataclass(frozen=True)
class StarterExample:
    """Something to begin with."""

    text: str
    picture: str = ""
    """A file in ``examples``."""


EXAMPLES: Final = (
    StarterExample("What color is the house left of the dog?", "scene.png"),
    StarterExample("Blur everything but the dog", "scene.png"),
    StarterExample("Is there a wave?", "beach.png"),
    StarterExample("Are the models robust to rotation?"),
)


def picture_of(example: StarterExample) -> Path | None:
    """Return the picture's file of an example."""
    return _HERE / "examples" / example.picture if example.picture else None


@dataclass(frozen=True)
class ChatTab:
    """The components of a conversation, and how they change."""

    desk: Desk
    thread: gr.Textbox
    log: gr.Chatbot
    box: gr.MultimodalTextbox
    examples: gr.Row
    stop: gr.Button
    resume: gr.Button
    fresh: gr.Button
    approve: gr.Checkbox
    story: gr.HTML
    trouble: gr.HTML
    report: gr.HTML
    asking: Asking

    @classmethod
    def made(cls, desk: Desk) -> ChatTab:
        """Make the tab."""
        thread = gr.Textbox(visible=False, elem_id="chat-thread")
        with gr.Row(elem_classes="sn-two"):
            with gr.Column(scale=3, min_width=320):
                log = gr.Chatbot(
                    label="Conversation", show_label=False, height=None, min_height=260, max_height=None,
                    placeholder=_WELCOME, latex_delimiters=[], allow_tags=False, feedback_options=None,
                    buttons=[], elem_id="chat-log", layout="bubble",
                )  # fmt: skip
                trouble = gr.HTML(elem_id="chat-trouble")
                asking = Asking.made("chat")
                with gr.Row(elem_classes="sn-examples") as examples:
                    buttons = [
                        gr.Button(
                            one.text, size="sm", elem_classes=f"sn-example sn-{Path(one.picture or 'words').stem}"
                        )
                        for one in EXAMPLES
                    ]
                box = gr.MultimodalTextbox(
                    label="Your message", show_label=False, placeholder="Ask, or drop pictures here…",
                    interactive=False, file_count="multiple", file_types=["image"], sources=["upload"],
                    max_plain_text_length=MAX_TEXT, elem_id="chat-box",
                )  # fmt: skip
                with gr.Row(elem_classes="sn-buttons"):
                    stop = gr.Button("Stop", size="sm", variant="stop", visible=False, elem_id="chat-stop")
                    resume = gr.Button("Go on", size="sm", variant="primary", visible=False, elem_id="chat-resume")
                    fresh = gr.Button("New conversation", size="sm", elem_id="chat-new")
                    approve = gr.Checkbox(label="Ask me before learning", container=False, elem_id="chat-approve")
            with gr.Column(scale=2, min_width=300, elem_classes="sn-side"):
                gr.HTML("<h2 class='sn-title'>How I came to it</h2>")
                story = gr.HTML(elem_id="chat-story")
                report = gr.HTML()
        tab = cls(desk, thread, log, box, examples, stop, resume, fresh, approve, story, trouble, report, asking)
        tab._wire(buttons)
        return tab

    @property
    def outputs(self) -> list[Any]:
        """What ``updates`` changes."""
        shown = [self.thread, self.log, self.box, self.examples, self.stop, self.resume, self.story]
        return [*shown, self.trouble, self.report, *self.asking.outputs]

    @property
    def follow(self) -> dict[str, Any]:
        """What follows the conversation, for Gradio's events."""
        return {
            "fn": self._follow, "inputs": [self.thread], "outputs": self.outputs, "show_progress": "hidden",
            "api_visibility": "private", "concurrency_limit": None,
        }  # fmt: skip

    async def _follow(self, thread: str, request: gr.Request) -> AsyncGenerator[Updates]:
        home = self.desk.home(request)
        async for standing in self.desk.followed(thread, request, "chat"):
            yield await self.updates(standing, home)

    async def updates(self, standing: ThreadStanding, home: Path) -> Updates:
        """Show how a conversation stands."""
        import asyncio

        known = standing.graph == "chat"
        messages = (
            conversation(standing.state.messages, standing.story if standing.is_running else None) if known else []
        )
        lost = standing.trouble if standing.thread and not known else ""
        return {
            self.thread: standing.thread if known else "",
            self.log: messages,
            self.box: gr.update(interactive=not standing.is_running, submit_btn=not standing.is_running),
            self.examples: gr.update(visible=not messages),
            self.stop: gr.update(visible=standing.is_running),
            self.resume: gr.update(visible=known and standing.can_resume),
            self.story: await asyncio.to_thread(draw_story, standing.story, home),
            self.trouble: _trouble(standing.trouble or lost),
            self.report: _report(standing) if known else "",
        } | self.asking.updates(standing)

    def _wire(self, examples: Sequence[gr.Button]) -> None:
        private: Json = {"api_visibility": "private", "concurrency_limit": None}
        said = self.box.submit(
            self._say, [self.box, self.thread, self.approve], [self.thread, self.box], show_progress="hidden", **private
        )
        said.success(**self.follow)
        for button, example in zip(examples, EXAMPLES, strict=True):
            chosen = button.click(self._example(example), [self.approve], [self.thread, self.box], **private)
            chosen.success(**self.follow)
        self.stop.click(self._stop, [self.thread], [], **private)
        self.resume.click(self._resume, [self.thread], [], **private).success(**self.follow)
        begun = self.fresh.click(lambda: "", [], [self.thread], js=_FORGET_ADDRESS, **private)
        begun.success(**self.follow)
        self.asking.wire(self.desk, self.thread, self.follow)

    async def _say(self, said: Json, thread: str, approve: bool, request: gr.Request) -> Updates:  # noqa: FBT001 - Gradio calls it so
        home = self.desk.home(request)
        text = str(said.get("text") or "").strip()
        files = [Path(one) for one in said.get("files") or []]
        with telling():
            uploads = _uploads(self.desk, home)
            pictures = await self._stored(files, uploads)
            if not text and not pictures:
                msg = "Write something, or add a picture."
                raise BadInput(msg)
        return await self._begun(request, text, pictures, thread, approve=approve, notices=uploads.notices)

    def _example(self, example: StarterExample) -> Any:  # noqa: ANN401 - a handler
        async def say(approve: bool, request: gr.Request) -> Updates:  # noqa: FBT001 - Gradio calls it so
            home = self.desk.home(request)
            file = picture_of(example)
            with telling():
                pictures = [] if file is None else [await _uploads(self.desk, home).add_file(file.read_bytes())]
            return await self._begun(request, example.text, pictures, "", approve=approve)

        return say

    async def _begun(
        self,
        request: gr.Request,
        text: str,
        pictures: Sequence[Picture],
        thread: str,
        *,
        approve: bool,
        notices: Mapping[str, Sequence[str]] | None = None,
    ) -> Updates:
        home = self.desk.home(request)
        known = thread if thread and (await self.desk.standing(home, thread)).graph == "chat" else None
        job = await self.desk.begin(
            home,
            lambda: stream_chat(
                text, pictures, notices=notices, thread=known, profile=self.desk.profile, approve=approve
            ),
        )
        self.desk.turns.begin(request, "chat")
        return {self.thread: job.thread, self.box: gr.update(value={"text": "", "files": []}, interactive=False)}

    async def _stored(self, files: Sequence[Path], uploads: Uploads) -> list[Picture]:
        """Store what was uploaded; Gradio's copies go.

        Raises:
            BadInput: There are too many, or one is no picture.
        """
        import asyncio

        if len(files) > MAX_PICTURES:
            msg = f"There are {len(files)} pictures; at most {MAX_PICTURES} are looked at together."
            raise BadInput(msg)
        stored = [await uploads.add_file(await asyncio.to_thread(file.read_bytes)) for file in files]
        for file in files:
            await asyncio.to_thread(file.unlink, missing_ok=True)
        return stored

    async def _stop(self, thread: str, request: gr.Request) -> None:
        await self.desk.stop(self.desk.home(request), thread)

    async def _resume(self, thread: str, request: gr.Request) -> None:
        await self.desk.resume(self.desk.home(request), thread)


def _uploads(desk: Desk, home: Path) -> Uploads:
    return Uploads(open_pictures(home), desk.settings)


def conversation(messages: Sequence[BaseMessage], doing: Story | None = None) -> list[Json]:
    """Return messages as Gradio shows them.

    Args:
        messages: Of the thread.
        doing: What is being done to answer the last one; None when nothing is.
    """
    shown: list[Json] = [
        {"role": "user" if one.type == "human" else "assistant", "content": _content(one)}
        for one in messages
        if one.type in {"human", "ai"}
    ]
    if doing is not None:
        title = safe_markdown(doing.doing or "beginning")
        shown.append({"role": "assistant", "content": "", "metadata": {"title": title, "status": "pending"}})
    return shown


def _content(message: BaseMessage) -> str:
    pictures = [address(one) for one in pictures_in(message)]
    return "\n\n".join([safe_markdown(text_of(message)), *(f"![picture]({one})" for one in pictures if one)])


def safe_markdown(text: str) -> str:
    """Return Markdown that holds no HTML and loads nothing: only its words, lists and emphasis are left."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    # Links and pictures both need a bracket before their address, and definitions of addresses a colon after one.
    return re.sub(r"\](?=\s*[(\[:])", r"\\]", escaped.replace("![", r"!\["))


def _trouble(said: str) -> str:
    return written("trouble", said=said) if said else ""


def _report(standing: ThreadStanding) -> str:
    return (
        written("report", thread=standing.thread, shown=False)
        if standing.story.report and not standing.is_running
        else ""
    )
