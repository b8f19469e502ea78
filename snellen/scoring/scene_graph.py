"""Scene graphs: what there is in a picture or a text, as entities, their attributes and their relations.

PROVE, section 3.1 and listing 1. A graph is made of facts, its tuples; names are kept as they are written, hyphens,
quotes and numbers too, and a second dog is another entity than the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import networkx as nx

from snellen.errors import BadInput

MAX_NAME: Final = 200
"""Characters of a name, a value or a relation."""
MAX_FACTS: Final = 2_000
"""Tuples of a picture that are read."""
_NUMBERED: Final = re.compile(r"^(?P<name>.+?) \((?P<number>[2-9]|[1-9]\d{1,3})\)$", re.DOTALL)
_TUPLE: Final = re.compile(
    r"^[\s*•-]*(?:\d+\s*[|.)]\s*)?(?P<form>entity|attribute|relation|action|global|other)\b"
    r"\s*(?:[-–—:]\s*(?P<kind>[^()]*?))?\s*\(",
    re.IGNORECASE,
)
_END: Final = re.compile(r"[\s.,;]*")
_QUOTES: Final[Mapping[str, str]] = {'"': '"', "'": "'", "“": "”", "\u2018": "\u2019", "„": "“", "«": "»"}
_QUOTED: Final = re.compile(rf"(?:{'|'.join(f'{begin}([^{end}]*){end}' for begin, end in _QUOTES.items())})(?=\s*[,)])")
_MARK: Final = re.compile(r"[(),]")
WHOLE: Final = "whole picture"
"""The key of the entity that has what is said of a picture as a whole: ``global - (digital art)``. It is not a picture
that hangs on a wall."""
_WHOLE_NAMES: Final = frozenset({"picture", "image", "scene", "photo", "photograph"})
_VALUED: Final = frozenset({"count", "text", "text rendering"})
"""Kinds of ``other`` that are attributes, however many commas their value has."""
_EQUAL: Final = re.compile(r"^==?\s*(?=\S)")
_NUMBER_OF: Final = re.compile(r"(?P<name>[^=<>]*[^=<>\s])\s*(?P<number>[=<>]=?\s*\S.*)", re.DOTALL)
_TUPLE_FORMS: Final = (
    "entity (name), attribute (name, value), relation (name, name, relation), action (name, name, verb), global (value)"
    " or other - count (name, ==2)"
)


@dataclass(frozen=True, order=True)
class Fact:
    """One tuple of a scene graph: that there is an entity, that it has an attribute, or how it relates to another.

    Attributes:
        entity: Its key: a name, with a number in parentheses from the second of one name on: ``dog``, ``dog (2)``.
        attribute: A value it has, such as ``red``.
        relation: How it relates to the target, such as ``in front of``.
        target: The key of the other entity.
        kind: Of the attribute or the relation, such as ``color`` or ``spatial``.
        negated: Whether it says that this is not so; graphs hold none of these, answers may.
    """

    entity: str
    attribute: str = ""
    relation: str = ""
    target: str = ""
    kind: str = ""
    negated: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no tuple.

        Raises:
            BadInput: A name is empty or too long, or it is neither entity, attribute nor relation.
        """
        if not self.entity.strip() or bool(self.relation) != bool(self.target) or (self.attribute and self.relation):
            msg = f"{(self.entity, self.attribute, self.relation, self.target)!r:.200} is no tuple of a scene graph."
            raise BadInput(msg)
        if max(map(len, (self.entity, self.attribute, self.relation, self.target, self.kind))) > MAX_NAME:
            msg = f"A name of {self.entity[:40]!r} … has more than {MAX_NAME} characters."
            raise BadInput(msg)

    @property
    def values(self) -> list[str]:
        """The values of its attribute, of which some write several with commas."""
        return self.attribute.split(", ") if self.attribute else []

    @property
    def text(self) -> str:
        """It in words, in which numbers of entities are left out: ``red dog``, ``dog not in front of house``."""
        no = "not " if self.negated else ""
        if self.relation:
            return f"{name_of(self.entity)} {no}{self.relation} {name_of(self.target)}"
        if self.attribute:
            return f"{no}{self.attribute} {name_of(self.entity)}"
        return f"{'no ' if self.negated else ''}{name_of(self.entity)}"


def name_of(key: str) -> str:
    """Return the name of an entity without its number."""
    match = _NUMBERED.match(key)
    return match["name"] if match else key


@dataclass(frozen=True)
class ReadTuples:
    """The readable part of a list of tuples.

    Attributes:
        facts: The tuples that are.
        unreadable: The texts that are none, as they were written.
    """

    facts: tuple[Fact, ...]
    unreadable: tuple[str, ...] = ()


def read_tuples(texts: Iterable[str], *, most: int = MAX_FACTS) -> ReadTuples:
    """Read the tuples of a picture; see `parse_tuple`. What is none is left out and returned beside them.

    Args:
        texts: The tuples.
        most: That are read; further ones count as unreadable.
    """
    facts: list[Fact] = []
    unreadable: list[str] = []
    for text in texts:
        try:
            fact = parse_tuple(text) if len(facts) < most else None
        except BadInput:
            fact = None
        if fact is None:
            unreadable.append(text[:MAX_NAME])
        else:
            facts.append(fact)
    return ReadTuples(tuple(facts), tuple(unreadable))


def parse_tuple(text: str) -> Fact:
    """Read a tuple in the form of Davidsonian scene graphs (Cho et al. 2024), in which DOCCI's are written.

    ``entity - whole (dog)``, ``attribute - color (t-shirt, blue)``, ``relation - spatial (dog, house, by)``,
    ``action - (dog, cat, chase)``, ``global - style (sketch)``, ``other - count (tires, ==2)``,
    ``other - text rendering (sign, "STOP")``. What is global is an attribute of the entity `WHOLE`; an action without
    an object is an attribute of the kind ``action``, one with an object a relation of that kind.

    Args:
        text: The tuple; names with a comma are quoted.

    Raises:
        BadInput: It has another form, or another number of parts.
    """
    text = text[: 5 * MAX_NAME]
    match = _TUPLE.match(text)
    parts = _parted(text, match.end()) if match else None
    fact = (
        _FORMS[match["form"].lower()](" ".join((match["kind"] or "").lower().split()), parts)
        if match and parts
        else None
    )
    if fact is None:
        msg = f"{text[:120]!r} is no tuple: give {_TUPLE_FORMS}."
        raise BadInput(msg)
    return fact


def tuple_text(fact: Fact) -> str:
    """Write a fact in the form that `parse_tuple` reads; whether it is negated is not part of that form."""
    kind = f" - {fact.kind}" if fact.kind else ""
    if fact.relation:
        return f"relation{kind} ({_quoted(fact.entity)}, {_quoted(fact.target)}, {_quoted(fact.relation)})"
    if fact.attribute:
        return f"attribute{kind} ({_quoted(fact.entity)}, {_quoted(fact.attribute)})"
    return f"entity{kind} ({_quoted(fact.entity)})"


def _quoted(part: str) -> str:
    mark = "'" if '"' in part else '"'
    in_quotes = _QUOTES.get(part[0]) == part[-1]
    return f"{mark}{part}{mark}" if in_quotes or _parted(f"{part})", 0) != [part] else part


def _entity(kind: str, parts: Sequence[str]) -> Fact | None:
    if len(parts) == 2 and kind == "state":  # noqa: PLR2004 - some write the state of a thing as an entity
        return Fact(parts[0], attribute=parts[1], kind=kind)
    return Fact(parts[0], kind=kind) if len(parts) == 1 else None


def _attribute(kind: str, parts: Sequence[str]) -> Fact | None:
    if kind == "count" and len(parts) == 1 and (match := _NUMBER_OF.fullmatch(parts[0])):
        parts = [match["name"], match["number"]]  # some write "tires == 2"
    if len(parts) < 2:  # noqa: PLR2004 - a thing and a value
        return None
    value = ", ".join(parts[1:])
    return Fact(parts[0], attribute=_EQUAL.sub("", value) if kind == "count" else value, kind=kind)


def _relation(kind: str, parts: Sequence[str]) -> Fact | None:
    if len(parts) != 3:  # noqa: PLR2004 - two things and how they stand to each other
        return None
    return Fact(parts[0], relation=parts[2], target=parts[1], kind=kind)


def _action(kind: str, parts: Sequence[str]) -> Fact | None:
    """Read who does what, and to whom; some write the verb before the parentheses."""
    verb = "" if kind == "action" else kind
    match [*parts, verb] if verb else list(parts):
        case [doer, done]:
            return Fact(doer, attribute=done, kind="action")
        case [doer, other, done]:
            return Fact(doer, relation=done, target=other, kind="action")
    return None


def _global(kind: str, parts: Sequence[str]) -> Fact | None:
    if kind == "count":  # of something, never of the whole picture
        return _attribute(kind, parts)
    named = len(parts) > 1 and parts[0].casefold() in _WHOLE_NAMES
    return Fact(WHOLE, attribute=", ".join(parts[1:] if named else parts), kind=kind or "global")


def _other(kind: str, parts: Sequence[str]) -> Fact | None:
    if len(parts) == 3 and kind not in _VALUED:  # noqa: PLR2004 - as a relation has
        return _relation(kind, parts)
    return _global(kind, parts) if len(parts) == 1 else _attribute(kind, parts)


_FORMS: Final[Mapping[str, Callable[[str, Sequence[str]], Fact | None]]] = {
    "entity": _entity, "attribute": _attribute, "relation": _relation, "action": _action, "global": _global,
    "other": _other,
}  # fmt: skip


def _parted(text: str, place: int) -> list[str] | None:
    """Part what is in parentheses at commas; those in quotes or in further parentheses belong to a part.

    Args:
        text: It must end where the parentheses are closed.
        place: Behind the opening one.

    Returns:
        The parts; None if one of them is empty, or the parentheses are not closed at the end.
    """
    parts: list[str] = []
    while place < len(text):
        begin = place + len(text[place:]) - len(text[place:].lstrip())
        quoted = _QUOTED.match(text, begin)
        end = _end_of_part(text, quoted.end() if quoted else begin)
        part = (quoted[quoted.lastindex or 0] if quoted else text[begin:end]).strip()
        last = text[end : end + 1] == ")"
        if not part and not (last and parts):
            return None
        parts += [part] if part else []
        if last:
            return parts if _END.fullmatch(text, end + 1) else None
        place = end + 1
    return None


def _end_of_part(text: str, begin: int) -> int:
    """Return the place of the next comma or closing parenthesis that no other one was opened for."""
    depth = 0
    for mark in _MARK.finditer(text, begin):
        if depth == 0 and mark[0] != "(":
            return mark.start()
        depth += {"(": 1, ")": -1, ",": 0}[mark[0]]
    return len(text)


class SceneGraph:
    """Entities with attributes, and directed relations between them (PROVE, listing 1).

    Args:
        facts: Its tuples; entities that only attributes or relations name are there as well.
        caption: What it was made of, if it was a text.
    """

    def __init__(self, facts: Iterable[Fact], *, caption: str = "") -> None:
        self.caption = caption
        self._graph = nx.MultiDiGraph()
        for fact in facts:
            if fact.negated:
                continue
            self._graph.add_node(fact.entity)
            if fact.relation:
                self._graph.add_edge(fact.entity, fact.target, key=(fact.kind, fact.relation))
            elif fact.attribute:
                values = self._graph.nodes[fact.entity].setdefault(fact.kind or "state", [])
                if fact.attribute not in values:
                    values.append(fact.attribute)

    @classmethod
    def of_tuples(cls, tuples: Iterable[str], *, caption: str = "") -> SceneGraph:
        """Return the graph of tuples in DOCCI's form; see `parse_tuple`. What is none is left out."""
        return cls(read_tuples(tuples).facts, caption=caption)

    @property
    def facts(self) -> list[Fact]:
        """All tuples: each entity, then its attributes, then its relations."""
        return list(self._facts())

    @property
    def names(self) -> dict[str, str]:
        """The name of each entity by its key, without its number."""
        return {key: name_of(key) for key in self._graph.nodes}

    def generate_subgraph(self, node_list: Sequence[str]) -> SceneGraph:
        """Return the graph of some entities: their attributes, and the relations among them."""
        kept = set(node_list)
        return SceneGraph(
            [fact for fact in self._facts() if fact.entity in kept and (not fact.target or fact.target in kept)],
            caption=self.caption,
        )

    def describe(self, subgraph: SceneGraph) -> str:
        """Describe a part of it in words: ``big red dog; dog in front of house``."""
        phrases = []
        for key in subgraph.get_entities():
            values = [value for row in subgraph._values(key).values() for value in row]
            phrases.append(" ".join([*values, name_of(key)]))
        phrases += [fact.text for fact in subgraph.facts if fact.relation]
        return "; ".join(phrases)

    def get_entities(self) -> list[str]:
        """Return the keys of all entities."""
        return list(self._graph.nodes)

    def get_attributes(self, ent_name: str) -> dict[str, str]:
        """Return the attributes of an entity by their kind, several of one kind with commas; none if there is none."""
        return {kind: ", ".join(values) for kind, values in self._values(ent_name).items()}

    def get_outgoing_relations(self, ent_name: str) -> dict[str, dict[str, list[str]]]:
        """Return how an entity relates to others: ``{target: {kind: [relation, …]}}``."""
        return self._related(self._graph.out_edges(ent_name, keys=True), end=1) if ent_name in self._graph else {}

    def get_incoming_relations(self, ent_name: str) -> dict[str, dict[str, list[str]]]:
        """Return how others relate to an entity: ``{source: {kind: [relation, …]}}``."""
        return self._related(self._graph.in_edges(ent_name, keys=True), end=0) if ent_name in self._graph else {}

    def _values(self, key: str) -> dict[str, list[str]]:
        return dict(self._graph.nodes[key]) if key in self._graph else {}

    def _facts(self) -> Iterator[Fact]:
        for key in self._graph.nodes:
            yield Fact(key)
            for kind, values in self._values(key).items():
                yield from (Fact(key, attribute=value, kind="" if kind == "state" else kind) for value in values)
        for source, target, (kind, relation) in self._graph.edges(keys=True):
            yield Fact(source, relation=relation, target=target, kind=kind)

    @staticmethod
    def _related(edges: Iterable[tuple[str, str, tuple[str, str]]], *, end: int) -> dict[str, dict[str, list[str]]]:
        relations: dict[str, dict[str, list[str]]] = {}
        for edge in edges:
            kind, relation = edge[2]
            relations.setdefault(str(edge[end]), {}).setdefault(kind or "relation", []).append(relation)
        return relations


def numbered(name: str, number: int) -> str:
    """Return the key of the so manieth entity of a name."""
    return name if number == 1 else f"{name} ({number})"
