"""What a person decides about: whether something may be learned, whether an experiment is run, and how."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import gradio as gr

from snellen.errors import BadInput
from snellen.nodes.learn.approval import ACTION as LEARN
from snellen.page.html import written
from snellen.page.page_context import Desk, Json, ThreadStanding, Updates, telling
from snellen.serving.jobs import decisions
from snellen.threads import directory
from snellen.threads.thread import WAITING

_MOST_TEXT: Final = 64_000
"""Characters of an edited design."""
_MOST_REASON: Final = 300


@dataclass(frozen=True)
class Asking:
    """The components with which a thread's request is decided about."""

    group: gr.Column
    said: gr.HTML
    chosen: gr.CheckboxGroup
    reason: gr.Textbox
    editor: gr.Accordion
    design: gr.Code
    approve: gr.Button
    reject: gr.Button
    edit: gr.Button

    @classmethod
    def made(cls, name: str) -> Asking:
        """Make them, hidden.

        Args:
            name: Tells them from those of other tabs.
        """
        with gr.Column(visible=False, elem_classes="sn-decide", elem_id=f"{name}-decide") as group:
            said = gr.HTML()
            chosen = gr.CheckboxGroup(label="Allow", visible=False)
            reason = gr.Textbox(label="Why not (optional)", max_lines=2, max_length=_MOST_REASON)
            with gr.Accordion("Change the design", open=False, visible=False) as editor:
                design = gr.Code(label="The design, as JSON", language="json", max_lines=18, wrap_lines=True)
                edit = gr.Button("Run it as changed", size="sm", elem_id=f"{name}-edit")
            with gr.Row(elem_classes="sn-buttons"):
                approve = gr.Button("Allow", variant="primary", size="sm", elem_id=f"{name}-allow")
                reject = gr.Button("Refuse", size="sm", elem_id=f"{name}-refuse")
        return cls(group, said, chosen, reason, editor, design, approve, reject, edit)

    @property
    def outputs(self) -> list[Any]:
        """What ``updates`` changes."""
        return [self.group, self.said, self.chosen, self.reason, self.editor, self.design]

    def updates(self, standing: ThreadStanding) -> Updates:
        """Show what a thread asks; hide everything where it asks nothing."""
        request = standing.request if standing.mood == "waiting" else None
        if request is None:
            return {self.group: gr.update(visible=False), self.chosen: gr.update(choices=[], value=[])}
        actions = request["action_requests"]
        allowed = {kind for one in request["review_configs"] for kind in one["allowed_decisions"]}
        learning = actions[0]["name"] == LEARN
        asked = [str(one["description"]) for one in actions]
        names = [(_short(said), place) for place, said in enumerate(asked)]
        several = len(actions) > 1
        return {
            self.group: gr.update(visible=True),
            self.said: written(
                "asking", asked=[] if several else asked, learning=learning, trouble=str(request.get("error", ""))
            ),
            self.chosen: gr.update(choices=names, value=list(range(len(actions))), visible=several),
            self.reason: gr.update(value=""),
            self.editor: gr.update(visible="edit" in allowed, open=False),
            self.design: json.dumps(actions[0]["args"], indent=2, ensure_ascii=False) if "edit" in allowed else "",
        }

    def wire(self, desk: Desk, thread: gr.Textbox, follow: dict[str, Any]) -> None:
        """Have the buttons decide, and the thread followed then.

        Args:
            desk: What the page works with.
            thread: Holds the thread's id.
            follow: ``fn``, ``inputs`` and ``outputs`` of what follows it.
        """

        async def approve(thread: str, chosen: list[int], reason: str, request: gr.Request) -> Updates:
            home = desk.home(request)
            count = len(_requested(await _waiting(desk, home, thread)))
            refused = {"type": "reject", "message": reason[:_MOST_REASON]}
            allowed = set(chosen) if count > 1 else {0}
            await _decide(desk, home, thread, [{"type": "approve"} if n in allowed else refused for n in range(count)])
            return {self.group: gr.update(visible=False)}

        async def reject(thread: str, reason: str, request: gr.Request) -> Updates:
            home = desk.home(request)
            count = len(_requested(await _waiting(desk, home, thread)))
            await _decide(desk, home, thread, [{"type": "reject", "message": reason[:_MOST_REASON]}] * count)
            return {self.group: gr.update(visible=False)}

        async def edit(thread: str, design: str, request: gr.Request) -> Updates:
            home = desk.home(request)
            standing = await _waiting(desk, home, thread)
            known = standing.story.after or standing.story.report
            with telling():
                changed = checked_design(design, known.get("models", []))
            edited = {"type": "edit", "edited_action": {"name": "experiment", "args": changed}}
            await _decide(desk, home, thread, [edited])
            return {self.group: gr.update(visible=False)}

        for button, decide, inputs in (
            (self.approve, approve, [thread, self.chosen, self.reason]),
            (self.reject, reject, [thread, self.reason]),
            (self.edit, edit, [thread, self.design]),
        ):
            decided = button.click(decide, inputs, [self.group], api_visibility="private", concurrency_limit=None)
            decided.success(**follow)


def checked_design(text: str, models: Sequence[str]) -> Json:
    """Read the design of an experiment that a person has changed.

    Args:
        text: JSON.
        models: Those that are examined.

    Raises:
        BadInput: It is no design, or one that cannot be run.
    """
    from pydantic import ValidationError

    from snellen.experiments.schema import Design, checked

    if len(text) > _MOST_TEXT:
        msg = f"The design has {len(text):,} characters; it may have {_MOST_TEXT:,}."
        raise BadInput(msg)
    try:
        return checked(Design.model_validate(json.loads(text)), list(models)).model_dump(mode="json")
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        msg = f"The design's {'.'.join(map(str, wrong['loc'])) or 'text'} cannot be used: {wrong['msg']}."
        raise BadInput(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"The design is no JSON ({str(error)[:120]}); mend it, or allow the one that was made."
        raise BadInput(msg) from error


async def _waiting(desk: Desk, home: Path, thread: str) -> ThreadStanding:
    """Return how a thread stands that waits for decisions.

    Raises:
        gr.Error: It waits for none.
    """
    standing = await desk.standing(home, thread)
    with telling():
        if standing.request is None or standing.summary is None or standing.summary.status != WAITING:
            msg = "This thread no longer waits for a decision; open it again to see how it stands."
            raise BadInput(msg)
    return standing


def _requested(standing: ThreadStanding) -> list[Json]:
    return list((standing.request or {}).get("action_requests", []))


async def _decide(desk: Desk, home: Path, thread: str, chosen: list[Json]) -> None:
    await desk.begin(home, lambda: directory.resume(thread, decide=decisions(chosen)))


def _short(said: str) -> str:
    return said if len(said) <= 160 else said[:159] + "…"  # noqa: PLR2004 - a line
