"""Ship a trained reader: its weights in half precision, and the words that it knows.

python -m reader_training.export out/reader.pt
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import save_file

from reader_training.examples import WORDINGS
from reader_training.train import weights_of
from snellen.reasoning.learned.reader import WEIGHTS, WORDS

_OFTEN: Final = 3
_WORD: Final = re.compile(r"[a-z]+(?:[-'][a-z]+)*")


def known_words() -> list[str]:
    """Return the words that stand in wordings of at least three meanings."""
    meanings: dict[str, set[str]] = defaultdict(set)
    for file in sorted(WORDINGS.glob("*.tsv")):
        for line in file.read_text(encoding="utf-8").splitlines():
            identity, _, text = line.partition("\t")
            key = text if file.stem == "talk" else identity
            for word in _WORD.findall(text.casefold()):
                meanings[word].add(f"{file.stem} {key}")
    return sorted(word for word, within in meanings.items() if len(within) >= _OFTEN)


def main() -> None:
    """Write the weights and the words."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("weights", type=Path)
    options = parser.parse_args()
    weights = {name: value.to(torch.float16).contiguous() for name, value in weights_of(options.weights).items()}
    save_file(weights, WEIGHTS)
    words = known_words()
    WORDS.write_text("\n".join(words) + "\n", encoding="utf-8")
    print(json.dumps({"megabytes": round(WEIGHTS.stat().st_size / 1e6, 2), "words": len(words)}))


if __name__ == "__main__":
    main()
