"""Random well-typed meanings about the pictures of a task, for the laws that hold of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, get_args

from benchmarks.picture_graphs import facts_of, kinds_of
from snellen.microworld.concepts import vocabulary
from snellen.microworld.facts import list_names
from snellen.microworld.scenes import TINTS, Scene
from snellen.reasoning.language.inflection import plural
from snellen.reasoning.meanings import meanings as m
from snellen.reasoning.meanings import things as t

T = TypeVar("T")
Pick = Callable[[Sequence[Any]], Any]
"""Chooses one of several: a random one, or one that a property test draws."""
_EXTREMES: Final = get_args(t.Extreme)
_EMOJIS: Final = ("ghost", "skull", "angry face")
_ASPECTS: Final = ("name", "name", "colour", "size", "place", "ground")


@dataclass(frozen=True)
class MeaningSampler:
    """Draws meanings about scenes.

    Attributes:
        pick: The source of all choices.
        scenes: The pictures of the task, one or two; kinds that they show are drawn more often than others.
    """

    pick: Pick
    scenes: Sequence[Scene]

    def meaning(self, depth: int = 2) -> m.Meaning:
        """Draw a meaning; sets and truths nest at most so deep."""
        makers = (*(self.truth,) * 4, self._count, self._count, self._query, self._query, self._list, self._choose)
        makers += (self._check, self._choose_count, self._describe, self._setting, self._edit)
        if depth > 1:
            makers += (self._branch, self._several)
        made: m.Meaning = self.pick(makers)(depth)
        return made

    def truth(self, depth: int) -> m.Truth:
        """Draw a truth."""
        makers = (self._exist, self._exist, self._are, self._are, self._compare, self._alike, self._setting_is)
        if len(self.scenes) > 1:
            makers += (self._settings_alike,)
        if depth > 1:
            makers += (self._junction, self._negation)
        made: m.Truth = self.pick(makers)(depth)
        return made

    def things(self, depth: int, picture: str = "") -> t.Things:
        """Draw a set of things of a picture, by default of any."""
        picture = picture or self._picture()
        kinds = ("filter",) * 6 + (("ordinal", "one", "union") if depth > 0 else ())
        match self.pick(kinds):
            case "ordinal":
                return self._ordinal(depth, picture)
            case "one":
                return t.One(things=self._filtered(depth, picture))
            case "union":
                return t.Union(one=self.things(depth - 1, picture), other=self.things(depth - 1, picture))
        return self._filtered(depth, picture)

    def single(self, depth: int, picture: str) -> t.Things:
        """Draw a set of one thing."""
        if depth > 0 and self.pick((True, False)):
            return self._ordinal(depth, picture, count=1)
        return t.One(things=self._filtered(depth, picture))

    def _filtered(self, depth: int, picture: str) -> t.Things:
        things: t.Things = t.Everything.model_validate({"picture": picture})
        if self.pick((True, True, True, False)):
            things = t.Filter(things=things, property=self._is_a(depth, picture))
        for _ in range(self.pick((0, 0, 1, 1, 2))):
            things = t.Filter(things=things, property=self.property(depth, picture))
        return things

    def _ordinal(self, depth: int, picture: str, count: int = 0) -> t.Things:
        count, rank = count or self.pick((1, 1, 1, 2)), self.pick((1, 1, 2, 3))
        things = self._filtered(depth - 1, picture)
        if picture == "both":
            order: Any = t.ByExtreme(extreme=self.pick(("largest", "smallest")))
        elif self.pick((True, False)):
            order = t.ByExtreme(extreme=self.pick(_EXTREMES))
        else:
            side = self.pick((None, *get_args(t.Side)))
            order = t.Nearness(of=self.things(depth - 1, picture), side=side)
        return t.Ordinal(things=things, order=order, rank=rank, count=count)

    def property(self, depth: int, picture: str) -> t.Property:
        """Draw a property of things of a picture."""
        makers = [self._is_a, self._has_fact, self._has_colour, self._has_size]
        if picture != "both":
            makers += [self._is_at, self._in_line]
        if depth > 0:
            makers += [self._larger, self._like, self._is_not]
            if picture != "both":
                makers += [self._related, self._related, self._between, self._among]
        made: t.Property = self.pick(makers)(depth - 1, picture)
        return made

    def _is_a(self, _: int, __: str) -> t.Property:
        return t.IsA(name=self._kind(), or_names=tuple(self._kind() for _ in range(self.pick((0,) * 8 + (1, 2)))))

    def _has_fact(self, _: int, __: str) -> t.Property:
        shown = [phrase for name in self._shown() for phrase in sorted(facts_of(name)) if phrase in _FACTS]
        return t.HasFact(fact=self.pick([*_FACTS[:9], *shown * 3]))

    def _has_colour(self, _: int, __: str) -> t.Property:
        return t.HasColour(colour=self.pick(tuple(TINTS)))

    def _has_size(self, _: int, __: str) -> t.Property:
        return t.HasSize(size=self.pick(("small", "large")))

    def _is_at(self, _: int, __: str) -> t.Property:
        across, down = self.pick((None, "left", "middle", "right")), self.pick((None, "top", "middle", "bottom"))
        return t.IsAt(across=across or (None if down else "left"), down=down)

    def _in_line(self, _: int, __: str) -> t.Property:
        return t.InLine(line=self.pick(("row", "column")), number=self.pick((1, 2, -1, 3)))

    def _related(self, depth: int, picture: str) -> t.Property:
        return t.InRelation(relation=self.pick(get_args(t.SpatialRelation)), of=self.things(depth, picture))

    def _larger(self, depth: int, picture: str) -> t.Property:
        return t.InRelation(relation=self.pick(get_args(t.SizeRelation)), of=self.things(depth, picture))

    def _between(self, depth: int, picture: str) -> t.Property:
        return t.IsBetween(one=self.things(depth, picture), other=self.things(depth, picture))

    def _like(self, depth: int, picture: str) -> t.Property:
        of = self.things(depth, picture if len(self.scenes) == 1 else self._picture())
        return t.IsLike(by=self.pick(get_args(t.Likeness)), of=of)

    def _among(self, depth: int, picture: str) -> t.Property:
        return t.IsAmong(things=self.things(depth, picture))

    def _is_not(self, depth: int, picture: str) -> t.Property:
        return t.IsNot(property=self.property(depth, picture))

    def _kind(self) -> str:
        shown = [kind for name in self._shown() for kind in sorted(kinds_of(name))]
        kind: str = self.pick([*shown * 3, *(each.name for each in vocabulary().share("known")[:9])])
        return kind

    def _shown(self) -> list[str]:
        return [item.concept for scene in self.scenes for item in scene.objects]

    def _picture(self) -> str:
        name: str = "picture" if len(self.scenes) == 1 else self.pick(("left", "right", "both"))
        return name

    def _exist(self, depth: int) -> m.Truth:
        quantity = self.pick(("at least", "at least", "exactly", "at most"))
        least = 0 if quantity == "exactly" else 1
        return m.Exist(things=self.things(depth), quantity=quantity, number=self.pick((least, 1, 1, 2, 3)))

    def _compare(self, depth: int) -> m.Truth:
        how = self.pick(("more", "fewer", "as many"))
        return m.CompareCounts(
            one=self.things(depth - 1), how=how, other=self.things(depth - 1), times=self.pick((1, 1, 1, 2))
        )

    def _are(self, depth: int) -> m.Truth:
        picture = self._picture()
        things = self.single(depth, picture) if self.pick((True, False)) else self.things(depth, picture)
        return m.Are(things=things, property=self.property(depth, picture), share=self.pick(("all", "all", "most")))

    def _alike(self, depth: int) -> m.Truth:
        things = self.things(depth)
        if self.pick((True, False)):
            picture = self._picture()
            things = t.Union(one=self.single(depth - 1, picture), other=self.single(depth - 1, picture))
        return m.AreAlike(things=things, by=self.pick(get_args(t.Likeness)))

    def _setting_is(self, _: int) -> m.Truth:
        aspect = self.pick(get_args(m.SettingAspect))
        value = self.pick(("grass", "road", "striped", "blue", "white", "clear", "rainy", "flat", "sketch"))
        return m.SettingIs(aspect=aspect, value=value, picture=self._one_picture())

    def _one_picture(self) -> Any:  # noqa: ANN401 - a name of a picture
        return "picture" if len(self.scenes) == 1 else self.pick(("left", "right"))

    def _junction(self, depth: int) -> m.Truth:
        parts = tuple(self.truth(depth - 1) for _ in range(self.pick((2, 2, 3))))
        return m.Junction(how=self.pick(("and", "or", "exactly one")), parts=parts)

    def _negation(self, depth: int) -> m.Truth:
        return m.Negation(truth=self.truth(depth - 1))

    def _count(self, depth: int) -> m.Meaning:
        more_than = self.things(depth - 1) if self.pick((False,) * 5 + (True,)) else None
        return m.Count(things=self.things(depth), kinds=self.pick((False,) * 5 + (True,)), more_than=more_than)

    def _query(self, depth: int) -> m.Meaning:
        return m.Query(things=self.single(depth, self._one_picture()), what=self.pick(_ASPECTS))

    def _list(self, depth: int) -> m.Meaning:
        order = self.pick((None, *_EXTREMES))
        return m.ListEach(things=self.things(depth, self._one_picture()), what=self.pick(_ASPECTS[:-1]), order=order)

    def _check(self, depth: int) -> m.Meaning:
        picture = self._one_picture()
        things, order = self.things(depth - 1, picture), self.pick((None, *_EXTREMES))
        return m.CheckEach(things=things, property=self.property(depth, picture), order=order)

    def _settings_alike(self, _: int) -> m.Truth:
        return m.SettingsAlike(aspect=self.pick(get_args(m.SettingAspect)))

    def _choose(self, depth: int) -> m.Meaning:
        picture = self._picture()
        makers = (self._has_colour, self._has_size, self._is_a, *((self._related, self._is_at) * (picture != "both")))
        maker = self.pick(makers)
        return m.Choose(
            things=self.single(depth - 1, picture), properties=(maker(depth - 1, picture), maker(depth - 1, picture))
        )

    def _choose_count(self, depth: int) -> m.Meaning:
        options = tuple(self._filtered(depth - 1, self._picture()) for _ in range(self.pick((2, 2, 3))))
        return m.ChooseCount(options=options, how=self.pick(("most", "fewest")))

    def _describe(self, depth: int) -> m.Meaning:
        picture = self._one_picture()
        whole = t.Everything(picture=picture)
        return m.Describe(things=self.single(depth, picture) if self.pick((True, False)) else whole)

    def _setting(self, _: int) -> m.Meaning:
        return m.QuerySetting(aspect=self.pick(get_args(m.SettingAspect)), picture=self._one_picture())

    def _edit(self, depth: int) -> m.Meaning:
        picture = self._one_picture()
        operations = [self.pick([each for each in get_args(m.Operation) if each != "crop"]) for _ in range(2)]
        operations = operations[: self.pick((1, 2))] if self.pick((True, True, False)) else ["crop"]
        by = {"replace": self._kind, "emoji": lambda: self.pick(_EMOJIS)}
        return m.EditPicture(
            actions=tuple(
                m.EditAction(
                    operation=each, things=self.things(depth - 1, picture), by=by[each]() if each in by else None
                )
                for each in operations
            )
        )

    def _branch(self, depth: int) -> m.Meaning:
        otherwise = self.meaning(depth - 1) if self.pick((True, False)) else m.Say(words=self.pick(("", "cats")))
        return m.IfThen(condition=self.truth(depth - 1), then=self.meaning(depth - 1), otherwise=otherwise)

    def _several(self, depth: int) -> m.Meaning:
        return m.Several(parts=(self._count(depth - 1), self.pick((self._query, self._list))(depth - 1)))


def _is_listed(fact: str) -> bool:
    """Tell whether the table of facts understands a phrase, of things and of their kinds."""
    holds = {each.name for each in vocabulary().concepts if fact in facts_of(each.name)}
    return set(list_names(f"things that {fact}", 400)) == holds and all(
        set(list_names(f"{plural(group.singular)} that {fact}", 400))
        == {name for name in holds if group.singular in kinds_of(name)}
        for group in vocabulary().groups.values()
    )


_FACTS: Final = tuple(
    phrase
    for phrases in vocabulary().facts.values()
    for phrase in phrases
    if phrase.split()[0] in {"can", "have", "are", "live", "grow", "need", "use", "drive", "run", "make", "give"}
    and _is_listed(phrase)
)
"""Verb phrases of facts that the table of facts understands."""
