"""The page as a whole: its tabs, its look, and how a server mounts it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

# Before Gradio is imported: it would ask its makers for news.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import gradio as gr
from starlette.routing import Mount

from interfaces.chat_page.chatting import EXAMPLES, ChatTab, picture_of
from interfaces.chat_page.desk import Desk, Updates
from interfaces.chat_page.fencing import Fenced
from interfaces.serving.settings import Settings

if TYPE_CHECKING:
    from interfaces.jobs import Jobs

_HERE: Final = Path(__file__).resolve().parent
_CACHE: Final = "GRADIO_TEMP_DIR"
_TITLE: Final = "Snellen"
_KEEP_ADDRESS: Final = """(thread) => {
  const url = new URL(window.location);
  if (thread) url.searchParams.set("thread", thread); else url.searchParams.delete("thread");
  window.history.replaceState({}, "", url);
}"""
"""The thread that is open stands in the page's address, so that a reload opens it again."""


def make_page(jobs: Jobs, *, profile: str = "embedded", settings: Settings | None = None) -> gr.Blocks:
    """Build the page.

    Args:
        jobs: The server's.
        profile: Name or path of the profile that new threads are begun with.
        settings: How large and how many pictures may be.

    Returns:
        The page; whoever uses it is the user that the guard knows (``scope["state"]["user"]``), or else the owner.
    """
    if not os.environ.get(_CACHE):
        # What is uploaded waits there until its message is sent; nobody else of this machine can read it.
        os.environ[_CACHE] = tempfile.mkdtemp(prefix="snellen-uploads-")
    desk = Desk(jobs, profile, settings or Settings())
    with gr.Blocks(title=_TITLE, analytics_enabled=False, fill_width=True, delete_cache=(600, 3600)) as page:
        gr.HTML("<header class='sn-brand'><h1>Snellen</h1><p>examines the sight of models</p></header>")
        with gr.Tabs(elem_id="tabs") as tabs:
            with gr.Tab("Chat", id="chat"):
                chat = ChatTab.made(desk)
        opened = page.load(_opening(desk, tabs, chat), [], [tabs, chat.thread], api_visibility="private")
        opened.success(**chat.follow)
        chat.thread.change(None, [chat.thread], [], js=_KEEP_ADDRESS)
    return page


def mount_page(page: gr.Blocks) -> Mount:
    """Return a mount of the page at ``/``; give it to ``create_app`` as the last of its ``mounts``."""
    from fastapi import FastAPI

    app = FastAPI(openapi_url=None)
    app.add_middleware(Fenced)
    gr.mount_gradio_app(
        app, page, path="/", footer_links=[], run_history=False, show_error=False, ssr_mode=False, pwa=False,
        mcp_server=False, enable_monitoring=False, max_file_size=Settings().picture_bytes, theme=_theme(),
        css=_look(), head=(_HERE / "head.html").read_text("utf-8"),
        favicon_path=None,
    )  # fmt: skip
    return Mount("/", app)


def _opening(desk: Desk, tabs: gr.Tabs, chat: ChatTab) -> Any:  # noqa: ANN401 - a handler
    async def opening(request: gr.Request) -> Updates:
        thread = str(request.query_params.get("thread", ""))[:64]
        standing = await desk.standing(desk.home(request), thread)
        if standing.graph == "chat":
            return {tabs: gr.update(selected="chat"), chat.thread: thread}
        return {tabs: gr.update(), chat.thread: ""}

    return opening


def _theme() -> gr.themes.Base:
    # Fonts of the reader's own system: nothing is fetched.
    return gr.themes.Soft(
        primary_hue="teal", secondary_hue="teal", neutral_hue="slate",
        font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"],
    )  # fmt: skip


def _look() -> str:
    """Return the page's style; the pictures of the examples are in it."""
    import base64

    files = {file.stem: file for file in map(picture_of, EXAMPLES) if file is not None}
    drawn = [
        f".sn-example.sn-{name}::before {{ background-image: url(data:image/png;base64,"
        f"{base64.b64encode(file.read_bytes()).decode()}) }}"
        for name, file in files.items()
    ]
    return (_HERE / "page.css").read_text("utf-8") + "\n".join(drawn)
