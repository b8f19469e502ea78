"""The page as a whole: its tabs, its look, and how a server mounts it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

# Before Gradio is imported: it would ask its makers for news.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import gradio as gr
from starlette.routing import Mount

from snellen.page.chat_tab import EXAMPLES, ChatTab, picture_of
from snellen.page.context import PRIVATE, PageContext, Updates
from snellen.page.gradio_middleware import GradioMiddleware
from snellen.page.investigations_tab import InvestigationsTab
from snellen.page.memory_tab import MemoryTab
from snellen.page.thread_tab import ThreadTab
from snellen.page.threads_tab import ThreadsTab
from snellen.reports.pictures import data_uri
from snellen.serving.settings import ServerSettings

if TYPE_CHECKING:
    from snellen.serving.jobs import Jobs

_HERE: Final = Path(__file__).resolve().parent
_CACHE: Final = "GRADIO_TEMP_DIR"
_LONGEST: Final = 64
"""Characters of a thread's id."""
_TITLE: Final = "Snellen"
_KEEP_ADDRESS: Final = """(thread) => {
  const url = new URL(window.location);
  if (!thread) return;
  url.searchParams.set("thread", thread);
  window.history.replaceState({}, "", url);
}"""
"""The open thread is in the page's address, so that a reload opens it again."""

_READY: Final = """() => {
  document.documentElement.dataset.ready = "";
  window.setTimeout(() => document.querySelector("#chat-box textarea")?.focus(), 100);
}"""
"""Typing starts once the conversation is known."""


def make_page(jobs: Jobs, *, profile: str = "embedded", settings: ServerSettings | None = None) -> gr.Blocks:
    """Build the page.

    Args:
        jobs: The server's jobs.
        profile: Name or path of the profile of new threads.
        settings: The limits of uploads.

    Returns:
        The page; it works for the user that the guard let in (``scope["state"]["user"]``), or else for the owner.
    """
    if not os.environ.get(_CACHE):
        # Uploads wait there until their message is sent; no other user of this machine can read them.
        os.environ[_CACHE] = tempfile.mkdtemp(prefix="snellen-uploads-")
    context = PageContext(jobs, profile, settings or ServerSettings())
    page: gr.Blocks = gr.Blocks(title=_TITLE, analytics_enabled=False, fill_width=True, delete_cache=(600, 3600))
    with page:
        gr.HTML("<header class='sn-brand'><h1>Snellen</h1><p>examines what models see</p></header>")
        with gr.Tabs(elem_id="tabs") as tabs:
            with gr.Tab("Chat", id="chat"):
                chat = ChatTab(context)
            with gr.Tab("Investigations", id="investigate") as investigations_tab:
                investigations = InvestigationsTab(context)
            with gr.Tab("Memory", id="memory") as memory_tab:
                memory = MemoryTab(context)
            with gr.Tab("Threads", id="threads") as threads_tab:
                threads = ThreadsTab(context)
        investigations_tab.select(investigations.listed, [], [investigations.earlier], **PRIVATE)
        memory_tab.select(memory.shown, [], memory.outputs, **PRIVATE)
        threads_tab.select(**threads.list_event)
        _wire(page, context, tabs, (chat, investigations, threads))
    return page


def _wire(
    page: gr.Blocks, context: PageContext, tabs: gr.Tabs, parts: tuple[ChatTab, InvestigationsTab, ThreadsTab]
) -> None:
    """Have the thread of the page's address opened in the tab of its kind, and kept there."""
    from snellen.graphs.states import ChatState, InvestigateState

    chat, investigations, threads = parts
    tab_of: dict[str | None, ThreadTab] = {"chat": chat, "investigate": investigations}
    tab_of_state: dict[type, ThreadTab] = {ChatState: chat, InvestigateState: investigations}

    async def opened(thread: str, request: gr.Request) -> Updates:
        if not thread:
            return {tabs: gr.update()}
        view = await context.view(context.home(request), thread[:_LONGEST])
        selected = str(view.graph) if view.graph in tab_of else "threads"
        opened: Updates = {tabs: gr.update(selected=selected), tab_of.get(view.graph, threads).thread: thread}
        return opened | ({chat.approve: bool(view.state.approve)} if selected == "chat" else {})

    async def loaded(request: gr.Request) -> Updates:
        # Threads under way are found again; the one that the address names comes first.
        under_way = {
            tab.thread: job.thread
            for job in reversed(context.jobs.of(context.home(request)))
            if not job.is_over and (tab := tab_of_state.get(type(job.state))) is not None
        }
        ready = {chat.box: gr.update(interactive=True)}
        return ready | under_way | await opened(str(request.query_params.get("thread", "")), request)

    outputs = [tabs, chat.approve, chat.box, *(part.thread for part in parts)]
    beginning = page.load(loaded, [], outputs, show_progress="hidden", **PRIVATE)
    beginning.success(None, [], [], js=_READY, api_visibility="private")
    for part in parts:
        beginning.success(**part.follow)
        part.thread.change(None, [part.thread], [], js=_KEEP_ADDRESS)
    shown = threads.wire_opening({"fn": opened, "outputs": outputs})
    shown.success(**chat.follow)
    shown.success(**investigations.follow)


def mount_page(page: gr.Blocks) -> Mount:
    """Return a mount of the page at ``/``; give it to ``create_app`` as the last of its ``mounts``."""
    from fastapi import FastAPI

    app = FastAPI(openapi_url=None)
    app.add_middleware(GradioMiddleware)
    gr.mount_gradio_app(
        app, page, path="/", footer_links=[], run_history=False, show_error=False, ssr_mode=False, pwa=False,
        mcp_server=False, enable_monitoring=False, max_file_size=ServerSettings().picture_bytes, theme=_theme(),
        head=f"{(_HERE / 'head.html').read_text('utf-8')}<style>{_look()}</style>",
        favicon_path=None,
    )  # fmt: skip
    return Mount("/", app)


def _theme() -> gr.themes.Base:
    """Return the theme: fonts of the reader's own system, so that nothing is fetched, and contrasts for all eyes."""
    theme = gr.themes.Soft(
        primary_hue="teal", secondary_hue="teal", neutral_hue="slate",
        font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"],
    )  # fmt: skip
    plain = {"block_title_background_fill": "none", "block_label_background_fill": "none", "block_title_padding": "0"}
    return theme.set(
        **plain,
        body_background_fill="*neutral_50", body_background_fill_dark="*neutral_950",
        **{f"{name}_dark": value for name, value in plain.items() if name != "block_title_padding"},
        block_title_text_color="*body_text_color", block_title_text_color_dark="*body_text_color",
        block_title_text_weight="600", block_label_text_color="*body_text_color",
        block_label_text_color_dark="*body_text_color", block_info_text_color="*neutral_600",
        block_info_text_color_dark="*neutral_400", body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_400", input_placeholder_color="*neutral_500",
        input_placeholder_color_dark="*neutral_400", button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_800", button_primary_background_fill_dark="*primary_700",
        button_primary_background_fill_hover_dark="*primary_600", input_border_width="1px",
        input_border_color="*neutral_300", input_border_color_dark="*neutral_600",
        checkbox_border_color="*neutral_500", checkbox_border_color_dark="*neutral_400",
        checkbox_label_background_fill_selected="*primary_100",
        checkbox_label_background_fill_selected_dark="*primary_900",
        checkbox_label_text_color_selected="*body_text_color",
        button_secondary_border_color="*neutral_300", button_secondary_border_color_dark="*neutral_600",
    )  # fmt: skip


def _look() -> str:
    """Return the page's style; the pictures of the examples are in it."""
    files = {file.stem: file for file in map(picture_of, EXAMPLES) if file is not None}
    drawn = [
        f".sn-example.sn-{name}::before {{ background-image: url({data_uri(file.read_bytes())}) }}"
        for name, file in files.items()
    ]
    return (_HERE / "page.css").read_text("utf-8") + "\n".join(drawn)
