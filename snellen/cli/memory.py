"""What ``snellen memory …`` does: see, check, forget and carry elsewhere what was learned.

Each function takes the parsed options and returns the exit status.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.cli.display import console, print_json, print_table
from snellen.cli.main import local_place
from snellen.errors import BadInput, SnellenError
from snellen.memory.adapters import AdapterStore
from snellen.memory.archives import export_memory, import_memory
from snellen.memory.demonstrations import SEED, DemonstrationPool
from snellen.memory.home import home, home_to_read
from snellen.memory.prompts import PromptPool, PromptSelection
from snellen.reasoning.case_based.reasoner import SEEDS
from snellen.reasoning.language.inflection import counted
from snellen.tuning import POOL_OF_TOOL, POOLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from snellen.memory.adapters import Adapter
    from snellen.memory.demonstrations import Demonstration
    from snellen.memory.prompts.records import LearnedPrompt
    from snellen.memory.verification import Verification

DEMONSTRATIONS: Final = "demonstrations"
"""What ``--pool`` takes beside the pools of prompts."""

_LINE: Final = 60
_LISTED: Final = 1000


def _stats(options: argparse.Namespace) -> int:
    prompts = PromptPool(home_to_read()).stats()
    parts = Counter(
        (one.kind, one.correct, one.source == SEED) for one in DemonstrationPool(home_to_read(), seeds=SEEDS).all()
    )
    counted = [
        {"kind": kind, "correct": correct, "seeds": parts[kind, correct, True], "learned": parts[kind, correct, False]}
        for kind in ("plan", "program")
        for correct in (True, False)
    ]
    adapters = list(AdapterStore(home_to_read()))
    if options.json:
        print_json(
            {
                "home": str(home_to_read()),
                "prompts": [dataclasses.asdict(one) for one in prompts],
                DEMONSTRATIONS: counted,
                "adapters": len(adapters),
            }
        )
        return 0
    rows = [
        (one.pool, one.fingerprint, one.concepts, one.prompts, one.zeros, _by(one.shape), f"{one.bytes:,}")
        for one in prompts
    ]
    print_table(("pool", "checkpoint", "concepts", "prompts", "of zeros", "shape", "bytes"), rows, title="prompts")
    examples = [(one["kind"], _part(correct=bool(one["correct"])), one["seeds"], one["learned"]) for one in counted]
    print_table((DEMONSTRATIONS, "part", "seeds", "learned"), examples, title="demonstrations")
    if adapters:
        corrected = Counter(one.model for one in adapters)
        print_table(("model", "adapters"), list(corrected.items()), title="corrected models")
    return 0


def _list(options: argparse.Namespace) -> int:
    prompts, demonstrations = _selected(options)
    adapters = [] if options.pool or options.concept else list(AdapterStore(home_to_read()))
    if options.json:
        print_json(
            {
                "prompts": [dataclasses.asdict(one) for one in prompts],
                DEMONSTRATIONS: [dataclasses.asdict(one) for one in demonstrations],
                "adapters": [_adapter_json(one) for one in adapters],
            }
        )
        return 0
    rows = [
        (one.id, one.pool, one.concept, one.source, one.created[:19].replace("T", " "), _short(one.question))
        for one in prompts[:_LISTED]
    ]
    rows += [
        (one.id, _kind(one), "", one.source, one.created[:19].replace("T", " "), _short(one.instruction))
        for one in demonstrations[:_LISTED]
    ]
    rows += [
        (one.name, "adapter", "", one.origin, one.created[:19].replace("T", " "), _short(one.about))
        for one in adapters[:_LISTED]
    ]
    print_table(("id", "pool", "concept", "source", "learned (UTC)", "question or instruction"), rows)
    if not rows:
        _hint("Nothing of that kind has been learned yet; `snellen learn CONCEPT` teaches tools a concept.")
    left = len(prompts) + len(demonstrations) + len(adapters) - len(rows)
    if left:
        console().print(f"… and {left} more: narrow them down by --pool or --concept, or take --json.", style="dim")
    return 0


def _show(options: argparse.Namespace) -> int:
    if not options.names:
        msg = "Nothing was named to show: give ids as `snellen memory list` shows them."
        raise BadInput(msg)
    shown = [_shown(one) for one in options.names]
    if options.json:
        print_json(shown)
        return 0
    for one in shown:
        print_table(("field", "value"), [(name, _in_words(value)) for name, value in one.items()])
    return 0


def _shown(one: str) -> dict[str, Any]:
    prompt = PromptPool(home_to_read()).get(one)
    if prompt is not None:
        return _prompt_json(prompt)
    adapter = AdapterStore(home_to_read()).find(one)
    if adapter is not None:
        return _adapter_json(adapter)
    found = DemonstrationPool(home_to_read()).get([one])
    if not found:
        raise BadInput(_unknown([one]))
    return {"what": "demonstration"} | dataclasses.asdict(found[0])


def _forget(options: argparse.Namespace) -> int:
    if not (options.names or options.pool or options.concept or options.all):
        msg = (
            "Nothing was named to forget: give ids as `snellen memory list` shows them, --concept, --pool, or --all "
            "for everything that was learned."
        )
        raise BadInput(msg)
    if options.names and (options.pool or options.concept or options.all):
        msg = "Forget either by ids or by --pool, --concept and --all, not by both at once."
        raise BadInput(msg)
    if options.all and (options.pool or options.concept):
        msg = "--all forgets everything that was learned; leave out --pool and --concept, or leave out --all."
        raise BadInput(msg)
    store = AdapterStore(home())
    named = [one.name for one in store if options.all or one.name in options.names]
    others = [one for one in options.names if one not in named]
    prompts, demonstrations = _by_ids(others) if options.names else _by_conditions(options)
    adapters = sum(store.forget(one) for one in named)
    if options.json:
        print_json({"prompts": prompts, DEMONSTRATIONS: demonstrations, "adapters": adapters})
    else:
        also = f", {adapters} adapter{'s' * (adapters != 1)}" if adapters else ""
        console().print(f"forgotten: {_counted(prompts, demonstrations)}{also}")
        if prompts or demonstrations or adapters:
            console().print("everything is now as if they had never been learned", style="dim")
    return 0


def _by_ids(ids: list[str]) -> tuple[int, int]:
    if not ids:
        return 0, 0
    prompts, demonstrations = PromptPool(home()), DemonstrationPool(home())
    examples = demonstrations.get(ids)
    there = {one.id for one in prompts.rows(PromptSelection(ids=tuple(ids)))} | {one.id for one in examples}
    unknown = [one for one in ids if one not in there]
    if unknown:
        raise BadInput(_unknown(unknown))
    # A program whose plan is forgotten would go on teaching it.
    programs = [program.id for one in examples if one.kind == "plan" for program in demonstrations.made_from(one)]
    return prompts.forget(ids), demonstrations.forget([*ids, *programs])


def _by_conditions(options: argparse.Namespace) -> tuple[int, int]:
    if options.all:
        return PromptPool(home()).forget(all_=True), DemonstrationPool(home()).forget(learned=True)
    if options.pool == DEMONSTRATIONS:
        _refuse_concept(options)
        return 0, DemonstrationPool(home()).forget(learned=True)
    return PromptPool(home()).forget(pool=options.pool, concept=options.concept), 0


def _export(options: argparse.Namespace) -> int:
    told = export_memory(PromptPool(home()), _one_file(options))
    if options.json:
        print_json(dataclasses.asdict(told))
    else:
        console().print(
            f"wrote {told.path}: {_counted(told.prompts, told.demonstrations)}, {told.bytes:,} bytes; "
            f"`snellen memory import {Path(told.path).name}` adds them elsewhere"
        )
    return 0


def _import(options: argparse.Namespace) -> int:
    told = import_memory(PromptPool(home()), _one_file(options))
    if options.json:
        print_json(dataclasses.asdict(told))
    else:
        said = f"{_counted(told.prompts, told.demonstrations)}; {told.already_there} were already there"
        console().print(f"added from {told.path}: {said}")
    return 0


def _verify(options: argparse.Namespace) -> int:
    from snellen.graphs.states import STATE_TYPES
    from snellen.memory.verification import verify_memory
    from snellen.threads.redrawing import Redrawing

    folder = home_to_read() if options.dry_run else home()
    again = Redrawing(folder)
    found = verify_memory(
        folder,
        lambda: _searchable(options.profile),
        repair=not options.dry_run,
        state_types=STATE_TYPES,
        draw=again.draw,
        complete=again.complete,
    )
    if options.json:
        print_json(found.to_json())
    else:
        _show_verification(found)
    if found.lost:
        msg = (
            f"{found.lost} of what was stored is lost, as the table says: a picture can be given again, what was "
            "learned can be learned again, a run can be begun again."
        )
        raise SnellenError(msg)
    return 0


def _copy_threads(options: argparse.Namespace) -> int:
    import asyncio

    from snellen.graphs.states import STATE_TYPES
    from snellen.memory.thread_copying import copy_threads

    told = asyncio.run(copy_threads(home(), state_types=STATE_TYPES))
    if options.json:
        print_json(told)
        return 0
    print_table(("thread", "what became of it"), list(told.items()), title="threads")
    console().print("the SQLite database was left as it is")
    return 0


def _show_verification(found: Verification) -> None:
    named = {
        "prompts": found.prompts,
        "files of prompts": found.blocks,
        DEMONSTRATIONS: found.demonstrations,
        "search indexes": found.indexes,
        "threads": found.threads,
        "pictures": found.pictures,
        "trials": found.trials,
        "samples": found.samples,
        "adapters": found.adapters,
    }
    print_table(tuple(named), [tuple(named.values())], title="checked")
    screen = console()
    if found.clean:
        screen.print("everything is as it was stored")
        return
    print_table(("found", "where", "what"), [(one.kind, one.place, one.said) for one in found.findings])
    if not found.repaired:
        screen.print("nothing was changed; without --dry-run, what can be mended is")


def _hint(sentence: str) -> None:
    """On standard error: standard output may be read by a program."""
    sys.stderr.write(f"{sentence}\n")


def _searchable(profile: str) -> DemonstrationPool:
    from snellen.memory.embedding import SentenceEmbedding
    from snellen.profiles import load_profile

    embed = SentenceEmbedding(load_profile(profile))
    return DemonstrationPool(home_to_read(), embed=embed, embedding=embed.name)


def _selected(options: argparse.Namespace) -> tuple[list[Any], list[Demonstration]]:
    if options.pool == DEMONSTRATIONS:
        _refuse_concept(options)
        return [], DemonstrationPool(home_to_read()).all()
    prompts = PromptPool(home_to_read()).rows(PromptSelection(pool=options.pool, concept=options.concept))
    narrowed = options.pool or options.concept
    return prompts, [] if narrowed else DemonstrationPool(home_to_read()).learned()


def _adapter_json(adapter: Adapter) -> dict[str, Any]:
    return {"what": "adapter", "name": adapter.name, **dataclasses.asdict(adapter), "folder": str(adapter.folder)}


def _prompt_json(learned: LearnedPrompt) -> dict[str, Any]:
    """Describe a prompt with the sizes of its tensors; the numbers themselves tell a reader nothing."""
    import numpy as np

    return {
        "what": "prompt",
        **dataclasses.asdict(learned.row),
        "norm": round(float(np.linalg.norm(learned.prompt)), 6),
        "zeros": not learned.prompt.any(),
        "feature": len(learned.feature),
    }


def _one_file(options: argparse.Namespace) -> Path:
    if len(options.names) != 1:
        msg = f"`snellen memory {options.action}` takes one file, as in `snellen memory {options.action} learned.zip`."
        raise BadInput(msg)
    try:
        return Path(local_place(options.names[0]))
    except argparse.ArgumentTypeError as error:
        msg = f"{str(error).rstrip('.')}."
        raise BadInput(msg) from error


def _refuse_stray_options(options: argparse.Namespace) -> None:
    """Refuse options that an action would silently ignore."""
    if options.names and options.action in {"stats", "list", "verify", "copy-threads"}:
        msg = f"`snellen memory {options.action}` takes no {options.names[0][:40]!r}; see `snellen memory --help`."
        raise BadInput(msg)
    if (options.pool or options.concept) and options.action not in {"list", "forget"}:
        msg = f"--pool and --concept are for list and forget, not for {options.action}."
        raise BadInput(msg)
    if options.all and options.action != "forget":
        msg = f"--all is for forget, not for {options.action}."
        raise BadInput(msg)
    if options.dry_run and options.action != "verify":
        msg = f"--dry-run is for verify, not for {options.action}."
        raise BadInput(msg)


def _known_pool(named: str) -> str:
    """Spell a pool as it is kept; SELECT and CLASSIFY share one."""
    if named.lower() in {"", DEMONSTRATIONS}:
        return named.lower()
    pool = POOL_OF_TOOL.get(named.upper(), named.upper())
    if pool not in POOLS:
        msg = f"There is no pool {named[:40]!r}: choose among {', '.join(POOLS)} and {DEMONSTRATIONS}."
        raise BadInput(msg)
    return pool


def _refuse_concept(options: argparse.Namespace) -> None:
    if options.concept:
        msg = "Demonstrations belong to no concept; leave out --concept, or name a pool of prompts."
        raise BadInput(msg)


def _counted(prompts: int, demonstrations: int) -> str:
    return f"{counted(prompts, 'prompt')}, {counted(demonstrations, 'demonstration')}"


def _unknown(ids: list[str]) -> str:
    named = ", ".join(repr(one[:40]) for one in ids[:3])
    return f"Nothing that was learned has the id {named}; `snellen memory list` shows the ids."


def _kind(one: Demonstration) -> str:
    return f"{_part(correct=one.correct)} {one.kind}"


def _part(*, correct: bool) -> str:
    return "correct" if correct else "incorrect"


def _by(shape: tuple[int, ...]) -> str:
    return " x ".join(str(one) for one in shape)


def _in_words(value: object) -> str:
    if isinstance(value, tuple):
        return _by(value)
    return "; ".join(value) if isinstance(value, list) else str(value)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE else line[: _LINE - 1] + "…"


def _checked(action: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Have the options looked at before anything is done."""

    def checked(options: argparse.Namespace) -> int:
        _refuse_stray_options(options)
        options.pool = _known_pool(options.pool)
        return action(options)

    return checked


ACTIONS: Final = {
    "stats": _checked(_stats),
    "list": _checked(_list),
    "show": _checked(_show),
    "forget": _checked(_forget),
    "export": _checked(_export),
    "import": _checked(_import),
    "verify": _checked(_verify),
    "copy-threads": _checked(_copy_threads),
}
