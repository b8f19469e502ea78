"""What the README says to type can be typed in a fresh clone."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from snellen.cli.ask import pictures_and_instruction
from snellen.cli.main import parse
from snellen.microworld.samples import portrait

_ROOT = Path(__file__).resolve().parents[1]
_README = (_ROOT / "README.md").read_text(encoding="utf-8")
_BLOCKS = re.compile(r"```(?:bash|sh|console)?\n(.*?)```", re.DOTALL)


def _commands(text: str) -> Iterator[list[str]]:
    """The commands in the blocks of a document, without what stands before and after them."""
    for block in _BLOCKS.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if match := re.match(r"(?:\$ |[A-Z_]+=\S+ )*snellen (?=[a-z])", line):
                for command in f"snellen {line[match.end() :]}".split(" && "):
                    words = shlex.split(command.partition(" | ")[0], comments=True)
                    if words[0] == "snellen":
                        yield words


COMMANDS = list(_commands(_README))
DOCUMENTED = [
    (path.name, words) for path in sorted((_ROOT / "docs").glob("*.md")) for words in _commands(path.read_text())
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_of_the_readme_is_understood_and_its_pictures_are_there(words: list[str]) -> None:
    _, options = parse(words[1:])
    if words[1] == "ask" and "street.jpg" not in words:
        pictures, _ = pictures_and_instruction(options.words)
        assert pictures
        for picture in pictures:
            assert (_ROOT / picture).is_file(), picture


@pytest.mark.parametrize(
    ("name", "words"), DOCUMENTED, ids=[f"{name}: {' '.join(words)}" for name, words in DOCUMENTED]
)
def test_a_command_of_the_documents_is_understood(name: str, words: list[str]) -> None:
    assert parse(words[1:])


@pytest.mark.parametrize(("side", "shown", "seed"), [("left", "3 cats", "left"), ("right", "1 cat", "right 5")])
def test_the_two_pictures_are_drawn_by_the_microworld(side: str, shown: str, seed: str) -> None:
    with PIL.Image.open(_ROOT / "examples" / f"{side}.png") as kept:
        assert np.array_equal(np.asarray(kept.convert("RGB")), np.asarray(portrait(shown, seed).picture()))
