"""The graphs as LangGraph's server runs them: with the thread held for it, in the home of the user who asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

import snellen.graphs.ask
import snellen.graphs.chat
import snellen.graphs.investigate
import snellen.graphs.learn
from snellen.memory.home import choose_home
from snellen.memory.thread_locks import running
from snellen.runtime.input_pictures import no_paths
from snellen.serving.studio.thread_ids import THREAD_IDS

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

    Graph = CompiledStateGraph[Any, Any, Any, Any]


def ask(config: RunnableConfig) -> AbstractAsyncContextManager[Any]:
    """A visual task is answered; a wrong answer is looked into, corrected, and tried again."""
    return _served(snellen.graphs.ask.graph, config)


def learn(config: RunnableConfig) -> AbstractAsyncContextManager[Any]:
    """Pictures are collected, prompts tuned and proved, and what proved itself is stored."""
    return _served(snellen.graphs.learn.graph, config)


def investigate(config: RunnableConfig) -> AbstractAsyncContextManager[Any]:
    """A question about models becomes experiments, run until the evidence suffices."""
    return _served(snellen.graphs.investigate.graph, config)


def chat(config: RunnableConfig) -> AbstractAsyncContextManager[Any]:
    """Messages with pictures are answered by the other graphs."""
    return _served(snellen.graphs.chat.graph, config)


@asynccontextmanager
async def _served(graph: Graph, config: RunnableConfig) -> AsyncIterator[Graph]:
    """Yield a graph; for a run with its thread held, so that nobody else runs it meanwhile.

    Raises:
        BadInput: Another process runs the thread.
    """
    configurable = config.get("configurable", {})
    thread = configurable.get("thread_id")
    if not (configurable.get("__is_for_execution__") and thread):
        yield graph
        return
    known = await THREAD_IDS.find(str(thread), user=str(configurable.get("langgraph_auth_user_id") or ""))
    choose_home(known.home)
    await asyncio.to_thread(known.home.mkdir, parents=True, exist_ok=True)
    async with running(known.name, known.home):
        with no_paths():
            yield graph
