"""The tab of threads: all of a user's, wherever they were begun; looked into, taken up, branched, corrected."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from snellen.errors import BadInput
from snellen.memory.home import using_home
from snellen.page.approval_panel import Asking
from snellen.page.chat_tab import conversation
from snellen.page.html import draw_story
from snellen.page.investigations_tab import head_of, report_of
from snellen.page.page_context import Desk, Json, ThreadStanding, Updates, telling, told, when
from snellen.summaries.runs import in_words
from snellen.threads import ask, deletion, directory
from snellen.threads.thread import GRAPHS, ThreadSummary
from snellen.values import from_json

if TYPE_CHECKING:
    from snellen.threads.directory import Moment

_LISTED: Final = 200
"""Threads that are listed, the newest first; a search finds the others."""
_ALL: Final = "all"
_MOST_SAID: Final = 500


@dataclass(frozen=True)
class ThreadsTab:
    """The components of the list of threads and of the one that is looked at."""

    desk: Desk
    thread: gr.Textbox
    wanted: gr.Textbox
    kind: gr.Radio
    refresh: gr.Button
    found: gr.Radio
    nothing: gr.Markdown
    head: gr.HTML
    show: gr.Button
    stop: gr.Button
    resume: gr.Button
    delete: gr.Button
    sure: gr.Column
    correction: gr.Column
    right: gr.Textbox
    wrong: gr.Textbox
    correct: gr.Button
    messages: gr.Chatbot
    story: gr.HTML
    report: gr.HTML
    past: gr.Accordion
    moments: gr.Radio
    branch: gr.Button
    asking: Asking

    @classmethod
    def made(cls, desk: Desk) -> ThreadsTab:
        """Make the tab."""
        thread = gr.Textbox(visible=False, elem_id="open-thread")
        with gr.Row(elem_classes="sn-two"):
            with gr.Column(scale=2, min_width=300):
                wanted = gr.Textbox(
                    label="Search",
                    placeholder="words, a thread’s id, a status; then Enter",
                    max_length=200,
                    elem_id="threads-wanted",
                )
                kind = gr.Radio([_ALL, *GRAPHS], value=_ALL, label="Kind", elem_id="threads-kind")
                found = gr.Radio([], label="Threads, the newest first", elem_classes="sn-list", elem_id="threads-found")
                nothing = gr.Markdown("No threads yet: say something in the chat.", visible=False)
                refresh = gr.Button("Look again", size="sm", elem_id="threads-refresh")
            with gr.Column(scale=3, min_width=320, elem_classes="sn-side"):
                head = gr.HTML(elem_id="thread-head")
                with gr.Row(elem_classes="sn-buttons"):
                    show = gr.Button("Open", size="sm", variant="primary", visible=False, elem_id="thread-show")
                    resume = gr.Button("Go on", size="sm", variant="primary", visible=False, elem_id="thread-resume")
                    stop = gr.Button("Stop", size="sm", variant="stop", visible=False, elem_id="thread-stop")
                    delete = gr.Button("Delete", size="sm", visible=False, elem_id="thread-delete")
                with gr.Column(visible=False, elem_classes="sn-decide", elem_id="thread-sure") as sure:
                    gr.Markdown("Delete this thread for good, with the pictures and trials that nothing else needs?")
                    with gr.Row(elem_classes="sn-buttons"):
                        yes = gr.Button("Delete it", size="sm", variant="stop", elem_id="thread-yes")
                        no = gr.Button("Keep it", size="sm", elem_id="thread-no")
                asking = Asking.made("thread")
                with gr.Column(visible=False, elem_classes="sn-decide", elem_id="thread-correction") as correction:
                    wrong = gr.Textbox(
                        label="What is wrong with the answer?", placeholder="that is not a cat", max_length=_MOST_SAID
                    )
                    right = gr.Textbox(label="Or: the right answer", placeholder="3", max_length=_MOST_SAID)
                    correct = gr.Button("Correct it", size="sm", elem_id="thread-correct")
                messages = gr.Chatbot(
                    label="Conversation", visible=False, latex_delimiters=[], allow_tags=False, buttons=[],
                    feedback_options=None, height=None, max_height=None, elem_id="thread-messages",
                )  # fmt: skip
                report = gr.HTML()
                story = gr.HTML(elem_id="thread-story")
                with gr.Accordion("Its past", open=False, visible=False, elem_id="thread-past") as past:
                    moments = gr.Radio(
                        [], label="Checkpoints, the latest first", elem_classes="sn-list", elem_id="thread-moments"
                    )
                    branch = gr.Button("Branch from the chosen one", size="sm", elem_id="thread-branch")
        tab = cls(
            desk, thread, wanted, kind, refresh, found, nothing, head, show, stop, resume, delete, sure, correction,
            right, wrong, correct, messages, story, report, past, moments, branch, asking,
        )  # fmt: skip
        tab._wire_deletion(yes, no)
        return tab

    @property
    def outputs(self) -> list[Any]:
        """What ``updates`` changes."""
        shown = [self.thread, self.head, self.show, self.stop, self.resume, self.correction, self.right, self.wrong]
        return [
            *shown,
            self.delete,
            self.sure,
            self.messages,
            self.story,
            self.report,
            self.past,
            self.moments,
            *self.asking.outputs,
        ]

    @property
    def follow(self) -> dict[str, Any]:
        """What follows the thread, for Gradio's events."""
        return {
            "fn": self._follow, "inputs": [self.thread], "outputs": self.outputs, "show_progress": "hidden",
            "api_visibility": "private", "concurrency_limit": None,
        }  # fmt: skip

    async def listed(self, wanted: str, kind: str, request: gr.Request) -> Updates:
        """Show the user's threads that are looked for."""
        with using_home(self.desk.home(request)), telling():
            threads = await directory.list_threads()
        lines = [(_line(one), one.thread) for one in threads if kind in {_ALL, one.graph}]
        words = wanted.casefold().split()
        found = [(line, name) for line, name in lines if all(word in f"{line} {name}".casefold() for word in words)]
        said = "Nothing like that was found." if threads else "No threads yet: say something in the chat."
        return {
            self.found: gr.update(choices=found[:_LISTED], value=None, visible=bool(found)),
            self.nothing: gr.update(value=said, visible=not found),
        }

    async def _follow(self, thread: str, request: gr.Request) -> AsyncGenerator[Updates]:
        home = self.desk.home(request)
        async for standing in self.desk.followed(thread, request, "threads"):
            yield await self.updates(standing, home)

    async def updates(self, standing: ThreadStanding, home: Path) -> Updates:
        """Show how a thread stands."""
        known = standing.summary is not None
        moments = await self._moments(standing, home) if known and not standing.is_running else []
        talk = conversation(standing.state.messages) if standing.graph == "chat" else []
        return {
            self.thread: standing.thread if known else "",
            self.head: head_of(standing) if standing.thread else "",
            self.show: gr.update(visible=standing.graph in {"chat", "investigate"}),
            self.stop: gr.update(visible=standing.is_running),
            self.resume: gr.update(visible=known and standing.can_resume),
            self.delete: gr.update(visible=known and not standing.is_running),
            self.sure: gr.update(visible=False),
            self.correction: gr.update(visible=standing.graph == "ask" and standing.has_ended),
            self.right: "",
            self.wrong: "",
            self.messages: gr.update(value=talk, visible=bool(talk)),
            self.story: await asyncio.to_thread(draw_story, standing.story, home) if known else "",
            self.report: report_of(standing) if standing.graph == "investigate" else "",
            self.past: gr.update(visible=len(moments) > 1),
            self.moments: gr.update(choices=[(_moment(one), one.checkpoint) for one in moments], value=None),
        } | self.asking.updates(standing)

    async def _moments(self, standing: ThreadStanding, home: Path) -> Sequence[Moment]:
        with using_home(home):
            return await directory.history(standing.thread)

    def wire(self, opening: dict[str, Any]) -> Any:  # noqa: ANN401 - an event of Gradio's
        """Have the tab answer.

        Args:
            opening: ``fn`` and ``outputs`` of what opens a thread in the tab of its kind, for Gradio's events.

        Returns:
            The event after which it is open there.
        """
        private: Json = {"api_visibility": "private", "concurrency_limit": None}
        look: Json = {"fn": self.listed, "inputs": [self.wanted, self.kind], "outputs": [self.found, self.nothing]}
        for event in (self.refresh.click, self.wanted.submit, self.kind.change):
            event(**look, **private)
        chosen = self.found.input(lambda name: name or "", [self.found], [self.thread], **private)
        chosen.success(**self.follow)
        self.stop.click(self._stop, [self.thread], [], **private)
        self.resume.click(self._resume, [self.thread], [], **private).success(**self.follow)
        corrected = self.correct.click(self._correct, [self.thread, self.right, self.wrong], [], **private)
        corrected.success(**self.follow)
        branched = self.branch.click(self._branch, [self.thread, self.moments], [self.thread], **private)
        branched.success(**self.follow)
        branched.success(**look, **private)
        self.asking.wire(self.desk, self.thread, self.follow)
        return self.show.click(inputs=[self.thread], **opening, **private)

    def _wire_deletion(self, yes: gr.Button, no: gr.Button) -> None:
        """Have a thread deleted once that was asked for twice."""
        private: Json = {"api_visibility": "private", "concurrency_limit": None}
        self.delete.click(lambda: gr.update(visible=True), [], [self.sure], **private)
        no.click(lambda: gr.update(visible=False), [], [self.sure], **private)
        deleted = yes.click(self._delete, [self.thread], [self.thread], **private)
        deleted.success(**self.follow)
        looked = {"fn": self.listed, "inputs": [self.wanted, self.kind], "outputs": [self.found, self.nothing]}
        deleted.success(**looked, **private)

    async def _delete(self, thread: str, request: gr.Request) -> str:
        with using_home(self.desk.home(request)), telling():
            deleted = await deletion.delete([thread])
        told(f"Deleted: {deletion.in_words(deleted)}.")
        return ""

    async def _stop(self, thread: str, request: gr.Request) -> None:
        await self.desk.stop(self.desk.home(request), thread)

    async def _resume(self, thread: str, request: gr.Request) -> None:
        await self.desk.resume(self.desk.home(request), thread)

    async def _correct(self, thread: str, right: str, wrong: str, request: gr.Request) -> None:
        expected = right.strip() or None
        await self.desk.begin(
            self.desk.home(request),
            lambda: ask.correct(thread, expected=expected, says=wrong),
        )

    async def _branch(self, thread: str, moment: str | None, request: gr.Request) -> str:
        with using_home(self.desk.home(request)), telling():
            if not moment:
                msg = "Choose a checkpoint first: the branch goes on from there."
                raise BadInput(msg)
            new = await directory.branch(thread, moment)
        told(f"The branch is {new}; “Go on” takes it further.")
        return new


def _line(one: ThreadSummary) -> str:
    answer = in_words(from_json(one.answer)) if one.answer is not None else one.reason or one.outcome
    said = f" → {_short(answer, 60)}" if answer else ""
    return f"{one.graph} · {_short(one.instruction, 70) or 'untitled'}{said} · {one.status} · {when(one.updated)}"


def _moment(one: Moment) -> str:
    following = f"then {', '.join(one.next)}" if one.next else "the end"
    return f"{one.step}. after {one.after or 'the beginning'}, {following} · {when(one.created)}"


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
