"""Derivation of the lexicon from WordNet: other names of concepts, and names of kinds that have several of them.

    python -m snellen.reasoning.reading.wordnet --wordnet /usr/share/wordnet --facts microworld/concepts.json

reads WordNet's data files (Debian's package ``wordnet-base``), a file of concepts and facts, and the choices made by
hand beside this module (``lexicon_choices.json``: senses, everyday names, words that mislead), and writes
``lexicon.json``, with the English words that would else be taken for misspellings of known ones (two minutes).
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from snellen.reasoning.language.inflection import regular_plural, singular
from snellen.reasoning.reading.lexical_entries import entries
from snellen.reasoning.reading.reader import InstructionReader
from snellen.reasoning.reading.words import KnownWords

HERE: Final = Path(__file__).parent
CHOICES: Final = HERE / "lexicon_choices.json"
LEXICON: Final = HERE / "lexicon.json"
_MOST_MEMBERS: Final = 6
"""A kind of more concepts is named by its group or not at all: its echo would be a list that nobody reads."""
_OF_THINGS: Final = frozenset({"noun.animal", "noun.artifact", "noun.food", "noun.person", "noun.plant"})
_LEXICAL_FILES: Final = [
    "adj.all",
    "adj.pert",
    "adv.all",
    "noun.Tops",
    "noun.act",
    "noun.animal",
    "noun.artifact",
    "noun.attribute",
    "noun.body",
    "noun.cognition",
    "noun.communication",
    "noun.event",
    "noun.feeling",
    "noun.food",
    "noun.group",
    "noun.location",
    "noun.motive",
    "noun.object",
    "noun.person",
    "noun.phenomenon",
    "noun.plant",
    "noun.possession",
    "noun.process",
    "noun.quantity",
    "noun.relation",
    "noun.shape",
    "noun.state",
    "noun.substance",
    "noun.time",
]


@dataclass(frozen=True)
class Synset:
    """A sense: its lexical file, its words and the offsets of its hypernyms."""

    file: str
    words: tuple[str, ...]
    hypernyms: tuple[str, ...]


class WordNet:
    """The nouns of WordNet, read from its data files."""

    def __init__(self, folder: Path) -> None:
        lines = _lines(folder / "data.noun")
        self.synsets = {line.split(" ", 1)[0]: _synset(line) for line in lines}
        self.senses = {
            fields[0].replace("_", " "): tuple(fields[-int(fields[2]) :])
            for fields in map(str.split, _lines(folder / "index.noun"))
        }

    def sense(self, name: str, chosen: str | None, files: list[str]) -> str | None:
        """Return the offset of a concept's sense: the chosen one, else the first in the lexical files of its group."""
        if chosen is not None:
            word, number = chosen.rsplit(" ", 1)
            return self.senses[word.replace("_", " ")][int(number) - 1]
        offsets = self.senses.get(name) or self.senses.get(singular(name), ())
        ranked = [offset for file in files for offset in offsets if self.synsets[offset].file == file]
        return ranked[0] if ranked else None

    def above(self, offset: str) -> set[str]:
        """Return the offsets of all hypernyms of a sense."""
        reached: set[str] = set()
        waiting = [offset]
        while waiting:
            for each in self.synsets[waiting.pop()].hypernyms:
                if each not in reached:
                    reached.add(each)
                    waiting.append(each)
        return reached

    def is_first_sense(self, word: str, offset: str) -> bool:
        """Tell whether a word means this sense first of all."""
        return self.senses.get(word.lower(), ("",))[0] == offset


def _lines(path: Path) -> list[str]:
    text = path.read_text(encoding="latin-1")
    return [line for line in text.splitlines() if not line.startswith(" ")]


def _synset(line: str) -> Synset:
    fields = line.split(" | ", 1)[0].split()
    count = int(fields[3], 16)
    words = tuple(fields[4 + 2 * number].replace("_", " ") for number in range(count))
    start = 4 + 2 * count
    pointers = [fields[start + 1 + 4 * number :][:4] for number in range(int(fields[start]))]
    hypernyms = tuple(target for symbol, target, part, _ in pointers if symbol in {"@", "@i"} and part == "n")
    return Synset(_LEXICAL_FILES[int(fields[1])], words, hypernyms)


def derive(wordnet: WordNet, facts: dict[str, Any], choices: dict[str, Any]) -> dict[str, Any]:
    """Return the lexicon: names of concepts and groups, kinds of several concepts, words for facts."""
    concepts = {row["name"]: row for row in facts["concepts"]}
    files = choices["lexical files of groups"]
    senses = {
        name: offset
        for name, row in concepts.items()
        if not (name in choices["senses"] and choices["senses"][name] is None)
        and (offset := wordnet.sense(name, choices["senses"].get(name), files[row["group"]]))
    }
    names = {name: _names(name, choices["concepts"][name], senses, wordnet, choices["unsuitable"]) for name in concepts}
    taken = {each for own in names.values() for each in own}
    names = {name: [each for each in own if each not in concepts] for name, own in names.items()}
    taken |= {each for own in choices["groups"].values() for each in own} | set(concepts)
    kinds = {tuple(kind["of"]): list(kind["names"]) for kind in choices["kinds"]}
    taken |= {each for own in kinds.values() for each in own}
    for members, words in _hypernyms(senses, wordnet, set(choices["unsuitable"]) | taken).items():
        kinds.setdefault(members, []).extend(words)
    return {
        "concepts": names,
        "groups": choices["groups"],
        "kinds": [{"names": words, "of": list(members)} for members, words in kinds.items()],
        "covering": choices["covering"],
        "facts": choices["facts"],
        "unsuitable": choices["unsuitable"],
    }


def _names(
    name: str, everyday: list[str], senses: dict[str, str], wordnet: WordNet, unsuitable: list[str]
) -> list[str]:
    """Return the other names of a concept: those chosen by hand, then WordNet's, in lower case and without Latin."""
    sense = senses.get(name)
    is_shared = sum(other == sense for other in senses.values()) > 1
    words = [] if sense is None or is_shared else wordnet.synsets[sense].words
    plain = [word for word in words if word not in unsuitable and (word.islower() or name == "santa")]
    return [each for each in dict.fromkeys([*everyday, *map(str.lower, plain)]) if each != name]


def _hypernyms(senses: dict[str, str], wordnet: WordNet, taken: set[str]) -> dict[tuple[str, ...], list[str]]:
    """Return names of kinds of two to six concepts, where the name means that kind first of all."""
    below: dict[str, list[str]] = defaultdict(list)
    for name, sense in senses.items():
        for offset in wordnet.above(sense):
            below[offset].append(name)
    kinds: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for offset, members in sorted(below.items()):
        if not 1 < len(members) <= _MOST_MEMBERS or wordnet.synsets[offset].file not in _OF_THINGS:
            continue
        for word in wordnet.synsets[offset].words:
            if word.islower() and word not in taken and wordnet.is_first_sense(word, offset):
                kinds[tuple(members)].append(word)
    return kinds


def _written(table: dict[str, Any]) -> str:
    """Write JSON with one entry a line."""
    parts = []
    for key, value in table.items():
        entries = value.items() if isinstance(value, dict) else [(None, each) for each in value]
        lines = [
            f"{json.dumps(name) + ': ' if name is not None else ''}{json.dumps(each, ensure_ascii=False)}"
            for name, each in entries
        ]
        start, end = ("{", "}") if isinstance(value, dict) else ("[", "]")
        parts.append(f'"{key}": {start}\n' + ",\n".join(lines) + f"\n{end}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Derive the lexicon and write it."""
    parser = argparse.ArgumentParser(description="derive the lexicon from WordNet")
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--facts", type=Path, default=Path("microworld/concepts.json"))
    options = parser.parse_args()
    facts, choices = (json.loads(path.read_text(encoding="utf-8")) for path in (options.facts, CHOICES))
    table = derive(WordNet(options.wordnet), facts, choices)
    LEXICON.write_text(_written(table), encoding="utf-8")
    # Words of the lexicon are read as they were just written; the process has read none before.
    vocabulary = InstructionReader(options.facts).vocabulary
    nouns = {each.phrase for each in entries(options.facts) if each.symbol == "NOUN"}
    plurals = {regular_plural(noun) for noun in nouns}  # "mouses" is one of "mouse" rather than a verb
    near = sorted(word for word in _english(options.wordnet) - plurals if is_confusable(word, vocabulary))
    LEXICON.write_text(_written(table | {"english": textwrap.wrap(" ".join(near), 118)}), encoding="utf-8")


def _english(folder: Path) -> set[str]:
    """Return all single words of WordNet in lower case, with their regular and irregular forms."""
    words = set()
    for part in ("noun", "verb", "adj", "adv"):
        lemmas = {word for line in _lines(folder / f"index.{part}") if (word := line.split(" ", 1)[0]).isalpha()}
        words |= lemmas | {form for lemma in lemmas for form in _forms(lemma, part)}
        words |= {word for line in _lines(folder / f"{part}.exc") if (word := line.split(" ", 1)[0]).isalpha()}
    return words


def _forms(lemma: str, part: str) -> Iterator[str]:
    """Yield the regular forms of a lemma."""
    if part in {"noun", "verb"}:
        yield regular_plural(lemma)
    if part == "verb":
        stem = lemma.removesuffix("e")
        yield from (f"{stem}ed", f"{stem}ing")


def is_confusable(word: str, vocabulary: KnownWords) -> bool:
    """Tell whether a word would be taken for a misspelling of a known one."""
    return bool(vocabulary.corrections(word))


if __name__ == "__main__":
    main()
