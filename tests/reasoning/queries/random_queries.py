"""Random questions about models, well-typed and such as a sentence can say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from hypothesis import strategies as st

from snellen.reasoning.queries.abilities import (
    AnswerFreely,
    CountThings,
    Favour,
    IdentifyType,
    JudgePairs,
    Kind,
    Mistake,
    NameColours,
    NoticeSeveral,
    Place,
    Recognise,
    TellApart,
    TellMembers,
    TellPlaces,
    TellSizes,
)
from snellen.reasoning.queries.conditions import FAMILIES, SCALES, TYPES, Change, Condition
from snellen.reasoning.queries.model_query import Comparison, Contrast, ModelQuery, ModelQuestion, Threshold
from snellen.reasoning.queries.quantifiers import Quantifier

_NAMES = ("bird", "vehicle", "cat", "piece of clothing", "sea animal", "fire engine", "fruit", "fish")
JUDGES = {"idefics3-judge", "llava-judge"}
_SPLITS = ("CJ", "R", "GB", "PS", "ET")
_SENSES = st.sampled_from(("holds", "fails", "open"))

plain_kinds = st.builds(Kind, names=st.lists(st.sampled_from(_NAMES), min_size=1, max_size=1).map(tuple))
named_kinds = st.one_of(
    plain_kinds,
    st.builds(
        Kind,
        names=st.just(("animal",)),
        fact=st.sampled_from(("", "live on a farm")),
        without=st.sampled_from(((), ("bird",))),
    ),
)
kinds = st.one_of(st.just(Kind()), named_kinds)
_STRENGTHS: tuple[dict[str, bool], ...] = ({}, {}, {"slight": True}, {"heavy": True})
_SLIGHTLY_TURNED = {"left rotation", "right rotation", "rotation"}
"""Types and a family whose slight form is called a slight tilt."""


def _severe(name: str, strength: dict[str, bool]) -> dict[str, bool]:
    return {} if name in _SLIGHTLY_TURNED and strength.get("slight") else strength


changes = st.one_of(
    st.tuples(st.sampled_from(sorted(TYPES)), st.sampled_from(_STRENGTHS)).map(
        lambda both: Change(type=both[0], **_severe(*both))
    ),
    st.builds(
        Change,
        type=st.just("tilt"),
        amount=st.sampled_from((5.0, 45.0, 135.0)),
        side=st.sampled_from(("", "left", "right")),
    ),
    st.builds(Change, type=st.sampled_from(("low brightness", "low contrast")), amount=st.sampled_from((0.5, 0.25))),
    st.builds(Change, type=st.sampled_from(("high contrast", "zoom")), amount=st.sampled_from((2.0, 1.5))),
    st.builds(Change, type=st.sampled_from(("Gaussian noise", "defocus blur")), amount=st.sampled_from((2.0, 2.5))),
    st.builds(Change, type=st.just("JPEG compression"), amount=st.sampled_from((28.0, 24.0))),
)
conditions = st.one_of(
    st.builds(Condition, change=changes),
    st.tuples(st.sampled_from(sorted(FAMILIES)), st.sampled_from(_STRENGTHS)).map(
        lambda both: Condition(family=both[0], **_severe(*both))
    ),
    st.builds(
        Condition,
        family=st.just("every transformation"),
        without=st.sampled_from((("defocus blur",), ("zoom", "tilt"), ("left rotation",))),
    ),
)
plain_abilities = st.one_of(
    st.builds(Recognise, things=kinds),
    st.builds(Recognise, size=st.sampled_from(("small", "large")), things=kinds),
    st.builds(Recognise, place=st.sampled_from(get_args(Place)), things=kinds),
    st.builds(Recognise, among=st.just(True), things=kinds),  # noqa: FBT003 - a value to draw
    st.builds(TellSizes, things=kinds),
    st.lists(plain_kinds, min_size=2, max_size=3, unique=True).map(lambda some: TellApart(kinds=tuple(some))),
    st.builds(TellMembers, things=named_kinds),
    st.builds(TellPlaces, axis=st.sampled_from(("sides", "heights", "both")), things=kinds),
    st.builds(CountThings, up_to=st.sampled_from((0, 0, 3, 10)), things=kinds),
    st.builds(NameColours, colours=st.sampled_from(((), ("red",), ("red", "blue"))), things=kinds),
    st.builds(
        NameColours,
        colours=st.sampled_from((("red", "blue"), ("green", "yellow", "purple"))),
        apart=st.just(True),  # noqa: FBT003 - a value to draw
        things=kinds,
    ),
    st.builds(NoticeSeveral, likeness=st.sampled_from(("", "identical", "different")), things=kinds),
)
other_abilities = st.one_of(
    st.builds(IdentifyType, condition=conditions, things=kinds),
    st.builds(AnswerFreely, measure=st.sampled_from(("truth", "help"))),
    st.lists(plain_kinds, min_size=2, max_size=2, unique=True).map(lambda two: Mistake(things=two[0], other=two[1])),
    st.builds(Favour, answer=st.sampled_from(("", "yes", "no", "first", "last"))),
    st.builds(
        JudgePairs,
        measure=st.sampled_from(("", "order", "symmetry", "heed")),
        splits=st.lists(st.sampled_from(_SPLITS), unique=True, max_size=2).map(tuple),
    ),
)


def _question(models: Sequence[str]) -> st.SearchStrategy[ModelQuestion]:
    names = st.lists(st.sampled_from(list(models)), unique=True, max_size=3).map(tuple)

    @st.composite
    def draw_question(draw: st.DrawFn) -> ModelQuestion:
        fields: dict[str, Any] = {"models": draw(names), "sense": draw(_SENSES)}
        if draw(st.booleans()):
            fields |= {"ability": draw(plain_abilities), "condition": draw(st.one_of(st.none(), conditions))}
            fields["robust"] = fields["condition"] is not None and draw(st.booleans())
            if fields["ability"] == Recognise() and set(fields["models"]) <= JUDGES:
                fields["models"] = ()  # a judge of pairs of which nothing else is said is asked to judge pairs
        else:
            fields["ability"] = draw(other_abilities)
            if isinstance(fields["ability"], Mistake | Favour):
                fields["condition"] = draw(st.one_of(st.none(), conditions))
        return ModelQuestion.model_validate(fields)

    return draw_question()


class_counts = st.one_of(
    st.builds(Quantifier, how=st.sampled_from(("all", "not all", "most", "at least half"))),
    st.builds(Quantifier, how=st.just("at most"), count=st.integers(0, 30)),
    st.builds(Quantifier, how=st.just("at least"), count=st.integers(1, 30)),
)


def _asked_otherwise(draw: st.DrawFn, question: ModelQuestion, models: Sequence[str]) -> dict[str, Any]:  # noqa: C901, PLR0911 - a way each
    """Draw a comparison, a threshold, a contrast or a degree for a question."""
    ways = (
        "plain", "plain", "comparison", "threshold", "than", "how much", "which changes", "limit", "which classes",
        "classes",
    )  # fmt: skip
    way, least = draw(st.sampled_from(ways)), Threshold(how="at least", share=0.9)
    if way == "which classes" and question.ability == Favour(answer="") and question.sense == "holds":
        return {"asks": "which answer"}
    if isinstance(question.ability, Mistake | Favour):
        return {"asks": "how much"} if way == "how much" and question.sense == "holds" else {}
    if way == "limit" and isinstance(question.ability, Recognise | TellApart | TellMembers):
        condition = Condition(change=Change(type=draw(st.sampled_from(sorted(SCALES)))))
        stated = draw(st.sampled_from((None, least)))
        return {"condition": condition, "robust": False, "sense": "holds", "asks": "limit", "threshold": stated}
    if isinstance(question.ability, Recognise) and question.ability.arranged and way in {"classes", "which classes"}:
        return {}
    if way == "classes" and isinstance(question.ability, Recognise) and question.sense != "fails":
        return {"robust": False, "classes": draw(class_counts), "threshold": draw(st.sampled_from((None, least)))}
    if way == "which classes" and isinstance(question.ability, Recognise) and question.sense != "open":
        return {"robust": False, "asks": "which classes"}
    if way == "comparison":
        how = draw(st.sampled_from(("better", "as good", "best", "alike")))
        fewest = 2 if how in {"better", "as good"} else 0
        several = st.lists(st.sampled_from(list(models)), unique=True, min_size=2, max_size=3).map(tuple)
        names = draw(several) if fewest else draw(st.one_of(st.just(()), several))
        names = names if question.ability != Recognise() or not set(names) <= JUDGES else tuple(models[:2])
        margin = draw(st.sampled_from((0.0, 0.1)))
        sense = "holds" if how in {"alike", "as good"} else question.sense
        return {"comparison": Comparison(how=how, margin=margin), "models": names, "sense": sense}
    if way == "threshold" and question.sense == "holds":
        bound = st.builds(
            Threshold,
            how=st.sampled_from(("at least", "more than", "at most", "less than")),
            share=st.sampled_from((0.05, 0.5, 0.9, 0.3333)),
            relative=st.booleans() if question.robust else st.just(False),  # noqa: FBT003 - a value to draw
        )
        guessing = st.builds(
            Threshold,
            how=st.sampled_from(("more than", "at most")),
            share=st.just(0.5),
            guessing=st.just(True),  # noqa: FBT003 - a value to draw
        )
        return {"threshold": draw(bound if question.robust else st.one_of(bound, guessing))}
    if way == "how much" and question.sense != "open":
        return {"asks": "how much"}
    if way == "than" and isinstance(question.ability, Recognise | CountThings):
        if question.condition is None:
            return {"than": Contrast(ability=draw(plain_abilities.filter(lambda one: one != question.ability)))}
        return {"than": Contrast(condition=draw(conditions.filter(lambda one: one != question.condition)))}
    if (
        way == "which changes"
        and question.robust
        and question.sense != "open"
        and question.condition is not None
        and question.condition.family
    ):
        return {"asks": "which changes"}
    return {}


quantifiers = st.one_of(
    st.builds(Quantifier, how=st.sampled_from(("all", "not all", "most", "at least half", "how many"))),
    st.builds(Quantifier, how=st.just("at most"), count=st.integers(0, 2)),
    st.builds(Quantifier, how=st.sampled_from(("at least", "exactly")), count=st.integers(1, 2)),
)


@st.composite
def questions(draw: st.DrawFn, models: Sequence[str]) -> ModelQuestion:
    """Draw one question."""
    question = draw(_question(models))
    asked = ModelQuestion.model_validate({**dict(question), **_asked_otherwise(draw, question, models)})
    is_counted = asked.asks == "whether" and asked.comparison is None and asked.sense != "open"
    if is_counted and len(asked.models) != 1 and draw(st.booleans()):
        return ModelQuestion.model_validate({**dict(asked), "quantifier": draw(quantifiers)})
    return asked


@st.composite
def queries(draw: st.DrawFn, models: Sequence[str]) -> ModelQuery:
    """Draw one question or two, with or without a stated confidence."""
    asked = draw(st.lists(questions(models), min_size=1, max_size=2, unique=True))
    return ModelQuery(questions=tuple(asked), confidence=draw(st.sampled_from((None, None, 0.99))))
