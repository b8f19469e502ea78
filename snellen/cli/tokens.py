"""``snellen tokens add``, ``list`` and ``revoke``."""

from __future__ import annotations

import argparse
from typing import Final

from snellen.cli.display import console, print_hint, print_json, print_table
from snellen.cli.options import JSON, Group, command, option
from snellen.memory.home import home

_NAME: Final = option(
    "name", metavar="NAME", help="the user: owner shares the memory of the command line, others get their own"
)


@command(
    "tokens add",
    _NAME,
    JSON,
    examples="""
        snellen tokens add owner
        snellen tokens add ann      # Ann gets a memory of her own
    """,
)
def add(options: argparse.Namespace) -> int:
    """Make a token; it is printed once and kept as a hash."""
    from snellen.serving.users import Tokens

    held = Tokens(home())
    token = held.add(options.name)
    place = held.user(options.name).home
    if options.json:
        print_json({"name": options.name, "token": token, "home": str(place)})
        return 0
    # On standard output alone, so that it can go straight into a file or a variable.
    console().print(token)
    print_hint(f"Keep it: it is not shown again. The memory of {options.name} is {place}.")
    return 0


@command("tokens list", JSON, examples="snellen tokens list")
def list_(options: argparse.Namespace) -> int:
    """List the users who have a token."""
    from snellen.serving.users import Tokens

    held = Tokens(home())
    rows = [(one.name, one.created, one.last_used or "never", str(held.user(one.name).home)) for one in held.all()]
    if options.json:
        columns = ("name", "created", "last_used", "home")
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return 0
    print_table(("name", "made (UTC)", "last used (UTC)", "memory"), rows)
    if not held.required:
        print_hint("No tokens: a server is open to this machine alone. Make one: snellen tokens add NAME")
    return 0


@command("tokens revoke", _NAME.but(help="the user whose token is revoked"), JSON, examples="snellen tokens revoke ann")
def revoke(options: argparse.Namespace) -> int:
    """Revoke the token of a user."""
    from snellen.serving.users import Tokens

    held = Tokens(home())
    held.revoke(options.name)
    left = len(held.all())
    if options.json:
        print_json({"revoked": options.name, "left": left})
    elif left:
        print_hint(f"The token of {options.name} is no longer valid.")
    else:
        print_hint(
            "No token is left: nobody can use a server of this memory. Make one, "
            f"or delete {held.path} to open servers to this machine alone."
        )
    return 0


TOKENS: Final = Group("tokens", "Choose who may use your server: make, list and revoke tokens", (add, list_, revoke))
