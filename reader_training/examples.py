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
from snellen.reasoning.queries.model_query import ModelQuery
from snellen.reasoning.queries.reader import UnderstoodQuery, read_query
from snellen.reasoning.reading.reader import Understood, read

WORDINGS: Final = HERE / "wordings"
_PARTS: Final = 12
_QUERY: Final = TypeAdapter(ModelQuery)
_MOST_ACTIONS: Final = 80


class ExampleMaker:
    """Makes examples with the names of the embedded profile."""

    def __init__(self) -> None:
        models = ModelNames(MODELS, frozenset(MODELS[5:]))
        facts = load_profile("embedded").facts_path()
        self.names = NamedTexts(facts)
        self.names_of_models = NamedTexts(facts, models=models)
        self.missed: Counter[str] = Counter()

    def __call__(self, source: str, text: str, row: dict[str, Any], *, validation: bool = False) -> Iterator[Example]:
        """Yield the example of a text and a row with its meaning; none where the text does not name what it means."""
        pictures = row.get("pictures", 0)
        names = self.names if pictures else self.names_of_models
        said = names.of(text, row.get("echo before", ""))
        try:
            if pictures:
                meaning = canonical(read_meaning(json.dumps(row["meaning"])))
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


def held_out(identity: str) -> bool:
    """Tell whether a meaning is of the validation part."""
    return zlib.crc32(identity.encode()) % _PARTS == 0


def worded(make: ExampleMaker) -> Iterator[Example]:
    """Yield what people wrote; of what needs nothing before it, some after another instruction."""
    before = [row["echo"] for row in rows("pictures", 3_000, 79)]
    for file in sorted(WORDINGS.glob("*.jsonl")):
        meanings = {row["id"]: row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
        for line in file.with_suffix(".tsv").read_text(encoding="utf-8").splitlines():
            identity, _, text = line.partition("\t")
            if text.strip() in {"", "-"} or identity not in meanings:
                continue
            row, validation = meanings[identity], held_out(file.stem + identity)
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

    It is that of the instruction where the grammar reads it, else that of what its writer said that it means.
    """
    facts, scenes = load_profile("embedded").facts_path(), read_scenes(BLIND / "scenes.json")
    for file in sorted(set(BLIND.glob("instructions_*.jsonl")) - set(map(BLIND.joinpath, kept_out))):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            graphs = graphs_of([scenes[name.removesuffix(".png")] for name in row["pictures"]])
            for text in (row["instruction"], row["meaning"]):
                reading = read(text, len(row["pictures"]), facts)
                if isinstance(reading, Understood) and outcome(row, reading, graphs) == "right":
                    meant = {"pictures": len(row["pictures"]), "meaning": json.loads(write_part(reading.meaning))}
                    yield from make("worded blind", row["instruction"], meant)
                    break
    for file in sorted(set(BLIND.glob("dialogues_*.json")) - set(map(BLIND.joinpath, kept_out))):
        for dialogue in json.loads(file.read_text(encoding="utf-8")):
            yield from _turns(make, dialogue, facts)
    profile = load_profile("embedded")
    for file in QUERY_FILES:
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            query = read_query(row["query"], MODELS, profile)
            if isinstance(query, UnderstoodQuery) and row["expect"] == "examine":
                yield from make("worded blind", row["query"], {"meaning": query.query.model_dump(mode="json")})


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
    for file in sentences:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield from make("grammar", row["text"], row)


def main() -> None:
    """Write examples to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path)
    parser.add_argument("--sentences", type=Path, nargs="*", default=[], help="of reader_training.grammar_sentences")
    parser.add_argument("--with-blind", action="store_true", help="wordings of benchmarks/blind_wordings, too")
    parser.add_argument("--kept-out", nargs="*", default=[], metavar="FILE", help="files of them that are left out")
    options = parser.parse_args()
    make = ExampleMaker()
    examples = [*worded(make), *talk(make), *unanswerable(make), *stiff(make, options.sentences)]
    if options.with_blind:
        examples += asked(make, options.kept_out)
    options.out.write_bytes(pickle.dumps(examples))
    print(Counter((each.source, each.validation) for each in examples), "missed", make.missed)


if __name__ == "__main__":
    main()
