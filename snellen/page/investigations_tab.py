"""The tab of investigations: started, watched, decided about, read, followed by corrections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import gradio as gr

from snellen.memory.home import using_home
from snellen.page.approval_panel import ApprovalPanel
from snellen.page.context import PRIVATE, PageContext, ThreadView, Updates, errors_as_notices, when
from snellen.page.thread_tab import ThreadTab, head_of, note
from snellen.profiles import load_profile
from snellen.reports.templating import rendered
from snellen.runtime.investigation_requests import MAX_QUERY
from snellen.threads.investigate import InvestigationRequest, correct_investigation, found_in, stream_investigate
from snellen.threads.listing import list_threads

_QUERIES: Final = (
    "Are the models robust to rotation?",
    "Can llava-upright tell left from right?",
    "Which of clip and blip is better at birds?",
)
_LISTED: Final = 100
_IMAGES: Final = 600
"""Pictures that an investigation may use unless the user says otherwise: a few minutes."""
_NOTHING: Final = "Ask a question on the left; results appear here while they are measured."


class InvestigationsTab(ThreadTab):
    """The components of investigations."""

    graphs = frozenset({"investigate"})

    def __init__(self, context: PageContext) -> None:
        super().__init__(context, "inquiry")
        about = {name: one.about for name, one in load_profile(context.profile).tested.items()}
        with gr.Row(elem_classes="sn-two"):
            with gr.Column(scale=2, min_width=300):
                self.query = gr.Textbox(
                    label="What do you want to know about models?", placeholder=_QUERIES[0], lines=1, max_lines=6,
                    max_length=MAX_QUERY, elem_id="inquiry-query",
                )  # fmt: skip
                with gr.Row(elem_classes="sn-examples"):
                    examples = [gr.Button(one, size="sm", elem_classes="sn-plain") for one in _QUERIES]
                self.models = gr.CheckboxGroup(
                    label="Models", info="None chosen: those that the question names, or all.", choices=list(about),
                    elem_id="inquiry-models",
                )  # fmt: skip
                with gr.Accordion("About these models", open=False, elem_id="inquiry-about"):
                    gr.HTML(rendered("page/models", models=list(about.items())))
                with gr.Accordion("Budget", open=False):
                    self.images = gr.Number(
                        label="Pictures, at most", value=_IMAGES, minimum=2, maximum=1_000_000, precision=0
                    )
                    self.seconds = gr.Number(label="Seconds of measuring, at most", value=900, minimum=1)
                    self.alpha = gr.Slider(
                        0.01, 0.2, value=0.05, step=0.01, label="Share of verdicts that may be wrong",
                        info="It holds however often you look.",
                    )  # fmt: skip
                self.approve = gr.Checkbox(
                    label="Ask me before each experiment", container=False, elem_id="inquiry-approve"
                )
                self.correct = gr.Checkbox(label="Then correct the models’ weaknesses", container=False)
                self.start = gr.Button("Start", variant="primary", elem_id="inquiry-start")
                self.earlier = gr.Dropdown(label="Open an earlier one", choices=[], elem_id="inquiry-earlier")
            with gr.Column(scale=3, min_width=320, elem_classes="sn-side"):
                self.head = gr.HTML(note(_NOTHING), elem_id="inquiry-head")
                with gr.Row(elem_classes="sn-buttons"):
                    self.stop_and_resume()
                    self.teach = gr.Button("Correct weaknesses", size="sm", visible=False, elem_id="inquiry-teach")
                self.approval = ApprovalPanel("inquiry")
                self.report = gr.HTML(elem_id="inquiry-report")
                self.trace = gr.HTML(elem_id="inquiry-trace")
        self._wire(examples)

    @property
    def own_outputs(self) -> list[Any]:
        """The components that ``updates`` changes."""
        return [self.head, self.teach]

    async def updates(self, view: ThreadView, home: Path, *, known: bool) -> Updates:  # noqa: ARG002 - inherited
        """Show an investigation."""
        return {
            self.head: head_of(view) if known else note(view.trouble or _NOTHING),
            self.teach: gr.update(visible=known and _has_open_weaknesses(view)),
        }

    async def listed(self, request: gr.Request) -> Updates:
        """Show the user's investigations to choose from."""
        with using_home(self.context.home(request)), errors_as_notices():
            summaries = [one for one in await list_threads() if one.graph == "investigate"]
        choices = [
            (f"{when(one.updated)} · {one.instruction[:80]} ({one.status})", one.thread) for one in summaries[:_LISTED]
        ]
        return {self.earlier: gr.update(choices=choices, value=None)}

    def _wire(self, examples: list[gr.Button]) -> None:
        for button, query in zip(examples, _QUERIES, strict=True):
            button.click(None, [], [self.query], js=f"() => {json.dumps(query)}", api_visibility="private")
        inputs = [self.query, self.models, self.images, self.seconds, self.alpha, self.approve, self.correct]
        gr.on(
            [self.start.click, self.query.submit], self._begin, inputs, [self.thread, self.head],
            show_progress="hidden", **PRIVATE,
        ).success(**self.follow)  # fmt: skip
        self.teach.click(self._teach, [self.thread, self.approve], [], **PRIVATE).success(**self.follow)
        self.earlier.input(lambda thread: thread or "", [self.earlier], [self.thread], **PRIVATE).success(**self.follow)
        self.wire_thread()

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
        investigation = InvestigationRequest(
            query=query,
            models=models,
            profile=self.context.profile,
            alpha=alpha,
            budget={name: value for name, value in budget.items() if value is not None},
            approve=approve,
            correct=correct,
        )
        job = await self.context.begin(self.context.home(request), lambda: stream_investigate(investigation))
        self.context.generations.begin(request, self.name)
        return {self.thread: job.thread, self.head: note("Beginning…")}

    async def _teach(self, thread: str, approve: bool, request: gr.Request) -> None:  # noqa: FBT001 - Gradio calls it so
        await self.context.begin(self.context.home(request), lambda: correct_investigation(thread, approve=approve))


def _has_open_weaknesses(view: ThreadView) -> bool:
    """Tell whether a finished investigation found a weakness that nobody has corrected yet."""
    from snellen.experiments.follow_up import weaknesses

    if view.phase != "finished" or view.state.after or view.state.protocol != "choice":
        return False
    result = found_in(view.state)
    return result is not None and bool(weaknesses(result.report))
