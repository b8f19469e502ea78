"""The tab of memory: what was learned, tried on a picture, forgotten, carried elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from snellen.errors import BadInput
from snellen.learning.teachable import checked_concept
from snellen.memory.adapters import AdapterStore
from snellen.memory.demonstrations import SEED, DemonstrationPool
from snellen.memory.home import using_home
from snellen.memory.prompts import PromptPool
from snellen.page.html import figure, written
from snellen.page.page_context import Desk, Json, Updates, telling, told, when
from snellen.reasoning.case_based.reasoner import SEEDS
from snellen.reasoning.language.inflection import counted
from snellen.runtime.resources import open_pictures
from snellen.serving.uploads import Uploads
from snellen.tuning import POOL_OF_TOOL
from snellen.values import Region

if TYPE_CHECKING:
    from snellen.memory.prompt_records import PromptRow
    from snellen.values import Picture

_LISTED: Final = 200
_MOST_SHOWN: Final = 100
"""Remembered examples that are listed."""
_CONCEPT, _QUESTIONS, _EXAMPLE, _ADAPTER = "concept", "questions", "example", "adapter"


@dataclass(frozen=True)
class Side:
    """What is found in a picture."""

    title: str
    figure: Any
    said: str


@dataclass(frozen=True)
class MemoryTab:
    """The components of the memory, and how they change."""

    desk: Desk
    known: gr.HTML
    concept: gr.Textbox
    picture: gr.Image
    tried: gr.HTML
    chosen: gr.CheckboxGroup
    sure: gr.Column
    warning: gr.Markdown
    archive: gr.File

    @classmethod
    def made(cls, desk: Desk) -> MemoryTab:
        """Make the tab."""
        with gr.Row(elem_classes="sn-two"):
            with gr.Column(scale=3, min_width=320):
                known = gr.HTML(elem_id="memory-known")
            with gr.Column(scale=2, min_width=300, elem_classes="sn-side"):
                with gr.Accordion("Try it on a picture", open=True):
                    concept = gr.Textbox(
                        label="What to look for", placeholder="penguin", max_length=64, elem_id="memory-concept"
                    )
                    picture = gr.Image(
                        label="The picture", type="filepath", sources=["upload", "clipboard"], height=180, buttons=[],
                        elem_id="memory-picture",
                    )  # fmt: skip
                    attempt = gr.Button(
                        "Find it, with and without what was learned", variant="primary", size="sm", elem_id="memory-try"
                    )
                    tried = gr.HTML(elem_id="memory-tried")
                with gr.Accordion("Forget", open=False, elem_id="memory-forget-part"):
                    chosen = gr.CheckboxGroup(
                        [], label="What to forget", elem_classes="sn-list", elem_id="memory-chosen"
                    )
                    forget = gr.Button("Forget the chosen", size="sm", elem_id="memory-forget")
                    with gr.Column(visible=False, elem_classes="sn-decide") as sure:
                        warning = gr.Markdown(elem_id="memory-warning")
                        with gr.Row(elem_classes="sn-buttons"):
                            yes = gr.Button("Forget it", size="sm", variant="stop", elem_id="memory-yes")
                            no = gr.Button("Keep it", size="sm", elem_id="memory-no")
                with gr.Accordion("Carry it elsewhere", open=False):
                    gr.HTML(written("export"))
                    archive = gr.File(
                        label="Add what another memory exported", file_types=[".zip"], elem_id="memory-archive"
                    )
                    arrive = gr.Button("Add it", size="sm", elem_id="memory-import")
        tab = cls(desk, known, concept, picture, tried, chosen, sure, warning, archive)
        private: Json = {"api_visibility": "private", "concurrency_limit": None}
        gr.on([attempt.click, concept.submit], tab._try, [concept, picture], [tried], **private)
        forget.click(tab._ask, [chosen], [sure, warning], **private)
        no.click(lambda: gr.update(visible=False), [], [sure], **private)
        yes.click(tab._forget, [chosen], tab.outputs, **private)
        arrive.click(tab._import, [archive], [*tab.outputs, archive], **private)
        return tab

    @property
    def outputs(self) -> list[Any]:
        """What ``shown`` changes."""
        return [self.known, self.chosen, self.sure]

    async def shown(self, request: gr.Request) -> Updates:
        """Show what was learned."""
        return await self._shown(self.desk.home(request))

    async def _shown(self, home: Path) -> Updates:
        with telling():
            known, choices = await asyncio.to_thread(_read, home)
        return {
            self.known: known,
            self.chosen: gr.update(choices=choices, value=[], visible=bool(choices)),
            self.sure: gr.update(visible=False),
        }

    async def _try(self, concept: str, picture: str | None, request: gr.Request) -> str:
        home = self.desk.home(request)
        with telling(), using_home(home):
            named = checked_concept(concept)
            if picture is None:
                msg = "Add a picture to look at."
                raise BadInput(msg)
            content = await asyncio.to_thread(Path(picture).read_bytes)
            stored = await Uploads(open_pictures(home), self.desk.settings).add_file(content)
            return await asyncio.to_thread(_compare, named, stored, home, self.desk.profile)

    def _ask(self, chosen: list[str]) -> Updates:
        if not chosen:
            with telling():
                msg = "Choose what to forget first."
                raise BadInput(msg)
        things = f"{len(chosen)} thing{'s' * (len(chosen) != 1)}"
        said = f"Forget {things}? Everything will be as if it had never been learned; export it first to keep a copy."
        return {self.sure: gr.update(visible=True), self.warning: said}

    async def _forget(self, chosen: list[str], request: gr.Request) -> Updates:
        home = self.desk.home(request)
        with telling():
            gone = await asyncio.to_thread(_forget, home, chosen)
        told(f"Forgotten: {gone}.")
        return await self._shown(home)

    async def _import(self, archive: str | None, request: gr.Request) -> Updates:
        home = self.desk.home(request)
        with telling():
            if archive is None:
                msg = "Choose an archive first: “Download” in another memory makes one."
                raise BadInput(msg)
            added = await asyncio.to_thread(lambda: PromptPool(home).import_(Path(archive)))
            await asyncio.to_thread(Path(archive).unlink, missing_ok=True)
        told(
            f"Added {counted(added.prompts, 'prompt')} and {counted(added.demonstrations, 'example')}; "
            f"{added.already_there} were there before."
        )
        return await self._shown(home) | {self.archive: None}


def _read(home: Path) -> tuple[str, list[tuple[str, str]]]:
    """Return what was learned as HTML, and what of it can be forgotten, by names for people and for ``_forget``."""
    prompts = PromptPool(home).rows()
    examples = DemonstrationPool(home, seeds=SEEDS).all()
    learned = [one for one in examples if one.source != SEED][:_MOST_SHOWN]
    adapters = list(AdapterStore(home))
    rows = _rows(prompts)
    shown = written(
        "memory",
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
    """Gather prompts by concept; answers to questions, which have none, are one row."""
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
    """Forget what was chosen, and say how much it was."""
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
            found = examples.get([name])
            # A program whose plan is forgotten would go on teaching it.
            made = [row.id for plan in found if plan.kind == "plan" for row in examples.made_from(plan)]
            forgotten += examples.forget([name, *made]) if found else 0
    return ", ".join(map(counted, (prompts, forgotten, corrections), ("prompt", "example", "correction")))


def _compare(concept: str, picture: Picture, home: Path, profile: str) -> str:
    """Look for a concept in a picture with what was learned, and as if nothing had been."""
    from snellen.learning.prompt_recall import Recollection
    from snellen.runtime.resources import resources
    from snellen.tools.vision import Models

    models = resources(profile, home).models
    shown = open_pictures(home).get(picture.id)
    sides = []
    for title, having in (("With what was learned", models), ("Without", Models(models.profile))):
        names = having.expansion_of("LOC").names(concept)
        found = having.detect([shown], [names])[0]
        regions = [Region(one.box, one.score, label=one.name, picture=picture.id) for one in found]
        said = f"{len(regions)} found" + (f", the best {regions[0].score:.2f}" if regions else "")
        sides.append(Side(title, figure(regions, home) or figure(picture, home), said))
    learned = concept in Recollection(PromptPool(home), models.profile).concepts("LOC")
    verdict = (
        "LOC has learned this concept; without, it is as if it never had."
        if learned
        else "LOC has learned nothing about this concept, so both are alike: “learn what a penguin is” in the chat."
    )
    return written("tried", sides=sides, verdict=verdict)
