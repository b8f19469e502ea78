"""The tab of memory: learned concepts, tried on a picture, forgotten, exported and imported."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from snellen.errors import BadInput
from snellen.learning.needs import checked_concept
from snellen.memory.adapters import AdapterStore
from snellen.memory.archives import import_memory
from snellen.memory.demonstrations import SEED, DemonstrationPool
from snellen.memory.home import using_home
from snellen.memory.prompts import PromptPool
from snellen.page.context import PRIVATE, Json, PageContext, Updates, errors_as_notices, show_notice, when
from snellen.page.html import figure
from snellen.reasoning.case_based.reasoner import SEEDS
from snellen.reasoning.language.inflection import counted
from snellen.reports.templating import rendered
from snellen.runtime.resources import open_pictures
from snellen.serving.uploads import Uploads
from snellen.tuning import POOL_OF_TOOL
from snellen.values import Region

if TYPE_CHECKING:
    from snellen.memory.prompts.records import PromptRow
    from snellen.values import Picture

_LISTED: Final = 200
_MOST_SHOWN: Final = 100
"""Remembered examples that are listed."""
_CONCEPT, _QUESTIONS, _EXAMPLE, _ADAPTER = "concept", "questions", "example", "adapter"


class MemoryTab:
    """The components of the memory.

    Args:
        context: The page's.
    """

    def __init__(self, context: PageContext) -> None:
        self.context = context
        with gr.Row(elem_classes="sn-two"):
            with gr.Column(scale=3, min_width=320):
                self.known = gr.HTML(elem_id="memory-known")
            with gr.Column(scale=2, min_width=300, elem_classes="sn-side"):
                with gr.Accordion("Try it on a picture", open=True):
                    concept = gr.Textbox(
                        label="What to look for", placeholder="penguin", max_length=64, elem_id="memory-concept"
                    )
                    picture = gr.Image(
                        label="Picture", type="filepath", sources=["upload", "clipboard"], height=180, buttons=[],
                        elem_id="memory-picture",
                    )  # fmt: skip
                    attempt = gr.Button(
                        "Find it, with and without learning", variant="primary", size="sm", elem_id="memory-try"
                    )
                    comparison = gr.HTML(elem_id="memory-tried")
                with gr.Accordion("Forget", open=False, elem_id="memory-forget-part"):
                    self.chosen = gr.CheckboxGroup(
                        [], label="What to forget", elem_classes="sn-list", elem_id="memory-chosen"
                    )
                    forget = gr.Button("Forget the selected", size="sm", elem_id="memory-forget")
                    with gr.Column(visible=False, elem_classes="sn-decide") as self.sure:
                        self.warning = gr.Markdown(elem_id="memory-warning")
                        with gr.Row(elem_classes="sn-buttons"):
                            yes = gr.Button("Forget it", size="sm", variant="stop", elem_id="memory-yes")
                            no = gr.Button("Keep it", size="sm", elem_id="memory-no")
                with gr.Accordion("Export and import", open=False):
                    gr.HTML(rendered("page/memory-export"))
                    self.archive = gr.File(
                        label="Import an exported memory", file_types=[".zip"], elem_id="memory-archive"
                    )
                    arrive = gr.Button("Import", size="sm", elem_id="memory-import")
        self.outputs: list[Any] = [self.known, self.chosen, self.sure]
        gr.on([attempt.click, concept.submit], self._try, [concept, picture], [comparison], **PRIVATE)
        forget.click(self._ask, [self.chosen], [self.sure, self.warning], **PRIVATE)
        no.click(lambda: gr.update(visible=False), [], [self.sure], **PRIVATE)
        yes.click(self._forget, [self.chosen], self.outputs, **PRIVATE)
        arrive.click(self._import, [self.archive], [*self.outputs, self.archive], **PRIVATE)

    async def shown(self, request: gr.Request) -> Updates:
        """Show the memory."""
        return await self._shown(self.context.home(request))

    async def _shown(self, home: Path) -> Updates:
        with errors_as_notices():
            known, choices = await asyncio.to_thread(_read, home)
        return {
            self.known: known,
            self.chosen: gr.update(choices=choices, value=[], visible=bool(choices)),
            self.sure: gr.update(visible=False),
        }

    async def _try(self, concept: str, picture: str | None, request: gr.Request) -> str:
        home = self.context.home(request)
        with errors_as_notices(), using_home(home):
            named = checked_concept(concept)
            if picture is None:
                msg = "Add a picture first."
                raise BadInput(msg)
            content = await asyncio.to_thread(Path(picture).read_bytes)
            stored = await Uploads(open_pictures(home), self.context.settings).add_file(content)
            return await asyncio.to_thread(_compare, named, stored, home, self.context.profile)

    def _ask(self, chosen: list[str]) -> Updates:
        if not chosen:
            with errors_as_notices():
                msg = "Select what to forget first."
                raise BadInput(msg)
        warning = f"Forget {counted(len(chosen), 'thing')}? This is final; export the memory first to keep a copy."
        return {self.sure: gr.update(visible=True), self.warning: warning}

    async def _forget(self, chosen: list[str], request: gr.Request) -> Updates:
        home = self.context.home(request)
        with errors_as_notices():
            gone = await asyncio.to_thread(_forget, home, chosen)
        show_notice(f"Forgotten: {gone}.")
        return await self._shown(home)

    async def _import(self, archive: str | None, request: gr.Request) -> Updates:
        home = self.context.home(request)
        with errors_as_notices():
            if archive is None:
                msg = "Choose an archive first: “Download the memory” makes one."
                raise BadInput(msg)
            added = await asyncio.to_thread(lambda: import_memory(PromptPool(home), Path(archive)))
            await asyncio.to_thread(Path(archive).unlink, missing_ok=True)
        show_notice(
            f"Added {counted(added.prompts, 'prompt')} and {counted(added.demonstrations, 'example')}; "
            f"{added.already_there} were already there."
        )
        return await self._shown(home) | {self.archive: None}


def _read(home: Path) -> tuple[str, list[tuple[str, str]]]:
    """Return the memory as HTML, and the parts that can be forgotten: their labels and their keys for ``_forget``."""
    prompts = PromptPool(home).rows()
    examples = DemonstrationPool(home, seeds=SEEDS).all()
    learned = [one for one in examples if one.source != SEED][:_MOST_SHOWN]
    adapters = list(AdapterStore(home))
    rows = _rows(prompts)
    shown = rendered(
        "page/memory",
        rows=rows[:_LISTED],
        adapters=[(one.name, one.about, when(one.created)) for one in adapters],
        seeds=sum(one.source == SEED for one in examples),
        learned=learned,
    )
    choices = [(f"{row['concept']}: {counted(row['prompts'], 'prompt')}", row["key"]) for row in rows[:_LISTED]]
    choices += [(f"the correction {one.name}", f"{_ADAPTER}:{one.name}") for one in adapters]
    choices += [(f"the {one.kind} of “{one.instruction[:60]}”", f"{_EXAMPLE}:{one.id}") for one in learned]
    return shown, choices


def _rows(prompts: Sequence[PromptRow]) -> list[Json]:
    """Group prompts by concept; answers to questions, which have none, are one row."""
    rows = []
    for concept in sorted({one.concept for one in prompts}):
        of = [one for one in prompts if one.concept == concept]
        pools = {one.pool for one in of}
        tools = sorted(
            {tool for tool, pool in POOL_OF_TOOL.items() if pool in pools} | pools - set(POOL_OF_TOOL.values())
        )
        rows.append(
            {
                "concept": concept or "answers to questions",
                "key": f"{_CONCEPT}:{concept}" if concept else _QUESTIONS,
                "tools": ", ".join(tools),
                "prompts": len(of),
                "source": ", ".join(sorted({one.source for one in of})),
                "created": when(max(one.created for one in of)),
            }
        )
    return rows


def _forget(home: Path, chosen: Sequence[str]) -> str:
    """Forget the chosen parts, and say how much that was."""
    pool, examples, adapters = PromptPool(home), DemonstrationPool(home), AdapterStore(home)
    prompts = forgotten = corrections = 0
    for one in chosen:
        kind, _, name = one.partition(":")
        if kind == _CONCEPT and name:
            prompts += pool.forget(concept=name)
        elif kind == _QUESTIONS:
            ids = [row.id for row in pool.rows() if not row.concept]
            prompts += pool.forget(ids) if ids else 0
        elif kind == _ADAPTER:
            corrections += adapters.forget(name)
        elif kind == _EXAMPLE:
            stored = examples.get([name])
            # A program whose plan is forgotten would go on teaching it.
            made = [row.id for plan in stored if plan.kind == "plan" for row in examples.made_from(plan)]
            forgotten += examples.forget([name, *made]) if stored else 0
    return ", ".join(map(counted, (prompts, forgotten, corrections), ("prompt", "example", "correction")))


def _compare(concept: str, picture: Picture, home: Path, profile: str) -> str:
    """Look for a concept in a picture with learned prompts, and without any."""
    from snellen.learning.prompt_recall import PromptRecall
    from snellen.runtime.resources import resources
    from snellen.tools.vision import Models

    models = resources(profile, home).vision()
    shown = open_pictures(home).get(picture.id)
    sides = []
    for title, having in (("With learning", models), ("Without", Models(models.profile))):
        names = having.expansion_of("LOC").names(concept)
        detections = having.detect([shown], [names])[0]
        regions = [Region(one.box, one.score, label=one.name, picture=picture.id) for one in detections]
        result = f"{len(regions)} found" + (f", best score {regions[0].score:.2f}" if regions else "")
        sides.append({"title": title, "figure": figure(regions, home) or figure(picture, home), "result": result})
    learned = concept in PromptRecall(PromptPool(home), models.profile).concepts("LOC")
    verdict = (
        "LOC has learned this concept."
        if learned
        else "LOC has not learned this concept, so both are alike. Say “learn what a penguin is” in the chat."
    )
    return rendered("page/comparison", sides=sides, verdict=verdict)
