"""What a reader in training makes of instructions that the grammar does not read.

    python -m reader_training.unread out/reader.pt [--show]

They are those of `benchmarks/blind_wordings`, whose right answers are known; what was read is right if it denotes the
right answer on the true scene. They are development data.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Final

from benchmarks.dialogues import read_scenes
from benchmarks.picture_graphs import graphs_of
from benchmarks.reading import outcome
from reader_training.examples import ExampleMaker
from reader_training.meanings_to_word import BLIND
from reader_training.train import weights_of
from snellen.profiles import load_profile
from snellen.reasoning.learned.fallback import is_of
from snellen.reasoning.learned.reader import LearnedReader, reader_with
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.reading.reader import Understood, Unread, read

_THRESHOLDS: Final = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def guesses(reader: LearnedReader, make: ExampleMaker, *, every: bool) -> list[dict[str, Any]]:
    """Return what the reader makes of each instruction."""
    facts, scenes = load_profile("embedded").facts_path(), read_scenes(BLIND / "scenes.json")
    found = []
    for file in sorted(BLIND.glob("instructions_*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            shown = [scenes[name.removesuffix(".png")] for name in row["pictures"]]
            if not isinstance(read(row["instruction"], len(shown), facts), Unread) and not every:
                continue
            best = reader.read(make.names.of(row["instruction"]), len(shown))
            fitting = [each for each in best if is_of(each.meaning, len(shown))]
            first = fitting[0] if fitting else None
            result = "none" if first is None else outcome(row, Understood(first.meaning), graphs_of(shown))
            found.append(
                {
                    "file": file.stem,
                    "row": row,
                    "outcome": result,
                    "p": first.probability if first else 0.0,
                    "unused": first.unused if first else (),
                    "echo": echo(first.meaning) if first else "",
                }
            )
    return found


def main() -> None:
    """Print outcomes by threshold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("weights", type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--every", action="store_true", help="those that the grammar reads, too")
    options = parser.parse_args()
    found = guesses(reader_with(weights_of(options.weights)), ExampleMaker(), every=options.every)
    if options.show:
        for each in sorted(found, key=lambda one: -one["p"]):
            print(f"{each['p']:.2f} {each['outcome']:9s} {each['row']['instruction']}")
            print(f"      {each['echo']} {each['unused'] or ''}")
    for threshold in _THRESHOLDS:
        taken = [each for each in found if each["p"] >= threshold and not each["unused"]]
        counts = {name: sum(each["outcome"] == name for each in taken) for name in ("right", "undefined", "other")}
        print(f"{threshold:.2f}: {len(taken)} of {len(found)} taken; {counts}")


if __name__ == "__main__":
    main()
