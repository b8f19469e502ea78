"""``snellen completion``: a script that lets a shell complete commands, options, choices and files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Final

from snellen.cli.options import Command, Group, command, option

_SHELLS: Final = ("bash", "zsh", "fish")


def completion_of(commands: Mapping[str, Command | Group]) -> Command:
    """Return the command that prints scripts for these commands, itself among them."""

    @command(
        "completion",
        option("shell", choices=_SHELLS, metavar="SHELL", help="bash, zsh or fish"),
        examples="""
            source <(snellen completion bash)                                        # in ~/.bashrc
            snellen completion zsh > "${fpath[1]}/_snellen"                          # then begin a new shell
            snellen completion fish > ~/.config/fish/completions/snellen.fish
        """,
    )
    def completion(options: argparse.Namespace) -> int:
        """Print a script that completes commands and options in your shell."""
        import shtab

        sys.stdout.write(shtab.complete(_parser(commands), shell=options.shell) + "\n")
        return 0

    return completion


def _declare(parser: argparse.ArgumentParser, one: Command) -> None:
    """Add the options of a command, and say which take files and folders."""
    import shtab

    one.declare(parser)
    completers = {"FILE": shtab.FILE, "PICTURE… INSTRUCTION": shtab.FILE, "DIR": shtab.DIRECTORY}
    for action in parser._actions:  # noqa: SLF001 - as shtab's manual does
        if isinstance(action.metavar, str) and action.metavar in completers:
            action.complete = completers[action.metavar]  # type: ignore[attr-defined]


def _parser(commands: Mapping[str, Command | Group]) -> argparse.ArgumentParser:
    """Return one parser of all commands, for shtab to read."""
    parser = argparse.ArgumentParser(prog="snellen")
    parser.add_argument("--version", action="store_true", help="print the version")
    words = parser.add_subparsers(metavar="COMMAND")
    for name, one in commands.items():
        inner = words.add_parser(name, help=one.summary)
        if isinstance(one, Command):
            _declare(inner, one)
            continue
        actions = inner.add_subparsers(metavar="ACTION")
        for action, each in one.actions.items():
            _declare(actions.add_parser(action, help=each.summary), each)
    return parser
