"""Meanings for writers to put into words, each with its echo.

    python -m reader_training.meanings_to_word pictures 1800 --seed 23 > pictures.jsonl

Most have the shapes of what people have asked (`benchmarks/blind_wordings`, as far as the grammar reads it) with other
things, colours, facts and numbers in the places of theirs; the others are random, because a reader that knows only the
usual shapes reads the others as one of them. Writers see identities and echoes, never a grammar.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from benchmarks.random_meanings import MeaningSampler
from snellen.errors import BadInput
from snellen.microworld.concepts import vocabulary
from snellen.microworld.scenes import Scene, recipe, sample_scene
from snellen.profiles import load_profile
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.meanings import Meaning, read_meaning, write_part
from snellen.reasoning.meanings.things import Part, sets_within
from snellen.reasoning.queries import echo as query_echo
from snellen.reasoning.queries.conditions import FAMILIES, TYPES
from snellen.reasoning.queries.model_query import ModelQuery
from snellen.reasoning.queries.query_readings import UnderstoodQuery
from snellen.reasoning.queries.reader import read_query
from snellen.reasoning.reading.lexical_entries import entries
from snellen.reasoning.reading.reader import Understood, read

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent
MODELS: Final = ("clip", "blip", "blip2-clean", "idefics3-mirrored", "llava-upright", "idefics3-judge", "llava-judge")
BLIND: Final = ROOT / "benchmarks" / "blind_wordings"
_INSTRUCTIONS: Final = sorted(BLIND.glob("instructions_*.jsonl"))
QUERY_FILES: Final = (
    ROOT / "benchmarks" / "model_questions.jsonl",
    BLIND / "model_questions_held_out.jsonl",
)
_COLOURS: Final = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white", "gray")
_EMOJIS: Final = ("ghost", "skull", "angry face", "clown", "monkey face", "robot", "heart")
_GROUPED: Final = 0.25
_CROSSED: Final = 0.5
Row = dict[str, Any]


class Relexicaliser:
    """Puts other names into the places of a meaning's, the same for the same."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._concepts = [each.name for each in vocabulary().concepts]
        self._groups = [each.singular for each in vocabulary().groups.values()]
        named = entries(load_profile("embedded").facts_path())
        self._facts = sorted({str(each.value) for each in named if each.symbol.startswith("FACT")})

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """Return JSON of a meaning with other names."""
        return self._changed(value, {})

    def _changed(self, value: Any, names: dict[tuple[str, str], str]) -> Any:  # noqa: ANN401
        if isinstance(value, list):
            return [self._changed(each, names) for each in value]
        if not isinstance(value, dict):
            return value
        kind = value.get("kind")
        if kind == "is a":
            return {"kind": kind, "name": self._new("name", value["name"], names)}
        changed = {key: self._changed(each, names) for key, each in value.items()}
        if kind == "has colour":
            changed["colour"] = self._new("colour", value["colour"], names)
        elif kind == "has fact":
            changed["fact"] = self._new("fact", value["fact"], names).partition("|")[0]
        elif kind == "edit action" and value.get("by"):
            changed["by"] = self._new("emoji" if value["operation"] == "emoji" else "name", value["by"], names)
        elif "names" in value and "without" in value:
            changed["names"] = [self._new("name", each, names) for each in value["names"][:1]]
            changed["without"] = [self._new("name", each, names) for each in value["without"][:1]]
            changed["fact"] = self._new("fact", value["fact"], names) if value["fact"] else ""
        elif "models" in value and "ability" in value:
            changed["models"] = [self._new("model", each, names) for each in value["models"]]
        return changed

    def _new(self, sort: str, old: str, names: dict[tuple[str, str], str]) -> str:
        if (sort, old) not in names:
            pools: dict[str, Sequence[str]] = {
                "name": self._groups if self._dice.random() < _GROUPED else self._concepts,
                "colour": _COLOURS, "fact": self._facts, "emoji": _EMOJIS, "model": MODELS[:5],
            }  # fmt: skip
            taken = {new for (other, _), new in names.items() if other == sort}
            free = [each for each in pools[sort] if each not in taken]
            names[sort, old] = self._dice.choice(free)
        return names[sort, old]


def picture_meanings(dice: random.Random) -> Iterator[tuple[int, Meaning]]:
    """Yield meanings of instructions with the number of their pictures."""
    templates = [(number, json.loads(write_part(meaning))) for number, meaning in read_instructions()]
    change = Relexicaliser(dice)
    while True:
        number, template = dice.choice(templates)
        try:
            yield number, read_meaning(json.dumps(change(template)))
        except BadInput:
            continue
        if dice.random() < 1 / 3:
            made = _random_meaning(dice)
            if made is not None:
                yield made


def read_instructions() -> Iterator[tuple[int, Meaning]]:
    """Yield the meanings of blind wordings that the grammar reads."""
    facts = load_profile("embedded").facts_path()
    for file in _INSTRUCTIONS:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            reading = read(row["instruction"], len(row["pictures"]), facts)
            if isinstance(reading, Understood):
                yield len(row["pictures"]), reading.meaning


def _random_meaning(dice: random.Random) -> tuple[int, Meaning] | None:
    number = dice.choice((1, 1, 1, 2))
    drawn = recipe([each.name for each in vocabulary().share("known")], counts=(2, 6))
    scenes: list[Scene] = [sample_scene(dice.random(), drawn) for _ in range(number)]
    try:
        made = canonical(MeaningSampler(dice.choice, scenes).meaning(dice.choice((1, 1, 2))))
        made = read_meaning(write_part(made))
    except (ValidationError, BadInput):
        return None
    return (number, made) if sum(1 for _ in sets_within(made)) <= 14 else None  # noqa: PLR2004 - nobody says more


def model_queries(dice: random.Random) -> Iterator[ModelQuery]:
    """Yield meanings of questions about models."""
    profile = load_profile("embedded")
    adapter = TypeAdapter(ModelQuery)
    templates = []
    for file in QUERY_FILES:
        for line in file.read_text(encoding="utf-8").splitlines():
            reading = read_query(json.loads(line)["query"], MODELS, profile)
            if isinstance(reading, UnderstoodQuery):
                templates.append(adapter.dump_python(reading.query, mode="json"))
    change = Relexicaliser(dice)
    while True:
        row = change(_crossed(templates, dice) if dice.random() < _CROSSED else dice.choice(templates))
        _change_conditions(row, dice)
        _change_numbers(row, dice)
        try:
            yield adapter.validate_python(row)
        except ValidationError:
            continue


def _crossed(templates: Sequence[Row], dice: random.Random) -> Row:
    """Return a query whose question takes each field from another query's."""
    sources = [dice.choice(dice.choice(templates)["questions"]) for _ in range(5)]
    ability, condition, asked, sense, models = sources
    question = {
        "models": models["models"], "ability": ability["ability"],
        "condition": condition["condition"], "robust": condition["robust"],
        "comparison": asked["comparison"], "threshold": asked["threshold"], "than": asked["than"],
        "asks": asked["asks"], "sense": sense["sense"],
    }  # fmt: skip
    return {"questions": [question], "confidence": None}


def _change_conditions(value: Any, dice: random.Random) -> None:  # noqa: ANN401
    if isinstance(value, list):
        for each in value:
            _change_conditions(each, dice)
    elif isinstance(value, dict):
        if value.get("change") and dice.random() < 0.8:  # noqa: PLR2004
            value["change"] |= {"type": dice.choice(sorted(TYPES)), "amount": None, "side": ""}
            value["change"] = {key: each for key, each in value["change"].items() if each is not None}
        if value.get("family") and dice.random() < 0.5:  # noqa: PLR2004
            value["family"] = dice.choice(sorted(FAMILIES))
        for each in value.values():
            _change_conditions(each, dice)


def _change_numbers(value: Any, dice: random.Random) -> None:  # noqa: ANN401
    if isinstance(value, list):
        for each in value:
            _change_numbers(each, dice)
    elif isinstance(value, dict):
        if "share" in value:
            value["share"] = dice.choice((0.05, 0.1, 0.2, 0.5, 0.75, 0.8, 0.9, 0.95))
        if value.get("margin"):
            value["margin"] = dice.choice((0.05, 0.1, 0.15, 0.2))
        for each in value.values():
            _change_numbers(each, dice)


def follow_ups(dice: random.Random) -> Iterator[tuple[int, Meaning, Meaning]]:
    """Yield meanings with the one before them in a conversation, which differ in a part."""
    pairs = [(number, meaning) for number, meaning in picture_meanings_once(dice, 4_000)]
    while True:
        number, before = dice.choice(pairs)
        after = _varied(before, dice, pairs)
        if after is not None and after != before:
            yield number, before, after


def picture_meanings_once(dice: random.Random, number: int) -> list[tuple[int, Meaning]]:
    """Return so many small meanings."""
    found = []
    for pictures, meaning in picture_meanings(dice):
        if sum(1 for _ in sets_within(meaning)) <= 8 and meaning.kind not in {"say", "several", "if then"}:  # noqa: PLR2004
            found.append((pictures, meaning))
        if len(found) == number:
            break
    return found


def _varied(before: Meaning, dice: random.Random, pairs: Sequence[tuple[int, Meaning]]) -> Meaning | None:
    """Return the meaning that a follow-up has: the same of another thing, or another question of the same thing."""
    row = json.loads(write_part(before))
    ways: list[Callable[[], Any]] = [lambda: _renamed(row, dice), lambda: _renamed(row, dice)]
    if "things" in row:
        aspects = ("colour", "place", "size", "name", "ground")
        ways += [lambda: {"kind": "query", "things": row["things"], "what": dice.choice(aspects)}] * 5
        ways.append(lambda: {"kind": "count", "things": row["things"]})
        ways.append(lambda: {"kind": "describe", "things": row["things"]})
        ways.append(lambda: {"kind": "exist", "things": _renamed(row["things"], dice)})
        others = [json.loads(write_part(each)) for _, each in dice.sample(list(pairs), 20)]
        asked = [each for each in others if "things" in each][:4]
        ways += [lambda: {**dice.choice(asked), "things": row["things"]}] * len(asked)
    try:
        return read_meaning(json.dumps(dice.choice(ways)()))
    except BadInput:
        return None


def _renamed(row: Any, dice: random.Random) -> Any:  # noqa: ANN401
    """Return JSON with one name or colour changed."""
    text = json.dumps(row)
    new = json.loads(json.dumps(Relexicaliser(dice)(row)))
    places = [key for key in ('"name"', '"colour"', '"relation"', '"extreme"') if key in text]
    keep = dice.choice(places) if places else ""
    return _mixed(row, new, keep.strip('"'), dice)


def _mixed(old: Any, new: Any, key: str, dice: random.Random) -> Any:  # noqa: ANN401
    if isinstance(old, dict):
        return {
            name: _turned(new, name, dice)
            if name == key and isinstance(each, str)
            else _mixed(each, new[name], key, dice)
            for name, each in old.items()
            if name in new
        }
    if isinstance(old, list):
        return [_mixed(one, other, key, dice) for one, other in zip(old, new, strict=False)]
    return old


def _turned(new: Row, name: str, dice: random.Random) -> str:
    others = {
        "relation": ("left of", "right of", "above", "below", "next to"),
        "extreme": ("largest", "smallest", "leftmost", "rightmost", "topmost", "bottommost"),
    }
    return dice.choice(others[name]) if name in others else str(new[name])


def rows(sort: str, number: int, seed: int) -> Iterator[Row]:
    """Yield rows of a file: identity, meaning, echo; no meaning twice."""
    dice = random.Random(seed)
    seen: set[str] = set()
    made: Iterator[Any] = {"pictures": picture_meanings, "models": model_queries, "follow-ups": follow_ups}[sort](dice)
    for each in made:
        row = _row(sort, each)
        key = json.dumps(row)
        if key not in seen:
            seen.add(key)
            yield {"id": f"{sort[0]}{len(seen) - 1:04d}", **row}
        if len(seen) == number:
            return


def _row(sort: str, made: Any) -> Row:  # noqa: ANN401
    if sort == "models":
        return {"meaning": made.model_dump(mode="json"), "echo": query_echo.echo(made)}
    if sort == "pictures":
        number, meaning = made
        return {"pictures": number, "meaning": _json(meaning), "echo": echo(meaning)}
    number, before, meaning = made
    said_before = {"before": _json(before), "echo before": echo(before)}
    return {"pictures": number, **said_before, "meaning": _json(meaning), "echo": echo(meaning)}


def _json(meaning: Part) -> Any:  # noqa: ANN401
    return json.loads(write_part(meaning))


def main() -> None:
    """Print rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sort", choices=("pictures", "models", "follow-ups"))
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=23)
    options = parser.parse_args()
    for row in rows(options.sort, options.number, options.seed):
        print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
