"""The panel of decisions: approve, reject or edit what a thread asks about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import gradio as gr

from snellen.errors import BadInput
from snellen.nodes.learn.approval import ACTION as LEARN
from snellen.page.context import PRIVATE, Json, PageContext, ThreadView, Updates, errors_as_notices, shortened_line
from snellen.reports.templating import rendered
from snellen.serving.jobs import decisions
from snellen.threads import directory
from snellen.threads.meaning_choices import is_choice
from snellen.threads.thread import WAITING

_MOST_TEXT: Final = 64_000
"""Characters of an edited design."""
_MOST_REASON: Final = 300
_MOST_LINE: Final = 160
_APPROVE: Final[Json] = {"type": "approve"}


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
                self.design = gr.Code(label="The design, as JSON", language="json", max_lines=18, wrap_lines=True)
                self.edit = gr.Button("Run the changed design", size="sm", elem_id=f"{name}-edit")
            with gr.Row(elem_classes="sn-buttons"):
                self.approve = gr.Button("Allow", variant="primary", size="sm", elem_id=f"{name}-allow")
                self.reject = gr.Button("Refuse", size="sm", elem_id=f"{name}-refuse")
        self.outputs: list[Any] = [self.group, self.question, self.chosen, self.reason, self.editor, self.design]

    def updates(self, view: ThreadView) -> Updates:
        """Show the request of a thread; hide everything where it has none."""
        request = view.request if view.phase == "waiting" else None
        if request is None:
            return {self.group: gr.update(visible=False), self.chosen: gr.update(choices=[], value=[])}
        actions = request["action_requests"]
        editable = any("edit" in one["allowed_decisions"] for one in request["review_configs"])
        descriptions = [str(one["description"]) for one in actions]
        several = len(actions) > 1
        # Of several meanings one is meant: the first is offered.
        offered = [0] if is_choice(request) else list(range(len(actions)))
        question = rendered(
            "page/approval", requests=[] if several else descriptions, learning=actions[0]["name"] == LEARN,
            trouble=str(request.get("error", "")),
        )  # fmt: skip
        choices = [(shortened_line(text, _MOST_LINE), place) for place, text in enumerate(descriptions)]
        return {
            self.group: gr.update(visible=True),
            self.question: question,
            self.chosen: gr.update(choices=choices, value=offered, visible=several),
            self.reason: gr.update(value=""),
            self.editor: gr.update(visible=editable, open=False),
            self.design: json.dumps(actions[0]["args"], indent=2, ensure_ascii=False) if editable else "",
        }

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
            trace = (await _waiting(context, request, thread)).trace
            with errors_as_notices():
                changed = checked_design(design, (trace.after or trace.report).get("models", []))
            edited = {"type": "edit", "edited_action": {"name": "experiment", "args": changed}}
            return await decide(request, thread, [edited])

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


def checked_design(text: str, models: Sequence[str]) -> Json:
    """Read the design of an experiment that a person has changed.

    Args:
        text: The design as JSON.
        models: The models that are examined.

    Raises:
        BadInput: It is not a design, or cannot be run.
    """
    from pydantic import ValidationError

    from snellen.experiments.design import Design, checked

    if len(text) > _MOST_TEXT:
        msg = f"The design has {len(text):,} characters; at most {_MOST_TEXT:,} are allowed."
        raise BadInput(msg)
    try:
        return checked(Design.model_validate(json.loads(text)), list(models)).model_dump(mode="json")
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        msg = f"The design's {'.'.join(map(str, wrong['loc'])) or 'text'} cannot be used: {wrong['msg']}."
        raise BadInput(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"The design is not valid JSON ({str(error)[:120]}); correct it, or allow the original design."
        raise BadInput(msg) from error


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


def _rejection(reason: str) -> Json:
    return {"type": "reject", "message": reason[:_MOST_REASON]}
