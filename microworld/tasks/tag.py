"""Knowledge tagging: find and name every object that a description fits (CLOVA, section 4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import truths
from snellen.microworld.scenes import Scene
from snellen.microworld.tasks.sampling import Maker, TaskDraft, TaskSampler, key_names
from snellen.microworld.tasks.task import TagAnswer, TaggedRegion
from snellen.microworld.tasks.wording import Instruction, Wordings, say

# LIST gives twenty names unless a program asks for more; a query that fits more would be unfair.
MOST_NAMES = 20
# Groups that cannot be asked for by their name alone ("tag the weather").
UNASKABLE = frozenset({"weather", "treasures", "celebrations", "hands"})
# Facts that make sense of things of any kind.
GENERAL_FACTS = (
    "wheels", "electric", "worn", "feet", "head", "drinkcup", "alcohol", "sharp", "money", "time", "read", "write",
    "bath", "kitchen", "ball", "sound", "light", "sky", "flower", "photo", "fastfood", "happy", "angry", "strings",
    "rails", "air", "sail", "emergency", "horns", "cold",
)  # fmt: skip
VERBS = frozenset(
    {
        "live", "are", "can", "fly", "taste", "grow", "need", "use", "have", "run", "drive", "travel", "sail",
        "contain", "make", "look", "wear", "give", "take", "tell",
    }
)  # fmt: skip
ADJECTIVES = frozenset({"wild", "farm", "edible", "happy", "sad", "electric", "flowering", "baked"})
# Phrases that LIST should understand but that nobody would ask in.
AWKWARD = frozenset({"are balls", "are money", "are read", "are fast food"})
# Facts that are said of animals only: a fountain does not live in water.
OF_ANIMALS = frozenset({"wild", "farm", "pet", "land", "water", "fly"})
FEWEST_NAMES = 2
UNCOUNTED = frozenset({"fruit", "food", "clothing", "stationery", "sports equipment"})

# {what} is `the birds`, `the wild animals`, `the fruit that grows on trees`, `everything that needs electricity`,
# `the birds and the drinks`.
TAG = Wordings(
    (
        "tag {what}.",
        "tag {what} in the {picture}.",
        "find and name {what} in the {picture}.",
        "label {what}.",
        "mark {what} with their names.",
    ),
    ("put a name tag on {what}.", "identify {what} in the {picture} and tag them.", "please tag {what}."),
)


@dataclass(frozen=True)
class TagQuery:
    """Things to tag.

    Attributes:
        text: As it follows the verb: `the wild animals`, `everything that has wheels`.
        masked: The same without the words that matter.
        names: All concepts that it fits.
        group: The hypernym it names; "" for everything that a fact holds of, and for two of them.
    """

    text: str
    masked: str
    names: frozenset[str]
    group: str = ""


def conjugated(phrase: str) -> str:
    """Put a plural verb phrase in the singular: `grow on trees` becomes `grows on trees`."""
    verb, _, rest = phrase.partition(" ")
    irregular = {"are": "is", "have": "has", "can": "can", "fly": "flies"}
    return f"{irregular.get(verb, verb + 's')} {rest}".strip()


@cache
def names(group: str = "", *facts: str) -> frozenset[str]:
    """Return the concepts of a group ("" for any) of which all the facts hold."""
    words = vocabulary()
    members = words.members(group) if group else words.concepts
    return frozenset(c.name for c in members if c.facts.issuperset(facts))


def clauses(fact: str) -> tuple[str, ...]:
    """Return the phrases for a fact that can follow `that`."""
    return tuple(p for p in vocabulary().facts[fact] if p.split()[0] in VERBS and p not in AWKWARD)


@cache
def group_queries() -> tuple[TagQuery, ...]:
    """Return queries such as `the birds`."""
    return tuple(
        TagQuery(f"the {group}", "the {group}", names(group), group)
        for group in vocabulary().groups
        if group not in UNASKABLE and len(names(group)) <= MOST_NAMES
    )


@cache
def fact_queries() -> tuple[TagQuery, ...]:
    """Return queries such as `everything that has wheels` and `all things that need electricity`."""
    return tuple(
        query
        for fact in GENERAL_FACTS
        if FEWEST_NAMES <= len(names("", fact)) <= MOST_NAMES
        for phrase in clauses(fact)
        for query in (
            TagQuery(f"everything that {conjugated(phrase)}", "everything that {fact}", names("", fact)),
            TagQuery(f"all things that {phrase}", "all things that {fact}", names("", fact)),
        )
    )


@cache
def narrowed_queries() -> tuple[TagQuery, ...]:
    """Return queries such as `the wild animals that can fly`, where the facts leave out a part of the group."""
    return tuple(query for group in vocabulary().groups if group not in UNASKABLE for query in _narrowed(group))


def _narrowed(group: str) -> Iterator[TagQuery]:
    animals = "animals" in {group, *vocabulary().groups[group].parents}
    facts = [
        fact
        for fact in vocabulary().facts
        if (animals or fact not in OF_ANIMALS) and FEWEST_NAMES <= len(names(group, fact)) < len(names(group))
    ]
    for fact in facts:
        yield from _said(group, names(group, fact), "", fact)
    for adjective in facts:
        for fact in facts:
            members = names(group, adjective, fact)
            if (
                adjective != fact
                and len(members) >= FEWEST_NAMES
                and len(members) < min(len(names(group, adjective)), len(names(group, fact)))
            ):
                yield from _said(group, members, adjective, fact)


def _said(group: str, members: frozenset[str], adjective: str, fact: str) -> Iterator[TagQuery]:
    """Say `the ADJECTIVE GROUP that FACT` in every way that English has for it."""
    if len(members) > MOST_NAMES:
        return
    phrases = vocabulary().facts
    before = [f"{word} " for word in phrases[adjective] if word in ADJECTIVES] if adjective else [""]
    for word in before:
        for phrase in clauses(fact):
            clause = conjugated(phrase) if group in UNCOUNTED else phrase
            masked = "the {fact} {group} that {fact}" if adjective else "the {group} that {fact}"
            yield TagQuery(f"the {word}{group} that {clause}", masked, members, group)
    for word in () if adjective else [p for p in phrases[fact] if p in ADJECTIVES]:
        yield TagQuery(f"the {word} {group}", "the {fact} {group}", members, group)


def _group(sampler: TaskSampler) -> TaskDraft | None:
    return _draft(sampler, sampler.dice.choice(group_queries()))


def _fact(sampler: TaskSampler) -> TaskDraft | None:
    return _draft(sampler, sampler.dice.choice(fact_queries()))


def _group_and_fact(sampler: TaskSampler) -> TaskDraft | None:
    # Every group is as likely as any other, however many facts there are about it.
    group = sampler.dice.choice(sorted({query.group for query in narrowed_queries()}))
    return _draft(sampler, sampler.dice.choice([query for query in narrowed_queries() if query.group == group]))


def _two_groups(sampler: TaskSampler) -> TaskDraft | None:
    first, second = sampler.dice.sample(group_queries(), 2)
    if first.names & second.names or len(first.names | second.names) > MOST_NAMES:
        return None
    both = TagQuery(f"{first.text} and {second.text}", "the {group} and the {group}", first.names | second.names)
    return _draft(sampler, both, required=[*_fitting(sampler, first)[:1], *_fitting(sampler, second)[:1]])


def _fitting(sampler: TaskSampler, query: TagQuery) -> list[str]:
    """Return the key concepts that a query fits, in random order."""
    fitting = sorted(query.names & set(sampler.keys()))
    return sampler.dice.sample(fitting, len(fitting))


def _draft(sampler: TaskSampler, query: TagQuery, *, required: Sequence[str] = ()) -> TaskDraft | None:
    fitting = _fitting(sampler, query)
    if not fitting:
        return None
    chosen = list(required) or [sampler.dice.choice(fitting) for _ in range(sampler.dice.integer(1, 3))]
    shown = chosen + _tempting(sampler, query)
    scene = sampler.scene(shown, counts=(len(shown), len(shown) + 2), without=query.names)
    if scene is None or all(o.concept in query.names for o in scene.objects):
        return None
    wording = say(TAG, sampler.fixed, sampler.split, what=query.text)
    masked = wording.masked.replace("{what}", query.masked)
    return TaskDraft(Instruction(wording.text, masked), (scene,), _gold(scene, query), tuple(sorted(set(chosen))))


def _tempting(sampler: TaskSampler, query: TagQuery) -> list[str]:
    """Choose, half of the time, something of the same group that the query does not fit."""
    pool = key_names("known" if sampler.share == "known" else "mixed")
    others = [name for name in pool if name in names(query.group) - query.names] if query.group else []
    return [sampler.dice.choice(others)] if others and sampler.dice.chance(0.5) else []


def _gold(scene: Scene, query: TagQuery) -> TagAnswer:
    return TagAnswer(tuple(TaggedRegion(t.concept, t.box) for t in truths(scene) if t.concept in query.names))


TYPES: dict[str, Maker] = {
    "group": _group,
    "fact": _fact,
    "group and fact": _group_and_fact,
    "two groups": _two_groups,
}
