"""What the README says to type can be typed in a fresh clone."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from snellen.cli.main import _COMMANDS, _checked_ask, _parser
from snellen.microworld.samples import portrait

_ROOT = Path(__file__).resolve().parents[1]
_README = (_ROOT / "README.md").read_text(encoding="utf-8")
_MORE = re.search(r"## More to try\n\n```\n(.*?)```", _README, re.DOTALL)
assert _MORE is not None
COMMANDS = [
    words
    for line in _MORE[1].splitlines()
    for said in line.split(" && ")
    if (words := shlex.split(said, comments=True))
]


def options_of(words: list[str]) -> argparse.Namespace:
    program, name, *rest = words
    assert program == "snellen"
    return _parser(name, _COMMANDS[name]).parse_intermixed_args(rest)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_of_the_readme_is_understood_and_its_pictures_are_there(words: list[str]) -> None:
    options = options_of(words)
    if words[1] == "ask":
        asked = _checked_ask(options)
        assert asked.pictures
        for picture in asked.pictures:
            assert (_ROOT / picture).is_file(), picture
    assert not any((word.endswith((".png", ".jpg")) and not (_ROOT / word).exists()) for word in words)


@pytest.mark.parametrize(("side", "shown", "seed"), [("left", "3 cats", "left"), ("right", "1 cat", "right 5")])
def test_the_two_pictures_are_drawn_by_the_microworld(side: str, shown: str, seed: str) -> None:
    with PIL.Image.open(_ROOT / "examples" / f"{side}.png") as kept:
        assert np.array_equal(np.asarray(kept.convert("RGB")), np.asarray(portrait(shown, seed).picture()))
