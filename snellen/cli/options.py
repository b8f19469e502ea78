"""Commands and their options: declared above the function that they belong to, on the standard library alone.

An option that several commands take is declared once, here, so that it means the same everywhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import dedent, indent
from typing import Any, Final, NoReturn

from snellen.errors import BadInput
from snellen.sentences import capitalized

_PATHS: Final = frozenset({"DIR", "FILE"})
_USUAL_LINES: Final = 50
"""Lines of a page that is asked for by its number alone."""
"""Metavariables of options that name a file or a folder."""


def local_path(text: str) -> str:
    """Return a path of this machine, as it was given.

    Raises:
        argparse.ArgumentTypeError: It is an address of the web, which would name nothing here, and lose a slash.
    """
    if text.lower().startswith(("http://", "https://")):
        msg = f"{text[:200]} is an address, and nothing is fetched: give a file or a folder of this machine"
        raise argparse.ArgumentTypeError(msg)
    return text


def counting(text: str) -> int:
    """Return a number from 1 on.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text)):  # noqa: PLR2004 - digits
        msg = f"{text[:40]!r} is no number from 1 on"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def page_of(options: argparse.Namespace) -> slice:
    """Return the places of a list that ``PAGES`` asks for."""
    lines = lines_of(options)
    return slice(None) if lines is None else slice((options.page - 1) * lines, options.page * lines)


def lines_of(options: argparse.Namespace) -> int | None:
    """Return how many lines a page of ``PAGES`` has; None where all are wanted."""
    lines: int | None = options.lines
    return _USUAL_LINES if lines is None and options.page > 1 else lines


def refuse_undecoded(name: str, text: str) -> None:
    """Refuse text that the terminal did not decode.

    Raises:
        BadInput: It is no valid UTF-8.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        msg = f"The {name} is not valid UTF-8 text: check the terminal's encoding and type it again."
        raise BadInput(msg) from error


@dataclass(frozen=True)
class Option:
    """An option or a positional argument: the arguments of ``argparse.ArgumentParser.add_argument``.

    Attributes:
        group: The heading that the help shows it under; empty for the usual one.
        exclusive: True where at most one of a command's exclusive options may be given.
        former: Its name in earlier versions, which is still understood.
    """

    names: tuple[str, ...]
    settings: Mapping[str, Any]
    group: str = ""
    exclusive: bool = False
    former: str = ""

    def but(self, **settings: Any) -> Option:  # noqa: ANN401 - whatever argparse takes
        """Return the same option with other settings, such as another help text."""
        return replace(self, settings={**self.settings, **settings})


def option(
    *names: str,
    group: str = "",
    exclusive: bool = False,
    former: str = "",
    **settings: Any,  # noqa: ANN401 - whatever argparse takes
) -> Option:
    """Declare an option as ``add_argument`` does; paths are checked to be paths."""
    if settings.get("metavar") in _PATHS:
        settings.setdefault("type", local_path)
    return Option(names, settings, group, exclusive, former)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are bad input in one sentence, like everyone else's."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line.

        Raises:
            BadInput: Always.
        """
        msg = f"{message.rstrip('.')} (see `{self.prog} --help`)."
        raise BadInput(capitalized(msg))


@dataclass(frozen=True)
class Command:
    """A command: its words (``memory list``), a summary, examples, options, and the function that does it.

    Attributes:
        run: Takes the parsed options and returns the exit status.
    """

    name: str
    summary: str
    examples: str
    options: Sequence[Option]
    run: Callable[[argparse.Namespace], int]

    def parser(self) -> Parser:
        """Return the parser of its options."""
        parser = Parser(
            prog=f"snellen {self.name}",
            description=f"{self.summary}.",
            epilog=examples_of(self.examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.declare(parser)
        return parser

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Add its options to a parser."""
        # An empty group of exclusive options breaks the usage line.
        exclusive = parser.add_mutually_exclusive_group() if any(one.exclusive for one in self.options) else parser
        groups: dict[str, argparse._ArgumentGroup] = {}
        for one in self.options:
            place: argparse._ActionsContainer = exclusive if one.exclusive else parser
            if one.group:
                place = groups.get(one.group) or groups.setdefault(one.group, parser.add_argument_group(one.group))
            place.add_argument(*one.names, **one.settings)
            if one.former:
                former = {**one.settings, "dest": one.names[0].removeprefix("--"), "help": argparse.SUPPRESS}
                place.add_argument(one.former, **former)


@dataclass(frozen=True)
class Group:
    """Commands under one word, such as ``memory``.

    Attributes:
        default: The action where none is named; empty where one must be.
    """

    name: str
    summary: str
    commands: Sequence[Command]
    default: str = ""
    actions: Mapping[str, Command] = field(init=False)

    def __post_init__(self) -> None:
        """Find its commands by their last word."""
        object.__setattr__(self, "actions", {one.name.split()[-1]: one for one in self.commands})

    def help(self) -> str:
        """Return its help: every action with its summary, and their examples."""
        usage = f"snellen {self.name} {'[ACTION]' if self.default else 'ACTION'} …"
        actions = "\n".join(
            f"  {name:13} {one.summary}{' (default)' if name == self.default else ''}"
            for name, one in self.actions.items()
        )
        more = f"  snellen {self.name} ACTION --help    the options of an action"
        examples = examples_of("\n".join(dedent(one.examples).strip("\n") for one in self.commands))
        return f"usage: {usage}\n\n{self.summary}.\n\nactions:\n{actions}\n\n{more}\n\n{examples}\n"


def command(name: str, *options: Option, examples: str) -> Callable[[Callable[[argparse.Namespace], int]], Command]:
    """Make a command of the function below, summarized by its docstring.

    The function takes the parsed options and returns the exit status.
    """

    def made(run: Callable[[argparse.Namespace], int]) -> Command:
        return Command(name, (run.__doc__ or "").rstrip("."), examples, options, run)

    return made


def examples_of(lines: str) -> str:
    """Return the examples of a help text under their heading."""
    return "examples:\n" + indent(dedent(lines).strip("\n"), "  ")


JSON: Final = option("--json", action="store_true", help="print JSON instead of text")
PAGES: Final = (
    option("--lines", type=counting, metavar="N", help="list at most so many, a page"),
    option("--page", type=counting, default=1, metavar="N", help="which page of --lines (50), from 1 on"),
)
HTML: Final = option("--html", metavar="FILE", help="write one self-contained page")
OUT: Final = option("--out", metavar="DIR", help="write the results into this folder")
OUTPUTS: Final = (OUT, HTML, JSON)
PROFILE: Final = option(
    "--profile",
    metavar="P",
    default="embedded",
    help="checkpoints, Reasoner and limits: embedded (default), hub, or a TOML file",
)
OTHER_PROFILE: Final = PROFILE.but(default=None, help="go on with this profile instead of the one it began with")
OFFERED_PROFILES: Final = PROFILE.but(
    default=[], action="append", help="offer this profile, a name or a TOML file; repeat for more (default: embedded)"
)
EXECUTOR: Final = option(
    "--executor",
    choices=("local", "ray"),
    help="ask models in this process, or on the actors of a Ray cluster (default: as the profile says)",
)
THREAD_NAME: Final = option(
    "--thread", metavar="ID", help="give the run this name, to resume it by (default: a new one)"
)
SEED: Final = option("--seed", type=int, default=0, metavar="S", help="choose other pictures (default: 0)")
COUNT: Final = option("-n", type=int, metavar="N")
MODELS: Final = option(
    "--models", action="append", metavar="NAME", help="examine this model; repeat for more (default: all there are)"
)
PICTURES: Final = option("--pictures", metavar="DIR")
DATA: Final = option("--data", default="microworld", metavar="DIR")
BENCH: Final = option("--bench", metavar="DIR", help="the folder that the benchmark was built in")
CONFIRM: Final = option(
    "--confirm",
    former="--approve",
    action="store_true",
    help="ask before anything is learned; without a terminal, stop and wait",
)
INSIST: Final = option(
    "--insist", action="store_true", help="learn from your correction even if it looks wrong (default: ask first)"
)
ANSWER: Final = option(
    "--answer",
    metavar="EXPECTED",
    help="the right answer; a wrong one is explained and learned from, and the task retried",
)
MEANING: Final = option(
    "--meaning", type=int, metavar="N", help="of an instruction that can be meant in several ways, take meaning N"
)
HOST: Final = option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    help="listen on this address; other machines need tokens (default: 127.0.0.1)",
)
PORT: Final = option(
    "--port", type=int, default=7860, metavar="N", help="listen on this port; 0 takes a free one (default: 7860)"
)
NO_WARM_UP: Final = option(
    "--no-warm-up", dest="warm_up", action="store_false", help="load models at the first question, not at the start"
)
NO_RESIDENT: Final = option(
    "--no-resident",
    dest="resident",
    action="store_false",
    help="run in this process, and start none that stays (see `snellen resident --help`)",
)
