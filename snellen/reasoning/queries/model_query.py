"""Meanings of questions about models: who is examined, in what, under which condition, and what a yes means.

A `ModelQuery` is one question or several, each of which is answered for itself. Nothing in it is free but the names of
models and of what pictures show. Names of things are in the singular; an empty `Kind` is a thing of any kind.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from snellen.reasoning.meanings.things import Name, Part
from snellen.reasoning.queries.conditions import EVERY, Condition
from snellen.reasoning.queries.quantifiers import Quantifier
from snellen.reasoning.queries.question_checks import problem_of

MAX_QUESTIONS: Final = 12
HALF: Final = 0.5
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Colour: TypeAlias = Literal["red", "blue", "green", "yellow", "purple"]
Size: TypeAlias = Literal["small", "large"]
Split: TypeAlias = Literal["CJ", "R", "GB", "PS", "ET", "SP"]
"""What changes between the pictures of a pair (PairBench): colours, rotation, blur, perspective, warping, places."""
Sense: TypeAlias = Literal["holds", "fails", "open"]
"""A yes means that what is examined holds, that it fails, or one cannot tell from the wording."""


class Kind(Part):
    """The things that pictures show: those of a group, of a class, of one of several, or with a fact in common.

    Attributes:
        names: Groups and classes; none for anything.
        fact: What holds of them, as a verb phrase in the plural: "can fly".
        without: Groups and classes that are excepted.
    """

    names: tuple[Name, ...] = Field((), max_length=20)
    fact: Annotated[str, StringConstraints(max_length=200)] = ""
    without: tuple[Name, ...] = Field((), max_length=10)


class Recognise(Part):
    """Name what a picture shows: "recognize birds", "recognize small birds"."""

    kind: Literal["recognise"] = "recognise"
    size: Size | Literal[""] = ""
    things: Kind = Kind()


class TellSizes(Part):
    """Tell how large things are shown: "tell small from large birds"."""

    kind: Literal["tell sizes"] = "tell sizes"
    things: Kind = Kind()


class TellApart(Part):
    """Tell kinds of things from one another: "tell cats from dogs"."""

    kind: Literal["tell apart"] = "tell apart"
    kinds: tuple[Kind, ...] = Field(min_length=2, max_length=8)

    @model_validator(mode="after")
    def _different(self) -> TellApart:
        named = all((each.names or each.fact) and not each.without for each in self.kinds)
        if len(set(self.kinds)) < len(self.kinds) or not named:
            msg = "only different kinds are told apart"
            raise ValueError(msg)
        return self


class TellMembers(Part):
    """Tell the things of one kind from one another: "tell birds apart", a goose from a swan."""

    kind: Literal["tell members"] = "tell members"
    things: Kind = Kind()


class Mistake(Part):
    """Take things of one kind for things of another: "mistake dogs for cats"; to do so is no virtue."""

    kind: Literal["mistake"] = "mistake"
    things: Kind
    other: Kind

    @model_validator(mode="after")
    def _different(self) -> Mistake:
        if self.things == self.other or not all(each.names or each.fact for each in (self.things, self.other)):
            msg = "things are mistaken for others"
            raise ValueError(msg)
        return self


class Favour(Part):
    """Give one answer more often than it is right: "prefer the first option", "always say yes"; which is no virtue.

    Attributes:
        answer: The answer, or the place at which it stands among the choices; empty for any of these.
        always: Whether it is given to nearly every picture.
    """

    kind: Literal["favour"] = "favour"
    answer: Literal["", "yes", "no", "first", "last"]
    always: bool = False


class IdentifyType(Part):
    """Tell that a picture was changed: "identify left rotation", "notice blur in pictures of birds"."""

    kind: Literal["identify type"] = "identify type"
    condition: Condition
    things: Kind = Kind()


class TellPlaces(Part):
    """Tell where things are: "tell left from right"."""

    kind: Literal["tell places"] = "tell places"
    axis: Literal["sides", "heights", "both"] = "both"
    things: Kind = Kind()


class CountThings(Part):
    """Count things; up to a number, where one is stated."""

    kind: Literal["count things"] = "count things"
    up_to: int = Field(0, ge=0, le=100)
    things: Kind = Kind()


class NameColours(Part):
    """Name the colors of things; of some colors, tell them from others: "recognize red things".

    Attributes:
        colours: The colors.
        apart: Whether they are told from one another only: "tell red from blue".
        things: What has them.
    """

    kind: Literal["name colours"] = "name colours"
    colours: tuple[Colour, ...] = Field((), max_length=5)
    apart: bool = False
    things: Kind = Kind()

    @model_validator(mode="after")
    def _several(self) -> NameColours:
        if self.apart and len(set(self.colours)) < 2:  # noqa: PLR2004 - one is told from another
            msg = "one color is told from another"
            raise ValueError(msg)
        return self


class NoticeSeveral(Part):
    """Notice that there are several things, identical or different ones."""

    kind: Literal["notice several"] = "notice several"
    likeness: Literal["", "identical", "different"] = ""
    things: Kind = Kind()


class AnswerFreely(Part):
    """Answer in own words: truly, or helpfully (PROVE)."""

    kind: Literal["answer freely"] = "answer freely"
    measure: Literal["truth", "help"] = "truth"


class JudgePairs(Part):
    """Judge how alike two pictures are (PairBench), in all respects or in one, under some changes or the usual ones."""

    kind: Literal["judge pairs"] = "judge pairs"
    measure: Literal["", "order", "symmetry", "heed"] = ""
    splits: tuple[Split, ...] = Field((), max_length=6)


Ability: TypeAlias = Annotated[
    Recognise
    | TellApart
    | TellMembers
    | Mistake
    | Favour
    | IdentifyType
    | TellPlaces
    | CountThings
    | NameColours
    | TellSizes
    | NoticeSeveral
    | AnswerFreely
    | JudgePairs,
    Field(discriminator="kind"),
]


def kinds_of(ability: Ability) -> tuple[Kind, ...]:
    """Return the kinds of things that an ability is about."""
    match ability:
        case TellApart(kinds=kinds):
            return kinds
        case Mistake(things=things, other=other):
            return (things, other)
        case AnswerFreely() | JudgePairs() | Favour():
            return ()
        case _:
            return (ability.things,)


class Comparison(Part):
    """A comparison of models.

    Attributes:
        how: The first is better than each of the others, or as good; or each is compared with each: which is the best,
            or whether they are alike.
        margin: The share by which; for `alike`, the most that they differ by.
    """

    how: Literal["better", "as good", "best", "alike"]
    margin: float = Field(0, ge=0, lt=1)

    @property
    def of_equals(self) -> bool:
        """True where it asks whether models are alike, or one no worse."""
        return self.how in {"as good", "alike"}


class Threshold(Part):
    """A bound that a question states: for the share of right answers, or for what is lost of it.

    Attributes:
        how: Which bound.
        share: The share; of a loss, in points, or of what there was.
        relative: Whether a loss is a share of the accuracy that there was: "half of its accuracy".
        guessing: Whether the share is that of guessing, whatever it is: "no better than chance".
    """

    how: Literal["at least", "more than", "at most", "less than"]
    share: float = Field(gt=0, lt=1)
    relative: bool = False
    guessing: bool = False

    @model_validator(mode="after")
    def _beyond_guessing(self) -> Threshold:
        if self.guessing and (self.relative or self.share != HALF or self.how not in {"more than", "at most"}):
            msg = "one is better than guessing, or is not"
            raise ValueError(msg)
        return self

    @property
    def above(self) -> bool:
        """True where what is asked for is above it."""
        return self.how in {"at least", "more than"}


class Contrast(Part):
    """The other side of a comparison of a model with itself: another ability, or another condition."""

    ability: Ability | None = None
    condition: Condition | None = None


class ModelQuestion(Part):
    """One question about models.

    Attributes:
        models: Those that it is about; none for all.
        ability: What they shall be able to do.
        condition: Under which they shall; None for pictures as they are.
        robust: Whether it asks what they lose under the condition, rather than how good they are under it.
        comparison: Of models with one another.
        threshold: What is stated; None leaves it to the experiments.
        than: What the same model does is compared with.
        sense: What a yes means.
        quantifier: For how many of the models it has to hold; None where each is answered for itself.
        classes: For how many of the classes of things it has to hold; None for all their pictures alike.
        asks: Whether something is so, to what degree, for which changes of the condition it is most so, up to which
            severity of the condition, of which classes it is most so, or of which answer it is.
    """

    models: tuple[ModelName, ...] = Field((), max_length=12)
    ability: Ability = Recognise()
    condition: Condition | None = None
    robust: bool = False
    comparison: Comparison | None = None
    threshold: Threshold | None = None
    than: Contrast | None = None
    sense: Sense = "holds"
    quantifier: Quantifier | None = None
    classes: Quantifier | None = None
    asks: Literal["whether", "how much", "which changes", "limit", "which classes", "which answer"] = "whether"

    @model_validator(mode="after")
    def _possible(self) -> ModelQuestion:
        problem = problem_of(self)
        if problem:
            raise ValueError(problem)
        return self

    @property
    def deficit(self) -> float:
        """The margin by which the first model is to be worse; 0 where none is stated.

        To be worse by a margin is a claim of its own: who is not better by it may be as good.
        """
        of_first = self.sense == "fails" and self.comparison is not None and self.comparison.how == "better"
        return self.comparison.margin if of_first and self.comparison is not None else 0.0

    @property
    def pairs(self) -> bool:
        """True where it is about judges of pairs."""
        return isinstance(self.ability, JudgePairs)


class ModelQuery(Part):
    """A question about models, or several.

    Attributes:
        questions: Each is examined and answered for itself.
        confidence: Of the verdicts, where the query states it: 0.99 for "with 99 % confidence".
    """

    questions: tuple[ModelQuestion, ...] = Field(min_length=1, max_length=MAX_QUESTIONS)
    confidence: float | None = Field(None, ge=0.5, lt=1)

    @property
    def protocol(self) -> Literal["choice", "freeform", "pairs"]:
        """The way in which models are asked, by the first question."""
        kinds = {AnswerFreely: "freeform", JudgePairs: "pairs"}
        return kinds.get(type(self.questions[0].ability), "choice")  # type: ignore[return-value]  # of the three

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All conditions that it is about, those among them that are to be noticed."""
        noticed = [each.ability.condition for each in self.questions if isinstance(each.ability, IdentifyType)]
        under = [each.condition for each in self.questions if each.condition is not None]
        than = [each.than.condition for each in self.questions if each.than is not None and each.than.condition]
        return (*noticed, *under, *than)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All kinds of things that it is about."""
        abilities = [each.ability for each in self.questions]
        abilities += [each.than.ability for each in self.questions if each.than is not None and each.than.ability]
        return tuple(kind for each in abilities for kind in kinds_of(each))

    @property
    def mixed(self) -> bool:
        """True where its questions need different protocols, so that one investigation cannot answer them."""
        return len({ModelQuery(questions=(each,)).protocol for each in self.questions}) > 1

    @property
    def of_everything(self) -> bool:
        """True where it is asked whether something holds under every transformation there is."""
        asked = (each.condition for each in self.questions if each.asks == "whether")
        return any(condition is not None and condition.family == EVERY for condition in asked)
