"""What ``snellen tokens …`` does: say who may use a server of this home.

Each function takes the parsed options and returns the exit status.
"""

from __future__ import annotations

import argparse

from snellen.cli.display import console, print_json, print_table
from snellen.errors import BadInput
from snellen.memory.home import home
from snellen.serving.users import OWNER, Tokens


def tokens(options: argparse.Namespace) -> int:
    """Make, list or revoke tokens."""
    if options.action == "list":
        return _list(options)
    if not options.name:
        msg = f"Whose token? Name the user, as in `snellen tokens {options.action} {OWNER}`."
        raise BadInput(msg)
    return {"add": _add, "revoke": _revoke}[options.action](options)


def _add(options: argparse.Namespace) -> int:
    held = Tokens(home())
    token = held.add(options.name)
    place = held.user(options.name).home
    if options.json:
        print_json({"name": options.name, "token": token, "home": str(place)})
        return 0
    # On standard output alone, so that it can go straight into a file or a variable.
    console().print(token)
    _hint(f"Keep it: it is not shown again. {options.name} works in {place}.")
    return 0


def _list(options: argparse.Namespace) -> int:
    held = Tokens(home())
    rows = [(one.name, one.created, one.last_used or "never", str(held.user(one.name).home)) for one in held.all()]
    if options.json:
        columns = ("name", "created", "last_used", "home")
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return 0
    print_table(("name", "made (UTC)", "last used (UTC)", "memory"), rows)
    if not held.required:
        _hint("Nobody needs a token yet: a server is open to this machine alone. `snellen tokens add NAME` makes one.")
    return 0


def _revoke(options: argparse.Namespace) -> int:
    held = Tokens(home())
    held.revoke(options.name)
    left = len(held.all())
    if options.json:
        print_json({"revoked": options.name, "left": left})
        return 0
    if left:
        _hint(f"The token of {options.name} opens nothing any more.")
    else:
        _hint(
            "No token is left, so nobody can use a server of this memory: make one, "
            f"or delete {held.path} to have servers open to this machine alone."
        )
    return 0


def _hint(sentence: str) -> None:
    import sys

    sys.stderr.write(f"{sentence}\n")
