"""Filters of questions, by what their programs say and by what is wrong with their words (PROVE, section 3.1).

Filter one asks whether the program gives the answer, filter two whether question and answer are worth asking. The
tuples of texts are read by whoever reads answers later, so a question stays only if its answer can be scored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.datasets.prove.benchmark import QuestionDraft, Reason
from snellen.scoring.scene_graph import Fact, SceneGraph, name_of
from snellen.scoring.verification import Verified

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snellen.scoring.freeform import Embed

SAME: Final = 0.7
"""The similarity from which on answer and output mean the same, where their tuples cannot be compared."""
DUPLICATE: Final = 0.97
"""The similarity from which on two questions about one picture are one (SemDeDup, Abbas et al. 2023)."""
DENIED: Final = 0.1
"""The probability below which a picture is said not to show what an answer says."""
TABOO: Final = (
    "caption", "captions", "described", "description given", "mentioned", "scene graph", "entity", "entities",
    "attribute", "attributes", "tuple", "tuples", "node", "nodes", "json", "program", "function", "null", "none of the",
    "not specified", "unspecified", "unknown", "n/a",
)  # fmt: skip
"""Words of people who read about a picture instead of looking at it."""
COMMON_SENSE: Final = frozenset({"category"})
"""Kinds of attributes that everybody knows who knows the thing."""

_WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_ORDERS: Final = frozenset({"describe", "name", "tell", "list", "count", "say"})
_PLURAL_BE: Final = re.compile(
    r"\b(?:is|does) the (?P<noun>[a-z ]*?(?:scissors|glasses|jeans|trousers|pants|shorts))\b"
)
_LENGTHS: Final = (3, 60)
"""Words of a question at least, of an answer at most."""


@dataclass(frozen=True)
class DraftReading:
    """A draft read as tuples.

    Attributes:
        premise: What the question takes for granted.
        answer: What the answer says.
        output: What the program's output says as an answer.
    """

    premise: Sequence[Fact]
    answer: Sequence[Fact]
    output: Sequence[Fact]

    @property
    def new(self) -> list[Fact]:
        """Facts of the answer that the question does not state."""
        return _without(self.answer, self.premise)


@dataclass(frozen=True)
class Objection:
    """An objection for which a question is rejected.

    Attributes:
        reason: In general.
        note: In particular.
    """

    reason: Reason
    note: str = ""


def program_objection(
    draft: QuestionDraft, verified: Verified, reading: DraftReading, embed: Embed
) -> Objection | None:
    """Filter one: the program fails, or what it says differs in meaning from the answer.

    Answer and output mean the same where they say the same tuples beyond the question's own. Where one of them says
    none that can be read, the similarity of the texts decides, as in the paper.
    """
    if verified.answer is None:
        return Objection("program fails", verified.trouble)
    stated, shown = ({fact.text for fact in _without(one, reading.premise)} for one in (reading.answer, reading.output))
    if stated and shown:
        same = stated == shown
    else:
        one, other = embed([draft.answer, verified.answer])
        same = float(one @ other) >= SAME or verified.answer.casefold() in draft.answer.casefold()
    return None if same else Objection("program disagrees", f"The program says {verified.answer[:200]!r}.")


def text_objection(draft: QuestionDraft, reading: DraftReading, graph: SceneGraph) -> Objection | None:
    """Filter two, as far as words and tuples tell: ungrammatical, incomplete, taboo words, ambiguous, trivial."""
    checks: Sequence[Callable[[], Objection | None]] = (
        lambda: _ungrammatical(draft),
        lambda: _incomplete(draft),
        lambda: _taboo(draft),
        lambda: _ambiguous(draft, reading, graph),
        lambda: _trivial(reading),
    )
    return next((objection for check in checks if (objection := check())), None)


def denied(reading: DraftReading, probabilities: Mapping[str, float]) -> Objection | None:
    """Filter two, as far as the picture tells.

    Args:
        reading: Of the draft.
        probabilities: That the picture shows what a tuple says, by the tuple's text.
    """
    for fact in reading.new:
        shown = probabilities.get(fact.text, 1.0)
        if shown < DENIED:
            return Objection("not entailed", f"The picture hardly shows {fact.text!r}: {shown:.2f}.")
    return None


def duplicates(texts: Sequence[str], embed: Embed) -> list[int]:
    """Return the places of texts that say again what others say (SemDeDup).

    Of texts that are alike the one stays that is farthest from the middle of all, as there.
    """
    if len(texts) < 2:  # noqa: PLR2004 - one text repeats nothing
        return []
    vectors: NDArray[np.float64] = np.asarray(embed(list(texts)), dtype=float)
    alike = vectors @ vectors.T >= DUPLICATE
    middle = vectors @ vectors.mean(axis=0)
    dropped: set[int] = set()
    for place in np.argsort(middle, kind="stable"):
        if int(place) in dropped:
            continue
        dropped |= {int(other) for other in np.flatnonzero(alike[place]) if other != place and other not in dropped}
    return sorted(dropped)


def _without(facts: Sequence[Fact], premise: Sequence[Fact]) -> list[Fact]:
    known = {fact.text for fact in premise}
    return [fact for fact in facts if fact.text not in known]


def _ungrammatical(draft: QuestionDraft) -> Objection | None:
    words = _WORD.findall(draft.question.lower())
    asks = draft.question.endswith("?") or (words[:1] and words[0] in _ORDERS)
    text = f"{draft.question} {draft.answer}".lower()
    note = ""
    if not asks:
        note = "It asks nothing: there is no question mark."
    elif not draft.question[0].isupper() or not draft.answer[0].isupper():
        note = "It does not begin with a capital letter."
    elif twice := re.search(r"\b(\w+) \1\b", text):
        note = f"{twice[0]!r} says one word twice."
    elif wrong := re.search(r"\ba ([aeio]\w+)|\ban ([bcdfgjklmnpqrstvwz]\w+)", text):
        note = f"{wrong[0]!r} has the wrong article."
    elif several := _PLURAL_BE.search(text):
        note = f"{several[0]!r} needs the plural."
    return Objection("ungrammatical", note) if note else None


def _incomplete(draft: QuestionDraft) -> Objection | None:
    words, answer = _WORD.findall(draft.question), _WORD.findall(draft.answer)
    if len(words) < _LENGTHS[0] or not answer or len(answer) > _LENGTHS[1]:
        return Objection("incomplete", "Question or answer is too short, or too long.")
    for text in (draft.question, draft.answer):
        if re.search(r"(\.\.\.|…|[,:;]|\b(?:and|or|the|of|to))\W*$", text) or re.search(r"[{}\[\]]|___", text):
            return Objection("incomplete", f"{text[-40:]!r} is not finished.")
    return None


def _taboo(draft: QuestionDraft) -> Objection | None:
    text = f" {' '.join(re.findall(r'[a-z/]+', f'{draft.question} {draft.answer}'.lower()))} "
    taboo = next((word for word in TABOO if f" {word} " in text), "")
    return Objection("taboo words", f"It says {taboo!r}.") if taboo else None


def _ambiguous(draft: QuestionDraft, reading: DraftReading, graph: SceneGraph) -> Objection | None:
    """Whether something is said to be known of which there are several, or none."""
    facts = Counter((name_of(fact.entity), fact.attribute, fact.relation, name_of(fact.target)) for fact in graph.facts)
    keys = graph.get_entities()
    if draft.kind == "count":
        return None
    for name in dict.fromkeys(fact.entity for fact in reading.premise if not fact.relation):
        premises = [fact for fact in reading.premise if fact.entity == name and (fact.attribute or fact.relation)]
        meant = [key for key in keys if name_of(key) == name and all(_true_of(key, fact, graph) for fact in premises)]
        if len(meant) > 1:
            return Objection("ambiguous", f"There are {len(meant)} that {name!r} may mean.")
        if not meant and facts and any(name_of(key) == name for key in keys):
            return Objection("not entailed", f"No {name!r} is as the question says.")
    return None


def _true_of(key: str, fact: Fact, graph: SceneGraph) -> bool:
    if fact.relation:
        beside = graph.get_outgoing_relations(key)
        return any(
            name_of(other) == fact.target and any(fact.relation in held for held in kinds.values())
            for other, kinds in beside.items()
        )
    return any(fact.attribute in values.split(", ") for values in graph.get_attributes(key).values())


def _trivial(reading: DraftReading) -> Objection | None:
    if not reading.new:
        return Objection("trivial", "The answer says nothing that the question does not.")
    if all(fact.kind in COMMON_SENSE for fact in reading.new):
        return Objection("trivial", "Whoever knows the thing knows the answer without the picture.")
    return None
