"""The command line, ``snellen COMMAND …``: finds the command, parses its options, and tells errors.

Nothing but the standard library and the declarations of the commands is imported before one runs, so that
``snellen --help`` answers at once.
"""

from __future__ import annotations

import argparse
import difflib
import os
import shlex
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from snellen.cli import (
    ask,
    campaign,
    chat,
    correct,
    demonstrations,
    evaluate,
    export,
    investigate,
    learn,
    mcp,
    memory,
    models,
    pairs,
    prove,
    report,
    resume,
    serve,
    studio,
    threads,
    tokens,
    tools,
)
from snellen.cli.completion import completion_of
from snellen.cli.options import Command, Group, refuse_undecoded
from snellen.cli.outputs import check_outputs
from snellen.cli.resident.command import RESIDENT, run_in_resident
from snellen.errors import BadInput, SnellenError, out_of_memory
from snellen.process_end import end_process
from snellen.runtime.termination import INTERRUPTED, TERMINATED, sigterm_as_interrupt
from snellen.version import installed_version

DEBUG_VARIABLE: Final = "SNELLEN_DEBUG"

COMMANDS: Final[dict[str, Command | Group]] = {
    one.name: one
    for one in (
        ask.ask,
        correct.correct,
        learn.learn,
        investigate.investigate,
        report.reports,
        report.report,
        export.export,
        campaign.campaign,
        prove.PROVE,
        pairs.PAIRS,
        threads.THREADS,
        resume.resume,
        tools.tools,
        models.models,
        demonstrations.demonstrations,
        memory.MEMORY,
        RESIDENT,
        chat.chat,
        serve.serve,
        tokens.TOKENS,
        mcp.mcp,
        studio.studio,
        evaluate.EVALUATE,
    )
}
"""Every command by its word, in the order of the help."""
COMMANDS["completion"] = completion_of(COMMANDS)

_REPEATED: Final = frozenset({"campaign", "evaluate", "export", "pairs", "prove"})
"""Commands that go on where they were stopped when they are given once more."""

_ABOUT: Final = """\
usage: snellen COMMAND …

Snellen answers visual tasks: it plans, writes a small program, runs it with real
vision models step by step, and shows each step. And it examines such models: a
question about them becomes experiments, run until the evidence suffices.

start here
  snellen ask street.png "How many dogs are there?"
  snellen ask left.png right.png "There are more cats in the left picture. True or false?"
  snellen ask garden.png "Tag the pets in the picture" --out tagged
  snellen investigate "Are these models robust to rotation?" --html report.html

commands
{commands}

  snellen COMMAND --help    options and examples of a command
  snellen --version         the version

Snellen keeps its memory in SNELLEN_HOME (default: your data directory). Machines share threads if
SNELLEN_CHECKPOINTS=postgresql://… is set, and with SNELLEN_STORE="postgresql://… s3://…" also what
models answered, demonstrations, prompts and pictures (docs/store.md). `snellen resume THREAD` continues a
run that was stopped. After the first question a process stays for some minutes, so that the
next are answered sooner (`snellen resident`). Errors are one sentence; SNELLEN_DEBUG=1 adds the traceback.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: The words after ``snellen``; None takes those of the process.

    Returns:
        The exit status: 0, 2 for bad input, 1 for a failure, 130 when interrupted, 143 when terminated.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    with sigterm_as_interrupt() as termination:
        status = termination.status(_status_of(words, begun_by_shell=arguments is None))
    if status in {INTERRUPTED, TERMINATED} and arguments is None:
        # A worker thread may be loading a model, which nobody waits for any more.
        sys.stdout.flush()
        sys.stderr.flush()
        end_process(status)
    return status


def parse(words: Sequence[str]) -> tuple[Command, argparse.Namespace]:
    """Find the command that words name, and parse its options.

    Raises:
        BadInput: There is no such command or action, or its options are wrong.
        SystemExit: The help of the command was asked for, and is printed.
    """
    entry, rest = COMMANDS.get(words[0]), list(words[1:])
    if entry is None:
        raise BadInput(_unknown(f"There is no command {words[0]!r}", words[0], COMMANDS, "snellen"))
    if isinstance(entry, Group):
        entry, rest = _action(entry, rest)
    # Options may stand between the pictures and the instruction.
    return entry, entry.parser().parse_intermixed_args(rest)


def all_commands() -> Iterator[Command]:
    """Iterate over all commands, those of groups among them."""
    for entry in COMMANDS.values():
        yield from entry.commands if isinstance(entry, Group) else (entry,)


def _action(group: Group, words: list[str]) -> tuple[Command, list[str]]:
    """Return the action that words name, and the words without it; options may stand before it."""
    name = next((word for word in words if word in group.actions), "")
    if name:
        words.remove(name)
        return group.actions[name], words
    if words[:1] in (["-h"], ["--help"]):
        sys.stdout.write(group.help())
        raise SystemExit(0)
    program = f"snellen {group.name}"
    if words and not words[0].startswith("-"):
        raise BadInput(_unknown(f"`{program}` has no action {words[0]!r}", words[0], group.actions, program))
    if not group.default:
        msg = f"Name an action: {', '.join(f'`{program} {one}`' for one in group.actions)}."
        raise BadInput(msg)
    return group.actions[group.default], words


def _unknown(problem: str, word: str, known: Iterable[str], program: str) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    hint = f"did you mean `{program} {near[0]}`?" if near else f"`{program} --help` lists them."
    return f"{problem}: {hint}"


def _status_of(words: list[str], *, begun_by_shell: bool) -> int:
    """Run one command, tell its errors, and return its status."""
    try:
        status = _run(words, begun_by_shell=begun_by_shell)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _tell(f"Interrupted; {_way_on(words)}.", status=INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has gone; Python would complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001 - the last door: a user gets a sentence, a developer may ask for more
        return _tell_error(error)
    return status


def _way_on(words: list[str]) -> str:
    if words[:1] and words[0] in _REPEATED:
        return f"`{shlex.join(['snellen', *words])}` goes on with what is left"
    return "`snellen threads` lists what can be resumed"


def _run(words: list[str], *, begun_by_shell: bool) -> int:
    if not words or words[0] in {"-h", "--help", "help"}:
        commands = "\n".join(f"  {name:15} {one.summary}" for name, one in COMMANDS.items())
        sys.stdout.write(_ABOUT.format(commands=commands))
        return 0
    if words[0] in {"-V", "--version"}:
        sys.stdout.write(f"snellen {installed_version()}\n")
        return 0
    try:
        command, options = parse(words)
    except SystemExit:  # the help that was asked for is printed
        return 0
    for name in ("query", "concept", "says", "answer"):
        value = getattr(options, name, None)
        refuse_undecoded(name, " ".join(value) if isinstance(value, list) else str(value or ""))
    check_outputs(options)
    if begun_by_shell and getattr(options, "resident", False):
        status = run_in_resident(words, options.profile)
        if status is not None:
            return status
    quieten_libraries()
    from snellen.memory.thread_locks import introduce

    introduce(f"snellen {words[0]}")
    if getattr(options, "executor", None) is None:
        return command.run(options)
    from snellen.models.under_test.executors import using_executor

    with using_executor(options.executor):
        return command.run(options)


def quieten_libraries() -> None:
    """Keep the libraries' own bars, advice and phone calls out of the terminal; what the user sets wins."""
    for name, value in {
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
        "DIFFUSERS_VERBOSITY": "error",
        "TOKENIZERS_PARALLELISM": "false",
        "LANGGRAPH_STRICT_MSGPACK": "true",
    }.items():
        os.environ.setdefault(name, value)
    if not _debugging():
        import warnings

        warnings.simplefilter("ignore")


def _debugging() -> bool:
    return os.environ.get(DEBUG_VARIABLE, "").strip().lower() not in {"", "0", "no", "false"}


def _tell_error(error: Exception) -> int:
    error = out_of_memory(error) or error
    if isinstance(error, SnellenError):
        return _tell(str(error), status=error.exit_status)
    if isinstance(error, OSError):
        place = f" ({error.filename})" if error.filename else ""
        return _tell(
            f"The system refused: {error.strerror or error}{place}; check free space and permissions.", status=1
        )
    text = " ".join(str(error).split())[:200]
    reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return _tell(f"Something unexpected went wrong ({reason}); set {DEBUG_VARIABLE}=1 to see where.", status=1)


def _tell(sentence: str, *, status: int) -> int:
    if _debugging():
        traceback.print_exc()
    # A name that is no valid text is shown escaped rather than ending in a second error.
    sys.stderr.write(f"snellen: {sentence}\n".encode(errors="backslashreplace").decode())
    return status


if __name__ == "__main__":
    sys.exit(main())
