"""What the grammar, the learned reader and both together make of wordings that were kept from training.

    python -m reader_training.compare [--show]
    python -m reader_training.compare --lines models benchmarks/blind_wordings/worded_questions.tsv

The second measures on lines of what is meant and a wording. It measures the reader that ships. A reading is right if
every scene answers it as it answers what was meant (`snellen.reasoning.meanings.difference`); of questions about
models, if it asks the same.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from reader_training.examples import WORDINGS, held_out
from reader_training.invented import lines_of, row_of
from reader_training.meanings_to_word import MODELS
from snellen.profiles import load_profile
from snellen.reasoning.learned import fallback, query_fallback
from snellen.reasoning.learned.reader import Guess
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.difference import differ
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.meanings import Meaning, read_meaning
from snellen.reasoning.queries.model_query import ModelQuery
from snellen.reasoning.queries.query_readings import AmbiguousQuery, UnderstoodQuery, UnreadQuery
from snellen.reasoning.queries.reader import read_query as read_by_grammar
from snellen.reasoning.reading.lexical_entries import covered_names, known_names
from snellen.reasoning.reading.reader import Ambiguous, Reading, Understood, Unread, read

OUTCOMES: Final = ("right", "other", "asked, right among them", "asked", "unread")
PROFILE: Final = load_profile("embedded")


def wordings(sort: str, file: Path | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield wordings that were kept from training, or those of a file, with the rows of their meanings."""
    if file is not None:
        for each in lines_of(file):
            if row := row_of(sort, each.meant):
                yield each.wording, row
        return
    rows = {row["id"]: row for row in map(json.loads, (WORDINGS / f"{sort}.jsonl").read_text("utf-8").splitlines())}
    for line in (WORDINGS / f"{sort}.tsv").read_text("utf-8").splitlines():
        identity, _, text = line.partition("\t")
        if text.strip() not in {"", "-"} and held_out(sort + identity):
            yield text, rows[identity]


def by_grammar(text: str, pictures: int, before: Meaning | None) -> Reading:
    """Read by the grammar alone."""
    return read(text, pictures, PROFILE.facts_path(), before=before)


def by_network(text: str, pictures: int, before: Meaning | None) -> Reading:
    """Read by the learned reader alone."""
    return fallback.decided(Unread((), (), ""), _guesses(text, pictures, before))


def by_both(text: str, pictures: int, before: Meaning | None) -> Reading:
    """Read by the grammar first, and what it does not read by the learned reader."""
    reading, guesses = by_grammar(text, pictures, before), _guesses(text, pictures, before)
    return fallback.decided(reading, guesses) if isinstance(reading, Unread) else reading


def by_both_compared(text: str, pictures: int, before: Meaning | None) -> Reading:
    """Read by both, and ask where they differ."""
    reading, guesses = by_both(text, pictures, before), _guesses(text, pictures, before)
    is_grammars = isinstance(reading, Understood) and reading.probability == 1
    return fallback.compared(reading, guesses) if isinstance(reading, Understood) and is_grammars else reading


def _guesses(text: str, pictures: int, before: Meaning | None) -> list[Guess]:
    facts = PROFILE.facts_path()
    return fallback.guessed(text, pictures, facts, before=before) if facts else []


def outcome(reading: Reading, meant: Meaning) -> str:
    """Return what a reading is worth: one of `OUTCOMES`."""
    match reading:
        case Understood():
            return "other" if differ(canonical(reading.meaning), meant) else "right"
        case Ambiguous():
            return OUTCOMES[2] if any(not differ(canonical(each), meant) for each in reading.meanings) else OUTCOMES[3]
    return "unread"


def outcome_of_query(reading: object, meant: ModelQuery) -> str:
    """Return what a reading of a question about models is worth."""
    match reading:
        case UnderstoodQuery():
            return "right" if query_fallback.alike(reading.query, meant) else "other"
        case AmbiguousQuery():
            is_offered = any(query_fallback.alike(each, meant) for each in reading.queries)
            return OUTCOMES[2] if is_offered else OUTCOMES[3]
    return "unread"


def main() -> None:
    """Print outcomes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--show", action="store_true", help="print what both read as something else")
    parser.add_argument("--lines", nargs=2, metavar=("SORT", "FILE"), help="measure on these lines only")
    options = parser.parse_args()
    sort_of_lines, file = (options.lines[0], Path(options.lines[1])) if options.lines else ("", None)
    readers: tuple[Callable[[str, int, Meaning | None], Reading], ...] = (
        by_grammar, by_network, by_both, by_both_compared,
    )  # fmt: skip
    facts = PROFILE.facts_path()
    covered = covered_names(known_names(facts).kinds)
    for sort in ("pictures", "follow-ups"):
        if sort_of_lines not in {"", sort}:
            continue
        counts: dict[str, Counter[str]] = {each.__name__: Counter() for each in readers}
        for text, row in wordings(sort, file):
            meant = canonical(fallback.covering(read_meaning(json.dumps(row["meaning"])), covered))
            before = read_meaning(json.dumps(row["before"])) if "before" in row else None
            for each in readers:
                reading = each(text, row["pictures"], before)
                result = outcome(reading, meant)
                counts[each.__name__][result] += 1
                if options.show and each is by_both_compared and result == "other" and isinstance(reading, Understood):
                    print(f"{reading.probability:.2f} {text}\n     {echo(reading.meaning)}\n     {row['echo']}")
        _print(sort, counts)
    if sort_of_lines not in {"", "models"}:
        return
    counts = {"grammar": Counter(), "network": Counter(), "both": Counter()}
    for text, row in wordings("models", file):
        query = ModelQuery.model_validate(row["meaning"])
        counts["grammar"][outcome_of_query(read_by_grammar(text, MODELS, PROFILE), query)] += 1
        guesses = query_fallback.guessed_queries(text, MODELS, PROFILE)
        alone = query_fallback.decided_query(UnreadQuery((), (), ""), guesses)
        counts["network"][outcome_of_query(alone, query)] += 1
        both = query_fallback.read_query(text, MODELS, PROFILE)
        result = outcome_of_query(both, query)
        counts["both"][result] += 1
        if options.show and result == "other" and isinstance(both, UnderstoodQuery):
            print(f"{both.probability:.2f} {text}\n     {both.echo}\n     {row['echo']}")
    _print("models", counts)


def _print(sort: str, counts: dict[str, Counter[str]]) -> None:
    print(f"{sort:18s}" + "".join(f"{each:>26s}" for each in OUTCOMES))
    for name, some in counts.items():
        print(f"{name:18s}" + "".join(f"{some[each] / some.total():26.3f}" for each in OUTCOMES), some.total())


if __name__ == "__main__":
    main()
