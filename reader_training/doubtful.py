"""Wordings of which a reader that was not trained on them thinks otherwise, for a second look.

    python -m reader_training.doubtful out/examples.pkl out/reader.pt

Prints those of the validation part that are read as something else, the surest first: the reader or the writer errs.
"""

from __future__ import annotations

import argparse
import pickle
from collections import Counter
from pathlib import Path
from typing import Final, cast

from reader_training.example import Example
from reader_training.train import weights_of
from snellen.reasoning.learned.languages import PICTURES, QUERIES
from snellen.reasoning.learned.reader import reader_with
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.things import Part

_BOUNDS: Final = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)


def meant(example: Example) -> Part:
    """Return the meaning of an example."""
    language = PICTURES if example.pictures else QUERIES
    meaning = language.possible(example.actions, example.text.copyables)
    return canonical(cast("Part", meaning))


def main() -> None:
    """Print readings that differ, and how many are right from each probability on."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("examples", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    examples: list[Example] = pickle.loads(options.examples.read_bytes())  # noqa: S301 - our own file
    reader = reader_with(weights_of(options.weights))
    found: list[tuple[str, float, bool, str]] = []
    for each in examples:
        if not each.validation:
            continue
        guesses = reader.read(each.text, each.pictures)
        best = guesses[0] if guesses else None
        is_right = best is not None and best.meaning == meant(each)
        sure = 0.0 if best is None or best.unused else best.probability
        found.append((each.source, sure, is_right, f"{' '.join(each.text.words)}\n      {best and best.meaning}"))
    if options.show:
        for source, sure, is_right, said in sorted(found, key=lambda one: -one[1]):
            if not is_right:
                print(f"{sure:.2f} {source} {said}")
    for name in (*sorted({source for source, *_ in found}), "all"):
        some = [(sure, is_right) for source, sure, is_right, _ in found if name in {source, "all"}]
        print(name, len(some))
        for bound in _BOUNDS:
            taken = Counter(is_right for sure, is_right in some if sure >= bound)
            share, right = taken.total() / len(some), taken[True] / max(taken.total(), 1)
            print(f"   {bound:.2f}  {share:.3f} taken, {right:.3f} of them right")


if __name__ == "__main__":
    main()
