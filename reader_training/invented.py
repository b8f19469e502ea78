"""Wordings whose writers invented what is asked, too: lines of what is meant, in the English of echoes, and a wording.

    python -m reader_training.invented check pictures lines.tsv
    python -m reader_training.invented add pictures lines.tsv --identity pz

``check`` lists what is not read, and what is read as something else than it says; ``add`` puts the rest into
`reader_training/wordings`, each meaning once. Lines about follow-ups have what was meant before, too, in front.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from reader_training.examples import WORDINGS
from reader_training.meanings_to_word import MODELS
from snellen.profiles import load_profile
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.meanings import Meaning, write_part
from snellen.reasoning.queries.query_readings import UnderstoodQuery
from snellen.reasoning.queries.reader import read_query
from snellen.reasoning.reading.reader import Understood, read

_OF_TWO: Final = ("left picture", "right picture", "two pictures", "both pictures")
_PUNCTUATION: Final = " .?!"
Row = dict[str, Any]


@dataclass(frozen=True)
class InventedLine:
    """A line of a file.

    Attributes:
        meant: What is meant, in stiff English; for a follow-up after what was meant before.
        wording: How a person says it.
    """

    meant: tuple[str, ...]
    wording: str


def lines_of(file: Path) -> Iterator[InventedLine]:
    """Yield the lines of a file that have a wording."""
    for line in file.read_text(encoding="utf-8").splitlines():
        *meant, wording = (" ".join(each.split()) for each in line.split("\t"))
        if meant and wording not in {"", "-"}:
            yield InventedLine(tuple(meant), wording)


def row_of(sort: str, meant: Sequence[str]) -> Row | None:
    """Return the row of what is meant, without an identity; None where it is not read."""
    profile = load_profile("embedded")
    if sort == "models":
        reading = read_query(meant[-1], MODELS, profile)
        if not isinstance(reading, UnderstoodQuery):
            return None
        return {"meaning": reading.query.model_dump(mode="json"), "echo": reading.echo}
    pictures = 2 if any(each in " ".join(meant) for each in _OF_TWO) else 1
    meanings = [_read(each, pictures) for each in meant]
    if any(each is None for each in meanings):
        return None
    said = [{"meaning": _json(each), "echo": echo(each)} for each in meanings if each is not None]
    if sort == "pictures":
        return {"pictures": pictures, **said[-1]}
    return {"pictures": pictures, "before": said[0]["meaning"], "echo before": said[0]["echo"], **said[1]}


def _read(sentence: str, pictures: int) -> Meaning | None:
    reading = read(sentence, pictures, load_profile("embedded").facts_path())
    return reading.meaning if isinstance(reading, Understood) else None


def _json(meaning: Meaning) -> Any:  # noqa: ANN401
    return json.loads(write_part(meaning))


def check(sort: str, file: Path) -> None:
    """Print what is not read, and what is read as something else."""
    for meant in dict.fromkeys(each.meant for each in lines_of(file)):
        row = row_of(sort, meant)
        if row is None:
            print("not read:", *meant, sep="  ")
        elif row["echo"].strip(_PUNCTUATION).casefold() != meant[-1].strip(_PUNCTUATION).casefold():
            print("read as:", *meant, "=>", row["echo"], sep="  ")


def add(sort: str, file: Path, identity: str) -> None:
    """Put what is read into the wordings of its sort."""
    rows_file, wordings_file = WORDINGS / f"{sort}.jsonl", WORDINGS / f"{sort}.tsv"
    rows = list(map(json.loads, rows_file.read_text(encoding="utf-8").splitlines()))
    identities = {_key(row): row["id"] for row in rows if row["id"].startswith(identity)}
    known = set(wordings_file.read_text(encoding="utf-8").splitlines())
    read_rows = {meant: row_of(sort, meant) for meant in dict.fromkeys(each.meant for each in lines_of(file))}
    new_rows, new_lines = [], []
    for each in lines_of(file):
        row = read_rows[each.meant]
        if row is None:
            continue
        if _key(row) not in identities:
            identities[_key(row)] = f"{identity}{len(identities):04d}"
            new_rows.append({"id": identities[_key(row)], **row})
        line = f"{identities[_key(row)]}\t{each.wording}"
        if line not in known:
            known.add(line)
            new_lines.append(line)
    _append(rows_file, [json.dumps(row, ensure_ascii=False) for row in new_rows])
    _append(wordings_file, new_lines)
    print(
        len(new_rows),
        "meanings,",
        len(new_lines),
        "wordings;",
        sum(not each for each in read_rows.values()),
        "not read",
    )


def _key(row: Row) -> str:
    return f"{row.get('echo before', '')} * {row['echo']}"


def _append(file: Path, lines: Sequence[str]) -> None:
    with file.open("a", encoding="utf-8") as open_file:
        open_file.writelines(f"{line}\n" for line in lines)


def main() -> None:
    """Check or add the lines of a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("action", choices=("check", "add"))
    parser.add_argument("sort", choices=("pictures", "models", "follow-ups"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--identity", help="what the identities of these meanings begin with")
    options = parser.parse_args()
    if options.action == "check":
        check(options.sort, options.file)
    elif options.identity:
        add(options.sort, options.file, options.identity)
    else:
        parser.error("add needs --identity")


if __name__ == "__main__":
    main()
