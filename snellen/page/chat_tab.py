"""The tab of conversations: the messages, and beside them the trace of how they are answered."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from snellen.errors import BadInput
from snellen.graphs.messages import MAX_PICTURES, MAX_TEXT, pictures_in, text_of
from snellen.page.approval_panel import ApprovalPanel
from snellen.page.context import PRIVATE, Json, PageContext, ThreadView, Updates, errors_as_notices
from snellen.page.html import address, trace_html
from snellen.page.thread_tab import ThreadTab, note
from snellen.page.trace import ThreadTrace
from snellen.runtime.resources import open_pictures
from snellen.serving.uploads import Uploads
from snellen.threads.chat import stream_chat

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from snellen.values import Picture

_HERE: Final = Path(__file__).resolve().parent
_WELCOME: Final = (
    "### What shall I look at?\n\nDrop a picture below and ask about it, edit it, or ask what models can see. "
    "Then try “why?”, “no, it’s the left one”, “learn what a penguin is”, “forget it”."
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


class ChatTab(ThreadTab):
    """The components of a conversation."""

    graphs = frozenset({"chat"})

    def __init__(self, context: PageContext) -> None:
        super().__init__(context, "chat")
        with gr.Row(elem_classes="sn-two"):
            with gr.Column(scale=3, min_width=320):
                self.log = gr.Chatbot(
                    label="Conversation", show_label=False, height=None, min_height=260, max_height=None,
                    placeholder=_WELCOME, latex_delimiters=[], allow_tags=False, feedback_options=None,
                    buttons=[], elem_id="chat-log", layout="bubble",
                )  # fmt: skip
                self.trouble = gr.HTML(elem_id="chat-trouble")
                self.approval = ApprovalPanel("chat")
                with gr.Row(elem_classes="sn-examples") as self.examples:
                    buttons = [
                        gr.Button(
                            one.text, size="sm", elem_classes=f"sn-example sn-{Path(one.picture or 'words').stem}"
                        )
                        for one in EXAMPLES
                    ]
                self.box = gr.MultimodalTextbox(
                    label="Your message", show_label=False, placeholder="Ask, or drop pictures here…",
                    interactive=False, file_count="multiple", file_types=["image"], sources=["upload"],
                    max_plain_text_length=MAX_TEXT, elem_id="chat-box",
                )  # fmt: skip
                with gr.Row(elem_classes="sn-buttons"):
                    self.stop_and_resume()
                    fresh = gr.Button("New conversation", size="sm", elem_id="chat-new")
                    self.approve = gr.Checkbox(label="Ask me before learning", container=False, elem_id="chat-approve")
            with gr.Column(scale=2, min_width=300, elem_classes="sn-side"):
                gr.HTML("<h2 class='sn-title'>How Snellen got there</h2>")
                self.trace = gr.HTML(elem_id="chat-trace")
                self.report = gr.HTML()
        self._wire(buttons, fresh)

    @property
    def own_outputs(self) -> list[Any]:
        """The components that ``updates`` changes."""
        return [self.log, self.box, self.examples, self.trouble]

    async def updates(self, view: ThreadView, home: Path, *, known: bool) -> Updates:
        """Show a conversation."""
        messages = conversation(view.state.messages, view.trace if view.is_running else None) if known else []
        shown: Updates = {
            self.log: messages,
            self.box: gr.update(interactive=not view.is_running, submit_btn=not view.is_running),
            self.examples: gr.update(visible=not messages),
            self.trouble: note(view.trouble, alert=True),
        }
        # An empty trace says what will appear in it.
        return shown if known else shown | {self.trace: trace_html(ThreadTrace(), home)}

    def _wire(self, examples: Sequence[gr.Button], fresh: gr.Button) -> None:
        self.box.submit(
            self._send,
            [self.box, self.thread, self.approve],
            [self.thread, self.box],
            show_progress="hidden",
            **PRIVATE,
        ).success(**self.follow)
        for button, example in zip(examples, EXAMPLES, strict=True):
            begun = button.click(self._sender(example), [self.approve], [self.thread, self.box], **PRIVATE)
            begun.success(**self.follow)
        cleared = fresh.click(lambda: "", [], [self.thread], js=_FORGET_ADDRESS, **PRIVATE)
        cleared.success(**self.follow)
        self.wire_thread()

    async def _send(self, message: Json, thread: str, approve: bool, request: gr.Request) -> Updates:  # noqa: FBT001 - Gradio calls it so
        text = str(message.get("text") or "").strip()
        files = [Path(one) for one in message.get("files") or []]
        with errors_as_notices():
            uploads = self._uploads(request)
            pictures = await _stored(files, uploads)
            if not text and not pictures:
                msg = "Write something, or add a picture."
                raise BadInput(msg)
        return await self._begin(request, text, pictures, thread, approve=approve, notices=uploads.notices)

    def _sender(self, example: StarterExample) -> Any:  # noqa: ANN401 - a handler
        async def send(approve: bool, request: gr.Request) -> Updates:  # noqa: FBT001 - Gradio calls it so
            file = picture_of(example)
            with errors_as_notices():
                pictures = [] if file is None else [await self._uploads(request).add_file(file.read_bytes())]
            return await self._begin(request, example.text, pictures, "", approve=approve)

        return send

    async def _begin(
        self,
        request: gr.Request,
        text: str,
        pictures: Sequence[Picture],
        thread: str,
        *,
        approve: bool,
        notices: Mapping[str, Sequence[str]] | None = None,
    ) -> Updates:
        home = self.context.home(request)
        known = thread if thread and (await self.context.view(home, thread)).graph == "chat" else None
        job = await self.context.begin(
            home,
            lambda: stream_chat(
                text, pictures, notices=notices, thread=known, profile=self.context.profile, approve=approve
            ),
        )
        self.context.generations.begin(request, self.name)
        return {self.thread: job.thread, self.box: gr.update(value={"text": "", "files": []}, interactive=False)}

    def _uploads(self, request: gr.Request) -> Uploads:
        return Uploads(open_pictures(self.context.home(request)), self.context.settings)


async def _stored(files: Sequence[Path], uploads: Uploads) -> list[Picture]:
    """Store uploaded files; Gradio's copies are deleted.

    Raises:
        BadInput: There are too many, or one is not a picture.
    """
    if len(files) > MAX_PICTURES:
        msg = f"{len(files)} pictures are too many; a message may have {MAX_PICTURES}."
        raise BadInput(msg)
    stored = [await uploads.add_file(await asyncio.to_thread(file.read_bytes)) for file in files]
    for file in files:
        await asyncio.to_thread(file.unlink, missing_ok=True)
    return stored


def conversation(messages: Sequence[BaseMessage], trace: ThreadTrace | None = None) -> list[Json]:
    """Return messages as Gradio shows them.

    Args:
        messages: Those of the thread.
        trace: The trace of the work on the last one; None where nothing is under way.
    """
    shown: list[Json] = [
        {"role": "user" if one.type == "human" else "assistant", "content": _content(one)}
        for one in messages
        if one.type in {"human", "ai"}
    ]
    if trace is not None:
        title = safe_markdown(trace.activity or "beginning")
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
