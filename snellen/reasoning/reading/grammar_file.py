"""The form of grammar files: word classes, rules with their meanings, and words that carry none.

    COLOUR = red: red | scarlet            the word class COLOUR: these phrases, with the value "red"
    SPELLING colour: color | colur         other spellings of a word
    FILLER: please | kindly                phrases that may stand anywhere and mean nothing
    LEADING: so | well                     the same, at the beginning only
    thing = "the" colour? NOUN : noun_phrase(2, 3) @ 0.5

A rule has symbols in small letters, word classes in capitals, and phrases in quotation marks ("in|at" is either); `?`
marks what may be missing. After the colon stands what it means: a function of `snellen.reasoning.reading.actions` on
items counted from 1, texts in single quotes and numbers after `#`; an item alone is its own meaning. After `@` stands
what the rule costs: the cheapest readings are taken, and where the cheapest differ, the user is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Final

from snellen.reasoning.reading.chart import Production

_ITEM: Final = re.compile(r'"([^"]+)"(\?)?|([A-Za-z_]+)(\?)?')
_ACTION: Final = re.compile(r"\s*([a-z_]+\(|\)|,|'[^']*'|#-?\d+|\d+|none)")
Action = Callable[[Sequence[Hashable]], Hashable | None]


@dataclass
class Grammar:
    """A grammar file, read.

    Attributes:
        productions: The rules, each way of leaving out optional items one production.
        phrases: Phrases of word classes and of rules: the words, the terminal, the value.
        fillers: Phrases that mean nothing.
        leading: Phrases that mean nothing at the beginning.
        spellings: Spellings of words.
    """

    productions: list[Production] = field(default_factory=list)
    phrases: list[tuple[str, str, str | None]] = field(default_factory=list)
    fillers: list[str] = field(default_factory=list)
    leading: list[str] = field(default_factory=list)
    spellings: dict[str, str] = field(default_factory=dict)

    def add(self, other: Grammar) -> None:
        """Add the rules and words of another file, which may use the symbols of this one."""
        self.productions += other.productions
        self.phrases += [each for each in other.phrases if each not in self.phrases]
        self.fillers += other.fillers
        self.leading += other.leading
        self.spellings |= other.spellings


def read_grammar(path: Path, functions: Mapping[str, Callable[..., Hashable | None]]) -> Grammar:
    """Read a grammar file.

    Raises:
        ValueError: A line is neither a word class nor a rule, or names a function that there is not.
    """
    grammar, symbol, quoted = Grammar(), "", set[str]()
    for line in _lines(path):
        head, _, rest = line.partition(":")
        if head.strip() == "FILLER":
            grammar.fillers += _phrases(rest)
        elif head.strip() == "LEADING":
            grammar.leading += _phrases(rest)
        elif head.startswith("SPELLING "):
            grammar.spellings |= dict.fromkeys(_phrases(rest), head.removeprefix("SPELLING ").strip())
        elif line[0].isupper():
            name, _, value = (part.strip() for part in head.partition("="))
            grammar.phrases += [(phrase, name, value or None) for phrase in _phrases(rest)]
        else:
            name, _, body = line.partition("=") if not line.startswith("|") else (symbol, "", line[1:])
            symbol = name.strip()
            for production in _productions(symbol, body, functions):
                grammar.productions.append(production)
                quoted |= {item for item in production.items if item.startswith('"')}
    grammar.phrases += [(phrase, item, None) for item in sorted(quoted) for phrase in item.strip('"').split("|")]
    return grammar


def _lines(path: Path) -> Iterator[str]:
    """Yield logical lines: a line that ends in `|` or `,` goes on in the next one."""
    held = ""
    for raw in path.read_text(encoding="utf-8").splitlines():
        line = re.sub(r"(^|\s)#(?!-?\d).*", "", raw).strip()
        held = f"{held} {line}".strip()
        if held and not (line.endswith("|") and held[0].isupper()):
            yield held
            held = ""


def _phrases(text: str) -> list[str]:
    return [phrase.strip() for phrase in text.split("|") if phrase.strip()]


def _productions(
    symbol: str, body: str, functions: Mapping[str, Callable[..., Hashable | None]]
) -> Iterator[Production]:
    body, _, cost = body.rpartition("@") if re.search(r"@\s*[\d.]+\s*$", body) else (body, "", "0")
    parts = re.split(r"\s:\s", body, maxsplit=1)
    items = [
        (f'"{match[1]}"' if match[1] else match[3], bool(match[2] or match[4])) for match in _ITEM.finditer(parts[0])
    ]
    if not items:
        msg = f"{symbol} = {body}: this rule has no items"
        raise ValueError(msg)
    action = _action(parts[1] if len(parts) > 1 else "1", functions)
    for present in product(*((True, False) if optional else (True,) for _, optional in items)):
        if any(present):
            places = tuple(number for number, here in enumerate(present) if here)
            taken = tuple(items[number][0] for number in places)
            yield Production(symbol, taken, _placed(action, places, len(items)), float(cost))


def _placed(action: Action, places: tuple[int, ...], count: int) -> Action:
    """Give an action its items at the places where they are written, None for those left out."""

    def act(values: Sequence[Hashable]) -> Hashable | None:
        spread: list[Hashable] = [None] * count
        for place, value in zip(places, values, strict=True):
            spread[place] = value
        try:
            return action(spread)
        except ValueError:  # a meaning that the language of meanings does not allow
            return None

    return act


def _action(text: str, functions: Mapping[str, Callable[..., Hashable | None]]) -> Action:
    parts = _ACTION.findall(text)
    if "".join(parts).replace(" ", "") != text.replace(" ", ""):
        msg = f"{text!r} is no action"
        raise ValueError(msg)
    action, rest = _expression(parts, functions)
    if rest:
        msg = f"{text!r} is more than one action"
        raise ValueError(msg)
    return action


def _expression(parts: list[str], functions: Mapping[str, Callable[..., Hashable | None]]) -> tuple[Action, list[str]]:
    first, *rest = parts
    if not first.endswith("("):
        return _atom(first), rest
    name, arguments = first[:-1], []
    if name not in functions:
        msg = f"there is no action {name}"
        raise ValueError(msg)
    while rest[0] != ")":
        argument, rest = _expression(rest, functions)
        arguments.append(argument)
        if rest[0] == ",":
            rest = rest[1:]
    return _call(functions[name], tuple(arguments)), rest[1:]


def _call(function: Callable[..., Hashable | None], arguments: tuple[Action, ...]) -> Action:
    """Call a function on what its arguments mean; where an argument that is a call means nothing, neither does this."""

    def act(values: Sequence[Hashable]) -> Hashable | None:
        meant = [argument(values) for argument in arguments]
        pairs = zip(meant, arguments, strict=True)
        missing = any(value is None and argument.__name__ == "act" for value, argument in pairs)
        return None if missing else function(*meant)

    return act


def _atom(text: str) -> Action:
    if text == "none":
        return lambda _: None
    if text.isdigit():
        place = int(text) - 1
        return lambda values: values[place]
    constant: Hashable = int(text[1:]) if text.startswith("#") else text.strip("'")
    return lambda _: constant
