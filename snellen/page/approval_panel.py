"""The panel of decisions: approve, reject or edit what a thread asks about."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import gradio as gr

from snellen.errors import BadInput
from snellen.experiments.design import Design
from snellen.experiments.design_text import design_of, json_of
from snellen.experiments.preview import preview_in
from snellen.nodes.investigate.experiments import ACTION as EXPERIMENT
from snellen.nodes.learn.approval import ACTION as LEARN
from snellen.page.approval_html import form_html, preview_html
from snellen.page.context import PRIVATE, Json, PageContext, ThreadView, Updates, errors_as_notices, shortened_line
from snellen.page.design_entry import EnteredDesign, entered_design, placed
from snellen.page.design_form import fields_of
from snellen.reports.templating import rendered
from snellen.serving.jobs import decisions
from snellen.threads import directory
from snellen.threads.meaning_choices import is_choice
from snellen.threads.thread import WAITING

_MOST_REASON: Final = 300
_MOST_LINE: Final = 160
_APPROVE: Final[Json] = {"type": "approve"}
_ENTERED: Final = """(thread) => {
  const values = {};
  for (const one of document.querySelectorAll("#%s-form [name]")) {
    if (one.type !== "checkbox") values[one.name] = one.value;
    else if (!one.value) values[one.name] = one.checked;
    else values[one.name] = [...(values[one.name] || []), ...(one.checked ? [one.value] : [])];
  }
  return [thread, JSON.stringify(values)];
}"""
"""What stands in the form, by the names of its fields: several boxes of one name are a list."""


class ApprovalPanel:
    """The components with which a thread's request is decided about, hidden until there is one.

    Args:
        name: The beginning of the components' ids.
    """

    def __init__(self, name: str) -> None:
        with gr.Column(visible=False, elem_classes="sn-decide", elem_id=f"{name}-decide") as self.group:
            self.question = gr.HTML()
            self.chosen = gr.CheckboxGroup(label="Allow", visible=False)
            self.reason = gr.Textbox(label="Why not (optional)", max_lines=2, max_length=_MOST_REASON)
            with gr.Accordion("Change the design", open=False, visible=False) as self.editor:
                with gr.Tab("Form"):
                    self.form = gr.HTML(elem_id=f"{name}-form")
                    self.entered = gr.Textbox(visible=False)
                    self.enter = gr.Button("Run the changed design", size="sm", elem_id=f"{name}-enter")
                with gr.Tab("JSON"):
                    self.design = gr.Code(label="The design, as JSON", language="json", max_lines=18, wrap_lines=True)
                    self.edit = gr.Button("Run the changed design", size="sm", elem_id=f"{name}-edit")
            with gr.Row(elem_classes="sn-buttons"):
                self.approve = gr.Button("Allow", variant="primary", size="sm", elem_id=f"{name}-allow")
                self.reject = gr.Button("Refuse", size="sm", elem_id=f"{name}-refuse")
        self.name = name
        self.outputs: list[Any] = [
            self.group, self.question, self.chosen, self.reason, self.editor, self.form, self.design,
        ]  # fmt: skip

    def updates(self, view: ThreadView, home: Path) -> Updates:
        """Show the request of a thread; hide everything where it has none.

        Args:
            view: The thread.
            home: The memory's home of its user, which has the pictures.
        """
        request = view.request if view.phase == "waiting" else None
        if request is None:
            return {self.group: gr.update(visible=False), self.chosen: gr.update(choices=[], value=[])}
        actions = request["action_requests"]
        editable = any("edit" in one["allowed_decisions"] for one in request["review_configs"])
        descriptions = [str(one["description"]) for one in actions]
        several = len(actions) > 1
        # Of several meanings one is meant: the first is offered.
        offered = [0] if is_choice(request) else list(range(len(actions)))
        preview = preview_in(actions[0])
        question = rendered(
            "page/approval", requests=[] if several or preview else descriptions, learning=actions[0]["name"] == LEARN,
            trouble=str(request.get("error", "")),
        )  # fmt: skip
        if preview is not None:
            question += preview_html(preview, Design.model_validate(actions[0]["args"]), home)
        choices = [(shortened_line(text, _MOST_LINE), place) for place, text in enumerate(descriptions)]
        return {
            self.group: gr.update(visible=True),
            self.question: question,
            self.chosen: gr.update(choices=choices, value=offered, visible=several),
            self.reason: gr.update(value=""),
            self.editor: gr.update(visible=editable, open=False),
            **(self._editors(view, request) if editable else {self.form: "", self.design: ""}),
        }

    def _editors(self, view: ThreadView, request: Json) -> Updates:
        design, models = Design.model_validate(_design_shown(request)), _examined(view)
        trouble = str(request.get("error", "")) if request.get("edited") else ""
        place = placed(trouble, fields_of(design, models)) if trouble else ""
        entered = EnteredDesign(None, errors={place: trouble} if place else {})
        return {self.form: form_html(design, models, entered, self.name), self.design: json_of(design)}

    def wire(self, context: PageContext, thread: gr.Textbox, follow: dict[str, Any]) -> None:
        """Have the buttons decide, and the thread followed then.

        Args:
            context: The page's.
            thread: The component that holds the thread's id.
            follow: The event that follows the thread: ``fn``, ``inputs`` and ``outputs``.
        """

        async def approve(thread: str, chosen: list[int], reason: str, request: gr.Request) -> Updates:
            view = await _waiting(context, request, thread)
            actions = range(len((view.request or {}).get("action_requests", [])))
            allowed = set(chosen) if len(actions) > 1 else {0}
            return await decide(request, thread, [_APPROVE if n in allowed else _rejection(reason) for n in actions])

        async def reject(thread: str, reason: str, request: gr.Request) -> Updates:
            view = await _waiting(context, request, thread)
            count = len((view.request or {}).get("action_requests", []))
            return await decide(request, thread, [_rejection(reason)] * count)

        async def edit(thread: str, design: str, request: gr.Request) -> Updates:
            view = await _waiting(context, request, thread)
            with errors_as_notices():
                changed = design_of(design, _examined(view))
            return await decide(request, thread, [_edit(changed)])

        async def enter(thread: str, values: str, request: gr.Request) -> Updates:
            view = await _waiting(context, request, thread)
            asked, models = Design.model_validate(_design_shown(view.request or {})), _examined(view)
            entered = entered_design(asked, models, values)
            return {
                self.form: form_html(asked, models, entered, self.name),
                self.entered: json_of(entered.design) if entered.design else "",
            }

        async def run_entered(thread: str, design: str, request: gr.Request) -> Updates:
            with errors_as_notices():
                if not design:
                    msg = "Something in the form cannot be used; it is said beside the field."
                    raise BadInput(msg)
            return await edit(thread, design, request)

        async def decide(request: gr.Request, thread: str, chosen: list[Json]) -> Updates:
            home = context.home(request)
            await context.begin(home, lambda: directory.resume(thread, decide=decisions(chosen)))
            return {self.group: gr.update(visible=False)}

        for button, handler, inputs in (
            (self.approve, approve, [thread, self.chosen, self.reason]),
            (self.reject, reject, [thread, self.reason]),
            (self.edit, edit, [thread, self.design]),
        ):
            button.click(handler, inputs, [self.group], **PRIVATE).success(**follow)
        # What was entered is read where it stands: the form is no component of Gradio's.
        read = self.enter.click(
            enter, [thread, self.entered], [self.form, self.entered], js=_ENTERED % self.name, **PRIVATE
        )
        read.success(run_entered, [thread, self.entered], [self.group], **PRIVATE).success(**follow)


def _design_shown(request: Json) -> Json:
    """Return the design to edit: the one that is asked about, or an edited one that could not be run."""
    return dict(request.get("edited") or request["action_requests"][0]["args"])


def _examined(view: ThreadView) -> list[str]:
    """Return the models that the experiments of a thread may ask."""
    preview = preview_in((view.request or {"action_requests": [{}]})["action_requests"][0])
    return preview.examined if preview else list((view.trace.after or view.trace.report).get("models", []))


async def _waiting(context: PageContext, request: gr.Request, thread: str) -> ThreadView:
    """Return a thread that waits for decisions.

    Raises:
        gr.Error: It waits for none.
    """
    view = await context.view(context.home(request), thread)
    with errors_as_notices():
        if view.request is None or view.summary is None or view.summary.status != WAITING:
            msg = "This thread no longer waits for a decision; open it again."
            raise BadInput(msg)
    return view


def _edit(design: Design) -> Json:
    return {"type": "edit", "edited_action": {"name": EXPERIMENT, "args": design.model_dump(mode="json")}}


def _rejection(reason: str) -> Json:
    return {"type": "reject", "message": reason[:_MOST_REASON]}
