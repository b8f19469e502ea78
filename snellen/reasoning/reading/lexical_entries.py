"""The open lexicon: nouns for concepts, groups and kinds of several concepts, and words for facts, in all their forms.

`lexicon.json` is derived from WordNet (`snellen.reasoning.reading.wordnet`) and says how the concepts of a facts file
are called otherwise; the facts file of the profile says which concepts there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from snellen.reasoning.language.inflection import plural, regular_plural, singular
from snellen.reasoning.meanings.phrase_reader import KnownNames
from snellen.reasoning.meanings.phrases import third_person

LEXICON: Final = Path(__file__).parent / "lexicon.json"
_MOST_MEMBERS: Final = 20
GrammaticalNumber = Literal["one", "many", "any"]


@dataclass(frozen=True)
class LexicalNoun:
    """A noun, or a description that fits no single name.

    Attributes:
        names: The concepts or groups that it names, in the singular; none where it is a thing of any kind.
        number: Its grammatical number.
        fact: The fact that holds of what it names, such as "are kept as pets".
        is_open: Whether nobody knows the word, and it is a noun by its place alone.
    """

    names: tuple[str, ...]
    number: GrammaticalNumber = "any"
    fact: str = ""
    is_open: bool = False


@dataclass(frozen=True)
class Entry:
    """A phrase of the lexicon: its words, the terminal of the grammar that it is, its value and what it costs."""

    phrase: str
    symbol: str
    value: LexicalNoun | str
    cost: float = 0.0


@cache
def real_words() -> frozenset[str]:
    """Return English words that are near to known ones, and are therefore no misspellings of them."""
    table = json.loads(LEXICON.read_text(encoding="utf-8"))
    return frozenset(word for line in table.get("english", ()) for word in line.split())


@cache
def covered_names(concepts: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Return names that cover other concepts, too: whoever says "phone" means a telephone as well."""
    table = json.loads(LEXICON.read_text(encoding="utf-8")).get("covering", {})
    return {
        name: tuple(each for each in others if each in concepts) for name, others in table.items() if name in concepts
    }


@cache
def entries(facts_file: Path | None, *, covering: bool = True) -> tuple[Entry, ...]:
    """Return all phrases for the concepts, groups and facts of a facts file.

    Args:
        facts_file: The file.
        covering: Whether names cover other concepts (`covered_names`), as they do of what is seen in a picture.
    """
    if facts_file is None:
        return ()
    table = json.loads(facts_file.read_text(encoding="utf-8"))
    words = json.loads(LEXICON.read_text(encoding="utf-8"))
    concepts = [row["name"] for row in table["concepts"]]
    groups = {name: row["singular"] for name, row in table["groups"].items()}
    facts = {key: _verb_phrase(phrases[0]) for key, phrases in table["facts"].items()}
    named: dict[tuple[str, str], list[Entry]] = {}
    for entry in (
        *_nouns_of_names(concepts, groups, words, covered_names(frozenset(concepts)) if covering else {}),
        *_nouns_of_kinds(set(concepts), groups, facts, words),
        *_words_for_facts(facts, words["facts"]),
    ):
        named.setdefault((entry.phrase, entry.symbol), []).append(entry)
    return tuple(_merged(entry, same) for same in named.values() for entry in same if entry.cost <= _cheapest(same))


@cache
def known_names(facts_file: Path | None, others: frozenset[str] = frozenset()) -> KnownNames:
    """Return all names that an echo may have: those of a facts file, and other kinds."""
    if facts_file is None:
        return KnownNames(others, frozenset())
    table = json.loads(facts_file.read_text(encoding="utf-8"))
    kinds = [row["name"] for row in table["concepts"]] + [row["singular"] for row in table["groups"].values()]
    facts = [_verb_phrase(phrase) for phrases in table["facts"].values() for phrase in phrases]
    return KnownNames(others.union(kinds), frozenset(facts))


def entries_of_names(names: Iterable[str]) -> Iterator[Entry]:
    """Yield the nouns of names that no facts file has."""
    for name in names:
        yield from _noun((name,), name, 0)


def _cheapest(same: list[Entry]) -> float:
    return min(each.cost for each in same)


def _merged(entry: Entry, same: list[Entry]) -> Entry:
    """Give a noun that is its own plural any number."""
    if not isinstance(entry.value, LexicalNoun):
        return entry
    numbers = {
        each.value.number
        for each in same
        if isinstance(each.value, LexicalNoun) and each.value.names == entry.value.names
    }
    return replace(entry, value=replace(entry.value, number="any")) if len(numbers) > 1 else entry


def _verb_phrase(phrase: str) -> str:
    """Make a phrase for a fact begin with a verb in the plural: "wild" is "are wild"."""
    return phrase if " " in phrase else f"are {phrase}"


def _nouns_of_names(
    concepts: list[str], groups: dict[str, str], words: dict[str, Any], covered: Mapping[str, tuple[str, ...]]
) -> Iterator[Entry]:
    for name in concepts:
        yield from _noun((name, *covered.get(name, ())), name, 0)
        for other in words["concepts"].get(name, ()):
            yield from _noun((name,), other, 0.2)
    for name, one in groups.items():
        yield from _noun((one,), one, 0)
        if name not in words["unsuitable"]:
            yield Entry(name, "NOUN", LexicalNoun((one,), "many"))
        yield from (
            Entry(each.removesuffix(f" {one}"), "KIND_ADJECTIVE", each) for each in concepts if each.endswith(f" {one}")
        )
        for other in words["groups"].get(name, ()):
            yield from _noun((one,), other, 0.2)


def _nouns_of_kinds(
    concepts: set[str], groups: dict[str, str], facts: dict[str, str], words: dict[str, Any]
) -> Iterator[Entry]:
    for kind in words["kinds"]:
        fact = next((facts.get(each[1:], "") for each in kind["of"] if each.startswith("#")), "")
        members = tuple(
            groups[each[1:]] if each[0] == "@" else each
            for each in kind["of"]
            if each in concepts or (each[0] == "@" and each[1:] in groups)
        )
        if len(members) > _MOST_MEMBERS or not (members or fact):
            continue
        for name in kind["names"]:
            names = ("animal",) if fact and name.endswith(("animal", "pet", "beast", "livestock")) else members
            yield from _noun(names, name, 0.1, fact=fact)


def _noun(names: tuple[str, ...], phrase: str, cost: float, *, fact: str = "") -> Iterator[Entry]:
    one, many = singular(phrase), plural(singular(phrase))
    if phrase != one and phrase == many:
        yield Entry(phrase, "NOUN", LexicalNoun(names, "many" if phrase not in names else "any", fact), cost)
        if one != phrase:
            yield Entry(one, "NOUN", LexicalNoun(names, "one", fact), cost + 0.05)
        return
    if many == phrase:
        yield Entry(phrase, "NOUN", LexicalNoun(names, "any", fact), cost)
        if not phrase.endswith("s"):
            yield Entry(regular_plural(phrase), "NOUN", LexicalNoun(names, "many", fact), cost + 0.05)
        return
    yield Entry(phrase, "NOUN", LexicalNoun(names, "one", fact), cost)
    yield Entry(many, "NOUN", LexicalNoun(names, "many", fact), cost)


def _words_for_facts(facts: dict[str, str], words: dict[str, Any]) -> Iterator[Entry]:
    for key, single in facts.items():
        also = words.get(key, {}).get("also", ())
        fact = "|".join([single, *(facts[each] for each in also if each in facts)])
        for adjective in words.get(key, {}).get("adjectives", ()):
            yield Entry(adjective, "FACT_ADJECTIVE", fact, 0.1)
        for phrase in words.get(key, {}).get("verbs", ()):
            verb, _, rest = phrase.partition(" ")
            yield from _forms_of(fact, verb, rest)


def _forms_of(fact: str, verb: str, rest: str) -> Iterator[Entry]:
    """Yield a verb phrase after "can", after a plural, after a singular, as a participle, after "with".

    A phrase that ends in a gap ("wear _") says what people do with the thing.
    """
    if rest.endswith("_"):
        yield Entry(f"{verb} {rest}".removesuffix("_").strip(), "FACT_GAP", fact)
        return
    if verb == "be":
        yield Entry(f"be {rest}", "FACT_BASE", fact)
        yield Entry(rest, "FACT_COMPLEMENT", fact)
        return
    yield Entry(f"{verb} {rest}".strip(), "FACT_BASE", fact)
    yield Entry(f"{verb} {rest}".strip(), "FACT_PLURAL", fact)
    yield Entry(f"{third_person(verb)} {rest}".replace("haves", "has").strip(), "FACT_THIRD", fact)
    stem = verb[:-1] if verb.endswith("e") else verb + verb[-1] if verb in {"swim", "run", "cut", "put"} else verb
    yield Entry(f"{stem}ing {rest}".strip(), "FACT_PARTICIPLE", fact)
    of = rest.removeprefix("the ")
    if of and " " not in of:
        yield Entry(f"{of}-{stem}ing", "FACT_ADJECTIVE", fact, 0.1)  # "time-telling"
    if verb == "have":
        yield Entry(rest, "FACT_PART", fact)
