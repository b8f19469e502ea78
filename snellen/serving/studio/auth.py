"""Authorization on LangGraph's server: users see only their own threads, runs and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_sdk import Auth

from snellen.serving.users import OWNER

if TYPE_CHECKING:
    from starlette.requests import Request

auth = Auth()
"""Named by ``auth.path`` of langgraph.json."""


@auth.authenticate
async def authenticate(request: Request) -> Auth.types.MinimalUserDict:
    """Return the user that the guard let in."""
    user = request.scope.get("state", {}).get("user")
    if user is None:
        raise Auth.exceptions.HTTPException(status_code=401, detail="A token is needed: Authorization: Bearer TOKEN.")
    return {"identity": user.name, "is_authenticated": True}


@auth.on
async def own_things(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> Auth.types.FilterType:
    """Mark what a user makes as theirs, and show them nothing else."""
    owner = {"owner": ctx.user.identity}
    # In place: the server goes on with the very dict that it has shown.
    value.setdefault("metadata", {}).update(owner)
    return owner


@auth.on.assistants.read
async def anybodys_graph(ctx: Auth.types.AuthContext, value: Auth.types.AssistantsRead) -> None:
    """The graphs are everybody's."""


@auth.on.assistants.search
async def anybodys_graphs(ctx: Auth.types.AuthContext, value: Auth.types.AssistantsSearch) -> None:
    """The graphs are everybody's."""


@auth.on.crons
async def own_times(ctx: Auth.types.AuthContext, value: Any) -> bool:  # noqa: ANN401, ARG001
    """Only the owner may schedule runs: nobody else could see or stop them."""
    return ctx.user.identity == OWNER


@auth.on.store
async def own_store(ctx: Auth.types.AuthContext, value: Any) -> bool:  # noqa: ANN401, ARG001
    """Only the owner may use the server's own store."""
    return ctx.user.identity == OWNER
