"""Whether captions of the embedded captioner are read as they are, and judged as the drawn scene says.

    python -m benchmarks.captions --json

`answers/captions.json` has what BLIP wrote about 100 scenes (`described(number, 2311)`). Each caption lists things and
a background; a second reader, a pattern that knows that form alone, says for each of them whether it is so by the drawn
objects. Keys of the JSON: `captions`; `read`, those of which every word was read; `statements`, and of these `true`,
`false` and `undecided`, by the denotation of what was read on the scene graph; `as_drawn`, the share that the pattern
judges alike; `as_tuples`, the share that the tuples of the scene judge alike, numbers left out; `milliseconds` of the
processor for a caption, the median and the longest; `others`, captions whose statements and listed things differ.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.picture_graphs import graphs_of
from snellen.microworld.concepts import plural, vocabulary
from snellen.microworld.scene_graphs import Described, described
from snellen.microworld.scenes import NUMBERS, Scene
from snellen.profiles import load_profile
from snellen.reasoning.meanings.denotation import denotation
from snellen.reasoning.meanings.meanings import Exist
from snellen.reasoning.reading.answer_parts import DepthRelation, Statement
from snellen.reasoning.reading.answers import AnswerReader
from snellen.reasoning.reading.tuples import TupleWriter
from snellen.scoring.scene_graph import parse_tuple

SEED: Final = 2311
_CAPTIONS: Final = Path(__file__).parent / "answers" / "captions.json"
_GROUNDS: Final = ("grass", "sand", "water", "a road", "road")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measured()
    print(json.dumps(figures, indent=2) if options.json else "\n".join(f"{key}: {figures[key]}" for key in figures))


def measured(number: int | None = None) -> dict[str, Any]:
    """Read and judge the stored captions, or so many of them."""
    reader, writer = AnswerReader(load_profile("embedded").facts_path()), TupleWriter(())
    reader.read("A dog.")  # the grammar is read before the clock runs
    verdicts: Counter[str] = Counter()
    alike, by_tuples, read, spent, others = 0, 0, 0, list[float](), list[str]()
    rows = json.loads(_CAPTIONS.read_text(encoding="utf-8"))[:number]
    for row in rows:
        one = described(row["scene"], SEED)
        begun = time.process_time()
        answer = reader.answer(row["caption"])
        spent.append(1_000 * (time.process_time() - begun))
        read += not answer.unread
        judged = [verdict(statement, one.scene) for statement in answer.statements]
        drawn = list(dict.fromkeys(listed(row["caption"], one.scene)))
        verdicts.update(judged)
        expected = [is_so for _, is_so in drawn]
        if len(expected) != len(judged):
            others.append(row["caption"])
        alike += sum(one_said == so for one_said, so in zip(judged, expected, strict=False))
        by_tuples += sum(
            said == _by_tuples(statement, one, writer)
            for statement, said in zip(answer.statements, judged, strict=True)
        )
    total = verdicts.total()
    return {
        "captions": len(rows), "read": read, "statements": total,
        **{name: verdicts[name] for name in ("true", "false", "undecided")},
        "as_drawn": round(alike / total, 3), "as_tuples": round(by_tuples / total, 3),
        "milliseconds": [round(statistics.median(spent), 1), round(max(spent), 1)], "others": others,
    }  # fmt: skip


def verdict(statement: Statement, scene: Scene) -> str:
    """Return true, false or undecided, by denotation; a caption that counts says that there are so many at least."""
    if isinstance(statement, DepthRelation):
        return "undecided"
    if isinstance(statement, Exist) and statement.number:
        statement = statement.model_copy(update={"quantity": "at least"})
    value = denotation(statement, graphs_of([scene]))
    return str(value).lower() if isinstance(value, bool) else "undecided"


def listed(caption: str, scene: Scene) -> Iterator[tuple[str, str]]:
    """Yield each thing that a caption lists and each aspect of its background, with true or false by what is drawn."""
    names = {written: each.name for each in vocabulary().concepts for written in (plural(each.name), each.name)}
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    things, _, ground = caption.rpartition(" on ")
    for match in re.finditer(
        rf"(?:\b({'|'.join(NUMBERS)}|an?) )?\b(?:((?!and )[a-z]+) )??({known})(?=,| and |$)", things
    ):
        count, tint, name = match.groups()
        number = NUMBERS.index(count) if count in NUMBERS else 1
        fitting = [item for item in scene.objects if item.concept == names[name] and tint in {None, item.tint}]
        yield f"{number} {tint} {names[name]}", str(len(fitting) >= number).lower()
    if ground in _GROUNDS:
        yield ground, str(scene.pattern == ground.removeprefix("a ")).lower()
        return
    colour, pattern = ground.split()[-3:-1]
    yield pattern, str(scene.pattern == pattern).lower()
    yield f"{colour} background", str(scene.colour == colour).lower()


def _by_tuples(statement: Statement, one: Described, writer: TupleWriter) -> str:
    known = {parse_tuple(each).text for each in one.tuples}
    facts = [fact for fact in writer.facts([statement]) if fact.kind != "count"]
    return str(all(fact.text in known for fact in facts)).lower()


if __name__ == "__main__":
    main()
