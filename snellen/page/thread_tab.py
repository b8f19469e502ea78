"""The base of the tabs that show a thread: it is followed, stopped, resumed and decided about there."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import gradio as gr

from snellen.page.approval_panel import ApprovalPanel
from snellen.page.context import PRIVATE, PageContext, ThreadView, Updates, when
from snellen.page.html import trace_html
from snellen.reports.templating import rendered


class ThreadTab(ABC):
    """A tab with a thread in it.

    Subclasses lay out the components, among them those that ``stop_and_resume`` makes, ``approval``, ``trace`` and
    ``report``, call ``wire_thread``, and say in ``updates`` how their own components show a thread.

    Args:
        context: The page's.
        name: The beginning of the components' ids.
    """

    graphs: frozenset[str]
    """The graphs whose threads the tab shows."""

    def __init__(self, context: PageContext, name: str) -> None:
        self.context, self.name = context, name
        self.thread = gr.Textbox(visible=False, elem_id=f"{name}-thread")
        self.approval: ApprovalPanel
        self.trace: gr.HTML
        self.report: gr.HTML

    def stop_and_resume(self) -> None:
        """Make the two buttons."""
        self.stop = gr.Button("Stop", size="sm", variant="stop", visible=False, elem_id=f"{self.name}-stop")
        self.resume = gr.Button("Resume", size="sm", variant="primary", visible=False, elem_id=f"{self.name}-resume")

    @property
    @abstractmethod
    def own_outputs(self) -> list[Any]:
        """The components that ``updates`` changes."""

    @abstractmethod
    async def updates(self, view: ThreadView, home: Path, *, known: bool) -> Updates:
        """Show a thread in the tab's own components.

        Args:
            view: The thread.
            home: The memory's home of its user.
            known: Whether the tab shows such threads.
        """

    @property
    def follow(self) -> dict[str, Any]:
        """The event that follows the thread."""
        shared = [self.thread, self.stop, self.resume, self.trace, self.report]
        outputs = [*shared, *self.own_outputs, *self.approval.outputs]
        return {"fn": self._follow, "inputs": [self.thread], "outputs": outputs, "show_progress": "hidden"} | PRIVATE

    def wire_thread(self) -> None:
        """Have the thread stopped, resumed and decided about."""
        self.stop.click(self._stop, [self.thread], [], **PRIVATE)
        self.resume.click(self._resume, [self.thread], [], **PRIVATE).success(**self.follow)
        self.approval.wire(self.context, self.thread, self.follow)

    async def _follow(self, thread: str, request: gr.Request) -> AsyncGenerator[Updates]:
        home = self.context.home(request)
        async for view in self.context.followed(thread, request, self.name):
            known = view.graph in self.graphs
            shared: Updates = {
                self.thread: view.thread if known else "",
                self.stop: gr.update(visible=known and view.is_running),
                self.resume: gr.update(visible=known and view.can_resume),
                self.trace: await asyncio.to_thread(trace_html, view.trace, home) if known else "",
                self.report: report_links(view) if known else "",
            }
            decided = await asyncio.to_thread(self.approval.updates, view, home)
            yield shared | await self.updates(view, home, known=known) | decided

    async def _stop(self, thread: str, request: gr.Request) -> None:
        await self.context.stop(self.context.home(request), thread)

    async def _resume(self, thread: str, request: gr.Request) -> None:
        await self.context.resume(self.context.home(request), thread)


def note(text: str, *, alert: bool = False) -> str:
    """Write a sentence in place of something to show; nothing for none."""
    return rendered("page/note", text=text, alert=alert) if text else ""


def head_of(view: ThreadView) -> str:
    """Write what a thread is about, and how far it is."""
    summary = view.summary
    if summary is None:
        return note(view.trouble or "There is no such thread.")
    return rendered(
        "page/thread", title=summary.instruction, kind=summary.graph, phase=view.phase,
        status="running" if view.is_running else summary.status, thread=view.thread, when=when(summary.updated),
        trouble=view.trouble,
    )  # fmt: skip


def report_links(view: ThreadView) -> str:
    """Write the links to a thread's report, once there is something in it."""
    if not view.trace.report.get("experiments") or (view.graph == "chat" and view.is_running):
        return ""
    return rendered("page/report", thread=view.thread, readable=not view.is_running)
