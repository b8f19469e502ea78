"""The tab of threads: all of a user's, wherever they began; inspected, resumed, branched, corrected, deleted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from snellen.errors import BadInput
from snellen.memory.home import using_home
from snellen.page.approval_panel import ApprovalPanel
from snellen.page.chat_tab import conversation
from snellen.page.context import (
    PRIVATE,
    PageContext,
    ThreadView,
    Updates,
    errors_as_notices,
    shortened_line,
    show_notice,
    when,
)
from snellen.page.thread_tab import ThreadTab, head_of
from snellen.summaries.values import in_words
from snellen.threads import ask, deletion, directory
from snellen.threads.listing import list_threads
from snellen.threads.thread import GRAPHS, ThreadSummary
from snellen.values import from_json

if TYPE_CHECKING:
    from snellen.threads.directory import Moment

_LISTED: Final = 200
"""Threads that are listed, the newest first; a search finds the others."""
_ALL: Final = "all"
_MOST_CORRECTION: Final = 500
_NO_THREADS: Final = "No threads yet: write something in the chat."


class ThreadsTab(ThreadTab):
    """The components of the list of threads, and of the thread that is open."""

    graphs = frozenset(GRAPHS)

    def __init__(self, context: PageContext) -> None:
        super().__init__(context, "thread")
        with gr.Row(elem_classes="sn-two"):
            with gr.Column(scale=2, min_width=300):
                self.search = gr.Textbox(
                    label="Search", placeholder="words, a thread’s id, a status; then Enter", max_length=200,
                    elem_id="threads-wanted",
                )  # fmt: skip
                self.kind = gr.Radio([_ALL, *GRAPHS], value=_ALL, label="Kind", elem_id="threads-kind")
                self.matches = gr.Radio(
                    [], label="Threads, newest first", elem_classes="sn-list", elem_id="threads-found"
                )
                self.nothing = gr.Markdown(_NO_THREADS, visible=False)
                self.refresh = gr.Button("Refresh", size="sm", elem_id="threads-refresh")
            with gr.Column(scale=3, min_width=320, elem_classes="sn-side"):
                self.head = gr.HTML(elem_id="thread-head")
                with gr.Row(elem_classes="sn-buttons"):
                    self.show = gr.Button("Open", size="sm", variant="primary", visible=False, elem_id="thread-show")
                    self.stop_and_resume()
                    self.delete = gr.Button("Delete", size="sm", visible=False, elem_id="thread-delete")
                with gr.Column(visible=False, elem_classes="sn-decide", elem_id="thread-sure") as self.sure:
                    gr.Markdown("Delete this thread for good, with pictures and trials that nothing else uses?")
                    with gr.Row(elem_classes="sn-buttons"):
                        yes = gr.Button("Delete it", size="sm", variant="stop", elem_id="thread-yes")
                        no = gr.Button("Keep it", size="sm", elem_id="thread-no")
                self.approval = ApprovalPanel("thread")
                with gr.Column(visible=False, elem_classes="sn-decide", elem_id="thread-correction") as self.correction:
                    self.wrong = gr.Textbox(
                        label="What is wrong with the answer?", placeholder="that is not a cat",
                        max_length=_MOST_CORRECTION,
                    )  # fmt: skip
                    self.right = gr.Textbox(label="Or: the right answer", placeholder="3", max_length=_MOST_CORRECTION)
                    self.correct = gr.Button("Correct it", size="sm", elem_id="thread-correct")
                self.messages = gr.Chatbot(
                    label="Conversation", visible=False, latex_delimiters=[], allow_tags=False, buttons=[],
                    feedback_options=None, height=None, max_height=None, elem_id="thread-messages",
                )  # fmt: skip
                self.report = gr.HTML()
                self.trace = gr.HTML(elem_id="thread-trace")
                with gr.Accordion("History", open=False, visible=False, elem_id="thread-past") as self.past:
                    self.moments = gr.Radio(
                        [], label="Checkpoints, latest first", elem_classes="sn-list", elem_id="thread-moments"
                    )
                    self.branch = gr.Button("Branch from this checkpoint", size="sm", elem_id="thread-branch")
        self.list_event: dict[str, Any] = {
            "fn": self.listed, "inputs": [self.search, self.kind], "outputs": [self.matches, self.nothing],
        } | PRIVATE  # fmt: skip
        self._wire(yes, no)

    @property
    def own_outputs(self) -> list[Any]:
        """The components that ``updates`` changes."""
        return [
            self.head, self.show, self.correction, self.right, self.wrong, self.delete, self.sure, self.messages,
            self.past, self.moments,
        ]  # fmt: skip

    async def updates(self, view: ThreadView, home: Path, *, known: bool) -> Updates:
        """Show a thread of any kind."""
        moments: Sequence[Moment] = []
        if known and not view.is_running:
            with using_home(home):
                moments = await directory.history(view.thread)
        messages = conversation(view.state.messages) if view.graph == "chat" else []
        return {
            self.head: head_of(view) if view.thread else "",
            self.show: gr.update(visible=view.graph in {"chat", "investigate"}),
            self.delete: gr.update(visible=known and not view.is_running),
            self.sure: gr.update(visible=False),
            self.correction: gr.update(visible=view.graph == "ask" and view.has_ended),
            self.right: "",
            self.wrong: "",
            self.messages: gr.update(value=messages, visible=bool(messages)),
            self.past: gr.update(visible=len(moments) > 1),
            self.moments: gr.update(choices=[(_moment(one), one.checkpoint) for one in moments], value=None),
        }

    async def listed(self, search: str, kind: str, request: gr.Request) -> Updates:
        """Show the user's threads that match a search."""
        with using_home(self.context.home(request)), errors_as_notices():
            threads = await list_threads()
        lines = [(_line(one), one.thread) for one in threads if kind in {_ALL, one.graph}]
        words = search.casefold().split()
        matches = [(line, name) for line, name in lines if all(word in f"{line} {name}".casefold() for word in words)]
        return {
            self.matches: gr.update(choices=matches[:_LISTED], value=None, visible=bool(matches)),
            self.nothing: gr.update(value="No thread matches." if threads else _NO_THREADS, visible=not matches),
        }

    def wire_opening(self, opening: dict[str, Any]) -> Any:  # noqa: ANN401 - an event of Gradio's
        """Have "Open" show the thread in the tab of its kind.

        Args:
            opening: The event that opens it there: ``fn`` and ``outputs``.

        Returns:
            The event after which it is open.
        """
        return self.show.click(inputs=[self.thread], **opening, **PRIVATE)

    def _wire(self, yes: gr.Button, no: gr.Button) -> None:
        for event in (self.refresh.click, self.search.submit, self.kind.change):
            event(**self.list_event)
        chosen = self.matches.input(lambda name: name or "", [self.matches], [self.thread], **PRIVATE)
        chosen.success(**self.follow)
        corrected = self.correct.click(self._correct, [self.thread, self.right, self.wrong], [], **PRIVATE)
        corrected.success(**self.follow)
        branched = self.branch.click(self._branch, [self.thread, self.moments], [self.thread], **PRIVATE)
        # A thread is deleted once that was asked for twice.
        self.delete.click(lambda: gr.update(visible=True), [], [self.sure], **PRIVATE)
        no.click(lambda: gr.update(visible=False), [], [self.sure], **PRIVATE)
        deleted = yes.click(self._delete, [self.thread], [self.thread], **PRIVATE)
        for changed in (branched, deleted):
            changed.success(**self.follow)
            changed.success(**self.list_event)
        self.wire_thread()

    async def _delete(self, thread: str, request: gr.Request) -> str:
        with using_home(self.context.home(request)), errors_as_notices():
            deleted = await deletion.delete([thread])
        show_notice(f"Deleted: {deletion.in_words(deleted)}.")
        return ""

    async def _correct(self, thread: str, right: str, wrong: str, request: gr.Request) -> None:
        home, expected = self.context.home(request), right.strip() or None
        await self.context.begin(home, lambda: ask.correct(thread, expected=expected, says=wrong))

    async def _branch(self, thread: str, moment: str | None, request: gr.Request) -> str:
        with using_home(self.context.home(request)), errors_as_notices():
            if not moment:
                msg = "Choose a checkpoint first: the branch goes on from there."
                raise BadInput(msg)
            new = await directory.branch(thread, moment)
        show_notice(f"The branch is {new}; “Resume” continues it.")
        return new


def _line(one: ThreadSummary) -> str:
    answer = in_words(from_json(one.answer)) if one.answer is not None else one.reason or one.outcome
    result = f" → {shortened_line(answer, 60)}" if answer else ""
    title = shortened_line(one.instruction, 70) or "untitled"
    return f"{one.graph} · {title}{result} · {one.status} · {when(one.updated)}"


def _moment(one: Moment) -> str:
    following = f"then {', '.join(one.next)}" if one.next else "the end"
    return f"{one.step}. after {one.after or 'the beginning'}, {following} · {when(one.created)}"
