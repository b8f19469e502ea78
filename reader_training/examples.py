"""Examples for the learned reader: texts with stand-ins and the actions that write their meanings.

    python -m reader_training.examples out/examples.pkl

What people wrote lies in `reader_training/wordings`; beside it stand echoes and sentences of the grammar, which
are many and stiff. A meaning is never in two parts: the validation part has one in twelve of those that were worded.
"""

from __future__ import annotations

import argparse
import json
import pickle
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from benchmarks.dialogues import read_scenes
from benchmarks.picture_graphs import graphs_of
from benchmarks.reading import outcome
from reader_training.example import Example
from reader_training.meanings_to_word import BLIND, HERE, MODELS, QUERY_FILES, rows
from snellen.errors import BadInput
from snellen.profiles import load_profile
from snellen.reasoning.learned.copyables import NounWord
from snellen.reasoning.learned.fallback import read as read_by_both
from snellen.reasoning.learned.languages import PICTURES, QUERIES, Unanswerable
from snellen.reasoning.learned.mentions import ModelNames
from snellen.reasoning.learned.named_text import NamedTexts
from snellen.reasoning.learned.typed_actions import NoSuchMeaning
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.meanings import read_meaning, write_part
from snellen.reasoning.meanings.talk import (
    Agreement,
    Assent,
    Correction,
    Courtesy,
    Decline,
    Doubt,
    ForgetOrder,
    Help,
    KnowledgeQuestion,
    Repeat,
    Why,
)
from snellen.reasoning.meanings.things import IsA, Part
from snellen.reasoning.queries.model_query import ModelQuery
from snellen.reasoning.queries.query_readings import UnderstoodQuery
from snellen.reasoning.queries.reader import read_query
from snellen.reasoning.reading.lexical_entries import covered_names, known_names
from snellen.reasoning.reading.reader import Ambiguous, Reading, Understood, read

WORDINGS: Final = HERE / "wordings"
_PARTS: Final = 12
_QUERY: Final = TypeAdapter(ModelQuery)
_MOST_ACTIONS: Final = 80


class ExampleMaker:
    """Makes examples with the names of the embedded profile.

    Args:
        stand_ins: Whether names are replaced.
    """

    def __init__(self, *, stand_ins: bool = True) -> None:
        models = ModelNames(MODELS, frozenset(MODELS[5:]))
        facts = load_profile("embedded").facts_path()
        self.names = NamedTexts(facts, stand_ins=stand_ins)
        self.names_of_models = NamedTexts(facts, models=models, stand_ins=stand_ins)
        self.covered = covered_names(known_names(facts).kinds)
        self.missed: Counter[str] = Counter()

    def __call__(self, source: str, text: str, row: dict[str, Any], *, validation: bool = False) -> Iterator[Example]:
        """Yield the example of a text and a row with its meaning; none where the text does not name what it means."""
        pictures = row.get("pictures", 0)
        names = self.names if pictures else self.names_of_models
        said = names.of(text, row.get("echo before", ""))
        try:
            if pictures:
                named = {str(value) for each in said.copyables for value in each.values if isinstance(value, NounWord)}
                meaning = canonical(self._as_said(read_meaning(json.dumps(row["meaning"])), named))
                actions = PICTURES.actions(meaning, said.copyables)
            else:
                actions = QUERIES.actions(_QUERY.validate_python(row["meaning"]), said.copyables)
        except (NoSuchMeaning, BadInput):
            self.missed[source] += 1
            return
        if len(actions) > _MOST_ACTIONS:
            self.missed[source] += 1
            return
        yield Example(source, pictures, said, tuple(actions), validation)

    def _as_said(self, part: Any, named: AbstractSet[str]) -> Any:  # noqa: ANN401 - of any part, the same part
        """Leave out what names only cover: the reader adds it to whatever the network writes."""
        if isinstance(part, tuple):
            return tuple(self._as_said(each, named) for each in part)
        if not isinstance(part, Part):
            return part
        form = part.model_copy(update={name: self._as_said(value, named) for name, value in part})
        if not isinstance(form, IsA):
            return form
        only_covered = {each for name in named & set(form.names) for each in self.covered.get(name, ())} - named
        names = [each for each in form.names if each not in only_covered]
        return IsA(name=names[0], or_names=tuple(names[1:]))


def held_out(identity: str) -> bool:
    """Tell whether a meaning is of the validation part."""
    return zlib.crc32(identity.encode()) % _PARTS == 0


def wordings_of(file: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the rows of a file of meanings, each with what people made of it beside that file."""
    meanings = {row["id"]: row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
    for line in file.with_suffix(".tsv").read_text(encoding="utf-8").splitlines():
        identity, _, text = line.partition("\t")
        if text.strip() not in {"", "-"} and identity in meanings:
            yield meanings[identity], text


def worded(make: ExampleMaker) -> Iterator[Example]:
    """Yield what people wrote; of what needs nothing before it, some after another instruction."""
    before = [row["echo"] for row in rows("pictures", 3_000, 79)]
    for file in sorted(WORDINGS.glob("*.jsonl")):
        for row, text in wordings_of(file):
            validation = held_out(file.stem + row["id"])
            yield from make(f"worded {file.stem}", text, row, validation=validation)
            chance = zlib.crc32(text.encode())
            if file.stem == "pictures" and chance % 3 == 0:
                after = {**row, "echo before": before[chance % len(before)]}
                yield from make("worded after another", text, after, validation=validation)


ACTS: Final = {
    "greeting": Courtesy(of="greeting"), "farewell": Courtesy(of="farewell"), "thanks": Courtesy(of="thanks"),
    "acknowledgement": Courtesy(of="acknowledgement"), "help": Help(), "why": Why(), "doubt": Doubt(),
    "repeat": Repeat(), "agreement": Agreement(), "denial": Correction(), "assent": Assent(), "decline": Decline(),
    "knowledge": KnowledgeQuestion(), "forget all": ForgetOrder(everything=True), "forget last": ForgetOrder(),
}  # fmt: skip


def talk(make: ExampleMaker) -> Iterator[Example]:
    """Yield talk, as it is and after an instruction."""
    before = [(row["pictures"], row["echo"]) for row in rows("pictures", 1_500, 78)]
    for number, line in enumerate((WORDINGS / "talk.tsv").read_text(encoding="utf-8").splitlines()):
        act, _, text = line.partition("\t")
        if act not in ACTS:
            continue
        pictures, echo = before[number % len(before)]
        for said_before in ("", echo):
            said = make.names.of(text, said_before)
            actions = tuple(PICTURES.actions(ACTS[act], said.copyables))
            yield Example("worded talk", pictures, said, actions, held_out(text))


def unanswerable(make: ExampleMaker) -> Iterator[Example]:
    """Yield what cannot be answered."""
    for sort, pictures, language in (("pictures", 1, PICTURES), ("models", 0, QUERIES)):
        names = make.names if pictures else make.names_of_models
        for text in (WORDINGS / f"unanswerable_{sort}.txt").read_text(encoding="utf-8").splitlines():
            said = names.of(text)
            actions = tuple(language.actions(Unanswerable(), said.copyables))
            yield Example(f"worded unanswerable {sort}", pictures, said, actions, held_out(text))


def asked(make: ExampleMaker, kept_out: Sequence[str]) -> Iterator[Example]:
    """Yield the blind wordings, all of which were looked at, as far as a meaning is known to be right of them.

    It is what a reader takes the instruction for, or what its writer said that it means, where that has the right
    answers: what the grammar reads, else what the learned reader that ships reads or asks back.
    """
    facts, scenes = load_profile("embedded").facts_path(), read_scenes(BLIND / "scenes.json")
    for file in sorted(set(BLIND.glob("instructions_*.jsonl")) - set(map(BLIND.joinpath, kept_out))):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            graphs = graphs_of([scenes[name.removesuffix(".png")] for name in row["pictures"]])
            pictures = len(row["pictures"])
            readings = (
                one
                for reader in (read, read_by_both)
                for text in (row["instruction"], row["meaning"])
                for one in _each(reader(text, pictures, facts))
            )
            right = next((each for each in readings if outcome(row, each, graphs) == "right"), None)
            if right is not None:
                meant = {"pictures": pictures, "meaning": json.loads(write_part(right.meaning))}
                yield from make("worded blind", row["instruction"], meant)
    for file in sorted(set(BLIND.glob("dialogues_*.json")) - set(map(BLIND.joinpath, kept_out))):
        for dialogue in json.loads(file.read_text(encoding="utf-8")):
            yield from _turns(make, dialogue, facts)
    profile = load_profile("embedded")
    for file in QUERY_FILES:
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            query = read_query(row["query"], MODELS, profile)
            if isinstance(query, UnderstoodQuery) and row["expect"] == "examine":
                yield from make("worded blind", row["query"], {"meaning": query.query.model_dump(mode="json")})


def _each(reading: Reading) -> Sequence[Understood]:
    """Return what a reading takes a text for, or asks back."""
    if isinstance(reading, Ambiguous):
        return [Understood(each) for each in reading.meanings]
    return [reading] if isinstance(reading, Understood) else []


def _turns(make: ExampleMaker, dialogue: dict[str, Any], facts: Path | None) -> Iterator[Example]:
    before, pictures = "", 1
    for turn in dialogue["turns"]:
        pictures = min(len(turn.get("pictures", ())), 2) or pictures
        meant = turn["expect"].get("understood", "")
        reading = read(meant, pictures, facts) if meant else None
        if not isinstance(reading, Understood):
            continue
        row = {"pictures": pictures, "meaning": json.loads(write_part(reading.meaning)), "echo before": before}
        yield from make("worded blind", turn["user"], row)
        before = echo(reading.meaning)


def stiff(make: ExampleMaker, sentences: Sequence[Path]) -> Iterator[Example]:
    """Yield echoes and sentences of the grammar."""
    for sort, number in (("pictures", 5_000), ("models", 3_000), ("follow-ups", 1_500)):
        for row in rows(sort, number, 77):
            yield from make("echo", row["echo"], row)
    yield from _of_files(make, "grammar", sentences)


def _of_files(make: ExampleMaker, source: str, files: Sequence[Path]) -> Iterator[Example]:
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield from make(source, row["text"], row)


def main() -> None:
    """Write examples to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path)
    parser.add_argument("--sentences", type=Path, nargs="*", default=[], help="of reader_training.grammar_sentences")
    parser.add_argument("--own", type=Path, nargs="*", default=[], help="of reader_training.own_sentences")
    parser.add_argument("--with-blind", action="store_true", help="wordings of benchmarks/blind_wordings, too")
    parser.add_argument("--kept-out", nargs="*", default=[], metavar="FILE", help="files of them that are left out")
    options = parser.parse_args()
    make = ExampleMaker()
    examples = [*worded(make), *talk(make), *unanswerable(make), *stiff(make, options.sentences)]
    examples += _of_files(make, "worded own", options.own)
    if options.with_blind:
        examples += asked(make, options.kept_out)
    options.out.write_bytes(pickle.dumps(examples))
    print(Counter((each.source, each.validation) for each in examples), "missed", make.missed)


if __name__ == "__main__":
    main()
