"""The tab of investigations: begun, watched, decided about, read, corrected."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import gradio as gr

from snellen.memory.home import using_home
from snellen.page.approval_panel import Asking
from snellen.page.html import draw_story, written
from snellen.page.page_context import Desk, Json, ThreadStanding, Updates, telling, when
from snellen.runtime.requests import MAX_QUERY
from snellen.threads import directory
from snellen.threads.investigate import Order, correct_investigation, found_in, stream_investigate

_QUERIES: Final = (
    "Are the models robust to rotation?",
    "Can llava-upright tell left from right?",
    "Which of clip and blip is better at birds?",
)
_LISTED: Final = 100
_IMAGES: Final = 600
"""Pictures that an investigation may use unless the user says otherwise: a few minutes."""


@dataclass(frozen=True)
class InquiryTab:
    """The components of investigations, and how they change."""

    desk: Desk
    thread: gr.Textbox
    query: gr.Textbox
    models: gr.CheckboxGroup
    images: gr.Number
    seconds: gr.Number
    alpha: gr.Slider
    approve: gr.Checkbox
    correct: gr.Checkbox
    start: gr.Button
    earlier: gr.Dropdown
    head: gr.HTML
    stop: gr.Button
    resume: gr.Button
    teach: gr.Button
    story: gr.HTML
    report: gr.HTML
    asking: Asking

    @classmethod
    def made(cls, desk: Desk) -> InquiryTab:
        """Make the tab."""
        thread = gr.Textbox(visible=False, elem_id="inquiry-thread")
        with gr.Row(elem_classes="sn-two"):
            with gr.Column(scale=2, min_width=300):
                query = gr.Textbox(
                    label="What do you want to know about models?", placeholder=_QUERIES[0], lines=1, max_lines=6,
                    max_length=MAX_QUERY, elem_id="inquiry-query",
                )  # fmt: skip
                with gr.Row(elem_classes="sn-examples"):
                    examples = [gr.Button(one, size="sm", elem_classes="sn-plain") for one in _QUERIES]
                models = gr.CheckboxGroup(
                    label="Models", info="None chosen: those that the question names, or all.", choices=_tested(desk),
                    elem_id="inquiry-models",
                )  # fmt: skip
                with gr.Accordion("What these models are", open=False, elem_id="inquiry-about"):
                    gr.HTML(written("models", models=_about(desk)))
                with gr.Accordion("How much it may use", open=False):
                    images = gr.Number(
                        label="Pictures, at most", value=_IMAGES, minimum=2, maximum=1_000_000, precision=0
                    )
                    seconds = gr.Number(label="Seconds of measuring, at most", value=900, minimum=1)
                    alpha = gr.Slider(
                        0.01, 0.2, value=0.05, step=0.01, label="Share of verdicts that may be wrong",
                        info="However often one looks.",
                    )  # fmt: skip
                approve = gr.Checkbox(label="Ask me before each experiment", container=False, elem_id="inquiry-approve")
                correct = gr.Checkbox(label="Then teach models what they cannot do", container=False)
                start = gr.Button("Begin", variant="primary", elem_id="inquiry-start")
                earlier = gr.Dropdown(label="Open an earlier one", choices=[], elem_id="inquiry-earlier")
            with gr.Column(scale=3, min_width=320, elem_classes="sn-side"):
                head = gr.HTML(written("nothing", said=_NOTHING), elem_id="inquiry-head")
                with gr.Row(elem_classes="sn-buttons"):
                    stop = gr.Button("Stop", size="sm", variant="stop", visible=False, elem_id="inquiry-stop")
                    resume = gr.Button("Go on", size="sm", variant="primary", visible=False, elem_id="inquiry-resume")
                    teach = gr.Button("Teach them", size="sm", visible=False, elem_id="inquiry-teach")
                asking = Asking.made("inquiry")
                report = gr.HTML(elem_id="inquiry-report")
                story = gr.HTML(elem_id="inquiry-story")
        tab = cls(
            desk, thread, query, models, images, seconds, alpha, approve, correct, start, earlier, head, stop, resume,
            teach, story, report, asking,
        )  # fmt: skip
        tab._wire(examples)
        return tab

    @property
    def outputs(self) -> list[Any]:
        """What ``updates`` changes."""
        shown = [self.thread, self.head, self.stop, self.resume, self.teach, self.story, self.report]
        return [*shown, *self.asking.outputs]

    @property
    def follow(self) -> dict[str, Any]:
        """What follows the investigation, for Gradio's events."""
        return {
            "fn": self._follow, "inputs": [self.thread], "outputs": self.outputs, "show_progress": "hidden",
            "api_visibility": "private", "concurrency_limit": None,
        }  # fmt: skip

    async def listed(self, request: gr.Request) -> Updates:
        """Show the user's investigations to choose from."""
        with using_home(self.desk.home(request)), telling():
            found = [one for one in await directory.list_threads() if one.graph == "investigate"]
        choices = [
            (f"{when(one.updated)} · {one.instruction[:80]} ({one.status})", one.thread) for one in found[:_LISTED]
        ]
        return {self.earlier: gr.update(choices=choices, value=None)}

    async def _follow(self, thread: str, request: gr.Request) -> AsyncGenerator[Updates]:
        home = self.desk.home(request)
        async for standing in self.desk.followed(thread, request, "investigate"):
            yield await self.updates(standing, home)

    async def updates(self, standing: ThreadStanding, home: Path) -> Updates:
        """Show how an investigation stands."""
        known = standing.graph == "investigate"
        if not known:
            said = standing.trouble or _NOTHING
            cleared = {one: gr.update(visible=False) for one in (self.stop, self.resume, self.teach)}
            empty: Updates = {
                self.thread: "",
                self.head: written("nothing", said=said),
                self.story: "",
                self.report: "",
            }
            return empty | cleared | self.asking.updates(standing)
        return {
            self.thread: standing.thread,
            self.head: head_of(standing),
            self.stop: gr.update(visible=standing.is_running),
            self.resume: gr.update(visible=standing.can_resume),
            self.teach: gr.update(visible=_teachable(standing)),
            self.story: await asyncio.to_thread(draw_story, standing.story, home),
            self.report: report_of(standing),
        } | self.asking.updates(standing)

    def _wire(self, examples: list[gr.Button]) -> None:
        private: Json = {"api_visibility": "private", "concurrency_limit": None}
        for button, query in zip(examples, _QUERIES, strict=True):
            button.click(None, [], [self.query], js=f"() => {json.dumps(query)}", api_visibility="private")
        inputs = [self.query, self.models, self.images, self.seconds, self.alpha, self.approve, self.correct]
        begun = gr.on(
            [self.start.click, self.query.submit], self._begin, inputs, [self.thread, self.head],
            show_progress="hidden", **private,
        )  # fmt: skip
        begun.success(**self.follow)
        self.stop.click(self._stop, [self.thread], [], **private)
        self.resume.click(self._resume, [self.thread], [], **private).success(**self.follow)
        self.teach.click(self._teach, [self.thread, self.approve], [], **private).success(**self.follow)
        self.earlier.input(lambda thread: thread or "", [self.earlier], [self.thread], **private).success(**self.follow)
        self.asking.wire(self.desk, self.thread, self.follow)

    async def _begin(
        self,
        query: str,
        models: list[str],
        images: float | None,
        seconds: float | None,
        alpha: float,
        approve: bool,  # noqa: FBT001
        correct: bool,  # noqa: FBT001
        request: gr.Request,
    ) -> Updates:
        budget = {"images": int(images) if images else None, "seconds": seconds}
        order = Order(
            query=query,
            models=models,
            profile=self.desk.profile,
            alpha=alpha,
            budget={name: value for name, value in budget.items() if value is not None},
            approve=approve,
            correct=correct,
        )
        job = await self.desk.begin(self.desk.home(request), lambda: stream_investigate(order))
        self.desk.turns.begin(request, "investigate")
        return {self.thread: job.thread, self.head: written("nothing", said="Beginning…")}

    async def _stop(self, thread: str, request: gr.Request) -> None:
        await self.desk.stop(self.desk.home(request), thread)

    async def _resume(self, thread: str, request: gr.Request) -> None:
        await self.desk.resume(self.desk.home(request), thread)

    async def _teach(self, thread: str, approve: bool, request: gr.Request) -> None:  # noqa: FBT001 - Gradio calls it so
        await self.desk.begin(self.desk.home(request), lambda: correct_investigation(thread, approve=approve))


_NOTHING: Final = "Ask something on the left: what is found appears here while it is measured."


def head_of(standing: ThreadStanding) -> str:
    """Write what a thread is about, and how far it is."""
    summary = standing.summary
    if summary is None:
        return written("nothing", said=standing.trouble or "There is no such thread.")
    return written(
        "thread",
        title=summary.instruction,
        kind=summary.graph,
        mood=standing.mood,
        status=summary.status if standing.mood != "running" else "running",
        thread=standing.thread,
        when=when(summary.updated),
        trouble=standing.trouble,
        outcome="",
    )


def report_of(standing: ThreadStanding) -> str:
    """Write the links to an investigation's report, once there is something in it."""
    report = standing.story.report
    if not report.get("experiments"):
        return ""
    return written("report", thread=standing.thread, shown=not standing.is_running)


def _teachable(standing: ThreadStanding) -> bool:
    """Tell whether there is a weakness that nobody has taught away yet."""
    from snellen.experiments.follow_up import weaknesses

    if standing.mood != "finished" or standing.state.after or standing.state.protocol != "choice":
        return False
    found = found_in(standing.state)
    return found is not None and bool(weaknesses(found.report))


def _about(desk: Desk) -> list[tuple[str, str]]:
    """Return the models under test, each with what it is: names of architectures are not all of public checkpoints."""
    from snellen.profiles import load_profile

    return [(name, one.about) for name, one in load_profile(desk.profile).tested.items()]


def _tested(desk: Desk) -> list[str]:
    from snellen.profiles import load_profile

    return list(load_profile(desk.profile).tested)
