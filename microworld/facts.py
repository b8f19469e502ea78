"""Table of facts: from a query in words to the names that it fits.

`wild animals that live on the land` fits every concept of the group `animals` of which both facts hold. Queries are
read by the words they share with groups and phrases of facts, so wordings may vary; where a condition is not
understood, the answer is empty rather than wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from snellen.microworld.concepts import plural, vocabulary

_SEPARATOR = re.compile(r",|;|\bas well as\b|\bor\b|\band\b")
_WORD = re.compile(r"[a-z]+")
_NEGATIONS = frozenset({"not", "no", "without", "never", "don't", "cannot", "neither", "nor"})
# Words that carry no condition of their own.
_EMPTY = frozenset(
    {
        "a", "all", "also", "am", "an", "any", "anything", "are", "article", "as", "at", "be", "been", "being",
        "belong", "both", "by", "can", "common", "could", "did", "different", "do", "does", "each", "every",
        "everything", "example", "few", "find", "for", "found", "from", "gadget", "get", "give", "go", "had", "has",
        "have", "having", "here", "image", "in", "is", "it", "item", "its", "kept", "kind", "list", "live", "living",
        "many", "may", "me", "might", "most", "mostly", "musical", "name", "object", "of", "often", "on", "one",
        "only", "other", "photo", "picture", "please", "product", "see", "several", "some", "something", "sort",
        "stuff", "such", "that", "the", "their", "them", "there", "these", "they", "thing", "this", "those", "to",
        "type", "typical", "use", "used", "using", "usually", "utensil", "various", "was", "were", "which", "who",
        "whose", "will", "with", "would", "you",
    }
)  # fmt: skip
# Forms that the rules of `_lemma` do not lead to one another, and words that mean the same.
_LEMMAS = {
    "alcoholic": "alcohol", "aquatic": "water", "ate": "eat", "baked": "bake", "baking": "bake", "balls": "ball",
    "beast": "animal", "beasts": "animal", "beverage": "drink", "beverages": "drink", "blown": "blow",
    "called": "call", "calling": "call", "clothes": "clothing", "containing": "contain", "contains": "contain",
    "creature": "animal", "creatures": "animal", "drinking": "drink", "driven": "drive", "drives": "drive",
    "driving": "drive", "drunk": "drink", "eaten": "eat", "eating": "eat", "electrical": "electric",
    "electricity": "electric", "electronic": "electric", "farms": "farm", "flies": "fly", "flowering": "flower",
    "flowers": "flower", "flown": "fly", "flying": "fly", "garment": "clothing", "garments": "clothing",
    "gives": "give", "giving": "give", "growing": "grow", "grown": "grow", "horned": "horn", "horns": "horn",
    "knives": "knife", "lives": "live", "looking": "look", "looks": "look", "made": "make", "makes": "make",
    "making": "make", "measuring": "measure", "men": "man", "mice": "mouse", "needed": "need", "needing": "need",
    "needs": "need", "noise": "sound", "ocean": "sea", "oceans": "sea", "people": "person", "pets": "pet",
    "potatoes": "potato", "rails": "rail", "ran": "run", "require": "need", "requires": "need", "roads": "road",
    "running": "run", "sailing": "sail", "sails": "sail", "served": "serve", "sounds": "sound", "spent": "spend",
    "striped": "stripe", "stripes": "stripe", "taken": "take", "taking": "take", "tastes": "taste",
    "tasting": "taste", "telling": "tell", "tells": "tell", "tomatoes": "tomato", "traveling": "travel",
    "travelling": "travel", "travels": "travel", "trees": "tree", "uses": "use", "wearing": "wear", "wears": "wear",
    "wheeled": "wheel", "wheels": "wheel", "worn": "wear", "writing": "write", "written": "write",
}  # fmt: skip


@dataclass(frozen=True)
class _Reading:
    """One part of a query: what it fits, whether it names a kind of thing, and whether it was understood."""

    names: frozenset[str]
    names_a_kind: bool
    understood: bool


def list_names(query: str, limit: int = 20) -> list[str]:
    """List the concepts that a query in words fits, in the order of the table of concepts.

    Args:
        query: Such as `fruit that grows on trees`, `birds and drinks`, `animals that can fly but are not wild`.
        limit: The longest list to return.

    Returns:
        At most `limit` names; none where nothing fits or a condition is not understood.
    """
    # A fork and knife is one thing, though it reads as two.
    exact = (m.names for m in _concepts() if m.phrase == _spoken(query).strip())
    names = _understood(query) or next(exact, frozenset())
    return [c.name for c in vocabulary().concepts if c.name in names][: max(limit, 0)]


def _understood(query: str) -> frozenset[str]:
    """Read a query part by part; empty where a part is not understood."""
    names: frozenset[str] = frozenset()
    last: frozenset[str] = frozenset()
    for part in _parts(query.lower()):
        reading = _read(part)
        if not reading.understood:
            return frozenset()
        # "birds and drinks" are two kinds; "animals that are wild and can fly" is one, narrowed twice.
        if reading.names_a_kind or not last:
            names |= last
            last = reading.names
        else:
            last &= reading.names
    return names | last


def _parts(query: str) -> Iterator[str]:
    """Cut a query at `and`, `or` and commas."""
    for piece in _SEPARATOR.split(query.replace(" but ", " and ")):
        if _lemmas(piece) - _EMPTY - _NEGATIONS or piece.strip() in {"everything", "objects", "things"}:
            yield piece


def _read(part: str) -> _Reading:
    """Read one part: its group or concept, and the facts that its other words state."""
    negated = bool(set(re.findall(r"[a-z']+", part)) & _NEGATIONS)
    words = _lemmas(part) - _NEGATIONS
    for kind in _kinds(_spoken(part)):
        names = _narrowed(kind.names, words, words - kind.words, negated=negated)
        if names is not None:
            return _Reading(names, names_a_kind=True, understood=True)
    names = _narrowed(_everything(), words, words, negated=negated)
    return _Reading(names or frozenset(), names_a_kind=False, understood=names is not None)


def _narrowed(
    names: frozenset[str], words: frozenset[str], left: frozenset[str], *, negated: bool
) -> frozenset[str] | None:
    """Keep those of which every fact that is said holds; None where words are left that state none."""
    left -= _EMPTY
    while left:
        fact = _best_fact(words, left)
        if fact is None:
            return None
        names = names - fact.names if negated else names & fact.names
        left -= fact.words
    return names


@dataclass(frozen=True)
class _Meaning:
    """A phrase in lemmas, and the concepts that it means."""

    phrase: str
    names: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        """The lemmas that matter."""
        return frozenset(self.phrase.split())


def _kinds(spoken: str) -> list[_Meaning]:
    """Return the groups, then the concepts, that are named word by word, those of most words and first named first."""
    groups = [m for m in _groups() if f" {m.phrase} " in spoken]
    concepts = [m for m in _concepts() if f" {m.phrase} " in spoken]
    return [
        meaning
        for meanings in (groups, concepts)
        for meaning in sorted(meanings, key=lambda m: (-len(m.words), spoken.index(f" {m.phrase} ")))
    ]


def _best_fact(words: frozenset[str], left: frozenset[str]) -> _Meaning | None:
    """Return the fact whose phrase is wholly said and explains the most words that are still unexplained."""
    facts = [m for m in _facts() if m.words <= words and m.words & left]
    return max(facts, key=lambda m: (len(m.words & left), len(m.words)), default=None)


@cache
def _everything() -> frozenset[str]:
    return frozenset(c.name for c in vocabulary().concepts)


@cache
def _groups() -> tuple[_Meaning, ...]:
    table = vocabulary()
    return tuple(
        _Meaning(_spoken(words).strip(), frozenset(c.name for c in table.members(name)))
        for name, group in table.groups.items()
        for words in (name, group.singular)
    )


@cache
def _concepts() -> tuple[_Meaning, ...]:
    return tuple(
        _Meaning(_spoken(words).strip(), frozenset({concept.name}))
        for concept in vocabulary().concepts
        for words in dict.fromkeys((concept.name, plural(concept.name)))
    )


@cache
def _facts() -> tuple[_Meaning, ...]:
    table = vocabulary()
    return tuple(
        _Meaning(" ".join(sorted(words)), frozenset(c.name for c in table.concepts if fact in c.facts))
        for fact, phrases in table.facts.items()
        for phrase in phrases
        if (words := _lemmas(phrase) - _EMPTY)
    )


@cache
def _spoken(text: str) -> str:
    """Return the lemmas of a text in order, between blanks, so that whole words can be looked for."""
    return f" {' '.join(_lemma(word) for word in _WORD.findall(text.lower()))} "


@cache
def _lemmas(text: str) -> frozenset[str]:
    return frozenset(_spoken(text).split())


def _lemma(word: str) -> str:
    """Take the ending off a word; only that equal words get equal lemmas matters."""
    if word in _LEMMAS:
        return _LEMMAS[word]
    if word.endswith("ies") and len(word) > len("pies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > len("his"):
        return word[:-1]
    return word
