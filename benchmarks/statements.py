"""How well tuples are read out of answers and captions without a language model.

    python -m benchmarks.statements -n 300 --json

Answers are made of scenes whose tuples are known, in two sets of wordings: those that the reader was written with, and
held-out ones; then come answers that two strangers to the reader wrote, each with its tuples (`answers/`): one set was
looked at while it was written, the other was not. Keys of the JSON: for each set `f1`, `precision`, `recall`,
`answers`, and `kinds` with the F1 of each kind; `captions` with the same of detailed captions.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from snellen.microworld.questions import RELATION_WORDS, singles
from snellen.microworld.scene_graphs import Described, described
from snellen.microworld.scenes import NUMBERS, Dice, SceneObject, article, place, plural, relations
from snellen.profiles import load_profile
from snellen.reasoning.reading.answers import AnswerReader
from snellen.scoring.scene_graph import Fact, parse_tuple
from snellen.sentences import capitalized

Wordings = tuple[tuple[str, str], ...]
"""Questions with answers."""

WORDINGS: dict[str, tuple[Wordings, Wordings]] = {
    "color": (
        (
            ("What color is the {x}?", "{tint}"),
            ("What color is the {x}?", "The {x} is {tint}."),
            ("What is the color of the {x}?", "It is {tint}."),
            ("Describe the color of the {x}.", "The color of the {x} is {tint}."),
        ),
        (
            ("Which color does the {x} have?", "The {x} has a {tint} color."),
            ("What color is the {x}?", "It looks {tint}"),
            ("Tell me the color of the {x}.", "It's a {tint} {x}."),
            ("In which color is the {x} shown?", "{tint}, as far as I can see"),
        ),
    ),
    "size": (
        (
            ("How big is the {x}?", "{size}"),
            ("How big is the {x}?", "The {x} is {size}."),
            ("What is the size of the {x}?", "It is {size}."),
        ),
        (
            ("What size is the {x}?", "It appears to be {size}."),
            ("How large is the {x}?", "The size of the {x} is {size}."),
            ("Is the {x} small, medium or large?", "{size}"),
        ),
    ),
    "count": (
        (
            ("How many {xs} are there?", "{n}"),
            ("How many {xs} are there in the picture?", "There are {word} {xs}."),
            ("Count the {xs}.", "{word}"),
        ),
        (
            ("How many {xs} can you see?", "I can see {word} {xs} in the picture."),
            ("What is the number of {xs}?", "The number of {xs} is {n}."),
            ("How many {xs} does the picture show?", "It shows {word} {xs}."),
        ),
    ),
    "place": (
        (
            ("Where is the {x}?", "{place}"),
            ("Where in the picture is the {x}?", "The {x} is in the {place}."),
            ("In which part of the picture is the {x}?", "In the {place} of the picture."),
        ),
        (
            ("Which part of the picture is the {x} in?", "It is located in the {place} corner."),
            ("Where can I find the {x}?", "You can find the {x} in the {place}."),
            ("In which corner is the {x}?", "the {place} one"),
        ),
    ),
    "thing": (
        (
            ("What is {relation} the {y}?", "{a_x}"),
            ("What is {relation} the {y}?", "The {x} is {relation} the {y}."),
            ("What can you see {relation} the {y}?", "There is {a_x} {relation} the {y}."),
        ),
        (
            ("Name the thing {relation} the {y}.", "It is {a_x}."),
            ("Which object is {relation} the {y}?", "The object {relation} the {y} is {a_x}."),
            ("What is {relation} the {y}?", "I see {a_x} there."),
        ),
    ),
    "relation": (
        (
            ("Where is the {x} in relation to the {y}?", "The {x} is {relation} the {y}."),
            ("Where is the {x}, seen from the {y}?", "It is {relation} the {y}."),
            ("Is the {x} {relation} or {opposite} the {y}?", "{side}"),
        ),
        (
            ("How does the {x} stand to the {y}?", "The {x} stands {relation} the {y}."),
            ("On which side of the {y} is the {x}?", "It's {relation} it."),
            ("Where is the {x} compared with the {y}?", "{relation} the {y}"),
        ),
    ),
    "yes": (
        (
            ("Is the {x} {tint}?", "yes"),
            ("Is the {x} {tint}?", "Yes, the {x} is {tint}."),
            ("Is the {x} {tint}?", "Yes, it is."),
        ),
        (
            ("Would you say that the {x} is {tint}?", "Yes, it is {tint}."),
            ("Is the color of the {x} {tint}?", "Yes, that is right."),
            ("Is the {x} in the picture {tint}?", "I think so, yes."),
        ),
    ),
    "no": (
        (
            ("Is the {x} {relation} the {y}?", "no"),
            ("Is the {x} {relation} the {y}?", "No, the {x} is not {relation} the {y}."),
        ),
        (
            ("Would you say that the {x} is {relation} the {y}?", "No, it is not {relation} the {y}."),
            ("Can you see {a_x} {relation} the {y}?", "No, I can't."),
        ),
    ),
    "absent": (
        (("Is there {a_x} in the picture?", "no"), ("Is there {a_x} in the picture?", "No, there is no {x}.")),
        (
            ("Does the picture show {a_x}?", "There are no {xs} in the picture."),
            ("Can you see any {xs}?", "I do not see any {xs}."),
        ),
    ),
    "weather": (
        (("What is the weather like?", "The weather is {weather}."), ("What is the weather like?", "{weather}")),
        (("How is the weather?", "It is {weather}."), ("What is the weather like?", "It looks {weather} outside.")),
    ),
    "background": (
        (("What is the background?", "The background is {pattern}."), ("What is the background?", "{pattern}")),
        (
            ("What kind of background is it?", "It is a {pattern} background."),
            ("What is in the background?", "{pattern}"),
            ("What does the background look like?", "The background looks {pattern}."),
        ),
    ),
    "style": (
        (
            ("In which style is it drawn?", "It is drawn in a {style} style."),
            ("What is the style of the picture?", "{style}"),
        ),
        (
            ("What style is it?", "The picture has a {style} style."),
            ("What is the style of the picture?", "The style is {style}."),
        ),
    ),
    "description": (
        (
            ("Describe the {x}.", "The {x} is {size} and in the {place}."),
            ("Can you describe the {x}?", "It is {article_size} {size} {x} in the {place}."),
        ),
        (
            ("What does the {x} look like?", "A {size} {x}, located in the {place} of the picture."),
            ("Tell me about the {x}.", "The {x} in the {place} is {size}."),
        ),
    ),
    "list": (
        (
            ("What can you see in the picture?", "{a_x} and {a_y}"),
            ("What is in the picture?", "There is {a_x} and {a_y}."),
        ),
        (
            ("Which things does the picture show?", "The picture shows {a_x} as well as {a_y}."),
            ("What do you see?", "I can see {a_x}, and also {a_y}."),
        ),
    ),
}


@dataclass(frozen=True)
class Told:
    """An answer with the tuples that it says."""

    kind: str
    question: str
    answer: str
    facts: frozenset[Fact]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=300, help="scenes (%(default)s)")
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--show", type=int, default=0, help="print so many answers that were read wrongly")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    reader = AnswerReader(load_profile("embedded").facts_path())
    scenes = [described(number, options.seed) for number in range(options.n)]
    found = {
        "familiar": measured(reader, [one for scene in scenes for one in told(scene, 0)], options.show),
        "held_out": measured(reader, [one for scene in scenes for one in told(scene, 1)], options.show),
        "strangers_familiar": measured(reader, _strangers("familiar"), options.show),
        "strangers_held_out": measured(reader, _strangers("held_out")),
        "captions": measured(reader, [_caption(scene) for scene in scenes], options.show),
    }
    print(json.dumps(found, indent=2) if options.json else _table(found))


def _table(found: dict[str, dict[str, object]]) -> str:
    return "\n".join(
        f"{name}: F1 {one['f1']} of {one['answers']} answers {one['kinds']}" for name, one in found.items()
    )


def measured(reader: AnswerReader, answers: list[Told], show: int = 0) -> dict[str, object]:
    """Compare what is read with what was said, all answers of a kind together."""
    hits: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for one in answers:
        read = reader.read(one.answer, one.question)
        found = {_bare(fact) for fact in read if one.question or fact.kind != "count"}
        wanted = {_bare(fact) for fact in one.facts}
        for place_of, value in enumerate((len(found & wanted), len(found), len(wanted))):
            hits[one.kind][place_of] += value
        if found != wanted and show > 0:
            show -= 1
            print(one.kind, one.question, "|", one.answer, "\n  not read", wanted - found, "\n  wrong", found - wanted)
    total = [sum(row[place_of] for row in hits.values()) for place_of in range(3)]
    return {
        "f1": _f1(total), "precision": round(total[0] / max(total[1], 1), 3),
        "recall": round(total[0] / max(total[2], 1), 3), "answers": len(answers),
        "kinds": {kind: _f1(row) for kind, row in hits.items()},
    }  # fmt: skip


def _f1(hits: list[int]) -> float:
    return round(2 * hits[0] / max(hits[1] + hits[2], 1), 3)


def _bare(fact: Fact) -> tuple[str, bool]:
    return fact.text, fact.negated


def _strangers(name: str) -> list[Told]:
    """Read a set of answers that others wrote; what is denied begins with "not"."""
    rows = json.loads((Path(__file__).parent / "answers" / f"{name}.json").read_text(encoding="utf-8"))
    return [Told("answer", row["question"], row["answer"], frozenset(map(_stated, row["tuples"]))) for row in rows]


def _stated(text: str) -> Fact:
    return replace(parse_tuple(text.removeprefix("not ")), negated=text.startswith("not "))


def told(one: Described, held_out: int) -> Iterator[Told]:
    """Yield an answer of each kind that a scene allows, in one of the two sets of wordings."""
    scene, dice = one.scene, Dice("told", one.scene.seed, held_out)
    alone = singles(scene)
    for kind, wordings in WORDINGS.items():
        question, answer = dice.choice(wordings[held_out])
        slots = _slots(kind, one, alone, dice)
        if slots is None:
            continue
        words, facts = slots
        yield Told(kind, _said(question, words), _said(answer, words), frozenset(facts))


def _said(text: str, words: dict[str, str]) -> str:
    said = text.format_map(words)
    return capitalized(said)


def _slots(kind: str, one: Described, alone: list[SceneObject], dice: Dice) -> tuple[dict[str, str], list[Fact]] | None:
    """Return what fills a wording, and the tuples that it then says."""
    scene = one.scene
    settings = {"weather": scene.weather, "background": scene.pattern, "style": scene.style}
    if kind in settings:
        held = next(fact for fact in map(parse_tuple, one.tuples) if fact.entity == kind and fact.kind != "color")
        return {kind: settings[kind], "pattern": scene.pattern}, [held]
    if kind == "absent":
        names = {fact.entity for fact in map(parse_tuple, one.tuples)}
        other = next(item.concept for item in _elsewhere(dice) if item.concept not in names)
        return _named(other), [Fact(other, negated=True)]
    if kind == "count":
        item = dice.choice(scene.objects)
        n = len(scene.named(item.concept))
        words = {**_named(item.concept), "n": str(n), "word": NUMBERS[n]}
        return words, [Fact(item.concept), Fact(item.concept, attribute=str(n), kind="count")]
    items = [item for item in alone if kind not in {"color", "yes"} or (item.tint and scene.shows_colour)]
    if not items:
        return None
    item = dice.choice(items)
    entity = Fact(item.concept)
    words = {**_named(item.concept), "tint": item.tint, "size": item.size, "place": place(item),
             "article_size": "a"}  # fmt: skip
    own = {
        "color": Fact(item.concept, attribute=item.tint, kind="color"),
        "yes": Fact(item.concept, attribute=item.tint, kind="color"),
        "size": Fact(item.concept, attribute=item.size, kind="size"),
        "place": Fact(item.concept, attribute=place(item), kind="place"),
    }
    said = [own[kind]] if kind in own else [own["size"], own["place"]] if kind == "description" else []
    return (words, [entity, *said]) if said else _beside_slots(kind, one, item, words, dice)


def _beside_slots(
    kind: str, one: Described, item: SceneObject, words: dict[str, str], dice: Dice
) -> tuple[dict[str, str], list[Fact]] | None:
    """Return the same for what is said of two things."""
    scene, alone, entity = one.scene, singles(one.scene), Fact(item.concept)
    beside = [(name, scene.objects[j]) for i, name, j in relations(scene) if scene.objects[i] is item]
    beside = [(name, other) for name, other in beside if other in alone]
    if not beside:
        return None
    name, other = dice.choice(beside)
    opposite = {"left": "right", "right": "left", "above": "below", "below": "above"}[name]
    words |= {f"y{key.removeprefix('x')}" if key.startswith("x") else key.replace("x", "y"): value
              for key, value in _named(other.concept).items()}  # fmt: skip
    words |= {"relation": RELATION_WORDS[name][0], "opposite": RELATION_WORDS[opposite][0], "side": name}
    far = Fact(other.concept)
    if kind == "list":
        return words, [entity, far]
    held = Fact(item.concept, relation=words["relation"], target=other.concept, kind="spatial")
    if kind == "no":
        words["relation"] = words["opposite"]
        held = Fact(item.concept, relation=words["opposite"], target=other.concept, kind="spatial", negated=True)
    return words, [entity, far, held]


def _named(name: str) -> dict[str, str]:
    return {"x": name, "xs": plural(name), "a_x": article(name)}


def _elsewhere(dice: Dice) -> Iterator[SceneObject]:
    while True:
        yield from described(dice.integer(0, 10**6), 1).scene.objects


def _caption(one: Described) -> Told:
    """A detailed caption says each relation once, and neither what kind a thing is nor that a style is the usual one.

    How many there are is said of things that are wholly alike, which is not how many there are of a name: numbers are
    left out of the comparison.
    """
    scene = one.scene
    said = {
        fact for fact in map(parse_tuple, one.tuples)
        if not fact.relation and fact.kind not in {"category", "count"}
        and not (fact.entity == "style" and scene.style == "flat")
    }  # fmt: skip
    said |= {
        Fact(scene.objects[i].concept, relation=RELATION_WORDS[name][0], target=scene.objects[j].concept)
        for i, name, j in relations(scene) if i < j
    }  # fmt: skip
    return Told("caption", "", one.caption, frozenset(said))


if __name__ == "__main__":
    main()
